package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

type passwordStore interface {
	storage.Adapter
	storage.PasswordAdapter
}

var passwordPromises = []promise[passwordStore]{
	{"what is not there is ErrNotFound", func(t *testing.T, a passwordStore) {
		noPassword(t, a, newUser(t, a, "").ID)
		noPassword(t, a, "nobody")
	}},
	{"a password is read as it was stored", func(t *testing.T, a passwordStore) {
		want, plain := filledPassword(newUser(t, a, "ada@example.com")), storage.PasswordHash{UserID: newUser(t, a, "").ID, Hash: "h", Created: instant, Changed: instant}
		for _, p := range []storage.PasswordHash{want, plain} {
			ok(t, a.Passwords().Set(t.Context(), p, ""))
			readPassword(t, a, p)
		}
		readPassword(t, a, want)
	}},
	{"a password is replaced where its hash is the one that was read", func(t *testing.T, a passwordStore) {
		u, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		first, hers := newPassword(t, a, u), newPassword(t, a, eve)
		want := storage.PasswordHash{UserID: u.ID, Hash: "second", Created: instant, Changed: instant.Add(time.Hour)}
		for _, was := range []string{"", "other", "second", first.Hash + " ", first.Hash[1:], "%"} {
			is(t, fmt.Sprintf("Set over %q", was), a.Passwords().Set(t.Context(), want, was), storage.ErrConflict)
		}
		readPassword(t, a, first)
		ok(t, a.Passwords().Set(t.Context(), want, first.Hash))
		want.Created = first.Created
		readPassword(t, a, want)
		readPassword(t, a, hers)
		is(t, "Set over the first hash", a.Passwords().Set(t.Context(), first, first.Hash), storage.ErrConflict)
	}},
	{"hashes are compared exactly", func(t *testing.T, a passwordStore) {
		u := newUser(t, a, "")
		want := storage.PasswordHash{UserID: u.ID, Created: instant, Changed: instant}
		for _, hash := range alike {
			was := want.Hash
			want.Hash = hash
			ok(t, a.Passwords().Set(t.Context(), want, was))
			readPassword(t, a, want)
			for _, other := range alike {
				if other != hash {
					is(t, fmt.Sprintf("Set over %q", other), a.Passwords().Set(t.Context(), want, other), storage.ErrConflict)
				}
			}
		}
	}},
	{"a hash may stay as it is", func(t *testing.T, a passwordStore) {
		want := newPassword(t, a, newUser(t, a, ""))
		for _, failures := range []int{want.Failures, 0, 0, 7} {
			want.Failures = failures
			ok(t, a.Passwords().Set(t.Context(), want, want.Hash))
			readPassword(t, a, want)
		}
	}},
	{"a hostile hash is kept whole or refused", func(t *testing.T, a passwordStore) {
		for _, hash := range hostile {
			u := newUser(t, a, "")
			want := filledPassword(u)
			want.Hash = hash
			if a.Passwords().Set(t.Context(), want, "") != nil {
				noPassword(t, a, u.ID)
				continue
			}
			readPassword(t, a, want)
		}
	}},
	{"hostile ids find nothing", func(t *testing.T, a passwordStore) {
		u := newUser(t, a, "")
		want := newPassword(t, a, u)
		for _, id := range append([]string{""}, hostile...) {
			if id != u.ID {
				noPassword(t, a, id)
			}
		}
		readPassword(t, a, want)
	}},
	{"of 100 callers exactly one sets the first password", func(t *testing.T, a passwordStore) {
		u := newUser(t, a, "")
		oneSets(t, a, u, "")
	}},
	{"of 100 callers exactly one replaces a password", func(t *testing.T, a passwordStore) {
		u := newUser(t, a, "")
		oneSets(t, a, u, newPassword(t, a, u).Hash)
	}},
	{"F-076 every failure is counted, however many there are at once", func(t *testing.T, a passwordStore) {
		u := newUser(t, a, "")
		want := newPassword(t, a, u)
		countsEach(t, want.Failures, func(ctx context.Context) (int, error) { return a.Passwords().Fail(ctx, u.ID) })
		want.Failures += crowd
		readPassword(t, a, want)
	}},
	{"Delete removes the user's password and no other", func(t *testing.T, a passwordStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		newPassword(t, a, ada)
		hers := newPassword(t, a, eve)
		oneWins(t, "Delete", race.Run(16, func(int) error { return a.Passwords().Delete(t.Context(), ada.ID) }), storage.ErrNotFound)
		noPassword(t, a, ada.ID)
		readPassword(t, a, hers)
		newPassword(t, a, ada)
	}},
	{"a cancelled context ends the call", func(t *testing.T, a passwordStore) {
		u := newUser(t, a, "")
		want := newPassword(t, a, u)
		ctx := cancelled(t)
		_, err := a.Passwords().Get(ctx, u.ID)
		is(t, "Get", err, context.Canceled)
		is(t, "Set", a.Passwords().Set(ctx, storage.PasswordHash{UserID: u.ID, Hash: "h", Created: instant, Changed: instant}, want.Hash), context.Canceled)
		_, err = a.Passwords().Fail(ctx, u.ID)
		is(t, "Fail", err, context.Canceled)
		is(t, "Delete", a.Passwords().Delete(ctx, u.ID), context.Canceled)
		readPassword(t, a, want)
	}},
}

func newPassword(t *testing.T, a storage.PasswordAdapter, u storage.User) storage.PasswordHash {
	t.Helper()
	p := filledPassword(u)
	ok(t, a.Passwords().Set(t.Context(), p, ""))
	return p
}

func readPassword(t *testing.T, a storage.PasswordAdapter, want storage.PasswordHash) {
	t.Helper()
	got, err := a.Passwords().Get(t.Context(), want.UserID)
	if err != nil {
		t.Errorf("Get: %v", err)
		return
	}
	same(t, "password", got, want)
}

// noPassword fails the test unless Get, Fail and Delete return ErrNotFound.
func noPassword(t *testing.T, a storage.PasswordAdapter, userID string) {
	t.Helper()
	_, err := a.Passwords().Get(t.Context(), userID)
	is(t, fmt.Sprintf("Get(%.20q)", userID), err, storage.ErrNotFound)
	_, err = a.Passwords().Fail(t.Context(), userID)
	is(t, fmt.Sprintf("Fail(%.20q)", userID), err, storage.ErrNotFound)
	is(t, fmt.Sprintf("Delete(%.20q)", userID), a.Passwords().Delete(t.Context(), userID), storage.ErrNotFound)
}

// oneSets lets crowd callers at once replace the hash called was ("": there is none yet). It
// fails the test unless exactly one of them succeeds, and the hash of that caller is stored.
func oneSets(t *testing.T, a storage.PasswordAdapter, u storage.User, was string) {
	t.Helper()
	errs := race.Run(crowd, func(i int) error {
		return a.Passwords().Set(t.Context(), storage.PasswordHash{UserID: u.ID, Hash: fmt.Sprint("hash ", i), Created: instant, Changed: instant}, was)
	})
	oneWins(t, "Set", errs, storage.ErrConflict)
	got, err := a.Passwords().Get(t.Context(), u.ID)
	ok(t, err)
	for i, err := range errs {
		if err == nil && got.Hash != fmt.Sprint("hash ", i) {
			t.Errorf("the stored hash is %q, and caller %d was told that it had set its own", got.Hash, i)
		}
	}
}
