package kvstore_test

import (
	"context"
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

// cutWrites is a store whose process dies at a write: that write and all later ones fail.
type cutWrites struct {
	*memory
	writes int // that succeed
}

var errCut = errors.New("the process is gone")

func (c *cutWrites) Put(ctx context.Context, r kvstore.Record, over string) error {
	if c.writes--; c.writes < 0 {
		return errCut
	}
	return c.memory.Put(ctx, r, over)
}

// TestConflictCompletesTheOther: R-188, a call that is told of a conflict has completed the
// user whom it is about. The sign-up of that user was cut off after the claim to the
// e-mail address; if the server then evicts the claim, the user still exists.
func TestConflictCompletesTheOther(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	cutOff := &cutWrites{m, 2} // the user and the claim, and not the step that makes the user whole
	if _, err := kvstore.New(cutOff, kvstore.Options{}).CreateUser(ctx, storage.User{ID: "ada", Email: "ada@example.com"}); !errors.Is(err, errCut) {
		t.Fatalf("the first sign-up ended in %v", err)
	}
	s := kvstore.New(m, kvstore.Options{})
	if _, err := s.CreateUser(ctx, storage.User{ID: "eve", Email: "ada@example.com"}); !errors.Is(err, storage.ErrConflict) {
		t.Fatalf("the second sign-up ended in %v", err)
	}
	for k := range m.records {
		if k.Kind == kvstore.KindEmail {
			delete(m.records, k)
		}
	}
	if u, err := s.GetUser(ctx, "ada"); err != nil || u.Email != "ada@example.com" {
		t.Errorf("R-188: the user of the conflict is %q, error %v", u.Email, err)
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
