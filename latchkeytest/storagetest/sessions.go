package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

var sessionPromises = []promise[sessionStore]{
	{"what is not there is ErrNotFound", func(t *testing.T, a sessionStore) {
		_, _, err := a.GetSessionAndUser(t.Context(), "none")
		is(t, "GetSessionAndUser", err, storage.ErrNotFound)
		is(t, "UpdateSession", a.UpdateSession(t.Context(), "none", instant), storage.ErrNotFound)
		_, err = a.DeleteSession(t.Context(), "none")
		is(t, "DeleteSession", err, storage.ErrNotFound)
	}},
	{"a session is read with its user", func(t *testing.T, a sessionStore) {
		u, err := a.CreateUser(t.Context(), filledUser("ada@example.com"))
		ok(t, err)
		newUser(t, a, "eve@example.com")
		want := storage.StoredSession{Token: "t", UserID: u.ID, Expires: instant, Created: instant.Add(-time.Hour), UserAgent: "Firefox"}
		ok(t, a.CreateSession(t.Context(), want))
		readSession(t, a, want, u)
	}},
	{"an expired session is found as it was, or not at all", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := storage.StoredSession{Token: "t", UserID: u.ID, Expires: time.Now().Add(-time.Hour)}
		ok(t, a.CreateSession(t.Context(), want))
		if _, _, err := a.GetSessionAndUser(t.Context(), "t"); errors.Is(err, storage.ErrNotFound) {
			t.Log("the store has removed it")
			return
		}
		readSession(t, a, want, u)
	}},
	{"expiry is kept far away too", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := storage.StoredSession{Token: "t", UserID: u.ID, Expires: time.Date(2300, 12, 31, 23, 59, 59, 999e6, time.UTC)}
		ok(t, a.CreateSession(t.Context(), want))
		readSession(t, a, want, u)
	}},
	{"a taken token is ErrConflict", func(t *testing.T, a sessionStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want := newSession(t, a, ada, "t", instant)
		err := a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: eve.ID, Expires: instant.Add(time.Hour)})
		is(t, "CreateSession", err, storage.ErrConflict)
		readSession(t, a, want, ada)
	}},
	{"tokens are compared exactly", func(t *testing.T, a sessionStore) {
		owners := map[string]storage.User{}
		for _, token := range alike {
			owners[token] = newUser(t, a, "")
			newSession(t, a, owners[token], token, instant)
		}
		for token, owner := range owners {
			readSession(t, a, storage.StoredSession{Token: token, UserID: owner.ID, Expires: instant}, owner)
		}
	}},
	{"hostile tokens find nothing", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := newSession(t, a, u, "t", instant)
		for _, token := range append([]string{""}, hostile...) {
			_, _, err := a.GetSessionAndUser(t.Context(), token)
			is(t, fmt.Sprintf("GetSessionAndUser(%.20q)", token), err, storage.ErrNotFound)
			is(t, fmt.Sprintf("UpdateSession(%.20q)", token), a.UpdateSession(t.Context(), token, instant.Add(time.Hour)), storage.ErrNotFound)
			_, err = a.DeleteSession(t.Context(), token)
			is(t, fmt.Sprintf("DeleteSession(%.20q)", token), err, storage.ErrNotFound)
		}
		readSession(t, a, want, u)
	}},
	{"a hostile token is kept whole or refused", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		for _, token := range append([]string{"sha256:x"}, hostile...) {
			want := storage.StoredSession{Token: token, UserID: u.ID, Expires: instant}
			if a.CreateSession(t.Context(), want) != nil {
				_, _, err := a.GetSessionAndUser(t.Context(), token)
				is(t, fmt.Sprintf("GetSessionAndUser(%.20q) after a refusal", token), err, storage.ErrNotFound)
				continue
			}
			got, _, err := a.GetSessionAndUser(t.Context(), token)
			if err != nil {
				t.Errorf("the token %.20q was accepted, and does not find its session: %v", token, err)
				continue
			}
			sameSession(t, fmt.Sprintf("session of the token %.20q", token), got, want)
			_, err = a.DeleteSession(t.Context(), token)
			ok(t, err)
		}
	}},
	{"what a browser says of itself is no obstacle", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		for i, agent := range append(unicode, hostile...) {
			token := fmt.Sprint("t", i)
			ok(t, a.CreateSession(t.Context(), storage.StoredSession{Token: token, UserID: u.ID, Expires: instant, UserAgent: agent}))
			_, _, err := a.GetSessionAndUser(t.Context(), token)
			ok(t, err)
		}
	}},
	{"a session of nobody is never found", func(t *testing.T, a sessionStore) {
		if err := a.CreateSession(t.Context(), storage.StoredSession{Token: "t", UserID: "nobody", Expires: instant}); err != nil {
			t.Logf("CreateSession refused: %v", err)
		}
		_, _, err := a.GetSessionAndUser(t.Context(), "t")
		is(t, "GetSessionAndUser", err, storage.ErrNotFound)
	}},
	{"UpdateSession moves the expiry forwards only", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := newSession(t, a, u, "t", instant)
		other := newSession(t, a, u, "other", instant)
		for _, step := range []time.Duration{time.Hour, time.Millisecond, 0, -time.Millisecond, -24 * time.Hour} {
			ok(t, a.UpdateSession(t.Context(), "t", want.Expires.Add(step)))
			want.Expires = want.Expires.Add(max(step, 0))
			readSession(t, a, want, u)
		}
		readSession(t, a, other, u)
	}},
	{"many renewals at once keep the latest, and every reader finds the session", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := newSession(t, a, u, "t", instant)
		for _, err := range race.Run(2*crowd, func(i int) error {
			if i%2 == 0 {
				return a.UpdateSession(t.Context(), "t", instant.Add(time.Duration(i)*time.Second))
			}
			_, _, err := a.GetSessionAndUser(t.Context(), "t")
			return err
		}) {
			ok(t, err)
		}
		want.Expires = instant.Add((2*crowd - 2) * time.Second)
		readSession(t, a, want, u)
	}},
	{"R-191 a renewal never brings a deleted session back", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		newSession(t, a, u, "t", instant)
		for i, err := range race.Run(crowd, func(i int) error {
			if i == crowd/2 {
				_, err := a.DeleteSession(t.Context(), "t")
				return err
			}
			return a.UpdateSession(t.Context(), "t", instant.Add(time.Duration(i)*time.Second))
		}) {
			if err != nil && (i == crowd/2 || !errors.Is(err, storage.ErrNotFound)) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		_, _, err := a.GetSessionAndUser(t.Context(), "t")
		is(t, "GetSessionAndUser", err, storage.ErrNotFound)
	}},
	{"DeleteSession returns what it removed", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := newSession(t, a, u, "t", instant)
		kept := newSession(t, a, u, "kept", instant)
		got, err := a.DeleteSession(t.Context(), "t")
		ok(t, err)
		sameSession(t, "deleted session", got, want)
		_, _, err = a.GetSessionAndUser(t.Context(), "t")
		is(t, "GetSessionAndUser", err, storage.ErrNotFound)
		readSession(t, a, kept, u)
	}},
	{"of many deletions exactly one succeeds", func(t *testing.T, a sessionStore) {
		newSession(t, a, newUser(t, a, ""), "t", instant)
		oneWins(t, "DeleteSession", race.Run(16, func(int) error {
			_, err := a.DeleteSession(t.Context(), "t")
			return err
		}), storage.ErrNotFound)
	}},
	{"a cancelled context ends the call", func(t *testing.T, a sessionStore) {
		u := newUser(t, a, "")
		want := newSession(t, a, u, "t", instant)
		ctx := cancelled(t)
		is(t, "CreateSession", a.CreateSession(ctx, storage.StoredSession{Token: "new", UserID: u.ID, Expires: instant}), context.Canceled)
		_, _, err := a.GetSessionAndUser(ctx, "t")
		is(t, "GetSessionAndUser", err, context.Canceled)
		is(t, "UpdateSession", a.UpdateSession(ctx, "t", instant.Add(time.Hour)), context.Canceled)
		_, err = a.DeleteSession(ctx, "t")
		is(t, "DeleteSession", err, context.Canceled)
		readSession(t, a, want, u)
		_, _, err = a.GetSessionAndUser(t.Context(), "new")
		is(t, "GetSessionAndUser afterwards", err, storage.ErrNotFound)
	}},
}

var sessionListPromises = []promise[sessionListStore]{
	{"a user's sessions are theirs alone, and their tokens are not listed", func(t *testing.T, a sessionListStore) {
		ada, eve := newUser(t, a, ""), newUser(t, a, "")
		for i := range 3 {
			newSession(t, a, ada, fmt.Sprint("token ", i), instant) // no hexadecimal, as a random id could be
		}
		newSession(t, a, eve, "eve", instant)
		ids := map[string]bool{}
		for _, s := range list(t, a, ada.ID, 3) {
			sameTime(t, "expiry", s.Expires, instant)
			if s.Token != "" || s.UserID != ada.ID || s.ID == "" || strings.Contains(s.ID, "token") {
				t.Errorf("a listed session shows its token, has no id or is another user's")
			}
			ids[s.ID] = true
		}
		if len(ids) != 3 {
			t.Errorf("%d different ids, want 3", len(ids))
		}
		list(t, a, "nobody", 0)
	}},
	{"a session keeps the id that it was given", func(t *testing.T, a sessionListStore) {
		u := newUser(t, a, "")
		ok(t, a.CreateSession(t.Context(), storage.StoredSession{ID: "0123456789abcdef", Token: "t", UserID: u.ID, Expires: instant}))
		if listed := list(t, a, u.ID, 1); listed[0].ID != "0123456789abcdef" {
			t.Errorf("listed with id %q", listed[0].ID)
		}
	}},
	{"a listed session is the one that its id names", func(t *testing.T, a sessionListStore) {
		u := newUser(t, a, "")
		newSession(t, a, u, "t", instant)
		s, _, err := a.GetSessionAndUser(t.Context(), "t")
		ok(t, err)
		if listed := list(t, a, u.ID, 1); listed[0].ID != s.ID {
			t.Errorf("listed with id %q, read with %q", listed[0].ID, s.ID)
		}
		ok(t, a.UpdateSession(t.Context(), "t", instant.Add(time.Hour)))
		if listed := list(t, a, u.ID, 1); listed[0].ID != s.ID {
			t.Error("a renewal changed the id")
		}
	}},
	{"DeleteSessionByID removes only the user's own", func(t *testing.T, a sessionListStore) {
		ada, eve := newUser(t, a, ""), newUser(t, a, "")
		newSession(t, a, ada, "t", instant)
		kept := newSession(t, a, ada, "kept", instant)
		s, _, err := a.GetSessionAndUser(t.Context(), "t")
		ok(t, err)
		is(t, "by another user", a.DeleteSessionByID(t.Context(), eve.ID, s.ID), storage.ErrNotFound)
		is(t, "of an unknown id", a.DeleteSessionByID(t.Context(), ada.ID, "none"), storage.ErrNotFound)
		is(t, "of an empty id", a.DeleteSessionByID(t.Context(), ada.ID, ""), storage.ErrNotFound)
		list(t, a, ada.ID, 2)
		ok(t, a.DeleteSessionByID(t.Context(), ada.ID, s.ID))
		is(t, "a second time", a.DeleteSessionByID(t.Context(), ada.ID, s.ID), storage.ErrNotFound)
		_, _, err = a.GetSessionAndUser(t.Context(), "t")
		is(t, "GetSessionAndUser", err, storage.ErrNotFound)
		readSession(t, a, kept, ada)
	}},
	{"DeleteSessions removes all, or all but one", func(t *testing.T, a sessionListStore) {
		ada, eve := newUser(t, a, ""), newUser(t, a, "")
		for i := range 4 {
			newSession(t, a, ada, fmt.Sprint("t", i), instant)
		}
		others := newSession(t, a, eve, "eve", instant)
		keep, _, err := a.GetSessionAndUser(t.Context(), "t2")
		ok(t, err)
		for _, step := range []struct {
			keep    string
			removed int
			left    int
		}{{keep.ID, 3, 1}, {keep.ID, 0, 1}, {"", 1, 0}, {"", 0, 0}} {
			n, err := a.DeleteSessions(t.Context(), ada.ID, step.keep)
			if err != nil || n != step.removed {
				t.Errorf("DeleteSessions: %d removed, error %v, want %d", n, err, step.removed)
			}
			list(t, a, ada.ID, step.left)
		}
		readSession(t, a, others, eve)
	}},
	{"DeleteSessions spares none for an id that no session has", func(t *testing.T, a sessionListStore) {
		u := newUser(t, a, "")
		for _, keep := range append([]string{"of another store", "2147483647", "0193e4a0-0000-7000-8000-000000000000"}, hostile...) {
			newSession(t, a, u, "t", instant)
			if n, err := a.DeleteSessions(t.Context(), u.ID, keep); n != 1 || err != nil {
				t.Errorf("DeleteSessions but for %.20q: %d removed, error %v, want 1", keep, n, err)
			}
			list(t, a, u.ID, 0)
		}
	}},
	{"DeleteSessions of hostile names removes nothing", func(t *testing.T, a sessionListStore) {
		u := newUser(t, a, "")
		newSession(t, a, u, "t", instant)
		for _, text := range hostile {
			if n, err := a.DeleteSessions(t.Context(), text, ""); n != 0 && text != u.ID {
				t.Errorf("DeleteSessions(%.20q): %d removed, error %v", text, n, err)
			}
		}
		list(t, a, u.ID, 1)
	}},
	{"a cancelled context ends a list and what is done by it", func(t *testing.T, a sessionListStore) {
		u := newUser(t, a, "")
		newSession(t, a, u, "t", instant)
		ctx := cancelled(t)
		_, err := a.ListSessions(ctx, u.ID)
		is(t, "ListSessions", err, context.Canceled)
		is(t, "DeleteSessionByID", a.DeleteSessionByID(ctx, u.ID, "x"), context.Canceled)
		_, err = a.DeleteSessions(ctx, u.ID, "")
		is(t, "DeleteSessions", err, context.Canceled)
		list(t, a, u.ID, 1)
	}},
}

func newSession(t *testing.T, a sessionStore, u storage.User, token string, expires time.Time) storage.StoredSession {
	t.Helper()
	s := storage.StoredSession{Token: token, UserID: u.ID, Expires: expires}
	if err := a.CreateSession(t.Context(), s); err != nil {
		t.Fatalf("CreateSession: %v", err)
	}
	return s
}

func readSession(t *testing.T, a sessionStore, want storage.StoredSession, owner storage.User) {
	t.Helper()
	got, u, err := a.GetSessionAndUser(t.Context(), want.Token)
	if err != nil {
		t.Errorf("GetSessionAndUser: %v", err)
		return
	}
	sameSession(t, "session", got, want)
	same(t, "its user", u, owner)
}

// sameSession fails the test unless got has the fields of want. It does not compare the
// id, nor a time of creation and a user agent that the store did not keep.
func sameSession(t *testing.T, what string, got, want storage.StoredSession) {
	t.Helper()
	if want.Created.IsZero() || got.Created.IsZero() {
		got.Created, want.Created = time.Time{}, time.Time{}
	}
	if got.UserAgent == "" {
		want.UserAgent = ""
	}
	want.ID = got.ID
	same(t, what, got, want)
}

func list(t *testing.T, a sessionListStore, userID string, want int) []storage.StoredSession {
	t.Helper()
	got, err := a.ListSessions(t.Context(), userID)
	if err != nil || len(got) != want {
		t.Fatalf("ListSessions: %d sessions, error %v, want %d", len(got), err, want)
	}
	return got
}
