package storagetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

type browserStore interface {
	storage.Adapter
	storage.BrowserAdapter
}

var browserPromises = []promise[browserStore]{
	{"what is not there is ErrNotFound", func(t *testing.T, a browserStore) {
		u := newUser(t, a, "")
		noBrowser(t, a, u.ID, "none")
		is(t, "Renew", a.Browsers().Renew(t.Context(), "none", "next", instant), storage.ErrNotFound)
		listBrowsers(t, a, u.ID)
		listBrowsers(t, a, "nobody")
		deleteBrowsers(t, a, 0, u.ID, "")
		deleteBrowsers(t, a, 0, "nobody", "")
	}},
	{"a browser is read and listed as it was stored", func(t *testing.T, a browserStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want, hers := newBrowser(t, a, ada, "b"), newBrowser(t, a, eve, "b")
		readBrowser(t, a, want)
		readBrowser(t, a, hers)
		listBrowsers(t, a, ada.ID, want)
		plain := storage.Browser{ID: "plain", UserID: eve.ID, PublicID: "p", Created: instant, Seen: instant, Expires: instant.Add(time.Hour)}
		ok(t, a.Browsers().Put(t.Context(), plain))
		readBrowser(t, a, plain)
	}},
	{"Put replaces the row of a browser and a user, and no other", func(t *testing.T, a browserStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want, hers, other := newBrowser(t, a, ada, "b"), newBrowser(t, a, eve, "b"), newBrowser(t, a, ada, "other")
		want.PublicID, want.Trusted, want.UserAgent = "another", time.Time{}, ""
		want.Created, want.Seen, want.Expires = instant.Add(-time.Minute), instant, instant.Add(time.Hour)
		for range 2 { // the second time there is nothing to change
			ok(t, a.Browsers().Put(t.Context(), want))
			readBrowser(t, a, want)
		}
		readBrowser(t, a, hers)
		readBrowser(t, a, other)
	}},
	{"a public id that another row has is ErrConflict", func(t *testing.T, a browserStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want, hers := newBrowser(t, a, ada, "b"), newBrowser(t, a, eve, "other")
		taken := hers
		taken.PublicID, taken.Trusted = want.PublicID, time.Time{}
		is(t, "Put", a.Browsers().Put(t.Context(), taken), storage.ErrConflict)
		taken.ID = "new"
		is(t, "Put of a new row", a.Browsers().Put(t.Context(), taken), storage.ErrConflict)
		readBrowser(t, a, want)
		readBrowser(t, a, hers)
		noBrowser(t, a, eve.ID, "new")
	}},
	{"ids are compared exactly", func(t *testing.T, a browserStore) {
		u := newUser(t, a, "")
		var all []storage.Browser
		for _, id := range alike {
			all = append(all, newBrowser(t, a, u, id))
		}
		for _, b := range all {
			readBrowser(t, a, b)
		}
		for _, b := range all {
			deleteBrowsers(t, a, 1, u.ID, b.PublicID)
			noBrowser(t, a, u.ID, b.ID)
		}
	}},
	{"hostile names find nothing", func(t *testing.T, a browserStore) {
		u := newUser(t, a, "")
		want := newBrowser(t, a, u, "b")
		for _, text := range hostile {
			noBrowser(t, a, u.ID, text)
			is(t, fmt.Sprintf("Renew(%.20q)", text), a.Browsers().Renew(t.Context(), text, "next", instant), storage.ErrNotFound)
			deleteBrowsers(t, a, 0, u.ID, text)
			if text != u.ID {
				_, err := a.Browsers().Get(t.Context(), "b", text)
				is(t, fmt.Sprintf("Get of the user %.20q", text), err, storage.ErrNotFound)
				deleteBrowsers(t, a, 0, text, "")
			}
		}
		noBrowser(t, a, u.ID, "")
		listBrowsers(t, a, u.ID, want)
	}},
	{"what a browser says of itself is no obstacle", func(t *testing.T, a browserStore) {
		u := newUser(t, a, "")
		for i, agent := range append(unicode, hostile...) {
			b := filledBrowser(u, fmt.Sprint("b", i))
			b.UserAgent = agent
			ok(t, a.Browsers().Put(t.Context(), b))
			_, err := a.Browsers().Get(t.Context(), b.ID, u.ID)
			ok(t, err)
		}
	}},
	{"F-061 Renew moves all rows of a browser, and the old id names nothing", func(t *testing.T, a browserStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		want, hers, other := newBrowser(t, a, ada, "old"), newBrowser(t, a, eve, "old"), newBrowser(t, a, ada, "other")
		seen := instant.Add(time.Minute)
		ok(t, a.Browsers().Renew(t.Context(), "old", "new", seen))
		for _, b := range []storage.Browser{want, hers} {
			noBrowser(t, a, b.UserID, "old")
			b.ID, b.Seen = "new", seen
			readBrowser(t, a, b)
		}
		readBrowser(t, a, other)
		is(t, "Renew again", a.Browsers().Renew(t.Context(), "old", "newer", seen), storage.ErrNotFound)
	}},
	{"F-061 of 100 renewals of one browser exactly one succeeds", func(t *testing.T, a browserStore) {
		u := newUser(t, a, "")
		newBrowser(t, a, u, "old")
		errs := race.Run(crowd, func(i int) error {
			return a.Browsers().Renew(t.Context(), "old", fmt.Sprint("new", i), instant)
		})
		oneWins(t, "Renew", errs, storage.ErrNotFound)
		for i, err := range errs {
			if err == nil {
				_, err := a.Browsers().Get(t.Context(), fmt.Sprint("new", i), u.ID)
				ok(t, err)
			}
		}
		listed, err := a.Browsers().List(t.Context(), u.ID)
		if err != nil || len(listed) != 1 {
			t.Errorf("List: %d browsers, error %v, want 1", len(listed), err)
		}
	}},
	{"F-062 Delete removes the user's own, by the public id", func(t *testing.T, a browserStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		b := newBrowser(t, a, ada, "1")
		newBrowser(t, a, ada, "2")
		newBrowser(t, a, ada, "3")
		hers := newBrowser(t, a, eve, "1")
		deleteBrowsers(t, a, 0, eve.ID, b.PublicID)
		deleteBrowsers(t, a, 0, ada.ID, "1")
		readBrowser(t, a, b)
		deleteBrowsers(t, a, 1, ada.ID, b.PublicID)
		noBrowser(t, a, ada.ID, "1")
		deleteBrowsers(t, a, 0, ada.ID, b.PublicID)
		deleteBrowsers(t, a, 2, ada.ID, "")
		listBrowsers(t, a, ada.ID)
		listBrowsers(t, a, eve.ID, hers)
	}},
	{"a cancelled context ends the call", func(t *testing.T, a browserStore) {
		u := newUser(t, a, "")
		want := newBrowser(t, a, u, "b")
		ctx := cancelled(t)
		is(t, "Put", a.Browsers().Put(ctx, filledBrowser(u, "new")), context.Canceled)
		_, err := a.Browsers().Get(ctx, "b", u.ID)
		is(t, "Get", err, context.Canceled)
		is(t, "Renew", a.Browsers().Renew(ctx, "b", "c", instant), context.Canceled)
		_, err = a.Browsers().List(ctx, u.ID)
		is(t, "List", err, context.Canceled)
		_, err = a.Browsers().Delete(ctx, u.ID, "")
		is(t, "Delete", err, context.Canceled)
		listBrowsers(t, a, u.ID, want)
	}},
}

func newBrowser(t *testing.T, a storage.BrowserAdapter, u storage.User, id string) storage.Browser {
	t.Helper()
	b := filledBrowser(u, id)
	ok(t, a.Browsers().Put(t.Context(), b))
	return b
}

// readBrowser fails the test unless the store returns want.
func readBrowser(t *testing.T, a storage.BrowserAdapter, want storage.Browser) {
	t.Helper()
	got, err := a.Browsers().Get(t.Context(), want.ID, want.UserID)
	if err != nil {
		t.Errorf("Get(%.20q): %v", want.ID, err)
		return
	}
	same(t, "browser", got, want)
}

// noBrowser proves that a browser is not there.
func noBrowser(t *testing.T, a storage.BrowserAdapter, userID, id string) {
	t.Helper()
	_, err := a.Browsers().Get(t.Context(), id, userID)
	is(t, fmt.Sprintf("Get(%.20q)", id), err, storage.ErrNotFound)
}

// listBrowsers expects exactly these browsers, in any order.
func listBrowsers(t *testing.T, a storage.BrowserAdapter, userID string, want ...storage.Browser) {
	t.Helper()
	got, err := a.Browsers().List(t.Context(), userID)
	if err != nil || len(got) != len(want) {
		t.Errorf("List(%.20q): %d browsers, error %v, want %d", userID, len(got), err, len(want))
		return
	}
	byID := func(a, b storage.Browser) int { return strings.Compare(a.PublicID, b.PublicID) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	for i := range want {
		same(t, "listed browser", got[i], want[i])
	}
}

// deleteBrowsers fails the test unless Delete removes want browsers.
func deleteBrowsers(t *testing.T, a storage.BrowserAdapter, want int, userID, publicID string) {
	t.Helper()
	if n, err := a.Browsers().Delete(t.Context(), userID, publicID); err != nil || n != want {
		t.Errorf("Delete(%.20q, %.20q): %d, error %v, want %d", userID, publicID, n, err, want)
	}
}
