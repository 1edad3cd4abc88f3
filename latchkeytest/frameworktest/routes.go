package frameworktest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey/internal/client"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// routeCases are about what is Latchkey's and what is the application's.
var routeCases = []testCase{
	{"every route and method is answered as by net/http", nil, func(t *testing.T, f *framework) {
		paths, err := f.site.Auth.Routes("")
		ok(t, err)
		for _, path := range paths {
			for _, id := range []string{"credentials", "none"} {
				for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
					f.compare(t, method, strings.Replace(path, "{name}", id, 1))
				}
			}
		}
	}},
	{"a client's file has its type and is kept", nil, func(t *testing.T, f *framework) {
		f.compare(t, "GET", "/auth/client/"+client.Name(client.Module))
		f.compare(t, "GET", "/auth/client/latchkey.d.ts")
	}},
	{"a body that is too large is refused", nil, func(t *testing.T, f *framework) {
		answers(t, f.open().Post("/auth/signin/credentials", url.Values{"csrfToken": {strings.Repeat("x", 70<<10)}}), http.StatusRequestEntityTooLarge, "")
	}},
	{"pages of the application's own live below the base path", func(f *framework) {
		f.config.AccountPage.Enabled = false
		f.config.Pages.SignIn = "/auth/login"
		for _, path := range []string{"/auth/login", "/auth/account", "/auth/login/help", "/auth/factor", "/authors", "/auth"} {
			f.page(path, Unguarded, func(c Context) { c.Write(http.StatusOK, "mine: "+path) })
		}
	}, func(t *testing.T, f *framework) {
		c := f.open()
		for _, p := range f.site.Pages {
			answers(t, c.Get(p.Path), http.StatusOK, "mine: "+p.Path)
		}
		leads(t, c.Get("/auth/signin"), f.url+"/auth/login")
	}},
	{"what nobody has is the framework's to answer", nil, func(t *testing.T, f *framework) {
		own := func(path string) string {
			p := f.open().Get(path)
			answers(t, p, http.StatusNotFound, "")
			return strings.ReplaceAll(string(p.Body), path, "")
		}
		for _, path := range []string{"/auth/nothing", "/auth/factor"} {
			if got, want := own(path), own("/nothing"); got != want {
				t.Errorf("%s is answered by %q, want %q", path, got, want)
			}
		}
	}},
	{"people sign in at a provider and out again", nil, signInAndOut},
	{"people sign in at a provider that posts", func(f *framework) {
		p := f.issuer.Provider()
		p.ResponseMode = "form_post"
		f.config.Providers[0] = p
	}, signInAndOut},
}

// signInAndOut checks that a user can sign in at the issuer and sign out again.
func signInAndOut(t *testing.T, f *framework) {
	f.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
	c := f.open()
	if p := c.SignIn(f.issuer); len(p.Header.Values("Set-Cookie")) < 2 {
		t.Errorf("the answer of the callback sets %q", p.Header.Values("Set-Cookie"))
	}
	if got := c.Session().User.Name; got != "Ada" {
		t.Errorf("%q is signed in", got)
	}
	c.SignOut()
	if c.Session() != nil {
		t.Error("somebody is still signed in")
	}
}

// compare sends a request without cookies to the framework and to net/http. It fails the test
// unless status, the headers below, names of cookies, and JSON other than a CSRF token are
// equal.
func (f *framework) compare(t *testing.T, method, path string) {
	t.Helper()
	want := httptest.NewRecorder()
	f.site.Auth.ServeHTTP(want, httptest.NewRequest(method, f.url+path, http.NoBody))
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+path, http.NoBody)
	ok(t, err)
	req.Header.Set("Accept-Encoding", "identity")
	got := f.open().Do(req)
	if got.Status != want.Code {
		t.Errorf("%s %s: status %d, want %d", method, path, got.Status, want.Code)
	}
	for _, name := range []string{"Location", "Content-Type", "Cache-Control", "Vary", "Retry-After", "Etag", "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy"} {
		if got, want := got.Header.Values(name), want.Header().Values(name); !slices.Equal(got, want) {
			t.Errorf("%s %s: %s is %q, want %q", method, path, name, got, want)
		}
	}
	if got, want := cookieNames(got.Header), cookieNames(want.Header()); !slices.Equal(got, want) {
		t.Errorf("%s %s: sets the cookies %q, want %q", method, path, got, want)
	}
	if json.Valid(want.Body.Bytes()) && !strings.HasSuffix(path, "/csrf") && method != http.MethodHead && string(got.Body) != want.Body.String() {
		t.Errorf("%s %s: %s, want %s", method, path, got.Body, want.Body)
	}
}

// cookieNames returns the names of the cookies that h sets, in order.
func cookieNames(h http.Header) (names []string) {
	for _, line := range h.Values("Set-Cookie") {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	return names
}
