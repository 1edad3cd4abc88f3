package latchkeytest

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestUnlink tests that two concurrent calls of [latchkey.Users.Unlink] leave a
// user one way to sign in. The library and the store keep this promise together;
// storagetest.TestAdapter tests the promises of the store alone.
//
// open returns a store without any users. The test is skipped if the store is no
// [storage.AccountAdapter]. The variable LATCHKEY_RACES says how often the race
// is repeated; the default is 20.
func TestUnlink(t *testing.T, open func(t *testing.T) storage.Adapter) {
	t.Helper()
	t.Run("R-345 two unlinks at once leave a way to sign in", func(t *testing.T) {
		store := open(t)
		if _, able := store.(storage.AccountAdapter); !able {
			t.Skip("the store is no AccountAdapter")
		}
		accounts := usersOf(t, store)
		refused := 0
		for range race.Rounds(t) {
			refused += unlinkBoth(t, accounts, store)
		}
		t.Logf("%d races, %d refused, none lost both", race.Rounds(t), refused)
	})
}

// unlinkBoth links two accounts to a new user and unlinks both at once. It
// returns how many calls were refused, and fails if no account is left.
func unlinkBoth(t *testing.T, accounts *latchkey.Users, store storage.Adapter) (refused int) {
	t.Helper()
	u, err := store.CreateUser(t.Context(), storage.User{Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"1 of " + u.ID, "2 of " + u.ID}
	for _, id := range ids {
		err := store.LinkAccount(t.Context(), storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: id, Type: storage.TypeOIDC})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range race.Run(len(ids), func(i int) error {
		return accounts.Unlink(t.Context(), latchkey.AccountRef{UserID: u.ID, Provider: "acme", ProviderAccountID: ids[i]})
	}) {
		if errors.Is(err, latchkey.ErrLastAccount) {
			refused++
		} else if err != nil {
			t.Errorf("Unlink: %v", err)
		}
	}
	left, err := store.(storage.AccountAdapter).ListAccounts(t.Context(), u.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) == 0 {
		t.Fatal("both accounts are gone, and with them every way to sign in")
	}
	return refused
}

// usersOf returns the users of an application that keeps them in store.
func usersOf(t *testing.T, store storage.Adapter) *latchkey.Users {
	t.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Site:    latchkey.Site{URL: "https://app.example"},
		Secrets: []string{"a secret of the adapter suite, which seals nothing"},
		Adapter: store,
		Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{&latchkey.OAuth{
			ID: "acme", ClientID: "id", ClientSecret: "secret",
			Authorization: latchkey.Endpoint{URL: "https://acme.example/authorize"},
			Token:         latchkey.Endpoint{URL: "https://acme.example/token"},
			UserInfo:      latchkey.Endpoint{URL: "https://acme.example/me"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth.Users()
}
