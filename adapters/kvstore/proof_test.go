package kvstore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// scene is operations on one person, two or three, and who signs in afterwards.
type scene struct {
	name    string
	begin   []actor // who has signed up before
	ops     []operation
	actors  []actor                             // who signs in afterwards, in this order
	verdict func(m *memory, errs []error) error // of what came of it without a fault
}

var (
	ada  = actor{"ada", "ada@example.com"}
	eve  = actor{"eve", "eve@example.com"}
	fake = actor{"fake", "ada@example.com"} // says it is Ada
	mia  = actor{"mia", "mia@example.com"}
	soon = actor{"soon", "new@example.com"}
	gone = actor{"gone", "gone@example.com"} // was deleted, and the deletion cut short
)

func idOf(a actor) string { return "user-of-" + a.account }

func signsIn(a actor) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		_, err := signIn(ctx, s, a)
		return err
	}
}

func creates(id, email string) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		_, err := s.CreateUser(ctx, storage.User{ID: id, Email: email})
		return err
	}
}

func deletes(a actor) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		_, err := s.DeleteUser(ctx, idOf(a))
		return err
	}
}

func moves(a actor, email string) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		u, err := s.UpdateUser(ctx, idOf(a), storage.UserChange{Name: new("moved"), Email: &email})
		if err == nil && (u.Email != email || u.Name != "moved") {
			return fmt.Errorf("the user is %s at %s", u.Name, u.Email)
		}
		return err
	}
}

func links(a actor, account string) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		return s.LinkAccount(ctx, storage.Account{UserID: idOf(a), Provider: "acme", ProviderAccountID: account, Type: storage.TypeOIDC})
	}
}

func unlinks(account string) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		_, err := s.UnlinkAccount(ctx, "acme", account)
		return err
	}
}

func opens(a actor, token string) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		return s.CreateSession(ctx, storage.StoredSession{Token: token, UserID: idOf(a), Expires: time.Now().Add(time.Hour)})
	}
}

func renews(token string, by time.Duration) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		return s.UpdateSession(ctx, token, time.Now().Add(by))
	}
}

func then(first, second operation) operation {
	return func(ctx context.Context, s *kvstore.Store) error { return errors.Join(first(ctx, s), second(ctx, s)) }
}

func lists(a actor) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		_, err := s.ListSessions(ctx, idOf(a))
		return err
	}
}

func listsAccounts(a actor) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		_, err := s.ListAccounts(ctx, idOf(a))
		return err
	}
}

func endsAll(a actor) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		_, err := s.DeleteSessions(ctx, idOf(a), "")
		return err
	}
}

func beginsSignUp(id string) operation {
	return func(ctx context.Context, s *kvstore.Store) error {
		got, err := s.BeginSignUp(ctx, "acme", mia.account, id)
		if err == nil && got != id {
			return storage.ErrConflict
		}
		return err
	}
}

// scenes are those of S-048, and more.
var scenes = []scene{
	{"create and create with one address", []actor{eve}, []operation{creates("1", ada.email), creates("2", ada.email)}, []actor{ada, eve}, exactlyOne},
	{"create twice with one id", []actor{eve}, []operation{creates("1", ada.email), creates("1", mia.email)}, []actor{ada, mia, eve}, exactlyOne},
	{"create and delete", []actor{ada}, []operation{creates("1", ada.email), deletes(ada)}, []actor{ada, eve}, nil},
	{"sign-up and delete", []actor{ada}, []operation{signsIn(fake), deletes(ada)}, []actor{ada, fake, eve}, nil},
	{"sign-in and delete", []actor{ada}, []operation{signsIn(ada), deletes(ada)}, []actor{ada, fake}, nil},
	{"delete, and delete and sign up again", []actor{ada}, []operation{deletes(ada), then(deletes(ada), signsIn(ada))}, []actor{ada, fake}, nil},
	{"link, and delete and sign up again", []actor{ada}, []operation{links(ada, "mia"), then(deletes(ada), signsIn(ada))}, []actor{mia, eve}, nil},
	{"delete and delete", []actor{ada}, []operation{deletes(ada), deletes(ada)}, []actor{ada, fake}, nil},
	{"change of address and create with the new one", []actor{ada}, []operation{moves(ada, soon.email), creates("1", soon.email)}, []actor{ada, soon, eve}, exactlyOne},
	{"change of address and create with the old one", []actor{ada}, []operation{moves(ada, soon.email), creates("1", ada.email)}, []actor{ada, soon, eve}, nil},
	{"change of address and delete", []actor{ada}, []operation{moves(ada, soon.email), deletes(ada)}, []actor{ada, soon, eve}, nil},
	{"two change to one address", []actor{ada, eve}, []operation{moves(ada, soon.email), moves(eve, soon.email)}, []actor{ada, eve, soon}, exactlyOne},
	{"one changes to two addresses", []actor{ada}, []operation{moves(ada, soon.email), moves(ada, mia.email)}, []actor{ada, soon, mia, eve}, nobodyLost},
	{"there and back", []actor{ada}, []operation{moves(ada, soon.email), moves(ada, ada.email)}, []actor{ada, fake, soon}, nobodyLost},
	{"two swap their addresses", []actor{ada, eve}, []operation{moves(ada, eve.email), moves(eve, ada.email)}, []actor{ada, eve, fake}, nil},
	{"link and delete", []actor{ada}, []operation{links(ada, "mia"), deletes(ada)}, []actor{mia, eve, fake}, nil},
	{"link and link to another", []actor{ada, eve}, []operation{links(ada, "mia"), links(eve, "mia")}, []actor{eve}, exactlyOne},
	{"link and unlink", []actor{ada, mia}, []operation{links(mia, "fake"), unlinks("fake")}, []actor{ada, mia}, nil},
	{"unlink and unlink", []actor{ada, mia}, []operation{unlinks("mia"), unlinks("mia")}, []actor{ada}, exactlyOne},
	{"begin a sign-up twice", []actor{ada}, []operation{beginsSignUp("1"), beginsSignUp("2")}, []actor{mia, ada}, exactlyOne},
	{"one signs up in two windows", nil, []operation{signsIn(ada), signsIn(ada)}, []actor{ada, fake, eve}, nil},
	{"two sign up with one address", nil, []operation{signsIn(ada), signsIn(fake)}, []actor{ada, fake, eve}, nil},
	{"open a session and look at the list", []actor{ada}, []operation{opens(ada, "t"), lists(ada)}, []actor{ada, eve}, nobodyLost},
	{"open a session and end all", []actor{ada}, []operation{opens(ada, "t"), endsAll(ada)}, []actor{ada, eve}, nobodyLost},
	{"end all and look at the list", []actor{ada}, []operation{endsAll(ada), lists(ada)}, []actor{ada, eve}, nobodyLost},
	{"open a session and delete", []actor{ada}, []operation{opens(ada, "t"), deletes(ada)}, []actor{ada, eve}, nobodyLost},
	{"renew a session and look at the list", []actor{ada}, []operation{then(opens(ada, "t"), renews("t", 48*time.Hour)), lists(ada)}, []actor{ada, eve}, nobodyLost},
	{"renew a session and end all", []actor{ada}, []operation{then(opens(ada, "t"), renews("t", 48*time.Hour)), endsAll(ada)}, []actor{ada, eve}, nil},
	{"renew a session to two times", []actor{ada}, []operation{then(opens(ada, "t"), renews("t", 48*time.Hour)), renews("t", 72*time.Hour)}, []actor{ada, eve}, nil},
	{"link what a half-deleted user had and look at the list", []actor{gone, eve}, []operation{links(eve, gone.account), listsAccounts(eve)}, []actor{eve}, nobodyLost},
	{"link what a half-deleted user had, look at the list and finish", []actor{gone, eve}, []operation{links(eve, gone.account), listsAccounts(eve), deletes(gone)}, []actor{eve}, nobodyLost},
}

// exactlyOne: one succeeds, and the other learns that somebody was faster.
func exactlyOne(_ *memory, errs []error) error {
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	if won != 1 {
		return fmt.Errorf("%d have succeeded: %v", won, errs)
	}
	return nil
}

func nobodyLost(_ *memory, errs []error) error { return errors.Join(errs...) }

// open makes the store as it is when the scene begins.
func (sc *scene) open(t *testing.T) func() *memory {
	t.Helper()
	m := newMemory()
	for _, a := range sc.begin {
		if _, err := signIn(t.Context(), kvstore.New(m, kvstore.Options{}), a); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Contains(sc.begin, gone) {
		cut := &turns{memory: m, yield: func(call) bool { return true }, fault: fault{kind: stopped, step: 1}}
		if err := deletes(gone)(t.Context(), kvstore.New(cut, kvstore.Options{})); !errors.Is(err, errFault) {
			t.Fatal(err)
		}
	}
	return m.clone
}

func (m *memory) clone() *memory {
	out := &memory{records: maps.Clone(m.records), owned: map[string]map[kvstore.Key]time.Time{}}
	for user, keys := range m.owned {
		out.owned[user] = maps.Clone(keys)
	}
	return out
}

// holds checks the four invariants, before and after everybody has signed in.
func (sc *scene) holds(f fault) func(*run) error {
	ctx := context.Background()
	return func(r *run) error {
		m := r.memory
		if f.kind == noFault && sc.verdict != nil {
			if err := sc.verdict(m, r.errs); err != nil {
				return err
			}
		}
		if err := errors.Join(oneAddressOneUser(m), ownAccounts(ctx, m, sc.actors)); err != nil {
			return err
		}
		if err := listed(ctx, m); err != nil {
			return err
		}
		if err := letIn(ctx, m, sc.actors); err != nil {
			return err
		}
		return errors.Join(oneAddressOneUser(m), ownAccounts(ctx, m, sc.actors))
	}
}

// most is how many orders are tried of those that are too many for every day.
func most(usual int) int { return usual * times }

// S-048: operations on one person meet in every order.
func TestEveryOrder(t *testing.T) {
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			begun := time.Now()
			n, steps, err := explore(sc.open(t), sc.ops, fault{}, most(1_000), sc.holds(fault{}))
			if err != nil && !errors.Is(err, errLimit) {
				t.Fatalf("order %d: %v", n, err)
			}
			t.Logf("%d orders of %v steps; all: %t %v", n, steps, err == nil, time.Since(begun))
		})
	}
}

// S-049, S-050: each step of each operation is the last of its process, is
// repeated after a lost answer, or is answered with an error, be it done or not;
// the others meet it in every order.
func TestEveryFault(t *testing.T) {
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			begun := time.Now()
			_, steps, err := explore(sc.open(t), sc.ops, fault{}, 1, func(*run) error { return nil })
			if err != nil && !errors.Is(err, errLimit) {
				t.Fatal(err)
			}
			orders, faults, all := 0, 0, true
			for op := range sc.ops {
				for at := range steps[op] {
					for _, kind := range faultKinds {
						f := fault{kind, op, at}
						n, _, err := explore(sc.open(t), sc.ops, f, most(10), sc.holds(f))
						if err != nil && !errors.Is(err, errLimit) {
							t.Fatalf("step %d of %c is %s, order %d: %v", at, 'A'+op, kind, n, err)
						}
						orders, faults, all = orders+n, faults+1, all && err == nil
					}
				}
			}
			t.Logf("%d orders of %d faults; all: %t %v", orders, faults, all, time.Since(begun))
		})
	}
}

// TestManyOrders tries orders far apart from each other, for the pairs that have
// too many for all of them.
func TestManyOrders(t *testing.T) {
	for _, sc := range scenes {
		t.Run(sc.name, func(t *testing.T) {
			open, holds := sc.open(t), sc.holds(fault{})
			for seed := range uint64(100 * min(times, 100)) {
				r := sample(open(), sc.ops, mathrand.New(mathrand.NewPCG(seed, 0)))
				if err := holds(r); err != nil {
					t.Fatalf("seed %d: %v%v", seed, err, r.trace)
				}
			}
		})
	}
}
