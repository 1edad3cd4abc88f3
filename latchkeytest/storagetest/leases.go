package storagetest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// errNotHeld is what hold returns to callers that did not get a lease.
var errNotHeld = errors.New("another holder has the lease")

// hold asks for a lease and returns errNotHeld if another holder has it. It fails the
// test if Wait does not fit Held and life.
func hold(t *testing.T, s storage.LeaseStore, key, holder string, life time.Duration) (storage.Lease, error) {
	t.Helper()
	given, err := s.Lease(t.Context(), key, holder, life)
	switch {
	case err != nil:
		return given, err
	case given.Held && given.Wait != 0:
		t.Errorf("Lease: held, and Wait is %v", given.Wait)
	case !given.Held && (given.Wait <= 0 || given.Wait > life):
		t.Errorf("Lease: Wait is %v, want more than 0 and at most %v", given.Wait, life)
	}
	if !given.Held {
		err = errNotHeld
	}
	return given, err
}

// holds ends the test unless holder gets the lease, and fails it unless Abandoned is as
// given.
func holds(t *testing.T, s storage.LeaseStore, key, holder string, life time.Duration, abandoned bool) {
	t.Helper()
	given, err := hold(t, s, key, holder, life)
	ok(t, err)
	if given.Abandoned != abandoned {
		t.Errorf("Lease: Abandoned is %v, want %v", given.Abandoned, abandoned)
	}
}

var leasePromises = []promise[storage.LeaseStore]{
	{"one holder has a lease, and others learn how long to wait", func(t *testing.T, s storage.LeaseStore) {
		holds(t, s, "k", "a", time.Hour, false)
		_, err := hold(t, s, "k", "b", time.Hour)
		is(t, "Lease of another holder", err, errNotHeld)
		holds(t, s, "other", "b", time.Hour, false)
	}},
	{"the holder extends its lease", func(t *testing.T, s storage.LeaseStore) {
		holds(t, s, "k", "a", time.Minute, false)
		holds(t, s, "k", "a", time.Hour, false)
		given, err := s.Lease(t.Context(), "k", "b", time.Minute)
		ok(t, err)
		if given.Held || given.Wait <= time.Minute {
			t.Errorf("after the extension: held %v, wait %v, want more than a minute", given.Held, given.Wait)
		}
	}},
	{"a released lease is free, and was not abandoned", func(t *testing.T, s storage.LeaseStore) {
		holds(t, s, "k", "a", time.Hour, false)
		ok(t, s.Release(t.Context(), "k", "a"))
		ok(t, s.Release(t.Context(), "k", "a"))
		holds(t, s, "k", "b", time.Hour, false)
	}},
	{"nobody else ends a lease", func(t *testing.T, s storage.LeaseStore) {
		ok(t, s.Release(t.Context(), "never given", "a"))
		holds(t, s, "k", "a", time.Hour, false)
		ok(t, s.Release(t.Context(), "k", "b"))
		_, err := hold(t, s, "k", "b", time.Hour)
		is(t, "Lease after Release by another holder", err, errNotHeld)
	}},
	{"an expired lease is free, and was abandoned", func(t *testing.T, s storage.LeaseStore) {
		holds(t, s, "k", "a", 20*time.Millisecond, false)
		if given := outlast(t, s, "k", "b", time.Hour); !given.Abandoned {
			t.Error("Lease: Abandoned is false, want true")
		}
		_, err := hold(t, s, "k", "a", time.Hour)
		is(t, "Lease of the former holder", err, errNotHeld)
		ok(t, s.Release(t.Context(), "k", "a"))
		holds(t, s, "k", "b", time.Hour, false)
		ok(t, s.Release(t.Context(), "k", "b"))
		holds(t, s, "k", "a", time.Hour, false)
	}},
	{"of 100 callers at once one gets the lease", func(t *testing.T, s storage.LeaseStore) {
		oneWins(t, "Lease", race.Run(crowd, func(i int) error {
			given, err := s.Lease(t.Context(), "k", strconv.Itoa(i), time.Hour)
			if err == nil && !given.Held {
				err = errNotHeld
			}
			return err
		}), errNotHeld)
	}},
	{"keys are compared exactly", func(t *testing.T, s storage.LeaseStore) {
		keys := []string{"k", "K", "k ", " k", "ké", "k:1", "k/1", "k%", "k_", "'", strings.Repeat("x", 200), strings.Repeat("x", 199)}
		for i, key := range keys {
			holds(t, s, key, strconv.Itoa(i), time.Hour, false)
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, s storage.LeaseStore) {
		_, err := s.Lease(cancelled(t), "k", "a", time.Hour)
		is(t, "Lease", err, context.Canceled)
		is(t, "Release", s.Release(cancelled(t), "k", "a"), context.Canceled)
		holds(t, s, "k", "b", time.Hour, false)
	}},
}

// leaseSweepPromises are those of a SweepAdapter that is a LeaseStore, too.
var leaseSweepPromises = []promise[sweepStore]{
	{"R-808 a lease is removed a day after it expired, and not before", func(t *testing.T, a sweepStore) {
		s, can := a.(storage.LeaseStore)
		if !can {
			return
		}
		const life = 20 * time.Millisecond
		if _, err := s.Lease(t.Context(), "k", "a", life); errors.Is(err, errors.ErrUnsupported) {
			return
		}
		now := time.Now() // the clock of the store may differ by some hours
		sweeps(t, a, now.Add(12*time.Hour), 0)
		if given := outlast(t, s, "k", "b", life); !given.Abandoned {
			t.Error("after Sweep at an instant less than a day after the expiry: Abandoned is false, want true")
		}
		sweeps(t, a, now.Add(36*time.Hour), 1)
		holds(t, s, "k", "c", time.Hour, false)
	}},
}

// sweeps fails the test unless Sweep removes want rows.
func sweeps(t *testing.T, a storage.SweepAdapter, before time.Time, want int) {
	t.Helper()
	if n, err := a.Sweep(t.Context(), before); err != nil || n != want {
		t.Errorf("Sweep: %d removed, error %v, want %d", n, err, want)
	}
}

// outlast asks for a lease until holder has it, and returns the last answer.
func outlast(t *testing.T, s storage.LeaseStore, key, holder string, life time.Duration) (given storage.Lease) {
	t.Helper()
	for !given.Held { // by the store's clock
		var err error
		if given, err = s.Lease(t.Context(), key, holder, life); err != nil {
			t.Fatal(err)
		}
		time.Sleep(min(given.Wait+time.Millisecond, time.Second))
	}
	return given
}
