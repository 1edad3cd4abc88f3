package storagetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

var errRollback = errors.New("the function changed its mind")

var txPromises = []promise[txStore]{
	{"what is committed is seen", func(t *testing.T, a txStore) {
		var u storage.User
		ok(t, a.InTx(t.Context(), func(tx storage.Adapter) error {
			u = signUp(t, tx, "ada@example.com")
			return nil
		}))
		readEverywhere(t, a, u)
		got, err := a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
		same(t, "owner", got, u)
	}},
	{"a transaction sees its own writes", func(t *testing.T, a txStore) {
		ok(t, a.InTx(t.Context(), func(tx storage.Adapter) error {
			u := signUp(t, tx, "ada@example.com")
			readEverywhere(t, tx, u)
			got, err := tx.UpdateUser(t.Context(), u.ID, storage.UserChange{Name: new("Countess")})
			ok(t, err)
			readEverywhere(t, tx, got)
			return nil
		}))
	}},
	{"R-185 an error rolls everything back and is passed on", func(t *testing.T, a txStore) {
		eve := newUser(t, a, "eve@example.com")
		err := a.InTx(t.Context(), func(tx storage.Adapter) error {
			signUp(t, tx, "ada@example.com")
			_, err := tx.UpdateUser(t.Context(), eve.ID, storage.UserChange{Name: new("Mallory"), Email: new("m@example.com")})
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
			_ = a.InTx(t.Context(), func(tx storage.Adapter) error {
				signUp(t, tx, "ada@example.com")
				panic(errRollback)
			})
		}()
		untouched(t, a, eve)
	}},
	{"a rolled back deletion did not happen", func(t *testing.T, a txStore) {
		u := signUp(t, a, "ada@example.com")
		err := a.InTx(t.Context(), func(tx storage.Adapter) error {
			if able, can := tx.(storage.UserDeletionAdapter); can {
				_, err := able.DeleteUser(t.Context(), u.ID)
				ok(t, err)
			}
			if able, can := tx.(storage.AccountAdapter); can {
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
		ok(t, a.InTx(t.Context(), func(tx storage.Adapter) error {
			for _, ability := range []reflect.Type{
				reflect.TypeFor[storage.SessionAdapter](), reflect.TypeFor[storage.SessionListAdapter](),
				reflect.TypeFor[storage.VerificationTokenAdapter](), reflect.TypeFor[storage.AccountAdapter](),
				reflect.TypeFor[storage.UserDeletionAdapter](), reflect.TypeFor[storage.AuthenticatorAdapter](),
				reflect.TypeFor[storage.SweepAdapter](), reflect.TypeFor[storage.RevocationStore](),
				reflect.TypeFor[storage.SessionRenewalAdapter](), reflect.TypeFor[storage.FactorAdapter](),
				reflect.TypeFor[storage.ChallengeAdapter](), reflect.TypeFor[storage.BrowserAdapter](),
				reflect.TypeFor[storage.PasswordAdapter](), reflect.TypeFor[storage.ProviderLogoutAdapter](),
			} {
				if outside, inside := reflect.TypeOf(a).Implements(ability), reflect.TypeOf(tx).Implements(ability); outside && !inside {
					t.Errorf("%v is missing in a transaction", ability)
				}
			}
			return nil
		}))
	}},
	{"what is not found leaves the transaction usable", func(t *testing.T, a txStore) {
		var u storage.User
		ok(t, a.InTx(t.Context(), func(tx storage.Adapter) error {
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
			err := a.InTx(t.Context(), func(tx storage.Adapter) error {
				err := refused(t, tx, signUp(t, tx, "ada@example.com"))
				is(t, name, err, storage.ErrConflict)
				return err
			})
			is(t, "InTx after "+name, err, storage.ErrConflict)
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
		oneWins(t, "sign-up", race.Run(16, func(i int) error {
			return a.InTx(t.Context(), func(tx storage.Adapter) error {
				u, err := tx.CreateUser(t.Context(), storage.User{Name: "Ada", Email: "ada@example.com"})
				if err != nil {
					return err
				}
				if err := tx.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOIDC}); err != nil {
					return err
				}
				if able, can := tx.(storage.SessionAdapter); can {
					return able.CreateSession(t.Context(), storage.StoredSession{Token: fmt.Sprint("t", i), UserID: u.ID, Expires: instant})
				}
				return nil
			})
		}), storage.ErrConflict)
		byAccount, err := a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
		readEverywhere(t, a, byAccount)
	}},
	{"sign-ups of many people at once all succeed", func(t *testing.T, a txStore) {
		for _, err := range race.Run(16, func(i int) error {
			return a.InTx(t.Context(), func(tx storage.Adapter) error {
				u, err := tx.CreateUser(t.Context(), storage.User{Email: fmt.Sprintf("u%d@example.com", i)})
				if err != nil {
					return err
				}
				return tx.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: fmt.Sprint(i), Type: storage.TypeOIDC})
			})
		}) {
			ok(t, err)
		}
	}},
	{"a context that is cancelled on the way leaves all or nothing", func(t *testing.T, a txStore) {
		ctx, cancel := context.WithCancel(t.Context())
		err := a.InTx(ctx, func(tx storage.Adapter) error {
			u, err := tx.CreateUser(ctx, storage.User{Email: "ada@example.com"})
			ok(t, err)
			cancel()
			return tx.LinkAccount(ctx, storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1"})
		})
		is(t, "InTx", err, context.Canceled)
		_, err = a.GetUserByEmail(t.Context(), "ada@example.com")
		is(t, "GetUserByEmail", err, storage.ErrNotFound)
		signUp(t, a, "ada@example.com") // nothing is left locked
	}},
	{"a cancelled context starts nothing", func(t *testing.T, a txStore) {
		err := a.InTx(cancelled(t), func(tx storage.Adapter) error {
			_, err := tx.CreateUser(t.Context(), storage.User{Email: "ada@example.com"})
			return err
		})
		is(t, "InTx", err, context.Canceled)
		_, err = a.GetUserByEmail(t.Context(), "ada@example.com")
		is(t, "GetUserByEmail", err, storage.ErrNotFound)
	}},
	{"a waiting caller can be cancelled", func(t *testing.T, a txStore) {
		// An engine may insert a row after its caller gave up waiting, when the next promise
		// has begun: no other promise has this address.
		waiting := storage.User{Email: "waiting@example.com"}
		entered, leave := make(chan struct{}), make(chan struct{})
		enter := sync.OnceFunc(func() { close(entered) }) // the function may be called again
		done := make(chan error, 1)
		go func() {
			done <- a.InTx(t.Context(), func(tx storage.Adapter) error {
				_, err := tx.CreateUser(t.Context(), waiting)
				enter()
				<-leave
				return err
			})
		}()
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := a.CreateUser(ctx, waiting) // waits for the other to end
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, storage.ErrConflict) {
			t.Errorf("CreateUser: got error %v, want %v", err, context.DeadlineExceeded)
		}
		close(leave)
		ok(t, <-done)
	}},
}

// signUp stores a user with the account "1" and, if the store keeps sessions, the session
// "t".
func signUp(t *testing.T, a storage.Adapter, email string) storage.User {
	t.Helper()
	u := newUser(t, a, email)
	link(t, a, u, "1")
	if able, can := a.(storage.SessionAdapter); can {
		ok(t, able.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: u.ID, Expires: instant}))
	}
	return u
}

// findNothing looks for, and changes, what is not there.
func findNothing(t *testing.T, tx storage.Adapter) {
	t.Helper()
	_, err := tx.GetUser(t.Context(), "no such id")
	is(t, "GetUser", err, storage.ErrNotFound)
	_, err = tx.GetUserByEmail(t.Context(), "nobody@example.com")
	is(t, "GetUserByEmail", err, storage.ErrNotFound)
	_, err = tx.UpdateUser(t.Context(), "no such id", storage.UserChange{Name: new("Ada")})
	is(t, "UpdateUser", err, storage.ErrNotFound)
	if able, can := tx.(storage.SessionAdapter); can {
		_, err = able.DeleteSession(t.Context(), "no such token")
		is(t, "DeleteSession", err, storage.ErrNotFound)
	}
	if able, can := tx.(storage.VerificationTokenAdapter); can {
		_, err = able.UseVerificationToken(t.Context(), "nobody@example.com", "no such token")
		is(t, "UseVerificationToken", err, storage.ErrNotFound)
	}
}

// taken makes a user, and an account, that the calls of conflicts run into.
func taken(t *testing.T, a storage.Adapter) storage.User {
	t.Helper()
	eve := newUser(t, a, "eve@example.com")
	link(t, a, eve, "taken")
	return eve
}

// conflicts are calls that a unique key refuses.
var conflicts = map[string]func(t *testing.T, tx storage.Adapter, ada storage.User) error{
	"CreateUser": func(t *testing.T, tx storage.Adapter, _ storage.User) error {
		_, err := tx.CreateUser(t.Context(), storage.User{Email: "eve@example.com"})
		return err
	},
	"UpdateUser": func(t *testing.T, tx storage.Adapter, ada storage.User) error {
		_, err := tx.UpdateUser(t.Context(), ada.ID, storage.UserChange{Email: new("eve@example.com")})
		return err
	},
	"LinkAccount": func(t *testing.T, tx storage.Adapter, ada storage.User) error {
		return tx.LinkAccount(t.Context(), storage.Account{UserID: ada.ID, Provider: "acme", ProviderAccountID: "taken", Type: storage.TypeOIDC})
	},
}

// passOver ignores a conflict in a transaction and goes on. It fails the test unless the
// transaction then is stored as a whole, or not at all.
func passOver(t *testing.T, a txStore, name string) {
	t.Helper()
	var ada storage.User
	err := a.InTx(t.Context(), func(tx storage.Adapter) error {
		ada = newUser(t, tx, name+"@example.com")
		is(t, name, conflicts[name](t, tx, ada), storage.ErrConflict)
		// An engine that has ended the transaction refuses this.
		return tx.LinkAccount(t.Context(), storage.Account{UserID: ada.ID, Provider: "acme", ProviderAccountID: name, Type: storage.TypeOIDC})
	})
	owner, errOwner := a.GetUserByAccount(t.Context(), "acme", name)
	if err == nil {
		ok(t, errOwner)
		same(t, "owner", owner, ada)
		readEverywhere(t, a, ada)
		return
	}
	t.Logf("%s ended the transaction: %v", name, err)
	is(t, "GetUserByAccount", errOwner, storage.ErrNotFound)
	_, err = a.GetUserByEmail(t.Context(), name+"@example.com")
	is(t, "GetUserByEmail", err, storage.ErrNotFound)
}

// gone fails the test if anything is left of signUp with ada@example.com.
func gone(t *testing.T, a storage.Adapter) {
	t.Helper()
	_, err := a.GetUserByEmail(t.Context(), "ada@example.com")
	is(t, "GetUserByEmail", err, storage.ErrNotFound)
	_, err = a.GetUserByAccount(t.Context(), "acme", "1")
	is(t, "GetUserByAccount", err, storage.ErrNotFound)
	if able, can := a.(storage.SessionAdapter); can {
		_, _, err = able.GetSessionAndUser(t.Context(), "t")
		is(t, "GetSessionAndUser", err, storage.ErrNotFound)
	}
}

// untouched fails the test unless nothing is left of signUp, eve is as she was, and
// nothing is locked. It signs up ada@example.com again.
func untouched(t *testing.T, a storage.Adapter, eve storage.User) {
	t.Helper()
	gone(t, a)
	_, err := a.GetUserByEmail(t.Context(), "m@example.com")
	is(t, "GetUserByEmail with the changed e-mail address", err, storage.ErrNotFound)
	readEverywhere(t, a, eve)
	signUp(t, a, "ada@example.com")
}
