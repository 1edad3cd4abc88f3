package later_test

import (
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
