package tokenjar

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// world is a site with four providers that give out tokens of one size.
type world struct {
	*Jar
	now      time.Time
	requests int
	size     int // of access tokens that are renewed
	cookies  map[string]string
	specs    *browser.Specs
	log      strings.Builder
}

func newWorld() *world {
	w := &world{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), cookies: map[string]string{}, size: 100}
	w.specs = browser.NewSpecs(browser.Options{}, []string{"a secret of the site, long enough"}, true, func(salt string) string { return salt })
	all := map[string]*vault.Provider{}
	for _, id := range []string{"a", "b", "c", "d"} {
		all[id] = &vault.Provider{
			Grant: vault.Grant{Issuer: "https://" + id + ".example", Client: "client"},
			Refresh: func(context.Context, storage.Tokens) (storage.Tokens, error) {
				w.requests++
				return w.issue("renewed"+strconv.Itoa(w.requests), w.size, 40, 0), nil
			},
			Keep: func(t storage.Tokens) (storage.Tokens, error) { t.ExpiresIn = 0; return t, nil },
		}
	}
	logger := slog.New(slog.NewTextHandler(io.MultiWriter(&w.log), nil))
	w.Jar = New(vault.Config{
		Providers: all, Log: journal.New(logger, func() time.Time { return w.now }, journal.Rules{}), Now: func() time.Time { return w.now },
		Early: time.Minute, CallTime: time.Minute, StoreTime: time.Minute,
	}, "", 30*24*time.Hour)
	return w
}

// issue returns tokens of these lengths that last an hour.
func (w *world) issue(mark string, access, refresh, id int) storage.Tokens {
	text := func(kind string, n int) string {
		if n == 0 {
			return ""
		}
		for kind += " " + mark + " "; len(kind) < n; {
			kind += secret.RandomHex(16)
		}
		return kind[:n]
	}
	return storage.Tokens{
		AccessToken: text("access", access), RefreshToken: text("refresh", refresh), IDToken: text("id", id), TokenType: "bearer",
		ExpiresIn: time.Hour, ExpiresAt: w.now.Add(time.Hour),
	}
}

// request is one request of the browser: f works on its cookies.
func (w *world) request(t *testing.T, f func(c *browser.Cookies)) {
	t.Helper()
	h := http.Header{}
	for name, value := range w.cookies {
		h["Cookie"] = append(h["Cookie"], name+"="+value)
	}
	c := browser.NewCookies(h, w.specs, w.now)
	f(&c)
	for _, k := range c.Out {
		if w.cookies[k.Name] = k.Value; k.MaxAge < 0 {
			delete(w.cookies, k.Name)
		}
	}
	size := 0
	for name, value := range w.cookies {
		size += len(value)
		if len(value) > 3936 {
			t.Errorf("%s has %d characters", name, len(value))
		}
	}
	if size > 7872 || len(w.cookies) > 2 {
		t.Errorf("the browser has %d cookies with %d characters", len(w.cookies), size)
	}
}

var here = Session{"user", "sid"}

func (w *world) enter(t *testing.T, provider string, tokens storage.Tokens) {
	t.Helper()
	w.request(t, func(c *browser.Cookies) {
		if err := w.SignIn(c, here, here, &storage.Account{Provider: provider, ProviderAccountID: "1", Type: storage.TypeOIDC, Tokens: tokens}, tokens); err != nil {
			t.Error(err)
		}
	})
}

func (w *world) ask(t *testing.T, provider string) (got storage.Tokens, err error) {
	t.Helper()
	w.request(t, func(c *browser.Cookies) { got, err = w.AccessToken(t.Context(), c, here, provider, vault.Options{}) })
	return got, err
}

// held returns what the browser keeps.
func (w *world) held(t *testing.T) (all []browser.HeldTokens) {
	t.Helper()
	w.request(t, func(c *browser.Cookies) {
		kept, _ := c.TokenCookie(w.now, w.life)
		all = kept.Accounts
	})
	return all
}

func TestRoom(t *testing.T) {
	for name, c := range map[string]struct {
		access, refresh, id int
		keepsID, keepsToken bool
	}{
		"T-046 1 KB":           {1 << 10, 1 << 10, 1 << 10, true, true},
		"T-046 4 KB":           {4 << 10, 100, 4 << 10, false, true},
		"T-046 8 KB":           {8 << 10, 100, 8 << 10, false, false},
		"T-046 20 KB":          {20 << 10, 100, 20 << 10, false, false},
		"T-046 refresh of 5KB": {1 << 10, 5 << 10, 1 << 10, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			given := w.issue("first", c.access, c.refresh, c.id)
			w.enter(t, "a", given)
			kept := w.held(t)
			if len(kept) != 1 || kept[0].Refresh != given.RefreshToken || (kept[0].ID != "") != c.keepsID || (kept[0].Access != "") != c.keepsToken {
				t.Fatalf("kept %d accounts: id token %t, access token %t", len(kept), len(kept) > 0 && kept[0].ID != "", len(kept) > 0 && kept[0].Access != "")
			}
			got, err := w.ask(t, "a")
			if err != nil || got.AccessToken != given.AccessToken || w.requests != 0 {
				t.Errorf("a token that is kept in memory: %v, %d requests", err, w.requests)
			}
			w.size = c.access
			w.now = w.now.Add(2 * time.Hour)
			for range 3 {
				if got, err = w.ask(t, "a"); err != nil || len(got.AccessToken) != c.access || w.requests != 1 {
					t.Errorf("after its end: %v, %d requests", err, w.requests)
				}
				w.now = w.now.Add(10 * time.Minute)
			}
		})
	}
	t.Run("T-046 a refresh token without room", func(t *testing.T) {
		w := newWorld()
		w.enter(t, "a", w.issue("first", 100, 8<<10, 0))
		if len(w.cookies) > 0 || !strings.Contains(w.log.String(), "has no room for an account") {
			t.Errorf("kept %d cookies: %s", len(w.cookies), &w.log)
		}
		if _, err := w.ask(t, "a"); !errors.Is(err, fault.ErrReconnect) {
			t.Errorf("%v", err)
		}
	})
	t.Run("T-046 a token without a refresh token", func(t *testing.T) {
		w := newWorld()
		given := w.issue("only", 8<<10, 0, 0)
		w.enter(t, "a", given)
		if got, err := w.ask(t, "a"); err != nil || got.AccessToken != given.AccessToken {
			t.Errorf("%v", err)
		}
		w.now = w.now.Add(2 * time.Hour)
		if _, err := w.ask(t, "a"); !errors.Is(err, fault.ErrReconnect) || w.requests != 0 {
			t.Errorf("after its end: %v", err)
		}
	})
	t.Run("T-046 four accounts", func(t *testing.T) {
		w := newWorld()
		for _, id := range []string{"a", "b", "c", "d"} {
			w.enter(t, id, w.issue(id, 100, 40, 100))
		}
		for id, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true} {
			if _, err := w.ask(t, id); (err == nil) != want {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
	t.Run("T-046 the oldest account goes first", func(t *testing.T) {
		w := newWorld()
		for _, id := range []string{"a", "b", "c"} {
			w.enter(t, id, w.issue(id, 2<<10, 2<<10, 2<<10))
		}
		kept := w.held(t)
		if len(kept) != 2 || kept[0].Provider != "c" || kept[0].ID != "" || kept[0].Refresh == "" || kept[1].Refresh == "" {
			t.Errorf("kept %d accounts", len(kept))
		}
	})
}

// TestMemory shows what a process remembers of tokens that were renewed.
func TestMemory(t *testing.T) {
	t.Run("a chain of renewals is followed for two minutes", func(t *testing.T) {
		w := newWorld()
		w.enter(t, "a", w.issue("first", 100, 40, 0))
		old := map[string]string{}
		for name, value := range w.cookies {
			old[name] = value
		}
		w.now = w.now.Add(2 * time.Hour)
		first, _ := w.ask(t, "a")
		var second storage.Tokens
		w.request(t, func(c *browser.Cookies) {
			second, _ = w.AccessToken(t.Context(), c, here, "a", vault.Options{Rejected: first.AccessToken})
		})
		w.cookies = old
		got, err := w.ask(t, "a")
		if err != nil || got.AccessToken != second.AccessToken || second.AccessToken == first.AccessToken || w.requests != 2 {
			t.Errorf("%v, %d requests", err, w.requests)
		}
	})
	t.Run("two accounts that are renewed in one response", func(t *testing.T) {
		w := newWorld()
		w.enter(t, "a", w.issue("a", 100, 40, 0))
		w.enter(t, "b", w.issue("b", 100, 40, 0))
		w.now = w.now.Add(2 * time.Hour)
		before := w.cookies
		var last map[string]string
		for _, id := range []string{"a", "b"} { // each call reads the cookie that the request brought
			w.cookies = map[string]string{}
			for name, value := range before {
				w.cookies[name] = value
			}
			if _, err := w.ask(t, id); err != nil {
				t.Error(err)
			}
			last = w.cookies
		}
		w.cookies = last
		w.now = w.now.Add(10 * time.Minute)
		for _, id := range []string{"a", "b"} {
			if _, err := w.ask(t, id); err != nil || w.requests != 2 {
				t.Errorf("%s: %v, %d requests", id, err, w.requests)
			}
		}
	})
	t.Run("an old cookie is sent again once a day", func(t *testing.T) {
		w := newWorld()
		given := w.issue("long", 100, 40, 0)
		given.ExpiresAt = w.now.Add(100 * time.Hour)
		w.enter(t, "a", given)
		before := len(w.cookies)
		w.now = w.now.Add(25 * time.Hour)
		w.request(t, func(c *browser.Cookies) {
			_, err := w.AccessToken(t.Context(), c, here, "a", vault.Options{})
			if err != nil || len(c.Out) == 0 || before == 0 {
				t.Errorf("%v, %d cookies", err, len(c.Out))
			}
		})
		w.request(t, func(c *browser.Cookies) {
			if _, err := w.AccessToken(t.Context(), c, here, "a", vault.Options{}); err != nil || len(c.Out) > 0 {
				t.Errorf("%v, %d cookies", err, len(c.Out))
			}
		})
	})
}

// TestWhoseTokens shows which tokens of a browser are not used: those of another session,
// user, tenant or client (T-045, T-126).
func TestWhoseTokens(t *testing.T) {
	for name, c := range map[string]struct {
		of      Session
		change  func(w *world)
		cleared bool
	}{
		"T-045 another session":      {Session{here.Subject, "another"}, func(*world) {}, true},
		"T-045 another user":         {Session{"another", here.ID}, func(*world) {}, true},
		"T-045 nobody":               {Session{}, func(*world) {}, true},
		"T-045 another tenant":       {here, func(w *world) { w.tenant = "another" }, false},
		"T-126 another client":       {here, func(w *world) { w.vault.Providers["a"].Grant.Client = "another" }, false},
		"T-126 another issuer":       {here, func(w *world) { w.vault.Providers["a"].Grant.Issuer = "https://b.example" }, false},
		"T-126 a provider of before": {here, func(w *world) { delete(w.vault.Providers, "a") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.enter(t, "a", w.issue("first", 100, 40, 0))
			c.change(w)
			w.now = w.now.Add(2 * time.Hour)
			w.request(t, func(k *browser.Cookies) {
				if got, err := w.AccessToken(t.Context(), k, c.of, "a", vault.Options{}); err == nil || got.AccessToken != "" {
					t.Errorf("got a token, %v", err)
				}
			})
			if w.requests != 0 || (len(w.cookies) == 0) != c.cleared {
				t.Errorf("%d requests; the browser has %d cookies", w.requests, len(w.cookies))
			}
		})
	}
	t.Run("T-045 another user signs in", func(t *testing.T) {
		w := newWorld()
		w.enter(t, "a", w.issue("first", 100, 40, 0))
		tokens := w.issue("second", 100, 40, 0)
		w.request(t, func(k *browser.Cookies) {
			err := w.SignIn(k, here, Session{"another", "sid"}, &storage.Account{Provider: "b", ProviderAccountID: "1", Type: storage.TypeOIDC, Tokens: tokens}, tokens)
			if err != nil {
				t.Error(err)
			}
		})
		if kept := w.held(t); len(kept) != 1 || kept[0].Provider != "b" {
			t.Errorf("kept %d accounts", len(kept))
		}
	})
}
