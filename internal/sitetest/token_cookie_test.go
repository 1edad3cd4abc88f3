package sitetest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// jarSite is a site without a database whose browsers keep the tokens.
type jarSite struct{ *oauthSite }

const tokenCookie = "__Secure-authjs.provider-tokens"

func newJarSite(t *testing.T, change ...func(*latchkey.Config)) *jarSite {
	t.Helper()
	return &jarSite{newOAuthSite(t, append([]func(*latchkey.Config){
		withIssuer(func(o *latchkey.OAuth) { o.Offline = true }),
		func(c *latchkey.Config) {
			c.Adapter, c.Tokens.Cookie = nil, true
			c.Providers = append(c.Providers[:1:1], c.Providers[3:]...)
		},
	}, change...)...)}
}

// enter signs a new browser in.
func (s *jarSite) enter() *browser {
	s.t.Helper()
	b := s.newBrowser()
	s.mustSignIn(b)
	return b
}

// ask has a handler ask for an access token in a request of the browser, before or after
// it writes the body.
func (b *browser) ask(o latchkey.TokenOptions, late bool) (t latchkey.Tokens, err error) {
	h := b.site.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if late {
			w.WriteHeader(http.StatusOK)
		}
		t, err = b.site.auth.AccessToken(w, r, "issuer", o)
	}))
	b.serve(h, b.request(http.MethodGet, "/api", "", ""))
	return t, err
}

// pieces returns the cookies with provider tokens that the browser has.
func (b *browser) pieces() map[string]string {
	all := map[string]string{}
	for name, value := range b.jar {
		if strings.HasPrefix(name, tokenCookie) {
			all[name] = value
		}
	}
	return all
}

func TestTokenCookie(t *testing.T) {
	t.Run("T-043 an expired token is renewed into a new cookie", func(t *testing.T) {
		s := newJarSite(t)
		b := s.enter()
		first, err := b.ask(latchkey.TokenOptions{Scopes: []string{"openid"}}, false)
		if err != nil || !s.works(first.AccessToken) || first.RefreshToken != "" || first.IDToken != "" || s.tokenRequests() != 0 {
			t.Fatalf("%v, %d requests", err, s.tokenRequests())
		}
		old := b.copy()
		s.clock.Advance(2 * time.Hour)
		second, err := b.ask(latchkey.TokenOptions{}, false)
		if err != nil || !s.works(second.AccessToken) || s.tokenRequests() != 1 {
			t.Fatalf("%v, %d requests", err, s.tokenRequests())
		}
		if maps.Equal(old.pieces(), b.pieces()) {
			t.Error("the cookie has not changed")
		}
		before := old.pieces()
		again, err := old.ask(latchkey.TokenOptions{}, false)
		if err != nil || again.AccessToken != second.AccessToken || s.tokenRequests() != 1 {
			t.Errorf("with the old cookie: %v, %d requests", err, s.tokenRequests())
		}
		if maps.Equal(old.pieces(), before) {
			t.Error("the old cookie was not replaced")
		}
		s.clock.Advance(2 * time.Hour)
		if _, err := old.ask(latchkey.TokenOptions{}, false); err != nil || s.tokenRequests() != 2 {
			t.Errorf("the cookie that was set again: %v, %d requests", err, s.tokenRequests())
		}
	})
	t.Run("R-718 a change of the session in the same request keeps the new cookie", func(t *testing.T) {
		s := newJarSite(t)
		b := s.enter()
		s.clock.Advance(2 * time.Hour)
		h := s.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := s.auth.AccessToken(w, r, "issuer", latchkey.TokenOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := s.auth.UpdateSession(w, r, "news"); err != nil {
				t.Error(err)
			}
		}))
		b.serve(h, b.request(http.MethodGet, "/api", "", ""))
		s.clock.Advance(2 * time.Hour)
		if _, err := b.ask(latchkey.TokenOptions{}, false); err != nil {
			t.Errorf("R-718 the refresh token that was issued is lost: %v", err)
		}
	})
	t.Run("T-044 nothing is renewed once the response has begun", func(t *testing.T) {
		s := newJarSite(t)
		b := s.enter()
		if _, err := b.ask(latchkey.TokenOptions{}, true); err != nil {
			t.Errorf("a valid token: %v", err)
		}
		s.clock.Advance(2 * time.Hour)
		if _, err := b.ask(latchkey.TokenOptions{}, true); !errors.Is(err, latchkey.ErrRefresh) || s.tokenRequests() != 0 {
			t.Errorf("%v, %d requests", err, s.tokenRequests())
		}
		if _, err := b.ask(latchkey.TokenOptions{}, false); err != nil || s.tokenRequests() != 1 {
			t.Errorf("before the body: %v", err)
		}
	})
	t.Run("T-044 a writer that says so", func(t *testing.T) {
		s := newJarSite(t)
		b := s.enter()
		s.clock.Advance(2 * time.Hour)
		_, err := s.auth.AccessToken(writtenTo{httptest.NewRecorder()}, b.request(http.MethodGet, "/api", "", ""), "issuer", latchkey.TokenOptions{})
		if !errors.Is(err, latchkey.ErrRefresh) || s.tokenRequests() != 0 {
			t.Errorf("%v, %d requests", err, s.tokenRequests())
		}
	})
	t.Run("T-045 the cookie of another session", func(t *testing.T) {
		s := newJarSite(t)
		one, other := s.enter(), s.enter()
		maps.Copy(other.jar, one.pieces())
		s.forgets(other, "another session's")
	})
	t.Run("T-045 a cookie that was changed", func(t *testing.T) {
		s := newJarSite(t)
		for i := range 40 {
			b := s.enter()
			for name, value := range b.pieces() {
				at := i * len(value) / 40
				b.jar[name] = value[:at] + string(value[at]^1) + value[at+1:]
			}
			s.forgets(b, "a changed")
		}
	})
	t.Run("T-045 a sign-out clears all pieces", func(t *testing.T) {
		s := newJarSite(t)
		b := s.enter()
		b.jar[tokenCookie+".0"], b.jar[tokenCookie+".1"] = "left", "over"
		b.post("/auth/signout")
		if left := b.pieces(); len(left) > 0 || b.isSignedIn() {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("T-048 50 requests at once make one token request", func(t *testing.T) {
		s := newJarSite(t)
		b := s.enter()
		s.clock.Advance(2 * time.Hour)
		got := make([]latchkey.Tokens, 50)
		for i, err := range race.Run(len(got), func(i int) (err error) { got[i], err = b.copy().ask(latchkey.TokenOptions{}, false); return err }) {
			if err != nil || got[i].AccessToken != got[0].AccessToken {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		if s.tokenRequests() != 1 {
			t.Errorf("%d requests", s.tokenRequests())
		}
	})
	t.Run("T-010 a grant that was ended at the provider", func(t *testing.T) {
		s := newJarSite(t)
		b := s.enter()
		s.clock.Advance(2 * time.Hour)
		s.issuer.EndGrants()
		for range 2 {
			if _, err := b.ask(latchkey.TokenOptions{}, false); !errors.Is(err, latchkey.ErrReconnect) || s.tokenRequests() != 1 {
				t.Errorf("%v, %d requests", err, s.tokenRequests())
			}
		}
		s.mustSignIn(b)
		if _, err := b.ask(latchkey.TokenOptions{}, false); err != nil {
			t.Errorf("after signing in again: %v", err)
		}
	})
	t.Run("T-127 an API that always answers 401", func(t *testing.T) {
		s := newJarSite(t)
		b := s.enter()
		for range 20 {
			token, err := b.ask(latchkey.TokenOptions{}, false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err = b.ask(latchkey.TokenOptions{Rejected: token.AccessToken}, false); err != nil && !errors.Is(err, latchkey.ErrRefresh) {
				t.Fatal(err)
			}
		}
		if s.tokenRequests() != 1 {
			t.Errorf("%d requests", s.tokenRequests())
		}
	})
}

// forgets fails the test unless a cookie is ignored and cleared, and the session lives.
func (s *jarSite) forgets(b *browser, what string) {
	s.t.Helper()
	_, err := b.ask(latchkey.TokenOptions{}, false)
	if !errors.Is(err, latchkey.ErrReconnect) || len(b.pieces()) > 0 || !b.isSignedIn() || s.tokenRequests() != 0 {
		s.t.Errorf("%s cookie: %v, %d pieces left", what, err, len(b.pieces()))
	}
}

// tokenRequests returns how many tokens were asked for by a refresh token.
func (s *jarSite) tokenRequests() int { return (&tokenSite{oauthSite: s.oauthSite}).tokenRequests() }

func (s *jarSite) works(access string) bool {
	return (&tokenSite{oauthSite: s.oauthSite}).works(access)
}

// writtenTo is the writer of a response that has begun.
type writtenTo struct{ http.ResponseWriter }

func (writtenTo) Written() bool { return true }

// TestTokenCookieAccounts shows which accounts a browser keeps.
func TestTokenCookieAccounts(t *testing.T) {
	chosen := func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, in latchkey.TokenInfo) (latchkey.Claims, error) {
			if in.Trigger == latchkey.TriggerSignIn {
				in.Claims["sub"] = "the user of " + in.Account.ProviderAccountID
			}
			return in.Claims, nil
		}
	}
	s := newJarSite(t, second(unchanged), chosen)
	ask := func(b *browser, provider string) error {
		_, cookies, err := s.auth.Core().AccessToken(t.Context(), requestOf(b.request(http.MethodGet, "/api", "", "")), provider, latchkey.TokenOptions{})
		if err == nil && len(cookies) == 0 {
			t.Error("no cookie renews the session")
		}
		return err
	}
	b := s.enter()
	if a, err := b.tryOAuth(s.client, "second"); err != nil || !a.signsIn() {
		t.Fatal(err)
	}
	for _, provider := range []string{"issuer", "second"} {
		if err := ask(b, provider); err != nil {
			t.Errorf("%s: %v", provider, err)
		}
	}
	s.issuer.SignInAs(latchkeytest.Person{Subject: "bob", Name: "Bob", Email: "bob@example.com"})
	s.mustSignIn(b)
	if err := ask(b, "second"); !errors.Is(err, latchkey.ErrReconnect) {
		t.Errorf("the tokens of the user before: %v", err)
	}
	if err := ask(b, "acme"); !errors.Is(err, latchkey.ErrInvalidProvider) {
		t.Errorf("an unknown provider: %v", err)
	}
	users := s.auth.Users()
	if _, err := users.AccessToken(t.Context(), latchkey.AccountRef{UserID: "x", Provider: "issuer"}, latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrMissingAdapter) {
		t.Errorf("by a user's id: %v", err)
	}
	other := s.config
	other.Providers = append(other.Providers[:0:0], s.config.Providers...)
	for i, p := range other.Providers {
		if o, ok := p.(*latchkey.OAuth); ok && o.ID == "issuer" {
			elsewhere := *o
			elsewhere.ClientID = "another client"
			other.Providers[i] = &elsewhere
		}
	}
	auth, err := latchkey.New(other)
	if err != nil {
		t.Fatal(err)
	}
	before := b.pieces()
	s.clock.Advance(2 * time.Hour)
	if _, err := auth.AccessToken(httptest.NewRecorder(), b.request(http.MethodGet, "/api", "", ""), "issuer", latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrReconnect) {
		t.Errorf("T-126 tokens of another client: %v", err)
	}
	if !maps.Equal(before, b.pieces()) {
		t.Error("T-126 the cookie was changed")
	}
}

// TestTokenCookieAtStart shows what New says of Tokens.Cookie (T-137).
func TestTokenCookieAtStart(t *testing.T) {
	s := newJarSite(t)
	if !strings.Contains(s.log.text(), "requests that a browser sends at once") {
		t.Error("Offline with a cookie is not warned of")
	}
	for name, c := range map[string]struct {
		change func(*latchkey.Config)
		want   string
	}{
		"T-137 Cookie beside an Adapter": {func(c *latchkey.Config) { c.Adapter = s.store }, "Cookie is for sites without an Adapter"},
		"T-137 Cookie and Keys":          {func(c *latchkey.Config) { c.Tokens.Keys = []string{siteSecret} }, "leave them out, or Cookie"},
	} {
		t.Run(name, func(t *testing.T) {
			config := s.config
			c.change(&config)
			if _, err := latchkey.New(config); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
