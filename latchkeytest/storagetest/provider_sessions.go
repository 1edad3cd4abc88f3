package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// providerLogoutStore is a ProviderLogoutAdapter with its sessions.
type providerLogoutStore interface {
	sessionStore
	storage.ProviderLogoutAdapter
}

// newProviderSession stores a session that a provider calls sid and sub.
func newProviderSession(t *testing.T, a sessionStore, u storage.User, token, sid, sub string, issued time.Time) {
	t.Helper()
	ok(t, a.CreateSession(t.Context(), storage.StoredSession{
		UserID: u.ID, Token: token, Expires: instant.Add(time.Hour), Provider: "acme", ProviderSID: sid, ProviderSub: sub, ProviderIssued: issued,
	}))
}

// liveOf returns those of the tokens that find a session.
func liveOf(t *testing.T, a sessionStore, tokens ...string) (live []string) {
	t.Helper()
	for _, token := range tokens {
		_, _, err := a.GetSessionAndUser(t.Context(), token)
		if err == nil {
			live = append(live, token)
		} else if !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("GetSessionAndUser(%q): %v", token, err)
		}
	}
	return live
}

// deletes calls DeleteProviderSessions. It fails the test unless that returns n sessions,
// and of the tokens only those in left find a session after it.
func deletes(t *testing.T, a providerLogoutStore, sids, subs []string, issued time.Time, n int, tokens, left []string) {
	t.Helper()
	gone, err := a.DeleteProviderSessions(t.Context(), sids, subs, issued)
	ok(t, err)
	if len(gone) != n {
		t.Errorf("DeleteProviderSessions(%q, %q) returned %d sessions, want %d", sids, subs, len(gone), n)
	}
	if live := liveOf(t, a, tokens...); !slices.Equal(live, left) {
		t.Errorf("after DeleteProviderSessions(%q, %q): %q are alive, want %q", sids, subs, live, left)
	}
}

var providerLogoutPromises = []promise[providerLogoutStore]{
	{"T-071 sessions of one sid end, and are returned", func(t *testing.T, a providerLogoutStore) {
		ada, bob := newUser(t, a, "ada@example.com"), newUser(t, a, "bob@example.com")
		newProviderSession(t, a, ada, "a1", "sid-a1", "sub-a", instant)
		newProviderSession(t, a, ada, "a2", "sid-a2", "sub-a", instant)
		newProviderSession(t, a, bob, "b1", "sid-b1", "sub-b", instant)
		newSession(t, a, bob, "plain", instant.Add(time.Hour))
		all := []string{"a1", "a2", "b1", "plain"}
		gone, err := a.DeleteProviderSessions(t.Context(), []string{"sid-a1"}, []string{"sub-a"}, instant)
		ok(t, err)
		if len(gone) != 1 || gone[0].UserID != ada.ID || gone[0].ProviderSID != "sid-a1" || gone[0].ProviderSub != "sub-a" || gone[0].Provider != "acme" {
			t.Errorf("DeleteProviderSessions returned %d sessions, want the one of the sid with its fields", len(gone))
		}
		if live := liveOf(t, a, all...); !slices.Equal(live, all[1:]) {
			t.Errorf("%q are alive", live)
		}
		deletes(t, a, []string{"sid-a1"}, nil, instant, 0, all, all[1:])
		deletes(t, a, []string{"sid-b1", "sid-a2", "none"}, nil, instant, 2, all, []string{"plain"})
	}},
	{"T-072 without a sid all sessions of the sub end, but those of a newer ID token", func(t *testing.T, a providerLogoutStore) {
		u := newUser(t, a, "")
		newProviderSession(t, a, u, "old", "s", "u", instant.Add(-time.Second))
		newProviderSession(t, a, u, "same", "s", "u", instant)
		newProviderSession(t, a, u, "new", "s", "u", instant.Add(time.Second))
		newProviderSession(t, a, u, "unknown", "s", "u", time.Time{})
		newProviderSession(t, a, u, "other", "s2", "u2", instant)
		all := []string{"old", "same", "new", "unknown", "other"}
		deletes(t, a, nil, []string{"none", "u"}, instant, 3, all, []string{"new", "other"})
		deletes(t, a, []string{"s"}, nil, instant, 0, all, []string{"new", "other"})
		deletes(t, a, []string{"s"}, nil, instant.Add(time.Second), 1, all, []string{"other"})
	}},
	{"empty and hostile names end nothing", func(t *testing.T, a providerLogoutStore) {
		u := newUser(t, a, "")
		newProviderSession(t, a, u, "named", "s", "u", instant)
		newProviderSession(t, a, u, "nameless", "", "", time.Time{})
		newSession(t, a, u, "plain", instant.Add(time.Hour))
		all := []string{"named", "nameless", "plain"}
		deletes(t, a, nil, nil, instant, 0, all, all)
		deletes(t, a, []string{""}, []string{"u"}, instant, 0, all, all)
		deletes(t, a, nil, []string{""}, instant, 0, all, all)
		for _, name := range hostile {
			deletes(t, a, []string{name}, nil, instant, 0, all, all)
			deletes(t, a, nil, []string{name}, instant, 0, all, all)
		}
		deletes(t, a, []string{"u", "S", "s "}, nil, instant, 0, all, all)
	}},
	{"many sessions of one name end", func(t *testing.T, a providerLogoutStore) {
		u := newUser(t, a, "")
		var all []string
		for i := range 130 {
			all = append(all, fmt.Sprint("t", i))
			newProviderSession(t, a, u, all[i], fmt.Sprint("s", i), "u", instant)
		}
		deletes(t, a, nil, []string{"u"}, instant, len(all), all, nil)
	}},
	{"T-078 a renewal at the same moment brings no session back", func(t *testing.T, a providerLogoutStore) {
		renews, can := storage.Adapter(a).(storage.SessionRenewalAdapter)
		for i := range race.Rounds(t) {
			u, token, name := newUser(t, a, ""), fmt.Sprint("t", i), fmt.Sprint("s", i)
			newProviderSession(t, a, u, token, name, "u", instant)
			errs := race.Run(3, func(i int) error {
				switch {
				case i == 0:
					_, err := a.DeleteProviderSessions(t.Context(), []string{name}, nil, instant)
					return err
				case i == 1 && can:
					return renews.RenewSession(t.Context(), token, storage.StoredSession{Token: "new " + token, Expires: instant.Add(2 * time.Hour)})
				}
				return a.UpdateSession(t.Context(), token, instant.Add(2*time.Hour))
			})
			ok(t, errs[0])
			if live := liveOf(t, a, token, "new "+token); len(live) > 0 {
				t.Fatalf("%q are alive", live)
			}
		}
	}},
	{"a longer life keeps the names", func(t *testing.T, a providerLogoutStore) {
		u := newUser(t, a, "")
		newProviderSession(t, a, u, "t", "s", "u", instant)
		ok(t, a.UpdateSession(t.Context(), "t", instant.Add(48*time.Hour)))
		deletes(t, a, []string{"s"}, nil, instant, 1, []string{"t"}, nil)
	}},
	{"a cancelled context ends the call", func(t *testing.T, a providerLogoutStore) {
		newProviderSession(t, a, newUser(t, a, ""), "t", "s", "u", instant)
		_, err := a.DeleteProviderSessions(cancelled(t), []string{"s"}, nil, instant)
		is(t, "DeleteProviderSessions", err, context.Canceled)
		if len(liveOf(t, a, "t")) == 0 {
			t.Error("the session has ended")
		}
	}},
}
