package later_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/later"
)

// Eight functions run at once, 256 wait, and one more is refused.
func TestPoolIsBounded(t *testing.T) {
	var p later.Pool
	var running, most, ran atomic.Int64
	var begun, done sync.WaitGroup
	begun.Add(8)
	open := make(chan struct{})
	slow := func(first bool) func() {
		return func() {
			defer done.Done()
			now := running.Add(1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			if first {
				begun.Done()
			}
			<-open
			running.Add(-1)
			ran.Add(1)
		}
	}
	done.Add(8 + 256)
	for range 8 {
		if !p.Go(slow(true)) {
			t.Fatal("an idle pool refused")
		}
	}
	begun.Wait()
	for i := range 256 {
		if !p.Go(slow(false)) {
			t.Fatalf("refused with %d waiting", i)
		}
	}
	if p.Go(func() { t.Error("a refused function ran") }) {
		t.Error("the pool took the 257th that waits")
	}
	close(open)
	done.Wait()
	if most.Load() > 8 || ran.Load() != 8+256 {
		t.Errorf("%d at once, %d in all", most.Load(), ran.Load())
	}
}

func TestPoolStartsAgain(t *testing.T) {
	var p later.Pool
	for range 3 {
		done := make(chan struct{})
		if !p.Go(func() { close(done) }) {
			t.Fatal("refused")
		}
		<-done
	}
}

// O-073: Wait returns when all is done, and says what is left when its context ends.
func TestWait(t *testing.T) {
	var p later.Pool
	if n := p.Wait(t.Context()); n != 0 {
		t.Errorf("O-073: an idle pool has %d left", n)
	}
	release, ran := make(chan struct{}), atomic.Int32{}
	for range 10 {
		p.Go(func() { <-release; ran.Add(1) })
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n := p.Wait(ended); n != 10 {
		t.Errorf("O-073: %d left, want 10", n)
	}
	close(release)
	if n := p.Wait(t.Context()); n != 0 || ran.Load() != 8 {
		t.Errorf("O-073: %d left, %d ran; those that waited are dropped", n, ran.Load())
	}
}

// Start runs beside what fills the pool, and Wait waits for it.
func TestPoolStart(t *testing.T) {
	var p later.Pool
	open := make(chan struct{})
	for range 8 + 256 {
		p.Go(func() { <-open })
	}
	done := make(chan struct{})
	p.Start(func() { close(done) })
	<-done // although eight run and others wait
	close(open)
	hold := make(chan struct{})
	p.Start(func() { <-hold })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for p.Wait(ended) != 1 { // until the pool is empty
	}
	var late atomic.Bool
	p.Start(func() { <-hold; late.Store(true) })
	close(hold)
	if left := p.Wait(t.Context()); left != 0 || !late.Load() {
		t.Errorf("Wait returned %d, done %v", left, late.Load())
	}
}
