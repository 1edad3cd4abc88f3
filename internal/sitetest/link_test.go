package sitetest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// connects begins a connect and follows it to the issuer.
func (s *oauthSite) connects(b *browser, o latchkey.LinkOptions) (sent, back url.Values) {
	s.t.Helper()
	to, err := s.beginLink(b, "issuer", o)
	if err != nil {
		s.t.Fatal(err)
	}
	at, err := url.Parse(to)
	if err != nil {
		s.t.Fatal(err)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Location", to)
	return at.Query(), s.consent(&answer{w})
}

// beginLink calls [latchkey.Auth.LinkURL], and gives the browser its cookies.
func (s *oauthSite) beginLink(b *browser, provider string, o latchkey.LinkOptions) (to string, err error) {
	start := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { to, err = s.auth.LinkURL(w, r, provider, o) })
	b.serve(start, b.request(http.MethodGet, "/start", "", ""))
	return to, err
}

// kept returns the value of a cookie that the browser has, by the end of its name.
func (b *browser) kept(suffix string) string {
	for name, value := range b.jar {
		if strings.HasSuffix(name, suffix) {
			return value
		}
	}
	return ""
}

// more scopes are asked for beside the default ones, at a provider without OIDC too.
func TestLinkAsksForDefaultScopes(t *testing.T) {
	s := newOAuthSite(t, func(c *latchkey.Config) {
		p := c.Providers[len(c.Providers)-1].(*latchkey.OAuth)
		p.OIDC, p.Scopes = false, nil
	})
	b := s.newBrowser()
	s.mustSignIn(b)
	sent, _ := s.connects(b, latchkey.LinkOptions{SignInOptions: latchkey.SignInOptions{Scopes: []string{"calendar"}}})
	if got := sent.Get("scope"); got != "openid profile email calendar" {
		t.Errorf("R-829 scope %q", got)
	}
}

// TestLink shows a connect that grants more scopes, and what it must not do.
func TestLink(t *testing.T) {
	more := latchkey.LinkOptions{SignInOptions: latchkey.SignInOptions{Scopes: []string{"calendar"}}}
	for name, try := range map[string]func(t *testing.T, s *tokenSite){
		"T-049 more scopes": func(t *testing.T, s *tokenSite) {
			before := s.b.kept("session-token")
			for range 2 {
				sent, back := s.connects(s.b, more)
				if got := sent.Get("scope"); got != "openid profile email calendar" {
					t.Errorf("scope %q", got)
				}
				if a := s.b.callback("issuer", back); a.error() != "" {
					t.Fatalf("%d to %q", a.Code, a.location())
				}
			}
			got, err := s.ask(latchkey.TokenOptions{Scopes: []string{"calendar", "email"}})
			if err != nil || !s.works(got.AccessToken) {
				t.Errorf("%v", err)
			}
			if s.row(t).UserID != s.user || len(s.store.Contents().Users) != 1 {
				t.Error("the user is another one")
			}
			if s.b.kept("session-token") == before {
				t.Error("the session token is the old one")
			}
			sent, _ := s.connects(s.b, latchkey.LinkOptions{})
			if got := sent.Get("scope"); got != "openid profile email calendar" {
				t.Errorf("what was granted before is lost: scope %q", got)
			}
		},
		"T-050 the session has ended before the return": func(t *testing.T, s *tokenSite) {
			_, back := s.connects(s.b, more)
			if err := s.auth.Users().EndSessions(t.Context(), s.user); err != nil {
				t.Fatal(err)
			}
			before := s.contents()
			refused(t, s.b.callback("issuer", back), "AccessDenied")
			s.noWrite(t, before)
		},
		"T-050 the session is another user's at the return": func(t *testing.T, s *tokenSite) {
			_, back := s.connects(s.b, more)
			s.issuer.SignInAs(latchkeytest.Person{Subject: "eve", Email: "eve@example.com"})
			eve := s.newBrowser()
			s.mustSignIn(eve)
			for name, value := range eve.jar {
				if strings.HasSuffix(name, "session-token") {
					s.b.jar[name] = value
				}
			}
			before := s.contents()
			refused(t, s.b.callback("issuer", back), "AccessDenied")
			s.noWrite(t, before)
		},
		"T-051 another account than the one named": func(t *testing.T, s *tokenSite) {
			s.issuer.SignInAs(latchkeytest.Person{Subject: "ada-at-work"})
			_, back := s.connects(s.b, latchkey.LinkOptions{ProviderAccountID: s.row(t).ProviderAccountID})
			before := s.contents()
			refused(t, s.b.callback("issuer", back), "OAuthAccountNotLinked")
			s.noWrite(t, before)
		},
		"T-051 another user's account": func(t *testing.T, s *tokenSite) {
			s.issuer.SignInAs(latchkeytest.Person{Subject: "eve", Email: "eve@example.com"})
			s.mustSignIn(s.newBrowser())
			_, back := s.connects(s.b, more)
			before := s.contents()
			refused(t, s.b.callback("issuer", back), "OAuthAccountNotLinked")
			s.noWrite(t, before)
		},
		"T-051 a second account is linked": func(t *testing.T, s *tokenSite) {
			s.issuer.SignInAs(latchkeytest.Person{Subject: "ada-at-work"})
			_, back := s.connects(s.b, latchkey.LinkOptions{})
			if a := s.b.callback("issuer", back); a.error() != "" {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			if _, err := s.ask(latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrAmbiguousAccount) {
				t.Errorf("%v", err)
			}
			if list, err := s.auth.Users().Accounts(t.Context(), s.user); err != nil || len(list) != 2 {
				t.Errorf("%d accounts, %v", len(list), err)
			}
		},
		"T-052 the user refuses": func(t *testing.T, s *tokenSite) {
			_, back := s.connects(s.b, more)
			before := s.row(t).Tokens
			back.Del("code")
			back.Set("error", "access_denied")
			refused(t, s.b.callback("issuer", back))
			if now := s.row(t).Tokens; now.AccessToken != before.AccessToken || now.RefreshToken != before.RefreshToken {
				t.Error("the stored tokens changed")
			}
			if !s.b.isSignedIn() {
				t.Error("the session has ended")
			}
		},
		"T-053 a scope is not granted": func(t *testing.T, s *tokenSite) {
			_, back := s.connects(s.b, latchkey.LinkOptions{SignInOptions: latchkey.SignInOptions{Scopes: []string{"calendar", "contacts"}}})
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Token: func(a map[string]any) { a["scope"] = "openid profile email calendar" }})
			if a := s.b.callback("issuer", back); a.error() != "" {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			if _, err := s.ask(latchkey.TokenOptions{Scopes: []string{"calendar"}}); err != nil {
				t.Errorf("%v", err)
			}
			_, err := s.ask(latchkey.TokenOptions{Scopes: []string{"contacts", "calendar"}})
			told, _ := errors.AsType[*latchkey.TokenError](err)
			if !errors.Is(err, latchkey.ErrScopeMissing) || told == nil || strings.Join(told.Missing, " ") != "contacts" {
				t.Errorf("%v", err)
			}
		},
		"T-129 a connect whose code was traded before RevokeTokens": func(t *testing.T, s *tokenSite) {
			_, back := s.connects(s.b, more)
			s.issuer.Misbehave(latchkeytest.Misbehaviour{Before: func(path string) {
				if path == latchkeytest.PathToken {
					if err := s.auth.Users().RevokeTokens(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}); err != nil {
						t.Error(err)
					}
				}
			}})
			s.b.callback("issuer", back)
			if now := s.row(t).Tokens; now.AccessToken != "" || now.RefreshToken != "" {
				t.Error("the tokens were stored")
			}
		},
	} {
		for kind, strategy := range map[string]func(*latchkey.Config){"jwt": func(*latchkey.Config) {}, "database": stored} {
			t.Run(name+"/"+kind, func(t *testing.T) { try(t, newTokenSite(t, strategy)) })
		}
	}
}

// TestLinkRefuses shows what Link says at once.
func TestLinkRefuses(t *testing.T) {
	s := newTokenSite(t)
	for name, c := range map[string]struct {
		b        *browser
		provider string
		want     error
	}{
		"T-050 without a session":      {s.newBrowser(), "issuer", latchkey.ErrNoSession},
		"a provider without OAuth":     {s.b, "credentials", latchkey.ErrInvalidProvider},
		"a provider that is not there": {s.b, "nowhere", latchkey.ErrInvalidProvider},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.beginLink(c.b, c.provider, latchkey.LinkOptions{}); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	t.Run("a connect that adds scopes needs no recent session", func(t *testing.T) {
		s := newTokenSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
		s.clock.Advance(time.Hour)
		_, back := s.connects(s.b, latchkey.LinkOptions{})
		if a := s.b.callback("issuer", back); a.error() != "" {
			t.Errorf("%d to %q", a.Code, a.location())
		}
		s.clock.Advance(time.Hour)
		s.issuer.SignInAs(latchkeytest.Person{Subject: "ada-at-work"})
		_, back = s.connects(s.b, latchkey.LinkOptions{})
		s.b.callback("issuer", back)
		if list, err := s.auth.Users().Accounts(t.Context(), s.user); err != nil || len(list) != 1 {
			t.Errorf("%d accounts, %v", len(list), err)
		}
	})
}
