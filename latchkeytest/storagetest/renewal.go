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

type renewalStore interface {
	sessionStore
	storage.SessionRenewalAdapter
}

var renewalPromises = []promise[renewalStore]{
	{"F-066 a renewed session has another token, and nothing else of it changes", func(t *testing.T, a renewalStore) {
		u := newUser(t, a, "ada@example.com")
		ok(t, a.CreateSession(t.Context(), filledSession(u, "old")))
		other := newSession(t, a, u, "other", instant)
		want, _, err := a.GetSessionAndUser(t.Context(), "old") // with what the store keeps
		ok(t, err)
		for _, expires := range []time.Time{instant.Add(time.Hour), instant.Add(-time.Hour)} {
			next := filledSession(storage.User{ID: "ignored"}, fmt.Sprint("at ", expires.Unix()))
			next.ID, next.Tenant, next.Provider, next.UserAgent, next.Sealed = "ignored", "ignored", "ignored", "ignored", "ignored"
			next.Created, next.Expires = instant, expires
			next.ProviderSID, next.ProviderSub, next.ProviderIssued = "", "", instant
			ok(t, a.RenewSession(t.Context(), want.Token, next))
			_, _, err := a.GetSessionAndUser(t.Context(), want.Token)
			is(t, "GetSessionAndUser with the old token", err, storage.ErrNotFound)
			got, owner, err := a.GetSessionAndUser(t.Context(), next.Token)
			ok(t, err)
			want.Token, want.Expires = next.Token, expires
			sameWholeSession(t, "renewed session", got, want)
			same(t, "its user", owner, u)
		}
		readSession(t, a, other, u)
	}},
	{"F-066 a renewed session keeps its id", func(t *testing.T, a renewalStore) {
		u := newUser(t, a, "")
		newSession(t, a, u, "old", instant)
		before, _, err := a.GetSessionAndUser(t.Context(), "old")
		ok(t, err)
		ok(t, a.RenewSession(t.Context(), "old", storage.StoredSession{Token: "new", Expires: instant}))
		after, _, err := a.GetSessionAndUser(t.Context(), "new")
		ok(t, err)
		if after.ID != before.ID {
			t.Errorf("the id %q became %q", before.ID, after.ID)
		}
		if able, can := storage.Adapter(a).(storage.SessionListAdapter); can {
			listed, err := able.ListSessions(t.Context(), u.ID)
			if err != nil || len(listed) != 1 || listed[0].ID != before.ID {
				t.Errorf("ListSessions: %d sessions, error %v, want the one", len(listed), err)
			}
			ok(t, able.DeleteSessionByID(t.Context(), u.ID, before.ID))
			_, _, err = a.GetSessionAndUser(t.Context(), "new")
			is(t, "GetSessionAndUser after the end by id", err, storage.ErrNotFound)
		}
	}},
	{"what was proven is kept", func(t *testing.T, a renewalStore) {
		u := newUser(t, a, "")
		newSession(t, a, u, "old", instant)
		token := "old"
		for i, next := range []storage.StoredSession{
			{Token: "new", Expires: instant.Add(time.Minute), Proved: instant, AMR: []string{"pwd", "hwk", "user"}, ACR: "aal2"},
			{Token: "last", Expires: instant.Add(time.Hour)},
		} {
			ok(t, a.RenewSession(t.Context(), token, next))
			token, next.UserID = next.Token, u.ID
			got, _, err := a.GetSessionAndUser(t.Context(), token)
			ok(t, err)
			sameSession(t, fmt.Sprint("session after renewal ", i+1), got, next)
		}
	}},
	{"R-742 a renewed session gets the names of a provider, if there are any", func(t *testing.T, a renewalStore) {
		u := newUser(t, a, "")
		ok(t, a.CreateSession(t.Context(), filledSession(u, "old")))
		want, _, err := a.GetSessionAndUser(t.Context(), "old")
		ok(t, err)
		next := storage.StoredSession{
			Token: "new", Expires: instant.Add(time.Hour), Proved: want.Proved, AMR: want.AMR, ACR: want.ACR,
			ProviderSID: "new sid", ProviderIssued: instant, Sealed: "new names",
		}
		ok(t, a.RenewSession(t.Context(), "old", next))
		got, _, err := a.GetSessionAndUser(t.Context(), "new")
		ok(t, err)
		want.Token, want.Expires = next.Token, next.Expires
		if want.ProviderSID != "" { // the layout has a place for them
			want.ProviderSID, want.ProviderSub, want.ProviderIssued = next.ProviderSID, "", next.ProviderIssued
		}
		if want.Sealed != "" {
			want.Sealed = next.Sealed
		}
		sameWholeSession(t, "renewed session", got, want)
		if able, can := storage.Adapter(a).(storage.ProviderLogoutAdapter); can && want.ProviderSID != "" {
			gone, err := able.DeleteProviderSessions(t.Context(), []string{"new sid"}, nil, instant)
			if err != nil || len(gone) != 1 {
				t.Errorf("DeleteProviderSessions by the new name: %d sessions, error %v", len(gone), err)
			}
		}
	}},
	{"a session that is gone is ErrNotFound", func(t *testing.T, a renewalStore) {
		newSession(t, a, newUser(t, a, ""), "t", instant)
		_, err := a.DeleteSession(t.Context(), "t")
		ok(t, err)
		for _, token := range append([]string{"t", "none", ""}, hostile...) {
			is(t, fmt.Sprintf("RenewSession(%.20q)", token), a.RenewSession(t.Context(), token, storage.StoredSession{Token: "new", Expires: instant}), storage.ErrNotFound)
		}
		_, _, err = a.GetSessionAndUser(t.Context(), "new")
		is(t, "GetSessionAndUser", err, storage.ErrNotFound)
	}},
	{"a taken token is ErrConflict", func(t *testing.T, a renewalStore) {
		u := newUser(t, a, "")
		want, other := newSession(t, a, u, "t", instant), newSession(t, a, u, "other", instant)
		is(t, "RenewSession", a.RenewSession(t.Context(), "t", storage.StoredSession{Token: "other", Expires: instant.Add(time.Hour)}), storage.ErrConflict)
		readSession(t, a, want, u)
		readSession(t, a, other, u)
	}},
	{"of 100 renewals of one token exactly one succeeds", func(t *testing.T, a renewalStore) {
		u := newUser(t, a, "")
		newSession(t, a, u, "t", instant)
		errs := race.Run(crowd, func(i int) error {
			return a.RenewSession(t.Context(), "t", storage.StoredSession{Token: fmt.Sprint("new", i), Expires: instant})
		})
		oneWins(t, "RenewSession", errs, storage.ErrNotFound)
		for i, err := range errs {
			_, _, found := a.GetSessionAndUser(t.Context(), fmt.Sprint("new", i))
			if (err == nil) != (found == nil) {
				t.Errorf("renewal %d: error %v, and its token finds: %v", i, err, found)
			}
		}
	}},
	{"F-070 a renewal never brings a deleted session back", func(t *testing.T, a renewalStore) {
		for range race.Rounds(t) {
			newSession(t, a, newUser(t, a, ""), "t", instant)
			errs := race.Run(2, func(i int) error {
				if i == 0 {
					_, err := a.DeleteSession(t.Context(), "t")
					return err
				}
				return a.RenewSession(t.Context(), "t", storage.StoredSession{Token: "new", Expires: instant})
			})
			oneWins(t, "DeleteSession and RenewSession", errs, storage.ErrNotFound)
			_, err := a.DeleteSession(t.Context(), "new")
			if (err == nil) != (errs[1] == nil) || err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("renewal: %v; the renewed session: %v", errs[1], err)
			}
			_, err = a.DeleteSession(t.Context(), "t")
			is(t, "DeleteSession", err, storage.ErrNotFound)
		}
	}},
	{"a cancelled context ends the call", func(t *testing.T, a renewalStore) {
		u := newUser(t, a, "")
		want := newSession(t, a, u, "t", instant)
		is(t, "RenewSession", a.RenewSession(cancelled(t), "t", storage.StoredSession{Token: "new", Expires: instant}), context.Canceled)
		readSession(t, a, want, u)
	}},
}
