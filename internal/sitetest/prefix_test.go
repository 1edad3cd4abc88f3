package sitetest

import (
	"context"
	"crypto/tls"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// links are where a page leads, its forms included.
var links = regexp.MustCompile(`(?:href|action)="([^"]*)"`)

// Behind http.StripPrefix everything a browser is shown or sent to has the
// prefix, and what it asks for arrives.
func TestSiteBehindAPrefix(t *testing.T) {
	stripped := func(prefix string, h http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle(prefix+"/", http.StripPrefix(prefix, h))
		return mux
	}
	whole := func(s *testSite) http.Handler {
		return s.auth.Middleware(s.auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/leave" {
				_ = s.auth.SignOut(w, r, latchkey.SignOutOptions{RedirectTo: "/goodbye"})
				return
			}
			_, _ = w.Write([]byte("mine"))
		})))
	}
	alone := func(s *testSite) http.Handler { return s.auth }
	for _, c := range []struct {
		name, prefix, base string
		site               latchkey.Site
		inside             func(*testSite) http.Handler
	}{
		{"a whole site", "/app", "/app/auth", latchkey.Site{URL: siteOrigin, Prefix: "/app"}, whole},
		{"a slash at its end", "/app", "/app/auth", latchkey.Site{URL: siteOrigin, Prefix: "/app/"}, whole},
		{"a base path of its own", "/app", "/app/api/auth", latchkey.Site{URL: siteOrigin, Prefix: "/app", BasePath: "/api/auth"}, whole},
		{"the URL names both", "/app", "/app/auth", latchkey.Site{URL: siteOrigin + "/app/auth", Prefix: "/app"}, whole},
		{"two segments", "/a/b", "/a/b/auth", latchkey.Site{URL: siteOrigin, Prefix: "/a/b"}, whole},
		{"the routes alone", "/auth", "/auth", latchkey.Site{URL: siteOrigin, Prefix: "/auth", BasePath: "/"}, alone},
		{"the routes alone, by URL", "/auth", "/auth", latchkey.Site{URL: siteOrigin + "/auth", Prefix: "/auth"}, alone},
		{"by the Host header", "/app", "/app/auth", latchkey.Site{TrustHost: true, Prefix: "/app"}, whole},
	} {
		t.Run("R-370 "+c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) {
				cfg.Site, cfg.AccountPage.Enabled, cfg.Session.Strategy = c.site, true, latchkey.DatabaseSessions
			})
			h := stripped(c.prefix, c.inside(s))
			b := s.newBrowser()
			home := c.prefix + "/"
			if c.prefix == "/auth" {
				home = "" // the application is not below the prefix
			}
			ask := func(method, target, form string) *answer {
				t.Helper()
				r := b.request(method, target, "", form)
				r.TLS = &tls.ConnectionState{}
				if method == http.MethodPost {
					r.Header.Set("Content-Type", formContentType)
					r.Header.Set("Sec-Fetch-Site", "same-origin")
					r.Header.Set("Origin", siteOrigin)
				}
				a := b.serve(h, r)
				for _, m := range links.FindAllStringSubmatch(a.Body.String(), -1) {
					to := strings.TrimPrefix(html.UnescapeString(m[1]), siteOrigin)
					if to != home && !strings.HasPrefix(to, c.prefix+"/") && !strings.HasPrefix(to, "data:") {
						t.Errorf("%s leads to %q", target, m[1])
					}
				}
				if to := strings.TrimPrefix(a.location(), siteOrigin); to != "" && !strings.HasPrefix(to, "http") && to != home && !strings.HasPrefix(to, c.prefix+"/") {
					t.Errorf("%s redirects to %q", target, a.location())
				}
				return a
			}
			for page, status := range map[string]int{
				"/signin": 200, "/signout": 200, "/error": 200, "/error?error=AccessDenied": 403, "/verify-request": 200, "/account": 302,
				"/callback/post?token=x&email=a@example.com": 302, "/callback/acme?code=x&state=y": 302, "/session": 200, "/csrf": 200, "/nothing": map[bool]int{true: 400, false: 302}[c.prefix == "/auth"],
			} {
				if a := ask(http.MethodGet, c.base+page, ""); a.Code != status {
					t.Errorf("%s: %d, want %d", page, a.Code, status)
				}
			}
			if a := ask(http.MethodGet, c.base+"/providers", ""); !strings.Contains(a.Body.String(), `"callbackUrl":"`+siteOrigin+c.base+`/callback/acme"`) {
				t.Errorf("providers: %s", a.Body)
			}
			a := ask(http.MethodPost, c.base+"/signin/acme", "")
			if to, _ := url.Parse(a.location()); to.Query().Get("redirect_uri") != siteOrigin+c.base+"/callback/acme" {
				t.Errorf("redirect_uri in %q", a.location())
			}
			if a := ask(http.MethodPost, c.base+"/signin/post", "email=ada@example.com"); !strings.HasPrefix(a.location(), siteOrigin+c.base+"/verify-request") {
				t.Errorf("after asking for a link: %q", a.location())
			}
			link := s.sent()[0].URL
			if !strings.HasPrefix(link, siteOrigin+c.base+"/callback/post?") {
				t.Fatalf("the link is %q", link)
			}
			if a := ask(http.MethodGet, strings.TrimPrefix(link, siteOrigin), ""); !a.signsIn() || a.location() != siteOrigin+home {
				t.Errorf("the link leads to %q", a.location())
			}
			if a := ask(http.MethodGet, c.base+"/account", ""); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "ada@example.com") {
				t.Errorf("account: %d", a.Code)
			}
			if c.prefix != "/auth" {
				if a := ask(http.MethodGet, c.prefix+"/shop", ""); a.Body.String() != "mine" {
					t.Errorf("the shop: %d to %q", a.Code, a.location())
				}
				if a := ask(http.MethodPost, c.prefix+"/leave", ""); a.location() != siteOrigin+c.prefix+"/goodbye" {
					t.Errorf("leaving leads to %q", a.location())
				}
				if a := ask(http.MethodGet, c.prefix+"/shop?x=y", ""); a.location() != siteOrigin+c.base+"/signin?callbackUrl="+url.QueryEscape(siteOrigin+c.prefix+"/shop?x=y") {
					t.Errorf("a stranger is sent to %q", a.location())
				}
			} else {
				ask(http.MethodPost, c.base+"/account?do=delete", "confirm=delete")
				if a := ask(http.MethodGet, c.base+"/account", ""); a.Code != http.StatusOK || strings.Contains(a.Body.String(), "ada@example.com") {
					t.Errorf("the farewell: %d", a.Code)
				}
			}
			if a := ask(http.MethodPost, c.base+"/signout", "callbackUrl=https://evil.example/"); a.location() != siteOrigin+home {
				t.Errorf("R-558 signing out leads to %q", a.location())
			}
		})
	}
}

// never lets nobody in.
func never(a *latchkey.Auth) http.Handler {
	return a.Authorize(func(*http.Request, *latchkey.Session) error { return latchkey.ErrAccessDenied })(http.NotFoundHandler())
}

// What a browser is shown that has been nowhere else on the site.
func TestFirstPageBehindAPrefix(t *testing.T) {
	for _, c := range []struct {
		name, target, referer string
		signedIn              bool
	}{
		{"the page of sign-outs, for nobody", "/app/auth/signout", "", false},
		{"the page of sign-ins", "/app/auth/signin", "", false},
		{"the page of sign-outs", "/app/auth/signout", "", true},
		{"a page that is refused", "/app/never", "", true},
		{"a form of the application's own", "/app/form", "", false},
		{"a button of the application's own", "/app/leave", "", true},
		{"a button on another site", "/app/leave", "https://evil.example/app", true},
	} {
		t.Run("R-370 "+c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) { cfg.Site.Prefix = "/app" })
			mux := http.NewServeMux()
			mux.Handle("/", s.auth)
			mux.Handle("/never", never(s.auth))
			mux.HandleFunc("/form", func(w http.ResponseWriter, r *http.Request) {
				if f, err := s.auth.Forms(w, r); err != nil || f.RedirectTo != siteOrigin+"/app/form" {
					t.Errorf("%+v, %v", f, err)
				}
			})
			mux.HandleFunc("/leave", func(w http.ResponseWriter, r *http.Request) {
				if err := s.auth.SignOut(w, r, latchkey.SignOutOptions{}); err != nil {
					t.Error(err)
				}
			})
			b := s.newBrowser()
			if c.signedIn {
				b.signIn()
				delete(b.jar, "__Secure-authjs.callback-url")
			}
			b.header.Set("Accept", "text/html")
			r := b.request(http.MethodGet, c.target, "", "")
			if c.referer != "" {
				r.Header.Set("Referer", c.referer)
			}
			a := b.serve(http.StripPrefix("/app", mux), r)
			for _, m := range links.FindAllStringSubmatch(a.Body.String(), -1) {
				if to := strings.TrimPrefix(html.UnescapeString(m[1]), siteOrigin); !strings.HasPrefix(to, "/app/") && !strings.HasPrefix(to, "data:") {
					t.Errorf("a link to %q", m[1])
				}
			}
			if to := a.location(); to != "" && to != siteOrigin+"/app/" {
				t.Errorf("to %q", to)
			}
		})
	}
}

// Pages and decisions of the application's own are named as it knows them.
func TestOwnPagesBehindAPrefix(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) {
		c.Site.Prefix = "/app"
		c.Pages = latchkey.Pages{SignIn: "/login", SignOut: "/bye", Error: "/oops", VerifyRequest: "/mailed", NewUser: "https://www.example/new"}
		c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
			if a.Credentials["username"] == "alice" {
				return latchkey.RedirectTo("/waiting-list")
			}
			return nil
		}
	})
	h := http.StripPrefix("/app", s.auth.Middleware(s.auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("mine"))
	}))))
	get := func(target string) *answer {
		b := s.newBrowser()
		return b.serve(h, b.request(http.MethodGet, target, "", ""))
	}
	for target, want := range map[string]string{
		"/app/auth/signin": "/app/login?", "/app/auth/signout": "/app/bye", "/app/auth/error?error=x": "/app/oops?", "/app/auth/verify-request": "/app/mailed",
		"/app/own": "/app/login?", "/app/auth/callback/post?token=x&email=y@z.example": "/app/oops?", "/app/auth/signin/acme": "/app/oops?",
	} {
		if a := get(target); !strings.HasPrefix(a.location(), siteOrigin+want) {
			t.Errorf("R-370: %s leads to %q", target, a.location())
		}
	}
	if a := get("/app/login"); a.Body.String() != "mine" {
		t.Errorf("R-370: the own sign-in page: %d to %q", a.Code, a.location())
	}
	b := s.newBrowser()
	b.serve(h, b.request(http.MethodGet, "/app/auth/csrf", "", ""))
	form := url.Values{"csrfToken": {b.token()}, "username": {"alice"}, "password": {"wonderland"}}
	if a := b.serve(h, b.request(http.MethodPost, "/app/auth/callback/crew", formContentType, form.Encode())); a.location() != siteOrigin+"/app/waiting-list" {
		t.Errorf("R-370: RedirectTo leads to %q", a.location())
	}
	for prefix, wrong := range map[string]bool{"app": true, "/a b": true, "/a?b": true, "//a": true, "/": false, "/a/b": false} {
		c := plainsite.Config(nil)
		c.Adapter, c.Site.Prefix = nil, prefix
		if _, err := latchkey.New(c); (err != nil) != wrong {
			t.Errorf("R-370: Prefix %q: %v", prefix, err)
		}
	}
	c := plainsite.Config(nil)
	c.Adapter, c.Site = nil, latchkey.Site{URL: plainsite.URL + "/auth", Prefix: "/app"}
	if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), "Site.Prefix") {
		t.Errorf("R-370: a URL without the prefix: %v", err)
	}
	c = plainsite.Config(nil)
	c.Adapter, c.Site.BasePath = nil, "/"
	if _, err := latchkey.New(c); err == nil {
		t.Error("R-370: BasePath / without a prefix passes")
	}
}
