package health

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// O-072: a part that fails says since when; one that was not called is not shown.
func TestParts(t *testing.T) {
	b := NewBoard()
	if got := b.Parts(); len(got) != 1 || got[0].Name != "store" {
		t.Fatalf("O-072: %v", got)
	}
	b.OfOperation("GetUser").Saw(true)
	b.OfOperation("Limits.Limiter: Take").Saw(false)
	b.Provider("acme").Saw(false)
	b.Provider("acme").Saw(true)
	b.OfOperation("Session.Store: GetSession").Saw(true)
	want := map[string]State{"store": Up, "limiter": Down, "provider acme": Up, "sessions": Up}
	for _, p := range b.Parts() {
		state, since := p.State()
		if want[p.Name] != state || since.IsZero() {
			t.Errorf("O-072: %s is %s since %v", p.Name, state, since)
		}
		delete(want, p.Name)
	}
	if len(want) > 0 {
		t.Errorf("O-072: no %v", want)
	}
	_, before := b.Store.State()
	b.Store.Saw(true)
	if _, after := b.Store.State(); !after.Equal(before) {
		t.Error("O-072: what is no news changes the time")
	}
	if n := testing.AllocsPerRun(100, func() { b.OfOperation("GetUser").Saw(true) }); n != 0 {
		t.Errorf("O-001: %v allocations", n)
	}
	var none *Board
	none.OfOperation("GetUser").Saw(true)
	none.Provider("x").Saw(true)
}

// O-076: one probe at a time and one in a second, and none once it is ready.
func TestReady(t *testing.T) {
	l, now, asked := NewLife(false), time.Unix(100, 0), 0
	probe := func(answer bool) func() bool { return func() bool { asked++; return answer } }
	for range 50 {
		if l.Ready(now, probe(false)) {
			t.Fatal("O-076: ready without an answer")
		}
	}
	if asked != 1 {
		t.Errorf("O-076: %d probes in one second", asked)
	}
	if now = now.Add(time.Second); !l.Ready(now, probe(true)) || asked != 2 {
		t.Error("O-071: not ready after an answer")
	}
	for range 50 {
		now = now.Add(time.Minute)
		if !l.Ready(now, probe(false)) {
			t.Fatal("O-072: unready although it was ready")
		}
	}
	if asked != 2 {
		t.Errorf("O-076: %d probes after it was ready", asked)
	}
	l.Drain()
	if l.Ready(now, probe(true)) || l.IsReady() {
		t.Error("O-073: ready while it drains")
	}
	var zero *Life
	if zero.Drain(); zero.Ready(now, probe(true)) || zero.IsReady() {
		t.Error("the zero Auth is ready")
	}
}

// O-076: a flood before the first answer makes one probe at a time.
func TestProbesDoNotOverlap(t *testing.T) {
	l := NewLife(false)
	var under, most atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			l.Ready(time.Now(), func() bool {
				most.Store(max(most.Load(), under.Add(1)))
				defer under.Add(-1)
				return false
			})
		})
	}
	all.Wait()
	if most.Load() > 1 {
		t.Errorf("O-076: %d probes at one time", most.Load())
	}
}

// O-076: a store that hangs holds up one question, and not those that come meanwhile.
func TestQuestionsDoNotWait(t *testing.T) {
	l, begun, end := NewLife(false), make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { l.Ready(time.Now(), func() bool { close(begun); <-end; return false }) })
	<-begun
	answered := make(chan bool, 1)
	all.Go(func() { answered <- l.Ready(time.Now(), func() bool { return true }) })
	select {
	case ready := <-answered:
		if ready {
			t.Error("O-076: ready without an answer of the store")
		}
	case <-time.After(5 * time.Second):
		t.Error("O-076: a question waits for the probe of another")
	}
	close(end)
	all.Wait()
}

// O-073: a second call waits for the first, and no longer than its context lives.
func TestStop(t *testing.T) {
	l, fault := NewLife(true), errors.New("left")
	began, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		if err := l.Stop(nil, nil, func() error { close(began); <-release; return fault }); !errors.Is(err, fault) {
			t.Error(err)
		}
	})
	<-began
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Stop(ctx.Done(), ctx.Err, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("O-073: %v", err)
	}
	close(release)
	if err := l.Stop(t.Context().Done(), t.Context().Err, nil); !errors.Is(err, fault) {
		t.Errorf("O-073: the second call returned %v", err)
	}
	all.Wait()
}
