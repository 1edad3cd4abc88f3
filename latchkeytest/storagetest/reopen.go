package storagetest

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// reopenPromises returns the promises of stores that keep their data when their program
// ends.
func reopenPromises(reopen func(*testing.T, storage.Adapter) storage.Adapter) []promise[storage.Adapter] {
	return []promise[storage.Adapter]{
		{"what was stored is there when the store is opened again", func(t *testing.T, a storage.Adapter) {
			u := newUser(t, a, "ada@example.com")
			belongings(t, a, u, "1")
			changed, err := a.UpdateUser(t.Context(), u.ID, storage.UserChange{Name: new("Countess")})
			ok(t, err)
			lasting(t, a)
			again := reopen(t, a)
			readEverywhere(t, again, changed)
			has(t, again, "1", nil)
			lasts(t, again)
		}},
		{"what was removed is gone when the store is opened again", func(t *testing.T, a storage.Adapter) {
			able, can := a.(deletionStore)
			if !can {
				return
			}
			u := newUser(t, a, "ada@example.com")
			belongings(t, a, u, "1")
			_, err := able.DeleteUser(t.Context(), u.ID)
			ok(t, err)
			again := reopen(t, a)
			has(t, again, "1", storage.ErrNotFound)
			_, err = again.GetUserByEmail(t.Context(), "ada@example.com")
			is(t, "GetUserByEmail", err, storage.ErrNotFound)
		}},
	}
}

// lasting stores a token, a revocation and a used value, if the store keeps them.
func lasting(t *testing.T, a storage.Adapter) {
	t.Helper()
	if able, can := a.(tokenStore); can {
		newToken(t, able, "ada@example.com", "t")
	}
	if able, can := a.(storage.RevocationStore); can && keepsOurs(t, a) {
		ok(t, able.Revoke(t.Context(), "k", instant, instant.Add(time.Hour)))
	}
	if able, can := a.(storage.ReplayStore); can && keepsOurs(t, a) {
		use(t, able, "k", time.Now().Add(time.Hour), true)
	}
}

// lasts fails the test unless all that lasting stored is there. It uses the token up.
func lasts(t *testing.T, a storage.Adapter) {
	t.Helper()
	if able, can := a.(tokenStore); can {
		_, err := able.UseVerificationToken(t.Context(), "ada@example.com", "t")
		ok(t, err)
	}
	if able, can := a.(storage.RevocationStore); can && keepsOurs(t, a) {
		sameTime(t, "k", revoked(t, able, "k")["k"], instant)
	}
	if able, can := a.(storage.ReplayStore); can && keepsOurs(t, a) {
		use(t, able, "k", time.Now().Add(time.Hour), false)
	}
}

// keepsOurs reports whether a store has room for what only Latchkey keeps: tables of
// other programs have none.
func keepsOurs(t *testing.T, a storage.Adapter) bool {
	t.Helper()
	able, can := a.(storage.RevocationStore)
	if !can {
		return true
	}
	_, err := able.RevokedAt(t.Context())
	return err == nil
}
