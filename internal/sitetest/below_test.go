package sitetest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// What is the library's below the base path, what the application's, and what a
// guard makes of the two.

func TestGuardBelowTheBasePath(t *testing.T) {
	for _, c := range []struct {
		name, siteURL, path string
		body                string // of Auth's answer; empty: nothing of it is looked at
	}{
		{"the sign-in page", "", "/auth/signin", "Crew"},
		{"with a slash at its end", "", "/auth/signin/", "Crew"},
		{"with a query", "", "/auth/signin?callbackUrl=%2F", "Crew"},
		{"the session", "", "/auth/session", "null"},
		{"the error page", "", "/auth/error", ""},
		{"a callback", "", "/auth/callback/acme?code=x&state=y", ""},
		{"a surplus segment", "", "/auth/signin/x/y", "Bad request."},
		{"a base path that the URL changed", siteOrigin + "/login", "/login/signin", "Crew"},
		{"the usual base path when it was changed", siteOrigin + "/login", "/auth/signin", ""},
		{"no action", "", "/auth/login", ""},
		{"an action that is off", "", "/auth/account", ""},
		{"the base path itself", "", "/auth", ""},
		{"other spellings", "", "/%61uth/signin", ""},
		{"two slashes", "", "//auth/signin", ""},
	} {
		t.Run("R-303 "+c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) {
				if c.siteURL != "" {
					cfg.Site.URL = c.siteURL
				}
			})
			var reached bool
			h := guardedHandler(&reached)
			deny := func(*http.Request, *latchkey.Session) error { return errors.New("no") }
			for name, guard := range map[string]http.Handler{"RequireSession": s.auth.RequireSession(h), "Authorize": s.auth.Authorize(deny)(h)} {
				b := s.newBrowser()
				a := b.serve(guard, b.request(http.MethodGet, c.path, "", ""))
				if reached || !strings.Contains(a.Body.String(), c.body) {
					t.Errorf("%s: reached %t, %d %.200s", name, reached, a.Code, a.Body)
				}
				r := b.request(http.MethodGet, c.path, "", "")
				access := s.auth.Core().Authorize(t.Context(), requestOf(r), func(*latchkey.Request, *latchkey.Session) error { return errors.New("no") })
				if access.Response == nil || !strings.Contains(string(access.Response.Body), c.body) {
					t.Errorf("%s, neutral: %+v", name, access.Response)
				}
			}
		})
	}
}

// Somebody can sign in and out although nobody has mounted the routes.
func TestGuardAlone(t *testing.T) {
	s := newSite(t)
	var reached bool
	guard := s.auth.RequireSession(guardedHandler(&reached))
	b := s.newBrowser()
	b.get("/auth/csrf") // the cookie alone
	form := url.Values{"csrfToken": {b.token()}, "username": {"alice"}, "password": {"wonderland"}}
	a := b.serve(guard, b.request(http.MethodPost, "/auth/callback/crew", formContentType, form.Encode()))
	if !a.signsIn() || reached {
		t.Fatalf("R-303: %d to %q, reached %t", a.Code, a.location(), reached)
	}
	if b.serve(guard, b.request(http.MethodGet, "/own", "", "")); !reached {
		t.Error("the session does not open the door")
	}
	reached = false
	out := url.Values{"csrfToken": {b.token()}}
	if b.serve(guard, b.request(http.MethodPost, "/auth/signout", formContentType, out.Encode())); reached || b.isLive() {
		t.Errorf("signing out: reached %t, live %t", reached, b.isLive())
	}
}

func requestOf(r *http.Request) *latchkey.Request {
	return &latchkey.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr}
}

func TestPagesBelowTheBasePath(t *testing.T) {
	mine := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("mine")) })
	for _, base := range []string{"/auth", "/api/auth"} {
		s := plainsite.New(t, func(c *latchkey.Config) { c.Site.BasePath, c.Pages.SignIn = base, base+"/login" })
		for path, own := range map[string]bool{
			"/login": true, "/login/": true, "/login/x": true, "/": true, "": true, "/signins": true, "/SignIn": true, "/account": true, "/factor": true, "/x/signin": true,
			"/signin": false, "/signin/": false, "//signin": false, "/signin/password": false, "/callback/none": false, "/error": false, "/session/x": false,
		} {
			r := httptest.NewRequest(http.MethodGet, plainsite.URL+base+path, nil)
			if s.Auth.Match(r) == own {
				t.Errorf("R-308: Match %s is %t", base+path, !own)
			}
			a := s.Send(s.Auth.Middleware(mine), http.MethodGet, base+path, nil)
			if (a.Body.String() == "mine") != own {
				t.Errorf("R-308: Middleware at %s: %d %s", base+path, a.Code, a.Body)
			}
		}
		if a := s.Send(s.Auth.RequireSession(mine), http.MethodGet, "/shop", nil); !strings.HasPrefix(a.Header().Get("Location"), plainsite.URL+base+"/login?") {
			t.Errorf("R-308: strangers are sent to %q", a.Header().Get("Location"))
		}
		for page, wrong := range map[string]bool{
			base + "/error": true, base + "/error/": true, base + "/error?x=y": true, base + "/error#x": true, base + "//error": true, base + "/signin/github": true,
			base + "/account": false, base + "/oops": false, base: false, base + "/errors": false,
		} {
			c := plainsite.Config(s.Store)
			c.Site.BasePath, c.Pages.Error = base, page
			if _, err := latchkey.New(c); (err != nil) != wrong {
				t.Errorf("R-308: Pages.Error %s: %v", page, err)
			}
		}
	}
}
