package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"gorm.io/gorm"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
)

// TestORMs (S-073): users are models of the program, a row of its own is made with
// each, and either side acts in a transaction of the other.
func TestORMs(t *testing.T) {
	full, broken := errors.New("no seat is left"), errors.New("no")
	for _, name := range []string{"GORM", "Bun"} {
		t.Run(name, func(t *testing.T) {
			db, err := openGorm(filepath.Join(t.TempDir(), "orms.db"))
			noError(t, err)
			pool, err := db.DB()
			noError(t, err)
			t.Cleanup(func() { _ = pool.Close() })
			var refusal error
			join := func(*Membership) error {
				if errors.Is(refusal, broken) {
					panic(refusal)
				}
				return refusal
			}
			store, err := newGormStore(t.Context(), db, join)
			noError(t, err)
			inviter := func(email string) error { _, err := invite(t.Context(), db, store, email, "gold"); return err }
			if name == "Bun" {
				b := bun.NewDB(pool, sqlitedialect.New())
				store, err = newBunStore(t.Context(), b, join)
				noError(t, err)
				inviter = func(email string) error {
					_, err := inviteByBun(t.Context(), b, store, email, "gold")
					return err
				}
			}
			signsUp(t, db, store)
			noError(t, inviter("bob@example.com"))
			counts(t, db, 2, 2)
			refusal = full
			if _, err := store.CreateUser(t.Context(), latchkey.User{Email: "eve@example.com"}); err == nil || !strings.Contains(err.Error(), full.Error()) {
				t.Errorf("a refused sign-up: %v", err)
			}
			if err := inviter("eve@example.com"); err == nil {
				t.Error("a refused invitation is no error")
			}
			refusal = broken
			panics(t, broken, func() { _, _ = store.CreateUser(t.Context(), latchkey.User{Email: "eve@example.com"}) })
			panics(t, broken, func() { _ = inviter("eve@example.com") })
			counts(t, db, 2, 2)
		})
	}
}

// signsUp makes a user with a session, and finds the row of the model.
func signsUp(t *testing.T, db *gorm.DB, store *sqladapter.Adapter) {
	t.Helper()
	ada, err := store.CreateUser(t.Context(), latchkey.User{Email: "ada@example.com"})
	noError(t, err)
	var row User
	noError(t, db.First(&row, ada.ID).Error)
	if row.Plan != "free" || row.UpdatedAt == 0 || *row.Email != "ada@example.com" {
		t.Errorf("the model is %+v", row)
	}
	noError(t, store.LinkAccount(t.Context(), latchkey.Account{UserID: ada.ID, Provider: "acme", ProviderAccountID: "1", Type: latchkey.TypeOAuth}))
	if u, err := store.GetUserByAccount(t.Context(), "acme", "1"); err != nil || u.ID != ada.ID {
		t.Errorf("by account: %v, error %v", u, err)
	}
}

// panics expects what passes all that is between.
func panics(t *testing.T, want error, f func()) {
	t.Helper()
	defer func() {
		if p := recover(); p != want {
			t.Errorf("recovered %v", p)
		}
	}()
	f()
}

func counts(t *testing.T, db *gorm.DB, users, memberships int64) {
	t.Helper()
	var n, m int64
	noError(t, db.Model(&User{}).Count(&n).Error)
	noError(t, db.Model(&Membership{}).Count(&m).Error)
	if n != users || m != memberships {
		t.Errorf("%d users and %d memberships, want %d and %d", n, m, users, memberships)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
