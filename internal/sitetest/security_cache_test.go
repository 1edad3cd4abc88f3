package sitetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// variesByCookie: a shared cache asks again for another browser.
func variesByCookie(h http.Header) bool {
	for _, line := range h["Vary"] {
		for name := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(name) == "Cookie" {
				return true
			}
		}
	}
	return false
}

func TestAnswersVaryByCookie(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	in := s.newBrowser()
	in.signIn()
	for _, target := range []string{
		"/auth/session", "/auth/csrf", "/auth/signin", "/auth/signout", "/auth/verify-request", "/auth/error", "/auth/account",
		"/auth/callback/acme?code=x&state=y", "/auth/callback/post?token=x&email=a@example.com", "/auth/signin?callbackUrl=javascript:x", "/auth/webauthn-options/x",
	} {
		for who, b := range map[string]*browser{"a member": in, "a stranger": s.newBrowser()} {
			t.Run("R-387 "+who+" at "+target, func(t *testing.T) {
				if a := b.get(target); !variesByCookie(a.Header()) {
					t.Errorf("%d with %v", a.Code, a.Header())
				}
			})
		}
	}
	t.Run("R-387 posts", func(t *testing.T) {
		for _, a := range []*answer{
			s.newBrowser().signIn(), s.newBrowser().post("/auth/signin/acme"), s.newBrowser().post("/auth/signout"), s.newBrowser().post("/auth/session"),
			s.newBrowser().do(http.MethodPost, "/auth/signout", formContentType, ""),
		} {
			if !variesByCookie(a.Header()) {
				t.Errorf("%d with %v", a.Code, a.Header())
			}
		}
		b := s.newBrowser()
		b.header.Set("X-Auth-Return-Redirect", "1")
		if a := b.post("/auth/signin/acme"); a.Code != http.StatusOK || !variesByCookie(a.Header()) {
			t.Errorf("%d with %v", a.Code, a.Header())
		}
	})
	t.Run("R-387 what is the same for everybody does not", func(t *testing.T) {
		if a := in.get("/auth/providers"); variesByCookie(a.Header()) {
			t.Errorf("headers %v", a.Header())
		}
	})
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		latchkey.SessionFrom(r.Context())
		fmt.Fprint(w, "page")
	})
	own := &latchkey.Response{Status: http.StatusTeapot, Header: http.Header{"Vary": {"Accept"}}}
	for name, h := range map[string]http.Handler{
		"RequireSession": s.auth.RequireSession(page), "LoadSession": s.auth.LoadSession(page), "Middleware": s.auth.Middleware(page),
		"RespondWith": s.auth.Authorize(func(*http.Request, *latchkey.Session) error { return latchkey.RespondWith(own) })(page),
		"CSRFToken":   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = s.auth.CSRFToken(w, r) }),
		"SignIn": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = s.auth.SignInURL(w, r, "acme", latchkey.SignInOptions{})
		}),
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			for who, b := range map[string]*browser{"a member": in, "a stranger": s.newBrowser()} {
				t.Run("R-387 "+name+" for "+who+", "+accept, func(t *testing.T) {
					r := b.request(http.MethodGet, "/page", "", "")
					r.Header.Set("Accept", accept)
					w := httptest.NewRecorder()
					w.Header().Set("Vary", "Accept-Encoding") // of a compressing handler around
					h.ServeHTTP(w, r)
					if vary := fmt.Sprint(w.Header()["Vary"]); !variesByCookie(w.Header()) || !strings.Contains(vary, "Accept-Encoding") {
						t.Errorf("%d varies by %s", w.Code, vary)
					}
				})
			}
		}
	}
	t.Run("R-387 the application's own answer stays as it was", func(t *testing.T) {
		r := in.request(http.MethodGet, "/page", "", "")
		page := &latchkey.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header}
		access := s.auth.Core().Authorize(t.Context(), page, func(*latchkey.Request, *latchkey.Session) error { return latchkey.RespondWith(own) })
		if access.Response == nil || !variesByCookie(access.Response.Header) {
			t.Errorf("Authorize: %v", access.Response)
		}
		if len(own.Header["Vary"]) != 1 || len(own.Cookies) != 0 {
			t.Errorf("%v", own)
		}
	})
	t.Run("R-387 on other frameworks", func(t *testing.T) {
		r := in.request(http.MethodGet, "/auth/session", "", "")
		neutral := &latchkey.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header}
		res, err := s.auth.Core().Do(t.Context(), neutral)
		if err != nil || !variesByCookie(res.Header) {
			t.Errorf("Do: %v, %v", res, err)
		}
		page := *neutral
		page.URL = &url.URL{Path: "/page"}
		access := s.auth.Core().Authorize(t.Context(), &page, func(*latchkey.Request, *latchkey.Session) error { return latchkey.ErrNoSession })
		if access.Response == nil || !variesByCookie(access.Response.Header) {
			t.Errorf("Authorize: %v", access.Response)
		}
	})
}

const callbackCookie = "__Secure-authjs.callback-url"

func TestPlantedCallbackCookie(t *testing.T) {
	planted := map[string]string{
		"no URL": "foo", "too long": "/" + strings.Repeat("x", 5000), "too long and nothing": strings.Repeat("x", 5000),
		"a foreign scheme, too long": "javascript:" + strings.Repeat("x", 5000), "no host": "http://%zz", "a foreign scheme": "javascript:alert(1)",
		"another foreign scheme": "data:text/html,x",
	}
	for name, value := range planted {
		t.Run("R-352 "+name, func(t *testing.T) {
			s := newSite(t)
			for _, target := range []string{"/auth/signin", "/auth/csrf", "/auth/verify-request", "/auth/error", "/auth/providers"} {
				b := s.newBrowser()
				b.jar[callbackCookie] = value
				if a := b.get(target); a.Code >= 500 || target != "/auth/providers" && b.jar[callbackCookie] == value {
					t.Errorf("%s: %d, the cookie stays: %t", target, a.Code, b.jar[callbackCookie] == value)
				}
			}
			b := s.newBrowser()
			b.jar[callbackCookie] = value
			if a := b.signIn(); a.location() != siteOrigin || b.jar[callbackCookie] == value || !b.isLive() {
				t.Errorf("sent to %q", a.location())
			}
			b = s.newBrowser()
			b.jar[callbackCookie] = value
			if a := b.post("/auth/signin/acme"); !strings.HasPrefix(a.location(), "https://acme.example/") {
				t.Errorf("sent to %q", a.location())
			}
			b.jar[callbackCookie] = value
			b.get("/auth/signout")
			if a := b.get("/auth/signout"); a.Code != http.StatusOK || !strings.HasPrefix(b.session(), "null") {
				t.Errorf("signing out: %d", a.Code)
			}
			if b.get("/auth/session").Code != http.StatusOK {
				t.Error("the session is an error for good")
			}
		})
	}
}

func TestLongCallbackURL(t *testing.T) {
	for _, c := range []struct {
		name, to, kept string
	}{
		{"one that fits", "/page?q=" + strings.Repeat("x", 1000), siteOrigin + "/page?q=" + strings.Repeat("x", 1000)},
		{"a long query", "/page?q=" + strings.Repeat("%C3%A4", 490), siteOrigin + "/page"},
		{"a long fragment", "/page#" + strings.Repeat("%C3%A4", 490), siteOrigin + "/page"},
		{"a long path", "/" + strings.Repeat("%C3%A4", 490), siteOrigin},
		{"beyond all bounds", "/page?q=" + strings.Repeat("x", 3500), siteOrigin},
	} {
		t.Run("R-352 "+c.name, func(t *testing.T) {
			s := newSite(t)
			b := s.newBrowser()
			a := b.get("/auth/signin?callbackUrl=" + url.QueryEscape(c.to))
			for _, line := range a.Header()["Set-Cookie"] {
				if len(line) > 4096 {
					t.Errorf("a cookie of %d bytes, which browsers drop", len(line))
				}
			}
			if a = b.post("/auth/callback/crew", "username", "alice", "password", "wonderland"); a.location() != c.kept {
				t.Errorf("lands on %.80q, want %.80q", a.location(), c.kept)
			}
		})
		t.Run("R-352 at a provider, again and again: "+c.name, func(t *testing.T) {
			b := newSite(t).newBrowser()
			for range 5 {
				a := b.post("/auth/signin/acme", "callbackUrl", c.to)
				if !strings.HasPrefix(a.location(), "https://acme.example/") {
					t.Fatalf("sent to %q", a.location())
				}
				for _, line := range a.Header()["Set-Cookie"] {
					if len(line) > 4096 {
						t.Fatalf("a cookie of %d bytes, which browsers drop: %.60s", len(line), line)
					}
				}
			}
		})
	}
}
