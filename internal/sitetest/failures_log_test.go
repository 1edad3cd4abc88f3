package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// logged are the records above debug since the last one of before.
func (s *testSite) logged(before int) (found []map[string]any) {
	s.t.Helper()
	for _, r := range s.log.records(s.t)[before:] {
		if r["level"] != "DEBUG" {
			found = append(found, r)
		}
	}
	return found
}

// Whatever fails leaves one record with its cause, whoever asked for it.
func TestEveryFailureIsLoggedOnce(t *testing.T) {
	down := errors.New("the table is on fire")
	form := url.Values{"username": {"alice"}, "password": {"wrong"}}
	foreign := func(r *http.Request) *http.Request { r.Header.Set("Sec-Fetch-Site", "cross-site"); return r }
	post := func(b *browser, target string) *http.Request { return b.request(http.MethodPost, target, "", "") }
	for _, c := range []struct {
		name, says string
		fail       func(s *testSite, b *browser) error
	}{
		{"Do, a page that is not there", "no such route", func(s *testSite, b *browser) error {
			_, err := s.auth.Core().Do(context.Background(), requestOf(b.request(http.MethodGet, "/auth/webauthn-options", "", "")))
			return err
		}},
		{"a browser, a page that is not there", "no such route", func(_ *testSite, b *browser) error {
			return fmt.Errorf("status %d", b.get("/auth/webauthn-options").Code)
		}},
		{"Do, a bad request", "not below", func(s *testSite, b *browser) error {
			_, err := s.auth.Core().Do(context.Background(), requestOf(b.request(http.MethodGet, "/elsewhere", "", "")))
			return err
		}},
		{"SignIn, wrong password", "CredentialsSignin", func(s *testSite, b *browser) error {
			_, err := s.auth.Core().SignIn(context.Background(), requestOf(post(b, "/own")), "crew", latchkey.SignInOptions{Form: form})
			return err
		}},
		{"SignIn, from another site", "another site", func(s *testSite, b *browser) error {
			_, err := s.auth.Core().SignIn(context.Background(), requestOf(foreign(post(b, "/own"))), "crew", latchkey.SignInOptions{Form: form})
			return err
		}},
		{"SignIn, a mail that fails", "on fire", func(s *testSite, b *browser) error {
			_, err := s.auth.Core().SignIn(context.Background(), requestOf(post(b, "/own")), "broken", latchkey.SignInOptions{Form: url.Values{"email": {"a@example.com"}}})
			return err
		}},
		{"SignIn, a nonsense destination", "InvalidCallbackUrl", func(s *testSite, b *browser) error {
			_, err := s.auth.Core().SignIn(context.Background(), requestOf(post(b, "/own")), "crew", latchkey.SignInOptions{Form: form, RedirectTo: "http://"})
			return err
		}},
		{"SignOut, from another site", "another site", func(s *testSite, b *browser) error {
			_, err := s.auth.Core().SignOut(context.Background(), requestOf(foreign(post(b, "/own"))), latchkey.SignOutOptions{})
			return err
		}},
		{"UpdateSession, from another site", "another site", func(s *testSite, b *browser) error {
			_, _, err := s.auth.Core().UpdateSession(context.Background(), requestOf(foreign(post(b, "/own"))), nil)
			return err
		}},
		{"UpdateSession, what is no JSON", "unsupported type", func(s *testSite, b *browser) error {
			_, _, err := s.auth.Core().UpdateSession(context.Background(), requestOf(post(b, "/own")), func() {})
			return err
		}},
	} {
		t.Run("R-321 "+c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) {
				cfg.Providers = append(cfg.Providers, &latchkey.Email{ID: "broken", Send: func(context.Context, latchkey.Message) error { return down }})
			})
			before := len(s.log.records(t))
			if err := c.fail(s, s.newBrowser()); err == nil {
				t.Fatal("it does not fail")
			}
			found := s.logged(before)
			if len(found) != 1 || !strings.Contains(fmt.Sprint(found[0]), c.says) {
				t.Errorf("%d records, want one that says %q: %v", len(found), c.says, found)
			}
		})
	}
	t.Run("R-321 a host that is not believed", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Site = latchkey.Site{AllowedHosts: []string{"app.example"}} })
		for name, ask := range map[string]func(*latchkey.Request) error{
			"ActionURL": func(r *latchkey.Request) error {
				_, err := s.auth.Core().ActionURL(t.Context(), r, "signin")
				return err
			},
			"CSRFToken":   func(r *latchkey.Request) error { _, _, err := s.auth.Core().CSRFToken(t.Context(), r); return err },
			"ReadSession": func(r *latchkey.Request) error { _, _, err := s.auth.Core().ReadSession(t.Context(), r); return err },
			"SignIn": func(r *latchkey.Request) error {
				_, err := s.auth.Core().SignIn(t.Context(), r, "crew", latchkey.SignInOptions{})
				return err
			},
		} {
			before := len(s.log.records(t))
			r := requestOf(s.newBrowser().request(http.MethodGet, "/own", "", ""))
			r.Host = "evil.example"
			err := ask(r)
			if found := s.logged(before); err == nil || len(found) != 1 || found[0]["level"] != "WARN" {
				t.Errorf("%s: %v, %v", name, err, found)
			}
		}
	})
	t.Run("R-321 a provider that is not there", func(t *testing.T) {
		s := newSite(t)
		before := len(s.log.records(t))
		res, err := s.auth.Core().SignIn(t.Context(), requestOf(s.newBrowser().request(http.MethodPost, "/own", "", "")), "githbu", latchkey.SignInOptions{})
		if err != nil || !strings.Contains(res.Redirect, "/auth/signin?") {
			t.Errorf("%+v, %v", res, err)
		}
		if found := s.logged(before); len(found) != 1 || !strings.Contains(fmt.Sprint(found[0]), "githbu") {
			t.Errorf("%v", found)
		}
	})
}

// What a visitor got wrong is no error of the site's.
func TestLevels(t *testing.T) {
	in := func(s *testSite, target string, form ...string) { s.newBrowser().post(target, form...) }
	for _, c := range []struct {
		name, level string
		fail        func(s *testSite)
	}{
		{"an expired flow", "WARN", func(s *testSite) { s.newBrowser().get("/auth/callback/acme?code=x&state=y") }},
		{"a typed e-mail address", "WARN", func(s *testSite) { in(s, "/auth/signin/post", "email", "a..b@") }},
		{"no e-mail address", "WARN", func(s *testSite) { in(s, "/auth/signin/post") }},
		{"an e-mail address that is far too long", "WARN", func(s *testSite) { in(s, "/auth/signin/post", "email", strings.Repeat("a", 2000)) }},
		{"a wrong password", "WARN", func(s *testSite) { in(s, "/auth/callback/crew", "username", "x", "password", "y") }},
		{"a used link", "WARN", func(s *testSite) { s.newBrowser().get("/auth/callback/post?token=x&email=a@example.com") }},
		{"a link cut short", "WARN", func(s *testSite) { s.newBrowser().get("/auth/callback/post") }},
		{"an unknown provider", "WARN", func(s *testSite) { s.newBrowser().get("/auth/callback/nobody") }},
		{"an unknown provider, posted", "WARN", func(s *testSite) { in(s, "/auth/signin/nobody") }},
		{"no such route", "WARN", func(s *testSite) { s.newBrowser().get("/auth/signin/acme") }},
		{"no token", "WARN", func(s *testSite) { s.newBrowser().do("POST", "/auth/signout", formContentType, "") }},
		{"a callback URL that is none", "WARN", func(s *testSite) { s.newBrowser().get("/auth/signin?callbackUrl=javascript:x") }},
		{"a callback without anything", "WARN", func(s *testSite) { s.newBrowser().get("/auth/callback/acme") }},
		{"a callback with two codes", "WARN", func(s *testSite) { s.newBrowser().get("/auth/callback/acme?code=x&code=y&state=z") }},
		{"a post from another site", "WARN", func(s *testSite) {
			b := s.newBrowser()
			b.header.Set("Sec-Fetch-Site", "cross-site")
			b.do("POST", "/auth/signout", formContentType, "csrfToken=x")
		}},
		{"a bad request", "INFO", func(s *testSite) { s.newBrowser().get("/auth/signout/x") }},
		{"a body that is none", "INFO", func(s *testSite) { s.newBrowser().do("POST", "/auth/session", "application/json", "{") }},
		{"a method that is none", "INFO", func(s *testSite) { s.newBrowser().do("PUT", "/auth/session", "", "") }},
		{"a body that is too large", "INFO", func(s *testSite) {
			s.newBrowser().do("POST", "/auth/session", formContentType, strings.Repeat("x", 70<<10))
		}},
		{"a provider that is down", "ERROR", func(s *testSite) {
			b := s.newBrowser()
			to, _ := url.Parse(b.post("/auth/signin/acme").location())
			b.get("/auth/callback/acme?code=x&state=" + url.QueryEscape(to.Query().Get("state")))
		}},
	} {
		t.Run("R-322 "+c.name, func(t *testing.T) {
			s := newSite(t)
			before := len(s.log.records(t))
			c.fail(s)
			if found := s.logged(before); len(found) != 1 || found[0]["level"] != c.level {
				t.Errorf("want one record at %s: %v", c.level, found)
			}
		})
	}
	t.Run("R-322 too many links", func(t *testing.T) {
		s := newSite(t)
		for range 6 {
			in(s, "/auth/signin/post", "email", "ada@example.com")
		}
		records := s.log.records(t)
		if last := records[len(records)-1]; last["level"] != "WARN" || !strings.Contains(fmt.Sprint(last), "too many") {
			t.Errorf("%v", last)
		}
	})
	t.Run("R-322 a host that is another's", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Site = latchkey.Site{AllowedHosts: []string{"app.example"}} })
		before := len(s.log.records(t))
		r := s.newBrowser().request(http.MethodGet, "/auth/session", "", "")
		r.Host = "evil.example"
		a := s.newBrowser().serve(s.auth, r)
		if found := s.logged(before); a.Code != http.StatusBadRequest || len(found) != 1 || found[0]["level"] != "WARN" || !strings.Contains(fmt.Sprint(found[0]), "evil.example") {
			t.Errorf("%d, %v", a.Code, found)
		}
	})
	t.Run("R-322 a mailer that fails", func(t *testing.T) {
		s := newSite(t, func(cfg *latchkey.Config) {
			cfg.Providers = append(cfg.Providers, &latchkey.Email{ID: "broken", Send: func(context.Context, latchkey.Message) error { return errors.New("550 no") }})
		})
		before := len(s.log.records(t))
		in(s, "/auth/signin/broken", "email", "ada@example.com")
		if found := s.logged(before); len(found) != 1 || found[0]["level"] != "ERROR" {
			t.Errorf("%v", found)
		}
	})
}

// What keeps a newcomer out is named where only the operator reads it.
func TestLogNamesWhereARequestComesFrom(t *testing.T) {
	from := func(b *browser, origin, site string) *answer {
		b.header = http.Header{"Origin": {origin}, "Sec-Fetch-Site": {site}}
		return b.do(http.MethodPost, "/auth/signout", formContentType, "")
	}
	for name, c := range map[string]struct {
		origin, site string
		want         bool
	}{
		"a proxy for development": {"http://localhost:5173", "same-origin", true},
		"another site":            {"https://evil.example", "cross-site", true},
		"the site itself":         {siteOrigin, "none", false},
		"no word of the browser":  {"", "", false},
	} {
		t.Run("R-321 "+name, func(t *testing.T) {
			s := newSite(t)
			b, before := s.newBrowser(), len(s.log.records(t))
			b.jar["__Secure-authjs.callback-url"] = url.QueryEscape(siteOrigin)
			a := from(b, c.origin, c.site)
			said := fmt.Sprint(s.logged(before))
			if strings.Contains(said, fmt.Sprintf("%q, while the site is %s", c.origin, siteOrigin)) != c.want || !strings.Contains(said, "MissingCSRF") {
				t.Errorf("log: %s", said)
			}
			if c.origin != siteOrigin && c.origin != "" && strings.Contains(fmt.Sprint(a.Header(), a.Body), c.origin) {
				t.Errorf("the visitor reads %s", a.Body)
			}
		})
	}
	for host, want := range map[string]bool{"127.0.0.1:41731": true, "[::1]:8080": true, "www.app.example:8080": true, "evil.example:8080": false, "evil.example": false, "[::2]": false} {
		t.Run("R-321 host "+host, func(t *testing.T) {
			s := newSite(t, func(c *latchkey.Config) {
				c.Site = latchkey.Site{AllowedHosts: []string{"127.0.0.1", "[::1]", "*.app.example"}}
			})
			b, before := s.newBrowser(), len(s.log.records(t))
			r := b.request(http.MethodGet, "/auth/session", "", "")
			r.Host = host
			b.serve(s.auth, r)
			name := host[:max(strings.LastIndexByte(host, ':'), 0)]
			if said := fmt.Sprint(s.logged(before)); strings.Contains(said, fmt.Sprintf("a port, which has to be named: %q", name+":*")) != want || !strings.Contains(said, "not allowed") {
				t.Errorf("log: %s", said)
			}
		})
	}
}
