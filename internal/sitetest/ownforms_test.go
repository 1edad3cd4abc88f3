package sitetest

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// What an application's own handlers start must not be started by a page of
// another site.
func TestOwnHandlersRefuseOtherSites(t *testing.T) {
	type marks map[string]string
	good := url.Values{"username": {"alice"}, "password": {"wonderland"}}
	for _, c := range []struct {
		name    string
		marks   marks
		refused bool
	}{
		{"a page of its own", marks{"Sec-Fetch-Site": "same-origin", "Origin": siteOrigin}, false},
		{"typed into the URL bar", marks{"Sec-Fetch-Site": "none"}, false},
		{"no browser", nil, false},
		{"an older browser, own origin", marks{"Origin": siteOrigin}, false},
		{"another site", marks{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, true},
		{"another site without an origin", marks{"Sec-Fetch-Site": "cross-site"}, true},
		{"a sibling host", marks{"Sec-Fetch-Site": "same-site", "Origin": "https://www.app.example"}, true},
		{"an older browser, another origin", marks{"Origin": "https://evil.example"}, true},
		{"an older browser, the same host by http", marks{"Origin": "http://app.example"}, true},
		{"an origin that is kept secret", marks{"Origin": "null"}, true},
		{"a mark that nobody knows", marks{"Sec-Fetch-Site": "elsewhere", "Origin": "https://evil.example"}, true},
	} {
		t.Run("R-305 "+c.name, func(t *testing.T) {
			s := newSite(t)
			from := func(b *browser, method string) *http.Request {
				r := b.request(method, "/own", "", "")
				for name, value := range c.marks {
					r.Header.Set(name, value)
				}
				return r
			}
			verdict := func(what string, err error, skipped bool) {
				t.Helper()
				if refused := errors.Is(err, latchkey.ErrMissingCSRF); refused != (c.refused && !skipped) || err != nil && !refused {
					t.Errorf("%s: %v", what, err)
				}
			}
			for _, skip := range []bool{false, true} {
				for _, method := range []string{http.MethodPost, http.MethodGet} {
					b := s.newBrowser()
					var err error
					a := b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						err = s.auth.SignIn(w, r, "crew", latchkey.SignInOptions{Form: good, SkipCSRFCheck: skip})
					}), from(b, method))
					verdict("SignIn by "+method, err, skip)
					if a.signsIn() != (err == nil) {
						t.Errorf("SignIn by %s: signed in %t, %v", method, a.signsIn(), err)
					}
					_, err = s.auth.Core().SignIn(t.Context(), requestOf(from(b, method)), "post", latchkey.SignInOptions{Form: url.Values{"email": {"ada@example.com"}}, SkipCSRFCheck: skip})
					verdict("Core.SignIn by "+method, err, skip)
					b = s.newBrowser()
					b.signIn()
					_, err = s.auth.Core().SignOut(t.Context(), requestOf(from(b, method)), latchkey.SignOutOptions{SkipCSRFCheck: skip})
					verdict("Core.SignOut by "+method, err, skip)
					b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						err = s.auth.SignOut(w, r, latchkey.SignOutOptions{SkipCSRFCheck: skip})
					}), from(b, method))
					verdict("SignOut by "+method, err, skip)
					if b.isLive() != (err != nil) {
						t.Errorf("SignOut by %s: %v, and live: %t", method, err, b.isLive())
					}
				}
			}
			b := s.newBrowser()
			b.signIn()
			_, _, err := s.auth.Core().UpdateSession(t.Context(), requestOf(from(b, http.MethodPost)), map[string]any{})
			verdict("UpdateSession by POST", err, false)
			// A page that is shown after a sign-in elsewhere may update.
			_, _, err = s.auth.Core().UpdateSession(t.Context(), requestOf(from(b, http.MethodGet)), map[string]any{})
			verdict("UpdateSession by GET", err, true)
		})
	}
	t.Run("R-305 a token that is there must be right", func(t *testing.T) {
		s := newSite(t)
		for _, c := range []struct {
			name, token, site string
			ok                bool
		}{
			{"right", "", "", true},
			{"right, a sibling host", "", "same-site", true},
			{"right, another site", "", "cross-site", false},
			{"wrong", "x", "", false},
			{"wrong, a sibling host", "x", "same-site", false},
			{"wrong, a page of its own", "x", "same-origin", true},
		} {
			b := s.newBrowser()
			form := url.Values{"username": {"alice"}, "password": {"wonderland"}, "csrfToken": {b.token() + c.token}}
			r := b.request(http.MethodPost, "/own", "", "")
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			_, err := s.auth.Core().SignIn(t.Context(), requestOf(r), "crew", latchkey.SignInOptions{Form: form})
			if (err == nil) != c.ok || err != nil && !errors.Is(err, latchkey.ErrMissingCSRF) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
	t.Run("R-305 a framework that checks on its own", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Security.SkipCSRFCheck = true })
		r := s.newBrowser().request(http.MethodPost, "/own", "", "")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if _, err := s.auth.Core().SignIn(t.Context(), requestOf(r), "crew", latchkey.SignInOptions{Form: good}); err != nil {
			t.Error(err)
		}
	})
	t.Run("R-305 the sign-in page is nothing to refuse", func(t *testing.T) {
		s := newSite(t)
		r := s.newBrowser().request(http.MethodGet, "/own", "", "")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		res, err := s.auth.Core().SignIn(t.Context(), requestOf(r), "", latchkey.SignInOptions{})
		if err != nil || !strings.HasPrefix(res.Redirect, siteOrigin+"/auth/signin") {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// an own sign-in page is told no callback URL that was not looked at,
// whatever the form of the application's own says.
func TestOwnSignInPageGetsACheckedURL(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.Pages.SignIn = "/login" })
	for given, want := range map[string]string{"https://evil.example/": siteOrigin + "/", "//evil.example": siteOrigin + "//evil.example", "/shop": siteOrigin + "/shop", "javascript:alert(1)": siteOrigin} {
		for _, field := range []string{"redirectTo", "callbackUrl"} {
			r := s.newBrowser().request(http.MethodPost, "/own", "", "")
			res, err := s.auth.Core().SignIn(t.Context(), requestOf(r), "", latchkey.SignInOptions{Form: url.Values{field: {given}}})
			if err != nil {
				t.Fatalf("%s: %v", given, err)
			}
			to, err := url.Parse(res.Redirect)
			if err != nil || strings.TrimSuffix(to.Query().Get("callbackUrl"), "/") != strings.TrimSuffix(want, "/") {
				t.Errorf("%s %s: to %q, want %q", field, given, res.Redirect, want)
			}
		}
	}
}
