package limit

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/storage"
)

func newFakeClock() *testclock.Clock { return testclock.New(time.Unix(1_800_000_000, 0)) }

func TestMemory(t *testing.T) {
	rate := storage.Rate{Events: 4, Per: time.Minute}
	take := func(t *testing.T, l *Memory, key string, r storage.Rate) time.Duration {
		t.Helper()
		wait, err := l.Take(t.Context(), key, r)
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	t.Run("as many at once as the rate says, then one each share of the period", func(t *testing.T) {
		clock := newFakeClock()
		l := NewMemory(clock.Now)
		for i := range 4 {
			if wait := take(t, l, "k", rate); wait != 0 {
				t.Errorf("event %d waits %v", i, wait)
			}
		}
		if wait := take(t, l, "k", rate); wait != 15*time.Second {
			t.Errorf("the fifth waits %v, want 15s", wait)
		}
		clock.Advance(15*time.Second - time.Nanosecond)
		if wait := take(t, l, "k", rate); wait != time.Nanosecond {
			t.Errorf("just before its time it waits %v", wait)
		}
		clock.Advance(time.Nanosecond)
		if wait := take(t, l, "k", rate); wait != 0 {
			t.Errorf("in time it waits %v", wait)
		}
		if wait := take(t, l, "k", rate); wait == 0 {
			t.Error("a second one passes")
		}
		clock.Advance(time.Hour)
		for i := range 4 {
			if wait := take(t, l, "k", rate); wait != 0 {
				t.Errorf("after a rest event %d waits %v", i, wait)
			}
		}
	})
	t.Run("refused events do not count", func(t *testing.T) {
		clock := newFakeClock()
		l := NewMemory(clock.Now)
		for range 100 {
			take(t, l, "k", rate)
		}
		clock.Advance(15 * time.Second)
		if wait := take(t, l, "k", rate); wait != 0 {
			t.Errorf("waits %v", wait)
		}
	})
	t.Run("keys do not know one another, and can be forgotten", func(t *testing.T) {
		l := NewMemory(newFakeClock().Now)
		for range 5 {
			take(t, l, "a", rate)
		}
		if take(t, l, "b", rate) != 0 {
			t.Error("b pays for a")
		}
		if err := l.Forget(t.Context(), "a"); err != nil || take(t, l, "a", rate) != 0 {
			t.Error("a is not forgotten")
		}
		if err := l.Forget(t.Context(), "unknown"); err != nil {
			t.Error(err)
		}
	})
	t.Run("no rate is no limit", func(t *testing.T) {
		l := NewMemory(nil)
		for range 100 {
			if take(t, l, "k", storage.Rate{}) != 0 || take(t, l, "k", storage.Rate{Events: 1}) != 0 || take(t, l, "k", storage.Rate{Per: time.Hour}) != 0 {
				t.Fatal("limited")
			}
		}
	})
	t.Run("of many at once exactly as many pass", func(t *testing.T) {
		l := NewMemory(newFakeClock().Now)
		var passed atomic.Int32
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				for range 50 {
					if wait, err := l.Take(t.Context(), "k", storage.Rate{Events: 100, Per: time.Hour}); err == nil && wait == 0 {
						passed.Add(1)
					}
				}
			})
		}
		all.Wait()
		if passed.Load() != 100 {
			t.Errorf("%d passed, want 100", passed.Load())
		}
	})
	t.Run("memory has a ceiling, and the busy stay", func(t *testing.T) {
		l := NewMemory(newFakeClock().Now)
		for range 5 {
			take(t, l, "busy", rate)
		}
		for i := range mostKeys + 1000 {
			take(t, l, fmt.Sprint(i), rate)
			if i%1000 == 0 {
				take(t, l, "busy", rate)
			}
		}
		if n := l.emptyAt.Len(); n > mostKeys {
			t.Errorf("%d keys, want %d at most", n, mostKeys)
		}
		if take(t, l, "busy", rate) == 0 {
			t.Error("a key in use was forgotten")
		}
	})
}

func TestUsedValues(t *testing.T) {
	use := func(t *testing.T, u *UsedValues, key string, expires time.Time) bool {
		t.Helper()
		first, err := u.Use(t.Context(), key, expires)
		if err != nil {
			t.Fatal(err)
		}
		return first
	}
	t.Run("R-006 once until it expires", func(t *testing.T) {
		clock := newFakeClock()
		u := NewUsedValues(clock.Now)
		until := clock.Now().Add(16 * time.Minute)
		if !use(t, u, "a", until) || use(t, u, "a", until) || !use(t, u, "b", until) {
			t.Error("not once")
		}
		for range 15 {
			clock.Advance(time.Minute)
			if use(t, u, "a", until) {
				t.Fatalf("used again at %v", clock.Now())
			}
		}
		clock.Advance(10 * time.Minute)
		if !use(t, u, "a", clock.Now().Add(time.Minute)) {
			t.Error("an expired value is still refused")
		}
	})
	t.Run("R-006 whenever generations change", func(t *testing.T) {
		for offset := time.Duration(0); offset < 34*time.Minute; offset += time.Minute {
			clock := newFakeClock()
			u := NewUsedValues(clock.Now)
			use(t, u, "before", clock.Now().Add(time.Minute))
			clock.Advance(offset)
			until := clock.Now().Add(16 * time.Minute)
			use(t, u, "a", until)
			for clock.Now().Before(until) {
				if use(t, u, "a", until) {
					t.Fatalf("offset %v: used again %v before its end", offset, until.Sub(clock.Now()))
				}
				clock.Advance(5 * time.Minute)
			}
		}
	})
	t.Run("R-006 exactly one of many", func(t *testing.T) {
		clock := newFakeClock()
		u := NewUsedValues(clock.Now)
		var first atomic.Int32
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if ok, err := u.Use(t.Context(), "a", clock.Now().Add(time.Minute)); err == nil && ok {
					first.Add(1)
				}
			})
		}
		all.Wait()
		if first.Load() != 1 {
			t.Errorf("%d were the first", first.Load())
		}
	})
	t.Run("R-392 what is still needed is kept, and there is no room for more", func(t *testing.T) {
		clock := newFakeClock()
		u := NewUsedValues(clock.Now)
		until := clock.Now().Add(time.Minute)
		refused := 0
		for i := range 2 * mostKeys {
			ctx := withClient(t.Context(), fmt.Sprint("client", i%5000))
			if first, err := u.Use(ctx, fmt.Sprint(i), until); err != nil {
				refused++
			} else if !first {
				t.Fatal("a value is taken for another")
			}
		}
		if n := u.used.Len(); n != mostKeys || refused != mostKeys {
			t.Errorf("%d values, %d refused", n, refused)
		}
		for i := range mostKeys {
			if first, err := u.Use(t.Context(), fmt.Sprint(i), until); first || err != nil {
				t.Fatalf("value %d: first %t, %v", i, first, err)
			}
		}
		clock.Advance(time.Minute)
		if !use(t, u, "new", clock.Now().Add(time.Minute)) {
			t.Error("no room after they have passed")
		}
	})
	t.Run("R-392 a flood of one client leaves room for others", func(t *testing.T) {
		clock := newFakeClock()
		u := NewUsedValues(clock.Now)
		until := clock.Now().Add(time.Minute)
		flood := withClient(t.Context(), "flood")
		for i := range 2 * mostKeys {
			_, _ = u.Use(flood, fmt.Sprint("flood", i), until)
		}
		for i := range mostKeys / 4 {
			ctx := withClient(t.Context(), fmt.Sprint("client", i))
			if first, err := u.Use(ctx, fmt.Sprint(i), until); !first || err != nil {
				t.Fatalf("value %d: first %t, %v", i, first, err)
			}
		}
	})
}

func TestFloodsOfKeys(t *testing.T) {
	rate := storage.Rate{Events: 5, Per: time.Hour}
	lock := func(t *testing.T, l *Memory, ctx context.Context, key string) {
		t.Helper()
		for range 5 {
			if wait, err := l.Take(ctx, key, rate); wait != 0 || err != nil {
				t.Fatal(wait, err)
			}
		}
	}
	isLocked := func(l *Memory, key string) bool {
		wait, _ := l.Take(context.Background(), key, rate)
		return wait > 0
	}
	t.Run("R-392 one client's push out its own first", func(t *testing.T) {
		l := NewMemory(newFakeClock().Now)
		others := make([]string, 2000)
		for i := range others {
			others[i] = fmt.Sprint("victim", i)
			ctx := withClient(t.Context(), fmt.Sprint("client", i))
			if _, err := l.Take(ctx, others[i], storage.Rate{Events: 1, Per: time.Minute}); err != nil {
				t.Fatal(err)
			}
		}
		flood := withClient(t.Context(), "flood")
		for i := range 2 * mostKeys { // each of them lasts longer than any victim's
			_, _ = l.Take(flood, fmt.Sprint("flood", i), storage.Rate{Events: 1, Per: time.Hour})
		}
		for _, key := range others {
			if wait, _ := l.Take(t.Context(), key, storage.Rate{Events: 1, Per: time.Minute}); wait == 0 {
				t.Fatalf("%s was forgotten", key)
			}
		}
	})
	t.Run("R-392 from everywhere they push out what says least", func(t *testing.T) {
		l := NewMemory(newFakeClock().Now)
		lock(t, l, t.Context(), "victim")
		for i := range 2 * mostKeys {
			ctx := withClient(t.Context(), fmt.Sprint("client", i))
			_, _ = l.Take(ctx, fmt.Sprint("flood", i), rate)
		}
		if !isLocked(l, "victim") {
			t.Error("a count that was full is forgotten")
		}
	})
	t.Run("R-392 both keep within 32 MiB", func(t *testing.T) {
		heap := func() uint64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := heap()
		clock := newFakeClock()
		l, u := NewMemory(clock.Now), NewUsedValues(clock.Now)
		for i := range 2 * mostKeys {
			ctx := withClient(t.Context(), fmt.Sprint("client", i))
			_, _ = l.Take(ctx, secret.Hash(fmt.Sprint("l", i)), rate)
			_, _ = u.Use(ctx, secret.Hash(fmt.Sprint("u", i)), clock.Now().Add(time.Hour))
		}
		if grown := int64(heap()) - int64(before); grown > 32<<20 {
			t.Errorf("%d KiB", grown>>10)
		} else {
			t.Logf("%d KiB", grown>>10)
		}
		runtime.KeepAlive(l)
		runtime.KeepAlive(u)
	})
}
