package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/examples/ent/ent"
	"github.com/latchkeyhq/latchkey/examples/ent/ent/user"
)

// TestEnt (S-073): users are models of the program, a row of its own is made with
// each, and either side acts in a transaction of the other.
func TestEnt(t *testing.T) {
	db, err := open(filepath.Join(t.TempDir(), "ent.db"))
	noError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	refuse := func() error { return nil }
	store, err := newStore(t.Context(), db, func(ctx context.Context, tx *ent.Client, id int) error {
		return errors.Join(welcome(ctx, tx, id), refuse())
	})
	noError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	signsUp(t, db, store)
	bob, err := invite(t.Context(), db, store, "bob@example.com", "gold")
	noError(t, err)
	if plan := planOf(t, db, bob.ID); plan != "gold" {
		t.Errorf("who was invited has the plan %s", plan)
	}
	t.Run("a refusal undoes the sign-up", func(t *testing.T) {
		full := errors.New("no seat is left")
		refuse = func() error { return full }
		_, err := store.CreateUser(t.Context(), eve)
		if !errors.Is(err, full) || !strings.Contains(err.Error(), full.Error()) {
			t.Errorf("a refused sign-up: %v", err)
		}
		if _, err := invite(t.Context(), db, store, eve.Email, "gold"); !errors.Is(err, full) {
			t.Errorf("a refused invitation: %v", err)
		}
		counts(t, db, 2)
	})
	t.Run("a panic passes and leaves nothing", func(t *testing.T) {
		refuse = func() error { panic("no") }
		panics(t, func() { _, _ = store.CreateUser(t.Context(), eve) })
		panics(t, func() { _, _ = invite(t.Context(), db, store, eve.Email, "gold") })
		counts(t, db, 2)
	})
	t.Run("what is rolled back leaves nothing", func(t *testing.T) {
		refuse = func() error { return nil }
		tx, err := db.BeginTx(t.Context(), nil)
		noError(t, err)
		u, err := store.Bind(tx).CreateUser(t.Context(), eve)
		noError(t, err)
		if found, err := clientIn(tx).User.Query().Where(user.Email(eve.Email)).Only(t.Context()); err != nil || strconv.Itoa(found.ID) != u.ID {
			t.Errorf("in the transaction Ent finds %v, error %v", found, err)
		}
		noError(t, tx.Rollback())
		counts(t, db, 2)
	})
}

var eve = latchkey.User{Email: "eve@example.com"}

// signsUp makes a user with an account and a session, and finds the model of it.
func signsUp(t *testing.T, db *sql.DB, store *sqladapter.Adapter) {
	t.Helper()
	ada, err := store.CreateUser(t.Context(), latchkey.User{Email: "ada@example.com"})
	noError(t, err)
	noError(t, store.LinkAccount(t.Context(), latchkey.Account{UserID: ada.ID, Provider: "acme", ProviderAccountID: "1", Type: latchkey.TypeOAuth}))
	if u, err := store.GetUserByAccount(t.Context(), "acme", "1"); err != nil || u.ID != ada.ID {
		t.Errorf("by account: %v, error %v", u, err)
	}
	model := modelOf(t, db, ada.ID)
	if model.Plan != "free" || model.UpdatedAt == 0 || *model.Email != ada.Email {
		t.Errorf("the model is %v", model)
	}
}

// modelOf finds a user by Ent.
func modelOf(t *testing.T, db *sql.DB, id string) *ent.User {
	t.Helper()
	number, err := strconv.Atoi(id)
	noError(t, err)
	model, err := clientIn(db).User.Get(t.Context(), number)
	noError(t, err)
	return model
}

func planOf(t *testing.T, db *sql.DB, id string) string {
	t.Helper()
	return modelOf(t, db, id).Plan
}

func panics(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if p := recover(); p != "no" {
			t.Errorf("recovered %v", p)
		}
	}()
	f()
}

// counts expects so many users, each with a membership.
func counts(t *testing.T, db *sql.DB, want int) {
	t.Helper()
	users, err := clientIn(db).User.Query().Count(t.Context())
	noError(t, err)
	memberships, err := clientIn(db).Membership.Query().Count(t.Context())
	noError(t, err)
	if users != want || memberships != want {
		t.Errorf("%d users and %d memberships, want %d", users, memberships, want)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
