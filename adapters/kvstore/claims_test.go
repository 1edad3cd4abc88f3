package kvstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestEvictedClaim: R-546, a server that evicts keys takes away the claim to an e-mail
// address. The next sign-in of its user writes it anew, and the address stays theirs.
func TestEvictedClaim(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	s := kvstore.New(m, kvstore.Options{})
	_ = accountOf(t, s, "ada")
	for k := range m.records {
		if k.Kind == kvstore.KindEmail {
			delete(m.records, k)
		}
	}
	if u, err := s.GetUserByAccount(ctx, "acme", "ada"); err != nil || u.ID != "ada" {
		t.Fatalf("the sign-in is of %q, error %v", u.ID, err)
	}
	if u, err := s.GetUserByEmail(ctx, "ada@example.com"); err != nil || u.ID != "ada" {
		t.Errorf("the address is of %q, error %v", u.ID, err)
	}
	if _, err := s.CreateUser(ctx, storage.User{Email: "ada@example.com"}); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("a second user with the address: error %v", err)
	}
	if err := oneAddressOneUser(m); err != nil {
		t.Error(err)
	}
}

// TestClockThatStepsBack: R-546, a limiter whose clock is set back by a day refuses for
// one period at most.
func TestClockThatStepsBack(t *testing.T) {
	now := time.Now()
	s := kvstore.New(newMemory(), kvstore.Options{Now: func() time.Time { return now }})
	rate := storage.Rate{Events: 3, Per: time.Minute}
	for range rate.Events {
		if wait, err := s.Take(t.Context(), "k", rate); err != nil || wait > 0 {
			t.Fatalf("wait %v, error %v", wait, err)
		}
	}
	now = now.Add(-24 * time.Hour)
	if wait, err := s.Take(t.Context(), "k", rate); err != nil || wait > rate.Per {
		t.Errorf("after the step: wait %v, error %v", wait, err)
	}
	now = now.Add(rate.Per)
	if wait, err := s.Take(t.Context(), "k", rate); err != nil || wait > 0 {
		t.Errorf("a period later: wait %v, error %v", wait, err)
	}
}
