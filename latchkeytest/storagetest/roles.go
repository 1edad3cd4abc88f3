package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// rare is a rate whose intervals no test outlives.
var rare = storage.Rate{Events: 20, Per: 20 * time.Hour}

var limiterPromises = []promise[storage.Limiter]{
	{"of 100 callers at once exactly as many are admitted as the rate says", func(t *testing.T, l storage.Limiter) {
		admitted := make([]bool, crowd)
		for _, err := range race.Run(crowd, func(i int) error {
			wait, err := l.Take(t.Context(), "k", rare)
			admitted[i] = wait <= 0
			return err
		}) {
			ok(t, err)
		}
		if n := len(slices.DeleteFunc(admitted, func(in bool) bool { return !in })); n != rare.Events {
			t.Errorf("%d of %d were admitted at %v, want %d", n, crowd, rateText(rare), rare.Events)
		}
	}},
	{"who is refused learns how long to wait, within one interval", func(t *testing.T, l storage.Limiter) {
		fill(t, l, "k", rare)
		refused(t, l, "k", rare)
	}},
	{"a refused call costs nothing", func(t *testing.T, l storage.Limiter) {
		fill(t, l, "k", rare)
		for range rare.Events {
			refused(t, l, "k", rare)
		}
	}},
	{"what was counted empties with time", func(t *testing.T, l storage.Limiter) {
		quick := storage.Rate{Events: 1, Per: time.Millisecond}
		for range 20 {
			wait, err := l.Take(t.Context(), "k", quick)
			ok(t, err)
			if wait > quick.Per {
				t.Errorf("Take at %v: wait %v, want at most %v", rateText(quick), wait, quick.Per)
			}
			time.Sleep(wait)
		}
	}},
	{"Forget clears one key and no other", func(t *testing.T, l storage.Limiter) {
		fill(t, l, "k", rare)
		fill(t, l, "other", rare)
		ok(t, l.Forget(t.Context(), "k"))
		ok(t, l.Forget(t.Context(), "never counted"))
		fill(t, l, "k", rare)
		refused(t, l, "other", rare)
	}},
	{"keys are compared exactly, whatever they hold", func(t *testing.T, l storage.Limiter) {
		once := storage.Rate{Events: 1, Per: 20 * time.Hour}
		for _, key := range oddKeys() {
			if wait, err := l.Take(t.Context(), key, once); err != nil || wait > 0 {
				t.Errorf("Take(%.20q) at %v: wait %v, error %v, want no wait", key, rateText(once), wait, err)
			}
		}
		for _, key := range oddKeys() {
			if wait, err := l.Take(t.Context(), key, once); err != nil || wait <= 0 {
				t.Errorf("a second Take(%.20q) at %v: wait %v, error %v, want a wait", key, rateText(once), wait, err)
			}
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, l storage.Limiter) {
		fill(t, l, "k", rare)
		_, err := l.Take(cancelled(t), "other", rare)
		is(t, "Take", err, context.Canceled)
		is(t, "Forget", l.Forget(cancelled(t), "k"), context.Canceled)
		refused(t, l, "k", rare)
		fill(t, l, "other", rare)
	}},
}

var returningPromises = []promise[storage.ReturningLimiter]{
	{"Return gives back one event, and of nothing nothing", func(t *testing.T, l storage.ReturningLimiter) {
		ok(t, l.Return(t.Context(), "k", rare))
		fill(t, l, "k", rare)
		refused(t, l, "k", rare)
		ok(t, l.Return(t.Context(), "k", rare))
		if wait, err := l.Take(t.Context(), "k", rare); err != nil || wait > 0 {
			t.Errorf("Take at %v after Return: wait %v, error %v, want no wait", rateText(rare), wait, err)
		}
		refused(t, l, "k", rare)
	}},
	{"a cancelled context ends the call", func(t *testing.T, l storage.ReturningLimiter) {
		fill(t, l, "k", rare)
		is(t, "Return", l.Return(cancelled(t), "k", rare), context.Canceled)
		refused(t, l, "k", rare)
	}},
}

var replayPromises = []promise[storage.ReplayStore]{
	{"of 100 uses at once exactly one is the first", func(t *testing.T, r storage.ReplayStore) {
		firsts := make([]bool, crowd)
		for _, err := range race.Run(crowd, func(i int) (err error) {
			firsts[i], err = r.Use(t.Context(), "k", time.Now().Add(time.Hour))
			return err
		}) {
			ok(t, err)
		}
		if n := len(slices.DeleteFunc(firsts, func(first bool) bool { return !first })); n != 1 {
			t.Errorf("%d of %d were the first", n, crowd)
		}
	}},
	{"a value is used until it expires, and then it is new", func(t *testing.T, r storage.ReplayStore) {
		later := time.Now().Add(time.Hour)
		use(t, r, "k", later, true)
		use(t, r, "k", later, false)
		use(t, r, "k", later.Add(-2*time.Hour), false)
		use(t, r, "k", later, false)
		use(t, r, "passed", time.Now().Add(-time.Hour), true)
		use(t, r, "passed", later, true)
		use(t, r, "passed", later, false)
	}},
	{"keys are compared exactly, whatever they hold", func(t *testing.T, r storage.ReplayStore) {
		later := time.Now().Add(time.Hour)
		for _, key := range oddKeys() {
			use(t, r, key, later, true)
		}
		for _, key := range oddKeys() {
			use(t, r, key, later, false)
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, r storage.ReplayStore) {
		_, err := r.Use(cancelled(t), "k", time.Now().Add(time.Hour))
		is(t, "Use", err, context.Canceled)
		use(t, r, "k", time.Now().Add(time.Hour), true)
	}},
}

// oddKeys returns keys that are all different.
func oddKeys() []string {
	all := slices.Concat(hostile, unicode, alike)
	for i := range 50 {
		all = append(all, fmt.Sprint("key ", i))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rateText returns a rate such as "20 in 20h0m0s".
func rateText(r storage.Rate) string { return fmt.Sprintf("%d in %v", r.Events, r.Per) }

// fill takes what a rate allows at once.
func fill(t *testing.T, l storage.Limiter, key string, r storage.Rate) {
	t.Helper()
	for i := range r.Events {
		if wait, err := l.Take(t.Context(), key, r); err != nil || wait > 0 {
			t.Fatalf("Take(%.20q) at %v, event %d: wait %v, error %v, want no wait", key, rateText(r), i+1, wait, err)
		}
	}
}

// refused fails the test unless the limiter refuses an event, with a wait of at most one
// interval.
func refused(t *testing.T, l storage.Limiter, key string, r storage.Rate) {
	t.Helper()
	wait, err := l.Take(t.Context(), key, r)
	ok(t, err)
	if interval := r.Per / time.Duration(r.Events); wait <= 0 || wait > interval {
		t.Errorf("Take(%.20q) at %v, when the rate is reached: wait %v, want more than nothing and at most %v", key, rateText(r), wait, interval)
	}
}

// use uses a value, and fails the test unless want says whether it was the first use.
func use(t *testing.T, r storage.ReplayStore, key string, expires time.Time, want bool) {
	t.Helper()
	first, err := r.Use(t.Context(), key, expires)
	if err != nil || first != want {
		t.Errorf("Use(%.20q): first %v, error %v, want %v", key, first, err, want)
	}
}
