package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkeyhq/latchkey/internal/testclock"
)

func name(i int) (n [32]byte) {
	copy(n[:], strconv.Itoa(i))
	return n
}

// source is what is asked, and counts how often.
type source struct {
	asked atomic.Int32
	value atomic.Int32
	err   error
}

func (s *source) ask(context.Context) (int32, string, error) {
	s.asked.Add(1)
	value := s.value.Load()
	runtime.Gosched() // others come in between
	return value, "owner", s.err
}

func get(t *testing.T, c *Cache[[32]byte, int32], i int, s *source) int32 {
	t.Helper()
	v, err := c.Load(t.Context(), name(i), s.ask)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func newCache(most int) (*Cache[[32]byte, int32], *testclock.Clock) {
	clock := testclock.New(time.Unix(1e9, 0))
	return New[[32]byte, int32](Rules{Size: most, Age: time.Minute, Now: clock.Now}), clock
}

func TestLoad(t *testing.T) {
	t.Run("S-036 what is believed is not asked for", func(t *testing.T) {
		c, clock := newCache(10)
		s := &source{}
		get(t, c, 1, s)
		clock.Advance(time.Minute - 1)
		if get(t, c, 1, s); s.asked.Load() != 1 {
			t.Errorf("asked %d times", s.asked.Load())
		}
		clock.Advance(1)
		if get(t, c, 1, s); s.asked.Load() != 2 {
			t.Errorf("asked %d times after its age", s.asked.Load())
		}
	})
	t.Run("K2 the age counts from before the source was asked", func(t *testing.T) {
		c, clock := newCache(10)
		s := &source{}
		_, _ = c.Load(t.Context(), name(1), func(ctx context.Context) (int32, string, error) {
			clock.Advance(50 * time.Second)
			return s.ask(ctx)
		})
		clock.Advance(10 * time.Second)
		if get(t, c, 1, s); s.asked.Load() != 2 {
			t.Error("it is believed for longer")
		}
	})
	t.Run("K3 no error is kept", func(t *testing.T) {
		c, _ := newCache(10)
		s := &source{err: errors.New("down")}
		for range 2 {
			if _, err := c.Load(t.Context(), name(1), s.ask); err == nil {
				t.Error("no error")
			}
		}
		if s.asked.Load() != 2 || len(c.entries)+len(c.flights) != 0 {
			t.Errorf("asked %d times, %d kept", s.asked.Load(), len(c.entries))
		}
	})
	t.Run("S-037 the least recently used goes", func(t *testing.T) {
		const most = 10_000
		c, _ := newCache(most)
		s := &source{}
		for i := range most {
			get(t, c, i, s)
		}
		get(t, c, 0, s) // used again
		get(t, c, most, s)
		if len(c.entries) != most || c.order.length != most || c.owners["owner"].length != most {
			t.Fatalf("%d kept", len(c.entries))
		}
		before := s.asked.Load()
		if get(t, c, 0, s); s.asked.Load() != before {
			t.Error("what was used lately is gone")
		}
		if get(t, c, 1, s); s.asked.Load() != before+1 {
			t.Error("what was used least is still there")
		}
	})
	t.Run("S-038 100 readers of one name make one load", func(t *testing.T) {
		c, _ := newCache(10)
		s := &source{}
		go1 := make(chan struct{})
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if _, err := c.Load(t.Context(), name(1), func(ctx context.Context) (int32, string, error) {
					<-go1
					return s.ask(ctx)
				}); err != nil {
					t.Error(err)
				}
			})
		}
		close(go1)
		all.Wait()
		if n := s.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
	for why, gone := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"has gone": context.WithCancel,
		"has run out of time": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
	} {
		t.Run("who waits does not fail because the one who loads "+why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := newCache(10)
				ctx, leave := gone(t.Context())
				go func() {
					_, err := c.Load(ctx, name(1), func(ctx context.Context) (int32, string, error) {
						<-ctx.Done()
						return 0, "", fmt.Errorf("the source: %w", ctx.Err())
					})
					if err == nil {
						t.Error("whoever has gone is answered")
					}
				}()
				synctest.Wait()
				s, waiters := &source{}, sync.WaitGroup{}
				for range 10 {
					waiters.Go(func() { get(t, c, 1, s) })
				}
				synctest.Wait()
				if why == "has gone" {
					leave()
				}
				waiters.Wait()
				leave()
				if n := s.asked.Load(); n != 1 {
					t.Errorf("asked %d times after that", n)
				}
			})
		})
	}
	t.Run("who waits fails with a source that answers late, and does not stand in line for it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, _ := newCache(10)
			begun, asked := time.Now(), atomic.Int32{}
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					_, err := c.Load(t.Context(), name(1), func(ctx context.Context) (int32, string, error) {
						asked.Add(1)
						ctx, cancel := context.WithTimeout(ctx, time.Second) // the source's own
						defer cancel()
						<-ctx.Done()
						return 0, "", ctx.Err()
					})
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%v", err)
					}
				})
			}
			all.Wait()
			if passed := time.Since(begun); asked.Load() != 1 || passed != time.Second {
				t.Errorf("asked %d times, for %v", asked.Load(), passed)
			}
		})
	})
	t.Run("who waits may leave", func(t *testing.T) {
		c, _ := newCache(10)
		loading, end := make(chan struct{}), make(chan struct{})
		defer close(end)
		go func() {
			_, _ = c.Load(context.Background(), name(1), func(context.Context) (int32, string, error) {
				close(loading)
				<-end
				return 0, "", nil
			})
		}()
		<-loading
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if _, err := c.Load(ctx, name(1), (&source{}).ask); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	t.Run("a load that panics holds up nobody", func(t *testing.T) {
		c, _ := newCache(10)
		func() {
			defer func() { _ = recover() }()
			_, _ = c.Load(t.Context(), name(1), func(context.Context) (int32, string, error) { panic("source") })
		}()
		get(t, c, 1, &source{})
	})
}

// S-039: what is dropped is not believed again, whatever was being loaded.
func TestDelete(t *testing.T) {
	for how, drop := range map[string]func(c *Cache[[32]byte, int32]){
		"by its name":  func(c *Cache[[32]byte, int32]) { c.Delete(name(1)) },
		"by its owner": func(c *Cache[[32]byte, int32]) { c.DeleteOwner("owner") },
	} {
		t.Run("S-039 in 1,000 races with loads, "+how, func(t *testing.T) {
			for round := range int32(1000) {
				c, _ := newCache(10)
				s := &source{}
				s.value.Store(round)
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() { get(t, c, 1, s) })
				}
				s.value.Store(round + 1)
				drop(c)
				if v := get(t, c, 1, s); v != round+1 {
					t.Fatalf("round %d: %d is believed after the drop", round, v)
				}
				all.Wait()
				if v := get(t, c, 1, s); v != round+1 {
					t.Fatalf("round %d: %d was kept by a load from before", round, v)
				}
			}
		})
	}
	t.Run("others stay", func(t *testing.T) {
		c, _ := newCache(10)
		s := &source{}
		get(t, c, 1, s)
		get(t, c, 2, s)
		c.Delete(name(1))
		c.DeleteOwner("somebody else")
		if get(t, c, 2, s); s.asked.Load() != 2 {
			t.Error("the other was dropped")
		}
	})
}

// BenchmarkGet shows that a hit costs the same however much is kept.
func BenchmarkGet(b *testing.B) {
	for _, size := range []int{100, 1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			c := New[[32]byte, int32](Rules{Size: size, Age: time.Hour, Now: time.Now})
			s := &source{}
			for i := range size {
				_, _ = c.Load(b.Context(), name(i), s.ask)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i*7 + 1) % size
				_, _ = c.Get(name(i))
			}
		})
	}
}

func TestRefresh(t *testing.T) {
	t.Run("it loads what is there, and replaces it", func(t *testing.T) {
		c, _ := newCache(10)
		s := &source{}
		get(t, c, 1, s)
		s.value.Store(2)
		if v, err := c.Refresh(t.Context(), name(1), s.ask); v != 2 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
		if v, ok := c.Get(name(1)); v != 2 || !ok || c.Len() != 1 || c.owners["owner"].length != 1 {
			t.Errorf("%d is kept", v)
		}
	})
	t.Run("its failure leaves the value", func(t *testing.T) {
		c, _ := newCache(10)
		get(t, c, 1, &source{})
		if _, err := c.Refresh(t.Context(), name(1), (&source{err: errors.New("down")}).ask); err == nil {
			t.Error("no error")
		}
		if _, ok := c.Get(name(1)); !ok {
			t.Error("the value is gone")
		}
	})
}

func TestDetached(t *testing.T) {
	t.Run("a load goes on without the caller that began it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := New[int, int](Rules{Size: 1, Detached: true})
			ctx, leave := context.WithCancel(t.Context())
			answer := make(chan int)
			load := func(ctx context.Context) (int, string, error) { return <-answer, "", ctx.Err() }
			go func() {
				if _, err := c.Load(ctx, 1, load); !errors.Is(err, context.Canceled) {
					t.Errorf("the caller that left got %v", err)
				}
			}()
			synctest.Wait()
			leave()
			synctest.Wait()
			go func() { answer <- 7 }()
			if v, err := c.Load(t.Context(), 1, load); v != 7 || err != nil {
				t.Errorf("%d, %v", v, err)
			}
			if v, ok := c.Get(1); v != 7 || !ok {
				t.Error("not kept")
			}
		})
	})
}

func TestExpiredValuesMakeRoom(t *testing.T) {
	c, clock := newCache(10)
	s := &source{}
	for i := range 5 {
		get(t, c, i, s)
	}
	clock.Advance(time.Minute)
	if get(t, c, 9, s); c.Len() != 1 || c.owners["owner"].length != 1 {
		t.Errorf("%d values", c.Len())
	}
}
