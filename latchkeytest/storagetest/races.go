package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// lockPromises are about the lock that UpdateUser takes.
var lockPromises = []promise[txStore]{
	{"R-345 whoever updates a user in a transaction is waited for", func(t *testing.T, a txStore) {
		for round := range race.Rounds(t) {
			u, err := a.CreateUser(t.Context(), storage.User{Email: fmt.Sprintf("u%d@example.com", round), EmailVerified: instant})
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

// removeAtOnce removes all ways to sign in but the two of pair. Then two callers remove one
// each at once, in transactions. It ends the test if none is left, and then removes the rest.
func removeAtOnce(t *testing.T, a txStore, u storage.User, ways []way, pair [2]way) {
	t.Helper()
	for _, w := range ways {
		if w.name != pair[0].name && w.name != pair[1].name {
			ok(t, w.remove(t.Context(), a))
		}
	}
	for _, err := range race.Run(len(pair), func(i int) error {
		return a.InTx(t.Context(), func(tx storage.Adapter) error {
			locked, err := tx.UpdateUser(t.Context(), u.ID, storage.UserChange{})
			if err != nil {
				return err
			}
			if n, err := countWays(t.Context(), tx, locked); err != nil || n < 2 {
				return errors.Join(err, errLast)
			}
			return pair[i].remove(t.Context(), tx)
		})
	}) {
		if err != nil && !errors.Is(err, errLast) && !errors.Is(err, storage.ErrConflict) {
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
		if err := w.remove(t.Context(), a); err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Fatalf("unexpected error: %v", err)
		}
	}
}

// way is a way to sign in that a user can have.
type way struct {
	name        string
	add, remove func(context.Context, storage.Adapter) error
}

// waysToSignIn returns the sign-in methods that the store can add and remove: the proven
// e-mail address, two accounts if the store can unlink them, and a passkey if it keeps
// passkeys. Only the e-mail address of u is stored yet.
func waysToSignIn(t *testing.T, a storage.Adapter, u storage.User) []way {
	t.Helper()
	never := time.Time{}
	ways := []way{{
		"the e-mail address",
		func(ctx context.Context, a storage.Adapter) error {
			_, err := a.UpdateUser(ctx, u.ID, storage.UserChange{Email: &u.Email, EmailVerified: &u.EmailVerified})
			return err
		},
		func(ctx context.Context, a storage.Adapter) error {
			_, err := a.UpdateUser(ctx, u.ID, storage.UserChange{Email: new(""), EmailVerified: &never})
			return err
		},
	}}
	if _, able := a.(storage.AccountAdapter); able {
		ways = append(ways, accountWay(u, "1"), accountWay(u, "2"))
	}
	if keepsPasskeys(t, a, u) {
		key := storage.Authenticator{CredentialID: []byte("key of " + u.ID), UserID: u.ID, ProviderAccountID: "key", PublicKey: []byte("k")}
		ways = append(ways, way{
			"a passkey",
			func(ctx context.Context, a storage.Adapter) error {
				return a.(storage.AuthenticatorAdapter).CreateAuthenticator(ctx, key)
			},
			func(ctx context.Context, a storage.Adapter) error {
				return a.(storage.AuthenticatorAdapter).DeleteAuthenticator(ctx, key.CredentialID)
			},
		})
	}
	return ways
}

// keepsPasskeys reports whether a store keeps passkeys: it is an AuthenticatorAdapter,
// and has the table.
func keepsPasskeys(t *testing.T, a storage.Adapter, u storage.User) bool {
	t.Helper()
	able, can := a.(storage.AuthenticatorAdapter)
	if !can {
		return false
	}
	_, err := able.ListAuthenticators(t.Context(), u.ID)
	return !errors.Is(err, errors.ErrUnsupported)
}

func accountWay(u storage.User, number string) way {
	account := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: number + " of " + u.ID, Type: storage.TypeOIDC}
	return way{
		"account " + number,
		func(ctx context.Context, a storage.Adapter) error { return a.LinkAccount(ctx, account) },
		func(ctx context.Context, a storage.Adapter) error {
			_, err := a.(storage.AccountAdapter).UnlinkAccount(ctx, account.Provider, account.ProviderAccountID)
			return err
		},
	}
}

// countWays returns how many ways to sign in a user has: a verified e-mail address,
// accounts and passkeys.
func countWays(ctx context.Context, a storage.Adapter, u storage.User) (n int, err error) {
	if u.Email != "" && !u.EmailVerified.IsZero() {
		n++
	}
	if able, can := a.(storage.AccountAdapter); can {
		list, err := able.ListAccounts(ctx, u.ID)
		if err != nil {
			return 0, err
		}
		n += len(list)
	}
	if able, can := a.(storage.AuthenticatorAdapter); can {
		list, err := able.ListAuthenticators(ctx, u.ID)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return 0, err
		}
		n += len(list)
	}
	return n, nil
}
