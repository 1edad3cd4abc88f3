package kvstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// forgetful is a store that forgets each record and each entry as early as it may.
type forgetful struct {
	*memory
	now *time.Time
}

func (f forgetful) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	over := func(until time.Time) bool { return !until.IsZero() && until.Before(*f.now) }
	for k, r := range f.records {
		if over(r.Until) {
			delete(f.records, k)
		}
	}
	for _, entries := range f.owned {
		for k, until := range entries {
			if over(until) {
				delete(entries, k)
			}
		}
	}
}

// walk is a random life of one user's sessions.
type walk struct {
	store  *kvstore.Store
	conn   forgetful
	random *mathrand.Rand
	opened int
}

func (w *walk) token() string { return fmt.Sprint(w.random.IntN(w.opened + 1)) }

func (w *walk) life() time.Duration { return time.Duration(w.random.IntN(40*24)) * time.Hour }

// step does what users, their browsers and time do, and says what it was.
func (w *walk) step(ctx context.Context) (what string, err error) {
	switch w.random.IntN(8) {
	case 0, 1, 2:
		w.opened++
		row := storage.StoredSession{Token: fmt.Sprint(w.opened), UserID: "ada", Expires: w.conn.now.Add(w.life() - 48*time.Hour)}
		return "sign-in", w.store.CreateSession(ctx, row)
	case 3, 4:
		if err := w.store.UpdateSession(ctx, w.token(), w.conn.now.Add(w.life())); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return "renewal", err
		}
		return "renewal", nil
	case 5:
		if _, err := w.store.DeleteSession(ctx, w.token()); err != nil && !errors.Is(err, storage.ErrNotFound) {
			return "sign-out", err
		}
		return "sign-out", nil
	case 6:
		_, err := w.store.ListSessions(ctx, "ada")
		return "list", err
	}
	*w.conn.now = w.conn.now.Add(w.life())
	w.conn.forget()
	return "time", nil
}

// unlisted returns an error if a record of a session is kept longer than its entry.
func (w *walk) unlisted() error {
	for k, r := range w.conn.records {
		var of storedOwner
		if k.Kind != kvstore.KindSession || r.IsVoid() || json.Unmarshal(r.Value, &of) != nil {
			continue
		}
		if !w.conn.lists("ada", r, of.Entry) {
			return fmt.Errorf("session %.6s is in no list, or leaves it too early", k.Name)
		}
	}
	return nil
}

// TestListsEndWithTheirSessions: R-541, for random sign-ins, renewals, sign-outs and
// times. A session that is kept is in the list of its user; once the last session has
// expired, nothing is left, although nothing but the store has removed it. An entry that
// is kept for ever, as each was once, fails it at the first walk, and so does a renewal
// that lengthens the record alone.
func TestListsEndWithTheirSessions(t *testing.T) {
	seed, steps := race.Steps(t, 20_000)
	ctx, random := t.Context(), mathrand.New(mathrand.NewPCG(seed, 0))
	for done := 0; done < steps; {
		now := time.Now()
		w := &walk{conn: forgetful{newMemory(), &now}, random: random}
		w.store = kvstore.New(w.conn, kvstore.Options{Now: func() time.Time { return now }})
		for range 100 {
			done++
			what, err := w.step(ctx)
			if err == nil {
				err = w.unlisted()
			}
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		now = now.Add(41 * 24 * time.Hour)
		w.conn.forget()
		if left := len(w.conn.owned["ada"]); left > 0 {
			t.Fatalf("R-541: %d entries are left of a user whose sessions have all expired", left)
		}
	}
}

// TestSignOutEverywhereLeavesNoEntries: R-541, where a store forgets nothing by itself and
// entries are left over.
func TestSignOutEverywhereLeavesNoEntries(t *testing.T) {
	m := newMemory()
	s := kvstore.New(m, kvstore.Options{})
	openAll(t, s, "ada", 3)
	leaveOver(t, m, "ada", 500)
	if n, err := s.DeleteSessions(t.Context(), "ada", ""); err != nil || n != 3 {
		t.Fatalf("%d sessions ended, error %v", n, err)
	}
	if left := len(m.owned["ada"]); left > 0 {
		t.Errorf("%d entries are left", left)
	}
}
