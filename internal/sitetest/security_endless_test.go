package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
)

// unrevokable is a store that could remember what has ended, on tables that were
// made for less.
type unrevokable struct {
	*memoryadapter.Adapter
	later bool // New does not notice
}

func (u unrevokable) Revoke(context.Context, string, time.Time, time.Time) error {
	return errors.ErrUnsupported
}

func (u unrevokable) RevokedAt(_ context.Context, keys ...string) (map[string]time.Time, error) {
	if u.later && len(keys) == 0 {
		return nil, nil
	}
	return nil, errors.ErrUnsupported
}

func (u unrevokable) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return u.Adapter.InTx(ctx, func(tx storage.Adapter) error { return f(unrevokable{tx.(*memoryadapter.Adapter), u.later}) })
}

// unrevokableStore makes the site's store one of those.
func unrevokableStore(later bool) func(*latchkey.Config) {
	return func(c *latchkey.Config) { c.Adapter = unrevokable{c.Adapter.(*memoryadapter.Adapter), later} }
}

func TestRevocationsThatCannotBe(t *testing.T) {
	t.Run("R-351 New refuses the store that was chosen", func(t *testing.T) {
		c := plainsite.Config(memoryadapter.New(memoryadapter.Options{}))
		plainsite.AsTokens(&c)
		c.Session.Revocations = unrevokable{}
		if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), "Session.Revocations") {
			t.Errorf("New: %v", err)
		}
	})
	t.Run("R-351 at run time nobody is signed in by what cannot be asked", func(t *testing.T) {
		s, b := newEnteredSite(t, unrevokableStore(true))
		thief := b.copy()
		a := b.post("/auth/signout")
		cleared(t, a, "session-token")
		dead(t, thief)
		if log := s.log.text(); !strings.Contains(log, "Revoke") || !strings.Contains(log, "AdapterError") {
			t.Errorf("the log says nothing of it:\n%s", log)
		}
		if a := thief.get("/auth/session"); a.cookie("session-token") != nil {
			t.Error("the fault signed somebody out for good")
		}
		if _, err := s.auth.ReadSession(httptest.NewRecorder(), thief.request(http.MethodGet, "/page", "", "")); !errors.Is(err, latchkey.ErrAdapter) {
			t.Errorf("a guard is told %v", err)
		}
	})
	t.Run("R-351 of the Adapter that cannot, the preset says so at start", func(t *testing.T) {
		s := newSite(t, unrevokableStore(false), func(c *latchkey.Config) { c.Hardened = true })
		if !strings.Contains(s.log.text(), "Session.Revocations") {
			t.Errorf("the log says %s", s.log.text())
		}
	})
}

func TestDeletionEndsTokens(t *testing.T) {
	signedUp := func(t *testing.T, change ...func(*latchkey.Config)) (*testSite, *browser, string) {
		s := newSite(t, change...)
		b := s.newBrowser()
		b.signInByLink(adaEmail)
		live(t, b)
		return s, b, s.store.Contents().Users[0].ID
	}
	t.Run("R-357 an Adapter that is able makes it final by itself", func(t *testing.T) {
		s, b, id := signedUp(t)
		if err := s.auth.Users().Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		a := b.copy().get("/auth/session")
		cleared(t, a, "session-token")
		dead(t, b)
	})
	t.Run("R-357 a sign-in that was under way is void, too", func(t *testing.T) {
		var remove func(latchkey.User)
		s := newSite(t, func(c *latchkey.Config) { // stored, and its cookie is yet to be made
			c.Events.CreateUser = func(_ context.Context, u latchkey.User) error { remove(u); return nil }
		})
		remove = func(u latchkey.User) {
			s.clock.Advance(time.Second)
			if err := s.auth.Users().Delete(t.Context(), u.ID); err != nil {
				t.Error(err)
			}
			s.clock.Advance(time.Second)
		}
		b := s.newBrowser()
		b.signInByLink(adaEmail)
		dead(t, b)
	})
	for name, without := range map[string]func(*latchkey.Config){
		"by an option":                func(c *latchkey.Config) { c.Session.SkipRevocations = true },
		"with an Adapter that cannot": unrevokableStore(false),
	} {
		t.Run("R-357 without revocations it says so: "+name, func(t *testing.T) {
			s, b, id := signedUp(t, without)
			if err := s.auth.Users().EndSessions(t.Context(), id); !errors.Is(err, latchkey.ErrUnsupportedStrategy) {
				t.Errorf("EndSessions: %v", err)
			}
			if err := s.auth.Users().Delete(t.Context(), id); !errors.Is(err, latchkey.ErrSessionsNotEnded) {
				t.Errorf("Delete: %v", err)
			}
			if n := len(s.store.Contents().Users); n != 0 {
				t.Errorf("%d users are left", n)
			}
			live(t, b) // as it was told
		})
		t.Run("R-357 the account page deletes all the same: "+name, func(t *testing.T) {
			s, b, _ := signedUp(t, without, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
			b.post("/auth/account?do=delete", "confirm", "delete")
			if len(s.store.Contents().Users) != 0 || b.isLive() {
				t.Error("the user is still there")
			}
			if !strings.Contains(s.log.text(), "Session.Revocations") {
				t.Error("the log does not say what goes on")
			}
		})
	}
	t.Run("R-357 a deletion that cannot be remembered is undone", func(t *testing.T) {
		s := newSite(t, unrevokableStore(true))
		id := s.addUser(latchkey.User{ID: "u1", Email: adaEmail}).ID
		if err := s.auth.Users().Delete(t.Context(), id); !errors.Is(err, latchkey.ErrAdapter) {
			t.Errorf("Delete: %v", err)
		}
		if len(s.store.Contents().Users) != 1 {
			t.Error("the user is gone, and nobody was told")
		}
	})
	t.Run("R-357 two wishes at once", func(t *testing.T) {
		c := plainsite.Config(memoryadapter.New(memoryadapter.Options{}))
		plainsite.AsTokens(&c)
		c.Session.Revocations, c.Session.SkipRevocations = c.Adapter.(storage.RevocationStore), true
		if _, err := latchkey.New(c); err == nil {
			t.Error("New accepts both")
		}
	})
}

// where nothing can end the tokens of those who were there before, the
// operator knows, at start and when it happens.
func TestEvictionSaysWhatGoesOn(t *testing.T) {
	const atStart, atEviction = "whoever signed in before an e-mail address was proven", "their JWT sessions go on"
	for name, row := range map[string]struct {
		change func(*latchkey.Config)
		want   bool
	}{
		"R-341 tokens that nothing ends":             {unrevokableStore(false), true},
		"R-341 tokens that a store beside them ends": {func(c *latchkey.Config) { c.Session.Revocations = memoryadapter.New(memoryadapter.Options{}) }, false},
		"R-341 rows": {stored, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, row.change, func(c *latchkey.Config) {
				c.Providers[2].(*latchkey.OAuth).EmailTrust = latchkey.EmailUnproven
			})
			if strings.Contains(s.log.text(), atStart) != row.want {
				t.Errorf("at start the log says %s", s.log.text())
			}
			s.addLinkedUser(latchkey.User{Email: adaEmail}, "acme")
			s.newBrowser().signInByLink(adaEmail)
			if log := s.log.text(); strings.Contains(log, atEviction) != row.want || !strings.Contains(log, "proven for the first time") {
				t.Errorf("the log says %s", log)
			}
		})
	}
}
