package directory

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
)

// lateClock calls what is due later when the test says so.
type lateClock struct {
	due   []func()
	spent time.Duration
}

func (c *lateClock) after(d time.Duration, f func()) {
	c.spent += d
	c.due = append(c.due, f)
}

func (c *lateClock) run() {
	for len(c.due) > 0 {
		f := c.due[0]
		c.due = c.due[1:]
		f()
	}
}

func lateEnds(t *testing.T) (*LateEnds, *lateClock) {
	t.Helper()
	c := &lateClock{}
	l := NewLateEnds(&guarded.Bounds{Timeout: time.Second, Log: journal.New(slog.New(slog.DiscardHandler), time.Now, journal.Rules{
		Level: func(error) slog.Level { return slog.LevelError }, Details: func(error) []journal.Detail { return nil },
	})})
	l.after = c.after
	return l, c
}

func isFinishing(l *LateEnds) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finishing
}

// TestLateEnds: R-544, for random faults of a store: each end that failed is repeated
// until it succeeds, and never again.
func TestLateEnds(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		l, c := lateEnds(t)
		done := make([]int, random.IntN(20))
		for i := range done {
			faults := random.IntN(4)
			ctx, cancel := context.WithCancel(t.Context())
			l.Add(ctx, func(ctx context.Context) error {
				if ctx.Err() != nil {
					t.Fatal("the end of a request ended what was left of it")
				}
				if faults--; faults >= 0 {
					if random.IntN(2) == 0 {
						panic("a driver")
					}
					return errors.New("the primary is gone")
				}
				done[i]++
				return nil
			})
			cancel()
			if random.IntN(3) == 0 {
				c.run()
			}
		}
		c.run()
		for i, n := range done {
			if n != 1 {
				t.Fatalf("R-544: end %d of %d succeeded %d times", i, len(done), n)
			}
		}
		if len(l.waiting) != 0 || l.pause != 0 {
			t.Fatalf("%d ends wait, and the next pass is in %v", len(l.waiting), l.pause)
		}
	}
	t.Run("R-544 not for ever", func(t *testing.T) {
		l, c := lateEnds(t)
		tries := 0
		l.Add(t.Context(), func(context.Context) error { tries++; return errors.New("gone for good") })
		c.run()
		if tries != mostLateTries || c.spent < 10*time.Minute || c.spent > 20*time.Minute {
			t.Errorf("%d tries in %v", tries, c.spent)
		}
	})
	t.Run("R-654 Finish waits for the end that is tried, and tries it again", func(t *testing.T) {
		l, c := lateEnds(t)
		begun, fails, tries := make(chan struct{}), make(chan error), 0
		l.Add(t.Context(), func(context.Context) error {
			if tries++; tries > 1 {
				return nil
			}
			close(begun)
			return <-fails
		})
		passed := make(chan struct{})
		go func() {
			defer close(passed)
			c.due[0]()
		}()
		<-begun
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if dropped := l.Finish(ctx); dropped != 1 || tries != 1 {
			t.Errorf("R-654 %d dropped after %d tries, of one that is tried", dropped, tries)
		}
		finished := make(chan int, 1)
		go func() { finished <- l.Finish(t.Context()) }()
		for !isFinishing(l) && len(finished) == 0 {
			runtime.Gosched()
		}
		fails <- errors.New("the primary is gone")
		if dropped := <-finished; dropped != 0 || tries != 2 {
			t.Errorf("R-654 %d dropped after %d tries", dropped, tries)
		}
		<-passed
	})
	t.Run("R-544 not more than fit", func(t *testing.T) {
		l, c := lateEnds(t)
		for range mostLateEnds + 10 {
			l.Add(t.Context(), func(context.Context) error { return nil })
		}
		if len(l.waiting) != mostLateEnds || len(c.due) != 1 {
			t.Errorf("%d wait for %d passes", len(l.waiting), len(c.due))
		}
	})
}
