package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

var deletionPromises = []promise[deletionStore]{
	{"who is not there is ErrNotFound", func(t *testing.T, a deletionStore) {
		u := newUser(t, a, "")
		for _, id := range append([]string{"", "nobody"}, hostile...) {
			if _, err := a.DeleteUser(t.Context(), id); id != u.ID {
				is(t, fmt.Sprintf("DeleteUser(%.20q)", id), err, storage.ErrNotFound)
			}
		}
	}},
	{"DeleteUser returns the user and removes what is theirs", func(t *testing.T, a deletionStore) {
		ada, err := a.CreateUser(t.Context(), filledUser("ada@example.com"))
		ok(t, err)
		eve := newUser(t, a, "eve@example.com")
		belongings(t, a, ada, "1")
		belongings(t, a, eve, "2")
		got, err := a.DeleteUser(t.Context(), ada.ID)
		ok(t, err)
		same(t, "deleted user", got, ada)
		_, err = a.DeleteUser(t.Context(), ada.ID)
		is(t, "DeleteUser again", err, storage.ErrNotFound)
		_, err = a.GetUser(t.Context(), ada.ID)
		is(t, "GetUser", err, storage.ErrNotFound)
		_, err = a.GetUserByEmail(t.Context(), "ada@example.com")
		is(t, "GetUserByEmail", err, storage.ErrNotFound)
		has(t, a, "1", storage.ErrNotFound)
		has(t, a, "2", nil)
		readEverywhere(t, a, eve)
	}},
	{"a deleted user's e-mail address, accounts and passkeys are free again", func(t *testing.T, a deletionStore) {
		old := newUser(t, a, "ada@example.com")
		belongings(t, a, old, "1")
		_, err := a.DeleteUser(t.Context(), old.ID)
		ok(t, err)
		next := newUser(t, a, "ada@example.com")
		belongings(t, a, next, "1")
		got, err := a.GetUserByAccount(t.Context(), "acme", "1")
		ok(t, err)
		same(t, "owner", got, next)
	}},
	{"R-112 a session that is begun while its user is deleted opens nothing", func(t *testing.T, a deletionStore) {
		able, can := storage.Adapter(a).(storage.SessionAdapter)
		if !can {
			return
		}
		for round := range 10 {
			u := newUser(t, a, "")
			token := fmt.Sprint("t", round)
			race.Run(2, func(i int) error {
				if i == 0 {
					_, err := a.DeleteUser(t.Context(), u.ID)
					return err
				}
				return able.CreateSession(t.Context(), storage.StoredSession{Token: token, UserID: u.ID, Expires: instant})
			})
			_, _, err := able.GetSessionAndUser(t.Context(), token)
			is(t, "GetSessionAndUser", err, storage.ErrNotFound)
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, a deletionStore) {
		u := newUser(t, a, "ada@example.com")
		belongings(t, a, u, "1")
		_, err := a.DeleteUser(cancelled(t), u.ID)
		is(t, "DeleteUser", err, context.Canceled)
		readEverywhere(t, a, u)
		has(t, a, "1", nil)
	}},
}

// belongings stores an account, a session and a passkey of u, called id, if a keeps them.
func belongings(t *testing.T, a storage.Adapter, u storage.User, id string) {
	t.Helper()
	link(t, a, u, id)
	if able, can := a.(storage.SessionAdapter); can {
		ok(t, able.CreateSession(t.Context(), storage.StoredSession{Token: id, UserID: u.ID, Expires: instant}))
	}
	if able, can := a.(storage.AuthenticatorAdapter); can {
		ok(t, able.CreateAuthenticator(t.Context(), storage.Authenticator{CredentialID: []byte(id), UserID: u.ID, ProviderAccountID: id, PublicKey: []byte("k"), DeviceType: "singleDevice"}))
	}
}

// has fails the test unless reading each belonging called id returns want (nil: it is there).
func has(t *testing.T, a storage.Adapter, id string, want error) {
	t.Helper()
	_, err := a.GetUserByAccount(t.Context(), "acme", id)
	is(t, "GetUserByAccount", err, want)
	if able, can := a.(storage.AccountAdapter); can {
		_, err := able.GetAccount(t.Context(), "acme", id)
		is(t, "GetAccount", err, want)
	}
	if able, can := a.(storage.SessionAdapter); can {
		_, _, err := able.GetSessionAndUser(t.Context(), id)
		is(t, "GetSessionAndUser", err, want)
	}
	if able, can := a.(storage.AuthenticatorAdapter); can {
		_, err := able.GetAuthenticator(t.Context(), []byte(id))
		is(t, "GetAuthenticator", err, want)
	}
}

var signUpPromises = []promise[storage.SignUpAdapter]{
	{"the first user on record stays", func(t *testing.T, a storage.SignUpAdapter) {
		for _, claim := range []string{"first", "second", "first"} {
			begin(t, a, "acme", "1", claim, "first")
		}
		begin(t, a, "acme", "2", "second", "second")
		begin(t, a, "other", "1", "third", "third")
	}},
	{"R-186 a user who is made with the id on record has it", func(t *testing.T, a storage.SignUpAdapter) {
		users, can := a.(storage.Adapter)
		if !can {
			return
		}
		made := map[string]bool{}
		for _, claim := range []string{"9b2d5b2c-7f0f-4a4e-8a43-3c6b6b0e8f11", "second"} {
			id, err := a.BeginSignUp(t.Context(), "acme", claim, claim)
			ok(t, err)
			u, err := users.CreateUser(t.Context(), storage.User{ID: id, Name: "Ada"})
			ok(t, err)
			if u.ID != id {
				t.Errorf("the user has the id %q, want %q", u.ID, id)
			}
			begin(t, a, "acme", claim, "other", claim)
			readEverywhere(t, users, u)
			made[id] = true
		}
		if len(made) != 2 {
			t.Error("two sign-ups have one user")
		}
	}},
	{"an ended sign-up is forgotten", func(t *testing.T, a storage.SignUpAdapter) {
		begin(t, a, "acme", "1", "first", "first")
		begin(t, a, "acme", "2", "kept", "kept")
		ok(t, a.EndSignUp(t.Context(), "acme", "1"))
		begin(t, a, "acme", "1", "second", "second")
		begin(t, a, "acme", "2", "other", "kept")
	}},
	{"ending what was not begun harms nothing", func(t *testing.T, a storage.SignUpAdapter) {
		if err := a.EndSignUp(t.Context(), "acme", "none"); err != nil {
			is(t, "EndSignUp", err, storage.ErrNotFound)
		}
	}},
	{"R-187 accounts are compared exactly", func(t *testing.T, a storage.SignUpAdapter) {
		for _, id := range alike {
			begin(t, a, "acme", id, "user of "+id, "user of "+id)
		}
		begin(t, a, "a", "bc", "1", "1")
		begin(t, a, "ab", "c", "2", "2")
		begin(t, a, "a:b", "c", "3", "3")
		begin(t, a, "a", "b:c", "4", "4")
	}},
	{"R-188 of many beginnings at once all agree", func(t *testing.T, a storage.SignUpAdapter) {
		var lock sync.Mutex
		seen := map[string]bool{}
		for _, err := range race.Run(crowd, func(i int) error {
			id, err := a.BeginSignUp(t.Context(), "acme", "1", fmt.Sprint(i))
			lock.Lock()
			defer lock.Unlock()
			seen[id] = true
			return err
		}) {
			ok(t, err)
		}
		if len(seen) != 1 {
			t.Errorf("%d different users, want 1", len(seen))
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, a storage.SignUpAdapter) {
		_, err := a.BeginSignUp(cancelled(t), "acme", "1", "first")
		is(t, "BeginSignUp", err, context.Canceled)
		begin(t, a, "acme", "1", "second", "second")
		is(t, "EndSignUp", a.EndSignUp(cancelled(t), "acme", "1"), context.Canceled)
		begin(t, a, "acme", "1", "third", "second")
	}},
}

// begin expects that BeginSignUp returns want, or the id that the store makes of want.
func begin(t *testing.T, a storage.SignUpAdapter, provider, id, claim, want string) {
	t.Helper()
	got, err := a.BeginSignUp(t.Context(), provider, id, claim)
	if err == nil {
		want, err = a.BeginSignUp(t.Context(), "the form of ids", want, want)
	}
	if err != nil || got != want {
		t.Errorf("BeginSignUp(%q, %q): %q, error %v, want %q", provider, id, got, err, want)
	}
}

var sweepPromises = []promise[sweepStore]{
	{"what expired before is removed and counted, and nothing else", func(t *testing.T, a sweepStore) {
		u := newUser(t, a, "ada@example.com")
		link(t, a, u, "1")
		removed, instant := 0, instant.Truncate(time.Millisecond)
		for i, at := range []time.Time{instant.Add(-time.Hour), instant.Add(-time.Millisecond), instant, instant.Add(time.Hour)} {
			removed += perishable(t, a, u, fmt.Sprint(i), at)
			if i == 1 {
				if n, err := a.Sweep(t.Context(), instant.Add(-24*time.Hour)); err != nil || n != 0 {
					t.Errorf("Sweep before anything expired: %d removed, error %v", n, err)
				}
			}
		}
		if n, err := a.Sweep(t.Context(), instant); err != nil || n != removed/2 {
			t.Errorf("Sweep: %d removed, error %v, want %d", n, err, removed/2)
		}
		for i, want := range []error{storage.ErrNotFound, storage.ErrNotFound, nil, nil} {
			alive(t, a, fmt.Sprint(i), want)
		}
		readEverywhere(t, a, u)
	}},
	{"a cancelled context ends the call", func(t *testing.T, a sweepStore) {
		perishable(t, a, newUser(t, a, ""), "1", instant)
		_, err := a.Sweep(cancelled(t), instant.Add(time.Hour))
		is(t, "Sweep", err, context.Canceled)
		alive(t, a, "1", nil)
	}},
}

// perishable stores a record of each kind that expires, if a keeps it. They expire at the
// time at. It returns how many it has stored.
func perishable(t *testing.T, a storage.Adapter, u storage.User, id string, at time.Time) (n int) {
	t.Helper()
	if able, can := a.(storage.SessionAdapter); can {
		ok(t, able.CreateSession(t.Context(), storage.StoredSession{Token: id, UserID: u.ID, Expires: at}))
		n++
	}
	if able, can := a.(storage.VerificationTokenAdapter); can {
		ok(t, able.CreateVerificationToken(t.Context(), storage.VerificationToken{Identifier: id, Token: id, Expires: at}))
		n++
	}
	if able, can := a.(storage.RevocationStore); can {
		if err := able.Revoke(t.Context(), id, at.Add(-time.Hour), at); !errors.Is(err, errors.ErrUnsupported) {
			ok(t, err)
			n++
		}
	}
	return n + perishableProofs(t, a, u, id, at)
}

// alive expects want (nil: it is there) for all that perishable stored. It uses the token up.
func alive(t *testing.T, a storage.Adapter, id string, want error) {
	t.Helper()
	proofsAlive(t, a, id, want)
	if able, can := a.(storage.SessionAdapter); can {
		_, _, err := able.GetSessionAndUser(t.Context(), id)
		is(t, "GetSessionAndUser "+id, err, want)
	}
	if able, can := a.(storage.VerificationTokenAdapter); can {
		_, err := able.UseVerificationToken(t.Context(), id, id)
		is(t, "UseVerificationToken "+id, err, want)
	}
	if able, can := a.(storage.RevocationStore); can {
		at, err := able.RevokedAt(t.Context(), id)
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		ok(t, err)
		if found := len(at) == 1; found != (want == nil) {
			t.Errorf("RevokedAt %s: found %v", id, found)
		}
	}
}

var revocationPromises = []promise[storage.RevocationStore]{
	{"only what was revoked is on record", func(t *testing.T, a storage.RevocationStore) {
		ok(t, a.Revoke(t.Context(), "jti:1", instant, instant.Add(time.Hour)))
		ok(t, a.Revoke(t.Context(), "user:1", instant.Add(time.Minute), instant.Add(time.Hour)))
		got := revoked(t, a, "jti:1", "user:1", "jti:2")
		if len(got) != 2 {
			t.Errorf("%d keys on record, want 2", len(got))
		}
		sameTime(t, "jti:1", got["jti:1"], instant)
		sameTime(t, "user:1", got["user:1"], instant.Add(time.Minute))
		if n := len(revoked(t, a)); n != 0 {
			t.Errorf("no keys: %d on record", n)
		}
	}},
	{"the latest instant counts", func(t *testing.T, a storage.RevocationStore) {
		for _, at := range []time.Time{instant, instant.Add(time.Hour), instant.Add(time.Minute)} {
			ok(t, a.Revoke(t.Context(), "k", at, instant.Add(2*time.Hour)))
		}
		sameTime(t, "k", revoked(t, a, "k")["k"], instant.Add(time.Hour))
	}},
	{"the latest expiry counts", func(t *testing.T, a storage.RevocationStore) {
		able, can := a.(storage.SweepAdapter)
		if !can {
			return
		}
		ok(t, a.Revoke(t.Context(), "k", instant, instant.Add(2*time.Hour)))
		ok(t, a.Revoke(t.Context(), "k", instant.Add(time.Second), instant.Add(time.Hour)))
		_, err := able.Sweep(t.Context(), instant.Add(90*time.Minute))
		ok(t, err)
		sameTime(t, "k", revoked(t, a, "k")["k"], instant.Add(time.Second))
	}},
	{"of many calls at once the latest counts", func(t *testing.T, a storage.RevocationStore) {
		for _, err := range race.Run(crowd, func(i int) error {
			return a.Revoke(t.Context(), "k", instant.Add(time.Duration(i)*time.Second), instant.Add(24*time.Hour))
		}) {
			ok(t, err)
		}
		sameTime(t, "k", revoked(t, a, "k")["k"], instant.Add((crowd-1)*time.Second))
	}},
	{"keys are compared exactly, and many can be asked for", func(t *testing.T, a storage.RevocationStore) {
		keys := append([]string{strings.Repeat("k", 200), strings.Repeat("k", 199)}, alike...)
		for i := range 150 {
			keys = append(keys, fmt.Sprint("key ", i))
		}
		for i, key := range keys {
			ok(t, a.Revoke(t.Context(), key, instant.Add(time.Duration(i)*time.Second), instant.Add(time.Hour)))
		}
		got := revoked(t, a, append(keys, "other", "TOK%", keys[0])...)
		if len(got) != len(keys) {
			t.Errorf("%d keys on record, want %d", len(got), len(keys))
		}
		for i, key := range keys {
			sameTime(t, key, got[key], instant.Add(time.Duration(i)*time.Second))
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, a storage.RevocationStore) {
		is(t, "Revoke", a.Revoke(cancelled(t), "k", instant, instant), context.Canceled)
		_, err := a.RevokedAt(cancelled(t), "k")
		is(t, "RevokedAt", err, context.Canceled)
		if n := len(revoked(t, a, "k")); n != 0 {
			t.Error("the key is on record")
		}
	}},
}

func revoked(t *testing.T, a storage.RevocationStore, keys ...string) map[string]time.Time {
	t.Helper()
	got, err := a.RevokedAt(t.Context(), keys...)
	if err != nil {
		t.Fatalf("RevokedAt: %v", err)
	}
	return got
}
