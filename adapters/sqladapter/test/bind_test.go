package test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
	"github.com/latchkeyhq/latchkey/storage"
)

var ada = storage.User{ID: "ada", Name: "Ada", Email: "ada@example.com"}

// TestNewUser: S-073, the application's rows of a new user are made with the
// user or not at all.
func TestNewUser(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		exec(t, db, "CREATE TABLE members (user_id varchar(100) PRIMARY KEY, plan varchar(20) NOT NULL)")
		var refuse error
		a := e.adapter(t, db, sqladapter.Options{NewUser: func(ctx context.Context, tx sqladapter.Runner, u storage.User) error {
			statement := fmt.Sprintf("INSERT INTO members (user_id, plan) VALUES ('%s', 'free')", u.ID)
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
			return refuse
		}})
		left := func() string {
			return fmt.Sprint(count(t, db, "SELECT count(*) FROM users"), count(t, db, "SELECT count(*) FROM members"))
		}
		for name, fails := range map[string]error{
			"the application's own": errors.New("no seat is left"),
			"a conflict":            fmt.Errorf("the plan: %w", storage.ErrConflict),
			"nothing found":         storage.ErrNotFound,
		} {
			refuse = fails
			_, err := a.CreateUser(t.Context(), ada)
			if err == nil || left() != "0 0" || errors.Is(err, storage.ErrConflict) || errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("%s: %v, users and members %s", name, err, left())
			}
			err = a.InTx(t.Context(), func(tx storage.Adapter) error { _, err := tx.CreateUser(t.Context(), ada); return err })
			if err == nil || left() != "0 0" {
				t.Errorf("%s, in a transaction: %v, users and members %s", name, err, left())
			}
		}
		refuse = nil
		_, err := a.CreateUser(t.Context(), ada)
		ok(t, err)
		if left() != "1 1" {
			t.Errorf("users and members %s", left())
		}
		_, err = a.CreateUser(t.Context(), storage.User{ID: "other", Email: ada.Email})
		if !errors.Is(err, storage.ErrConflict) || left() != "1 1" {
			t.Errorf("a taken address: %v, users and members %s", err, left())
		}
	})
}

// TestNewUserPanics: S-073, a panic passes, and leaves nothing.
func TestNewUserPanics(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		a := e.adapter(t, db, sqladapter.Options{NewUser: func(context.Context, sqladapter.Runner, storage.User) error { panic("no") }})
		func() {
			defer func() {
				if p := recover(); p != "no" {
					t.Errorf("recovered %v", p)
				}
			}()
			_, err := a.CreateUser(t.Context(), ada)
			t.Errorf("CreateUser returned %v", err)
		}()
		if n := count(t, db, "SELECT count(*) FROM users"); n != 0 {
			t.Errorf("%d users are left", n)
		}
	})
}

// TestBind: S-073, what is done in a transaction of the application's stays or
// goes with it.
func TestBind(t *testing.T) {
	each(t, func(t *testing.T, e engine, empty source) {
		db := e.migrated(t, empty)
		a := e.adapter(t, db, sqladapter.Options{})
		for _, commit := range []bool{false, true} {
			tx, err := db.BeginTx(t.Context(), nil)
			ok(t, err)
			bound := a.Bind(tx)
			_, err = bound.CreateUser(t.Context(), ada)
			ok(t, err)
			_, err = bound.GetUser(t.Context(), ada.ID)
			ok(t, err)
			failed := errors.New("half way")
			err = bound.InTx(t.Context(), func(in storage.Adapter) error {
				_, err := in.CreateUser(t.Context(), storage.User{ID: "grace", Email: "grace@example.com"})
				return errors.Join(failed, err)
			})
			if !errors.Is(err, failed) {
				t.Errorf("InTx: %v", err)
			}
			if _, err := bound.CreateUser(t.Context(), storage.User{ID: "other", Email: ada.Email}); !errors.Is(err, storage.ErrConflict) {
				t.Errorf("a taken address: %v", err)
			}
			ok(t, bound.Close())
			if commit {
				ok(t, tx.Commit())
			} else {
				ok(t, tx.Rollback())
			}
			if n, want := count(t, db, "SELECT count(*) FROM users"), map[bool]int{true: 1}[commit]; n != want {
				t.Errorf("%d users are left, want %d (commit: %v)", n, want, commit)
			}
			if _, err := bound.GetUser(t.Context(), ada.ID); err == nil {
				t.Error("the transaction is over, and its adapter still answers")
			}
		}
		_, err := a.GetUser(t.Context(), ada.ID) // the statements are still prepared
		ok(t, err)
	})
}
