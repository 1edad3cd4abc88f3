package kvstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
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
func accountOf(t *testing.T, s *kvstore.Store, id string) storage.Account {
	t.Helper()
	if _, err := s.CreateUser(t.Context(), storage.User{ID: id, Email: id + "@example.com"}); err != nil {
		t.Fatal(err)
	}
	a := storage.Account{UserID: id, Provider: "acme", ProviderAccountID: id, Type: storage.TypeOIDC}
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

// leaveOver adds sessions to a user's list whose records never came.
func leaveOver(t *testing.T, m *memory, user string, n int) {
	t.Helper()
	for i := range n {
		if err := m.Own(t.Context(), user, kvstore.Key{Kind: kvstore.KindSession, Name: fmt.Sprintf("left%d=part", i)}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

func openAll(t *testing.T, s *kvstore.Store, user string, n int) {
	t.Helper()
	for i := range n {
		row := storage.StoredSession{Token: fmt.Sprint(user, i), ID: fmt.Sprint(i), UserID: user, Expires: time.Now().Add(time.Hour)}
		if err := s.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
}

// repeating loses the answer of a put: what it calls happens before it asks again.
type repeating struct {
	*memory
	meanwhile func()
}

func (f *repeating) Put(ctx context.Context, r kvstore.Record, over string) error {
	err := f.memory.Put(ctx, r, over)
	if meanwhile := f.meanwhile; meanwhile != nil && err == nil {
		f.meanwhile = nil
		meanwhile()
		return f.memory.Put(ctx, r, over)
	}
	return err
}

// TestRenewedBeforeItsCreationIsAnswered: R-740. A session that is renewed before its
// creation is answered stays in the list of its user, so that ending all reaches it.
func TestRenewedBeforeItsCreationIsAnswered(t *testing.T) {
	ctx, c := t.Context(), &repeating{memory: newMemory()}
	s := kvstore.New(c, kvstore.Options{})
	_ = accountOf(t, s, "ada")
	c.meanwhile = func() {
		if err := s.UpdateSession(ctx, "token", time.Now().Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateSession(ctx, storage.StoredSession{Token: "token", UserID: "ada", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.DeleteSessions(ctx, "ada", ""); n != 1 || err != nil {
		t.Errorf("%d sessions ended, %v, want 1", n, err)
	}
	if _, err := s.GetSession(ctx, "token"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the session after all were ended: %v", err)
	}
}

// TestLeftOverEntriesFailNobody: entries that cannot be removed are nothing to
// who reads a list or ends what is on it.
func TestLeftOverEntriesFailNobody(t *testing.T) {
	ctx, c := t.Context(), &watched{memory: newMemory()}
	s := kvstore.New(c, kvstore.Options{})
	_ = accountOf(t, s, "ada")
	openAll(t, s, "ada", 3)
	leaveOver(t, c.memory, "ada", 5)
	refused := 0
	c.before = func(r kvstore.Record) error {
		if r.IsVoid() && strings.HasPrefix(r.Name, "left") {
			refused++
			return errUnreachable
		}
		return nil
	}
	if list, err := s.ListSessions(ctx, "ada"); err != nil || len(list) != 3 || refused != 1 {
		t.Errorf("listed are %d sessions, error %v, after %d refusals", len(list), err, refused)
	}
	if list, err := s.ListAccounts(ctx, "ada"); err != nil || len(list) != 1 {
		t.Errorf("listed are %d accounts, error %v", len(list), err)
	}
	if n, err := s.DeleteSessions(ctx, "ada", "1"); err != nil || n != 2 {
		t.Errorf("%d sessions ended, error %v", n, err)
	}
	if _, err := s.DeleteUser(ctx, "ada"); err != nil {
		t.Errorf("the deletion: %v", err)
	}
}

// TestOneSessionThatStaysKeepsNoOther: what can be ended is.
func TestOneSessionThatStaysKeepsNoOther(t *testing.T) {
	ctx, c := t.Context(), &watched{memory: newMemory()}
	s := kvstore.New(c, kvstore.Options{})
	openAll(t, s, "ada", 5)
	once := true
	c.before = func(r kvstore.Record) error {
		if r.IsVoid() && once {
			once = false
			return errUnreachable
		}
		return nil
	}
	if n, err := s.DeleteSessions(ctx, "ada", ""); n != 4 || !errors.Is(err, errUnreachable) {
		t.Errorf("%d sessions ended, error %v", n, err)
	}
	if list, err := s.ListSessions(ctx, "ada"); err != nil || len(list) != 1 {
		t.Errorf("listed are %d sessions, error %v", len(list), err)
	}
}

// cut ends a call after so many reads.
type cut struct {
	*memory
	reads atomic.Int64
}

func newCut(m *memory, reads int64) *cut {
	c := &cut{memory: m}
	c.reads.Store(reads)
	return c
}

func (c *cut) Get(ctx context.Context, keys ...kvstore.Key) ([]kvstore.Record, error) {
	if c.reads.Add(-1) < 0 {
		return nil, errUnreachable
	}
	return c.memory.Get(ctx, keys...)
}

// TestLongLists are read in pages, so that one which is too long to be read in
// time grows shorter, and nothing of one is left of a user who is deleted.
func TestLongLists(t *testing.T) {
	ctx, m := t.Context(), newMemory()
	s := kvstore.New(m, kvstore.Options{})
	_ = accountOf(t, s, "ada")
	openAll(t, s, "ada", 250)
	leaveOver(t, m, "ada", 500)
	before := len(m.owned["ada"])
	if _, err := kvstore.New(newCut(m, 21), kvstore.Options{}).ListSessions(ctx, "ada"); !errors.Is(err, errUnreachable) {
		t.Errorf("a list that is cut: %v", err)
	}
	if after := len(m.owned["ada"]); after >= before {
		t.Errorf("of %d entries %d are left", before, after)
	}
	if list, err := s.ListSessions(ctx, "ada"); err != nil || len(list) != 250 {
		t.Errorf("listed are %d sessions, error %v", len(list), err)
	}
	if _, err := s.DeleteUser(ctx, "ada"); err != nil {
		t.Fatal(err)
	}
	if left := len(m.owned["ada"]); left > 0 {
		t.Errorf("%d entries are left of a deleted user", left)
	}
}
