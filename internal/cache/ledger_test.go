package cache

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/testclock"
)

func newLedger(evict bool) (*Ledger, *testclock.Clock) {
	clock := testclock.New(time.Unix(1e9, 0))
	return NewLedger(LedgerRules{Size: 16, Share: 4, Evict: evict, Now: clock.Now}), clock
}

// until records that key counts for d, and reports whether there was room.
func until(l *Ledger, key, owner string, d time.Duration) bool {
	return l.Update(key, owner, func(_, now time.Time) time.Time { return now.Add(d) })
}

func known(l *Ledger, key string) (found bool) {
	l.Update(key, "", func(expires, _ time.Time) time.Time {
		found = !expires.IsZero()
		return expires
	})
	return found
}

func TestLedger(t *testing.T) {
	t.Run("a key counts until its instant", func(t *testing.T) {
		l, clock := newLedger(false)
		if known(l, "a") || l.Len() != 0 {
			t.Error("something is known of nothing")
		}
		until(l, "a", "", time.Minute)
		clock.Advance(time.Minute - 1)
		if !known(l, "a") {
			t.Error("it has passed too early")
		}
		clock.Advance(1)
		if known(l, "a") {
			t.Error("it has not passed")
		}
	})
	t.Run("it can be moved and deleted", func(t *testing.T) {
		l, clock := newLedger(false)
		until(l, "a", "", time.Minute)
		until(l, "a", "", time.Hour)
		clock.Advance(30 * time.Minute)
		if !known(l, "a") || l.Len() != 1 {
			t.Error("it was not moved")
		}
		l.Delete("a")
		l.Delete("a")
		if known(l, "a") || l.Len() != 0 {
			t.Error("it was not deleted")
		}
	})
	t.Run("what has passed makes room", func(t *testing.T) {
		l, clock := newLedger(false)
		for i := range 16 {
			until(l, fmt.Sprint(i), "", time.Minute)
		}
		if until(l, "new", "", time.Hour) {
			t.Error("there was no room")
		}
		clock.Advance(time.Minute)
		if !until(l, "new", "", time.Hour) || l.Len() != 1 {
			t.Errorf("%d keys", l.Len())
		}
	})
	t.Run("many at once", func(t *testing.T) {
		l, _ := newLedger(true)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 500 {
					until(l, fmt.Sprint(i+j%7), fmt.Sprint(i%3), time.Duration(j)*time.Second)
					l.Delete(fmt.Sprint(j % 5))
				}
			})
		}
		wg.Wait()
		if l.Len() > 16 || len(l.soonest) != l.Len() {
			t.Errorf("%d keys, %d by expiry", l.Len(), len(l.soonest))
		}
	})
}

func TestLedgerUnderFlood(t *testing.T) {
	fill := func(l *Ledger, owner string, n int) (added int) {
		for i := range n {
			if until(l, fmt.Sprint(owner, i), owner, time.Hour) {
				added++
			}
		}
		return added
	}
	t.Run("R-392 an owner may have its share once half is used", func(t *testing.T) {
		l, _ := newLedger(false)
		if n := fill(l, "flood", 100); n != 8 {
			t.Errorf("%d keys of the flood", n)
		}
		if n := fill(l, "other", 100); n != 4 {
			t.Errorf("%d keys of another owner", n)
		}
	})
	t.Run("R-392 beyond it the owner loses its oldest", func(t *testing.T) {
		l, _ := newLedger(true)
		until(l, "victim", "victim", time.Minute)
		fill(l, "flood", 100)
		if !known(l, "victim") || known(l, "flood0") || !known(l, "flood99") || l.Len() != 8 {
			t.Errorf("%d keys", l.Len())
		}
	})
	t.Run("R-392 a key that is updated is the newest of its owner", func(t *testing.T) {
		l, _ := newLedger(true)
		fill(l, "flood", 8)
		until(l, "flood0", "", 2*time.Hour)
		until(l, "flood8", "flood", time.Hour)
		if !known(l, "flood0") || known(l, "flood1") {
			t.Error("the wrong one is gone")
		}
	})
	t.Run("R-392 a flood without owner evicts what expires first", func(t *testing.T) {
		l, _ := newLedger(true)
		until(l, "long", "", 2*time.Hour)
		until(l, "short", "", time.Minute)
		fill(l, "", 15)
		if !known(l, "long") || known(l, "short") || l.Len() != 16 {
			t.Errorf("%d keys", l.Len())
		}
	})
}
