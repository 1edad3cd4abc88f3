package latchkeytest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

var errRollback = errors.New("the function changed its mind")

var txPromises = []promise[txStore]{
	{"what is committed is seen", func(t *testing.T, a txStore) {
		var u latchkey.User
		ok(t, a.InTx(t.Context(), func(tx latchkey.Adapter) error {
			u = signUp(t, tx, "ada@example.com")
			return nil
		}))
		readEverywhere(t, a, u)
		got, err := a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
		same(t, "owner", got, u)
	}},
	{"a transaction sees its own writes", func(t *testing.T, a txStore) {
		ok(t, a.InTx(t.Context(), func(tx latchkey.Adapter) error {
			u := signUp(t, tx, "ada@example.com")
			readEverywhere(t, tx, u)
			got, err := tx.UpdateUser(t.Context(), u.ID, latchkey.UserChange{Name: new("Countess")})
			ok(t, err)
			readEverywhere(t, tx, got)
			return nil
		}))
	}},
	{"R-185 an error rolls everything back and is passed on", func(t *testing.T, a txStore) {
		eve := newUser(t, a, "eve@example.com")
		err := a.InTx(t.Context(), func(tx latchkey.Adapter) error {
			signUp(t, tx, "ada@example.com")
			_, err := tx.UpdateUser(t.Context(), eve.ID, latchkey.UserChange{Name: new("Mallory"), Email: new("m@example.com")})
			ok(t, err)
			return fmt.Errorf("at the end: %w", errRollback)
		})
		is(t, "InTx", err, errRollback)
		untouched(t, a, eve)
	}},
	{"R-185 a panic rolls everything back and is passed on", func(t *testing.T, a txStore) {
		eve := newUser(t, a, "eve@example.com")
		func() {
			defer func() {
				if got := recover(); got != errRollback {
					t.Errorf("recovered %v, want what was panicked with", got)
				}
			}()
			_ = a.InTx(t.Context(), func(tx latchkey.Adapter) error {
				signUp(t, tx, "ada@example.com")
				panic(errRollback)
			})
		}()
		untouched(t, a, eve)
	}},
	{"a rolled back deletion did not happen", func(t *testing.T, a txStore) {
		u := signUp(t, a, "ada@example.com")
		err := a.InTx(t.Context(), func(tx latchkey.Adapter) error {
			if able, can := tx.(latchkey.UserDeletionAdapter); can {
				_, err := able.DeleteUser(t.Context(), u.ID)
				ok(t, err)
			}
			if able, can := tx.(latchkey.AccountAdapter); can {
				_, _ = able.UnlinkAccount(t.Context(), "acme", "1")
			}
			return errRollback
		})
		is(t, "InTx", err, errRollback)
		readEverywhere(t, a, u)
		_, err = a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
	}},
	{"the adapter of a transaction has the same abilities", func(t *testing.T, a txStore) {
		ok(t, a.InTx(t.Context(), func(tx latchkey.Adapter) error {
			for _, ability := range []reflect.Type{
				reflect.TypeFor[latchkey.SessionAdapter](), reflect.TypeFor[latchkey.SessionListAdapter](),
				reflect.TypeFor[latchkey.VerificationTokenAdapter](), reflect.TypeFor[latchkey.AccountAdapter](),
				reflect.TypeFor[latchkey.UserDeletionAdapter](), reflect.TypeFor[latchkey.AuthenticatorAdapter](),
				reflect.TypeFor[latchkey.SweepAdapter](), reflect.TypeFor[latchkey.RevocationStore](),
			} {
				if outside, inside := reflect.TypeOf(a).Implements(ability), reflect.TypeOf(tx).Implements(ability); outside && !inside {
					t.Errorf("%v is missing in a transaction", ability)
				}
			}
			return nil
		}))
	}},
	{"what is not found leaves the transaction usable", func(t *testing.T, a txStore) {
		var u latchkey.User
		ok(t, a.InTx(t.Context(), func(tx latchkey.Adapter) error {
			findNothing(t, tx)
			u = newUser(t, tx, "ada@example.com")
			findNothing(t, tx)
			link(t, tx, u, "1")
			return nil
		}))
		readEverywhere(t, a, u)
		got, err := a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
		same(t, "owner", got, u)
	}},
	{"a conflict is reported, and its error rolls everything back", func(t *testing.T, a txStore) {
		eve := taken(t, a)
		for name, refused := range conflicts {
			err := a.InTx(t.Context(), func(tx latchkey.Adapter) error {
				err := refused(t, tx, signUp(t, tx, "ada@example.com"))
				is(t, name, err, latchkey.ErrConflict)
				return err
			})
			is(t, "InTx after "+name, err, latchkey.ErrConflict)
			gone(t, a)
		}
		untouched(t, a, eve)
	}},
	{"after a conflict that is passed over, all is kept or nothing", func(t *testing.T, a txStore) {
		eve := taken(t, a)
		for name := range conflicts {
			passOver(t, a, name)
		}
		readEverywhere(t, a, eve)
	}},
	{"R-188 of many sign-ups of one person exactly one succeeds, whole", func(t *testing.T, a txStore) {
		oneWins(t, "sign-up", atOnce(16, func(i int) error {
			return a.InTx(t.Context(), func(tx latchkey.Adapter) error {
				u, err := tx.CreateUser(t.Context(), latchkey.User{Name: "Ada", Email: "ada@example.com"})
				if err != nil {
					return err
				}
				if err := tx.LinkAccount(t.Context(), latchkey.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: latchkey.TypeOIDC}); err != nil {
					return err
				}
				if able, can := tx.(latchkey.SessionAdapter); can {
					return able.CreateSession(t.Context(), latchkey.StoredSession{Token: fmt.Sprint("t", i), UserID: u.ID, Expires: instant})
				}
				return nil
			})
		}), latchkey.ErrConflict)
		byAccount, err := a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
		readEverywhere(t, a, byAccount)
	}},
	{"sign-ups of many people at once all succeed", func(t *testing.T, a txStore) {
		for _, err := range atOnce(16, func(i int) error {
			return a.InTx(t.Context(), func(tx latchkey.Adapter) error {
				u, err := tx.CreateUser(t.Context(), latchkey.User{Email: fmt.Sprintf("u%d@example.com", i)})
				if err != nil {
					return err
				}
				return tx.LinkAccount(t.Context(), latchkey.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: fmt.Sprint(i), Type: latchkey.TypeOIDC})
			})
		}) {
			ok(t, err)
		}
	}},
	{"a context that is cancelled on the way leaves all or nothing", func(t *testing.T, a txStore) {
		ctx, cancel := context.WithCancel(t.Context())
		err := a.InTx(ctx, func(tx latchkey.Adapter) error {
			u, err := tx.CreateUser(ctx, latchkey.User{Email: "ada@example.com"})
			ok(t, err)
			cancel()
			return tx.LinkAccount(ctx, latchkey.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1"})
		})
		is(t, "InTx", err, context.Canceled)
		_, err = a.GetUserByEmail(t.Context(), "ada@example.com")
		is(t, "GetUserByEmail", err, latchkey.ErrNotFound)
		signUp(t, a, "ada@example.com") // nothing is left locked
	}},
	{"a cancelled context starts nothing", func(t *testing.T, a txStore) {
		err := a.InTx(cancelled(t), func(tx latchkey.Adapter) error {
			_, err := tx.CreateUser(t.Context(), latchkey.User{Email: "ada@example.com"})
			return err
		})
		is(t, "InTx", err, context.Canceled)
		_, err = a.GetUserByEmail(t.Context(), "ada@example.com")
		is(t, "GetUserByEmail", err, latchkey.ErrNotFound)
	}},
	{"a waiting caller can be cancelled", func(t *testing.T, a txStore) {
		entered, leave := make(chan struct{}), make(chan struct{})
		enter := sync.OnceFunc(func() { close(entered) }) // the function may be called again
		done := make(chan error, 1)
		go func() {
			done <- a.InTx(t.Context(), func(tx latchkey.Adapter) error {
				_, err := tx.CreateUser(t.Context(), latchkey.User{Email: "ada@example.com"})
				enter()
				<-leave
				return err
			})
		}()
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := a.CreateUser(ctx, latchkey.User{Email: "ada@example.com"}) // waits for the other to end
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, latchkey.ErrConflict) {
			t.Errorf("CreateUser: got error %v, want %v", err, context.DeadlineExceeded)
		}
		close(leave)
		ok(t, <-done)
	}},
}

// signUp makes a user with an account and, where there are sessions, a session.
func signUp(t *testing.T, a latchkey.Adapter, email string) latchkey.User {
	t.Helper()
	u := newUser(t, a, email)
	link(t, a, u, "1")
	if able, can := a.(latchkey.SessionAdapter); can {
		ok(t, able.CreateSession(t.Context(), latchkey.StoredSession{Token: "t", UserID: u.ID, Expires: instant}))
	}
	return u
}

// findNothing looks for, and changes, what is not there.
func findNothing(t *testing.T, tx latchkey.Adapter) {
	t.Helper()
	_, err := tx.GetUser(t.Context(), "no such id")
	is(t, "GetUser", err, latchkey.ErrNotFound)
	_, err = tx.GetUserByEmail(t.Context(), "nobody@example.com")
	is(t, "GetUserByEmail", err, latchkey.ErrNotFound)
	_, err = tx.UpdateUser(t.Context(), "no such id", latchkey.UserChange{Name: new("Ada")})
	is(t, "UpdateUser", err, latchkey.ErrNotFound)
	if able, can := tx.(latchkey.SessionAdapter); can {
		_, err = able.DeleteSession(t.Context(), "no such token")
		is(t, "DeleteSession", err, latchkey.ErrNotFound)
	}
	if able, can := tx.(latchkey.VerificationTokenAdapter); can {
		_, err = able.UseVerificationToken(t.Context(), "nobody@example.com", "no such token")
		is(t, "UseVerificationToken", err, latchkey.ErrNotFound)
	}
}

// taken makes a user, and an account, that the calls of conflicts run into.
func taken(t *testing.T, a latchkey.Adapter) latchkey.User {
	t.Helper()
	eve := newUser(t, a, "eve@example.com")
	link(t, a, eve, "taken")
	return eve
}

// conflicts are calls that a unique key refuses.
var conflicts = map[string]func(t *testing.T, tx latchkey.Adapter, ada latchkey.User) error{
	"CreateUser": func(t *testing.T, tx latchkey.Adapter, _ latchkey.User) error {
		_, err := tx.CreateUser(t.Context(), latchkey.User{Email: "eve@example.com"})
		return err
	},
	"UpdateUser": func(t *testing.T, tx latchkey.Adapter, ada latchkey.User) error {
		_, err := tx.UpdateUser(t.Context(), ada.ID, latchkey.UserChange{Email: new("eve@example.com")})
		return err
	},
	"LinkAccount": func(t *testing.T, tx latchkey.Adapter, ada latchkey.User) error {
		return tx.LinkAccount(t.Context(), latchkey.Account{UserID: ada.ID, Provider: "acme", ProviderAccountID: "taken", Type: latchkey.TypeOIDC})
	},
}

// passOver runs into a conflict and goes on as if nothing had happened.
func passOver(t *testing.T, a txStore, name string) {
	t.Helper()
	var ada latchkey.User
	err := a.InTx(t.Context(), func(tx latchkey.Adapter) error {
		ada = newUser(t, tx, name+"@example.com")
		is(t, name, conflicts[name](t, tx, ada), latchkey.ErrConflict)
		// An engine that has ended the transaction refuses this.
		return tx.LinkAccount(t.Context(), latchkey.Account{UserID: ada.ID, Provider: "acme", ProviderAccountID: name, Type: latchkey.TypeOIDC})
	})
	owner, errOwner := a.GetUserByAccount(t.Context(), "acme", name)
	if err == nil {
		ok(t, errOwner)
		same(t, "owner", owner, ada)
		readEverywhere(t, a, ada)
		return
	}
	t.Logf("%s ended the transaction: %v", name, err)
	is(t, "GetUserByAccount", errOwner, latchkey.ErrNotFound)
	_, err = a.GetUserByEmail(t.Context(), name+"@example.com")
	is(t, "GetUserByEmail", err, latchkey.ErrNotFound)
}

// gone proves that nothing of signUp is left.
func gone(t *testing.T, a latchkey.Adapter) {
	t.Helper()
	_, err := a.GetUserByEmail(t.Context(), "ada@example.com")
	is(t, "GetUserByEmail", err, latchkey.ErrNotFound)
	_, err = a.GetUserByAccount(t.Context(), "acme", "1")
	is(t, "GetUserByAccount", err, latchkey.ErrNotFound)
	if able, can := a.(latchkey.SessionAdapter); can {
		_, _, err = able.GetSessionAndUser(t.Context(), "t")
		is(t, "GetSessionAndUser", err, latchkey.ErrNotFound)
	}
}

// untouched proves that nothing of signUp is left, that eve is as she was, and
// that nothing is locked.
func untouched(t *testing.T, a latchkey.Adapter, eve latchkey.User) {
	t.Helper()
	gone(t, a)
	_, err := a.GetUserByEmail(t.Context(), "m@example.com")
	is(t, "GetUserByEmail with the changed e-mail address", err, latchkey.ErrNotFound)
	readEverywhere(t, a, eve)
	signUp(t, a, "ada@example.com")
}
