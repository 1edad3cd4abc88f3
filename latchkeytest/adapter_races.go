package latchkeytest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// races is how often a race between two is tried.
func races(t *testing.T) int {
	t.Helper()
	text := os.Getenv("LATCHKEY_RACES")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("LATCHKEY_RACES is %q: want a number", text)
	}
	return n
}

// unlinkPromises are kept by the library and the store together.
var unlinkPromises = []promise[accountStore]{
	{"R-345 two unlinks at once leave a way to sign in", func(t *testing.T, a accountStore) {
		accounts := usersOf(t, a)
		refused := 0
		for range races(t) {
			u := newUser(t, a, "")
			ids := []string{"1 of " + u.ID, "2 of " + u.ID}
			link(t, a, u, ids[0])
			link(t, a, u, ids[1])
			for _, err := range atOnce(len(ids), func(i int) error {
				return accounts.Unlink(t.Context(), latchkey.AccountRef{UserID: u.ID, Provider: "acme", ProviderAccountID: ids[i]})
			}) {
				if errors.Is(err, latchkey.ErrLastAccount) {
					refused++
				} else if err != nil {
					t.Errorf("Unlink: %v", err)
				}
			}
			left, err := a.ListAccounts(t.Context(), u.ID)
			ok(t, err)
			if len(left) == 0 {
				t.Fatalf("both accounts are gone, and with them every way to sign in")
			}
		}
		t.Logf("%d races, %d refused, none lost both", races(t), refused)
	}},
}

// usersOf is the library on a store, as far as it needs no request.
func usersOf(t *testing.T, a latchkey.Adapter) *latchkey.Users {
	t.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Site:    latchkey.Site{URL: "https://app.example"},
		Secrets: []string{"a secret of the adapter suite, which seals nothing"},
		Adapter: a,
		Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{&latchkey.OAuth{
			ID: "acme", ClientID: "id", ClientSecret: "secret",
			Authorization: latchkey.Endpoint{URL: "https://acme.example/authorize"},
			Token:         latchkey.Endpoint{URL: "https://acme.example/token"},
			UserInfo:      latchkey.Endpoint{URL: "https://acme.example/me"},
		}},
	})
	ok(t, err)
	return auth.Users()
}

// lockPromises are about the lock that UpdateUser takes.
var lockPromises = []promise[txStore]{
	{"R-345 whoever updates a user in a transaction is waited for", func(t *testing.T, a txStore) {
		for round := range races(t) {
			u, err := a.CreateUser(t.Context(), latchkey.User{Email: fmt.Sprintf("u%d@example.com", round), EmailVerified: instant})
			ok(t, err)
			ways := waysToSignIn(t, a, u)
			if len(ways) < 2 {
				return // the store keeps one way to sign in
			}
			for _, pair := range [][2]way{{ways[0], ways[1]}, {ways[0], ways[len(ways)-1]}, {ways[1], ways[len(ways)-1]}} {
				for _, w := range ways {
					ok(t, w.add(t.Context(), a))
				}
				removeAtOnce(t, a, u, ways, pair)
			}
		}
	}},
}

var errLast = errors.New("it is the last one")

// removeAtOnce leaves two ways to sign in, has two callers remove one each, and
// proves that one is left.
func removeAtOnce(t *testing.T, a txStore, u latchkey.User, ways []way, pair [2]way) {
	t.Helper()
	for _, w := range ways {
		if w.name != pair[0].name && w.name != pair[1].name {
			ok(t, w.remove(t.Context(), a))
		}
	}
	for _, err := range atOnce(len(pair), func(i int) error {
		return a.InTx(t.Context(), func(tx latchkey.Adapter) error {
			locked, err := tx.UpdateUser(t.Context(), u.ID, latchkey.UserChange{})
			if err != nil {
				return err
			}
			if n, err := countWays(t.Context(), tx, locked); err != nil || n < 2 {
				return errors.Join(err, errLast)
			}
			return pair[i].remove(t.Context(), tx)
		})
	}) {
		if err != nil && !errors.Is(err, errLast) && !errors.Is(err, latchkey.ErrConflict) {
			t.Errorf("removing %s or %s: %v", pair[0].name, pair[1].name, err)
		}
	}
	now, err := a.GetUser(t.Context(), u.ID)
	ok(t, err)
	left, err := countWays(t.Context(), a, now)
	ok(t, err)
	if left == 0 {
		t.Fatalf("%s and %s were removed at once: nothing is left", pair[0].name, pair[1].name)
	}
	for _, w := range pair {
		if err := w.remove(t.Context(), a); err != nil && !errors.Is(err, latchkey.ErrNotFound) {
			t.Fatalf("unexpected error: %v", err)
		}
	}
}

// way is a way to sign in that a user can have.
type way struct {
	name        string
	add, remove func(context.Context, latchkey.Adapter) error
}

// waysToSignIn are those that the store can keep: the proven e-mail address, two
// accounts or one, and a passkey. None is stored yet but the e-mail address.
func waysToSignIn(t *testing.T, a latchkey.Adapter, u latchkey.User) []way {
	t.Helper()
	never := time.Time{}
	ways := []way{{
		"the e-mail address",
		func(ctx context.Context, a latchkey.Adapter) error {
			_, err := a.UpdateUser(ctx, u.ID, latchkey.UserChange{Email: &u.Email, EmailVerified: &u.EmailVerified})
			return err
		},
		func(ctx context.Context, a latchkey.Adapter) error {
			_, err := a.UpdateUser(ctx, u.ID, latchkey.UserChange{Email: new(""), EmailVerified: &never})
			return err
		},
	}}
	if _, able := a.(latchkey.AccountAdapter); able {
		ways = append(ways, accountWay(u, "1"), accountWay(u, "2"))
	}
	if keepsPasskeys(t, a, u) {
		key := latchkey.Authenticator{CredentialID: []byte("key of " + u.ID), UserID: u.ID, ProviderAccountID: "key", PublicKey: []byte("k")}
		ways = append(ways, way{
			"a passkey",
			func(ctx context.Context, a latchkey.Adapter) error {
				return a.(latchkey.AuthenticatorAdapter).CreateAuthenticator(ctx, key)
			},
			func(ctx context.Context, a latchkey.Adapter) error {
				return a.(latchkey.AuthenticatorAdapter).DeleteAuthenticator(ctx, key.CredentialID)
			},
		})
	}
	return ways
}

// keepsPasskeys is false for a store that could, without a table for them.
func keepsPasskeys(t *testing.T, a latchkey.Adapter, u latchkey.User) bool {
	t.Helper()
	able, can := a.(latchkey.AuthenticatorAdapter)
	if !can {
		return false
	}
	_, err := able.ListAuthenticators(t.Context(), u.ID)
	return !errors.Is(err, errors.ErrUnsupported)
}

func accountWay(u latchkey.User, number string) way {
	account := latchkey.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: number + " of " + u.ID, Type: latchkey.TypeOIDC}
	return way{
		"account " + number,
		func(ctx context.Context, a latchkey.Adapter) error { return a.LinkAccount(ctx, account) },
		func(ctx context.Context, a latchkey.Adapter) error {
			_, err := a.(latchkey.AccountAdapter).UnlinkAccount(ctx, account.Provider, account.ProviderAccountID)
			return err
		},
	}
}

// countWays reads how many ways to sign in a user has.
func countWays(ctx context.Context, a latchkey.Adapter, u latchkey.User) (n int, err error) {
	if u.Email != "" && !u.EmailVerified.IsZero() {
		n++
	}
	if able, can := a.(latchkey.AccountAdapter); can {
		list, err := able.ListAccounts(ctx, u.ID)
		if err != nil {
			return 0, err
		}
		n += len(list)
	}
	if able, can := a.(latchkey.AuthenticatorAdapter); can {
		list, err := able.ListAuthenticators(ctx, u.ID)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return 0, err
		}
		n += len(list)
	}
	return n, nil
}
