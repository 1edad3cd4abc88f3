package kvstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/kvstore"
)

// watched asks before each put.
type watched struct {
	*memory
	before func(r kvstore.Record) error
}

func (w *watched) Put(ctx context.Context, r kvstore.Record, over string) error {
	if w.before != nil {
		if err := w.before(r); err != nil {
			return err
		}
	}
	return w.memory.Put(ctx, r, over)
}

var errUnreachable = errors.New("the store cannot be reached")

// accountOf signs somebody up and returns the account.
func accountOf(t *testing.T, s *kvstore.Store, id string) latchkey.Account {
	t.Helper()
	if _, err := s.CreateUser(t.Context(), latchkey.User{ID: id, Email: id + "@example.com"}); err != nil {
		t.Fatal(err)
	}
	a := latchkey.Account{UserID: id, Provider: "acme", ProviderAccountID: id, Type: latchkey.TypeOIDC}
	if err := s.LinkAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAccountOfAHalfDeletedUserIsListed: whoever links it while somebody else
// looks at their list has it there.
func TestAccountOfAHalfDeletedUserIsListed(t *testing.T) {
	ctx, c := t.Context(), &watched{memory: newMemory()}
	s := kvstore.New(c, kvstore.Options{})
	a := accountOf(t, s, "gone")
	_ = accountOf(t, s, "eve")
	c.before = func(r kvstore.Record) error {
		if r.Kind == kvstore.KindAccount {
			return errUnreachable
		}
		return nil
	}
	if _, err := s.DeleteUser(ctx, "gone"); !errors.Is(err, errUnreachable) {
		t.Fatalf("the deletion was not cut short: %v", err)
	}
	tries := 0
	c.before = func(r kvstore.Record) error {
		if r.Kind != kvstore.KindAccount || r.IsVoid() {
			return nil
		}
		if tries++; tries != 2 { // the first finds what is left of the former user
			return nil
		}
		_, err := s.ListAccounts(ctx, "eve")
		return err
	}
	a.UserID = "eve"
	if err := s.LinkAccount(ctx, a); err != nil || tries < 2 {
		t.Fatalf("linking: error %v after %d tries", err, tries)
	}
	if u, err := s.GetUserByAccount(ctx, "acme", "gone"); err != nil || u.ID != "eve" {
		t.Errorf("the account signs in as %q, error %v", u.ID, err)
	}
	if list, err := s.ListAccounts(ctx, "eve"); err != nil || len(list) != 2 {
		t.Errorf("listed are %v, error %v", list, err)
	}
}
