package frameworktest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// actionCases are about forms of the application's own.
var actionCases = []testCase{
	{"SignInAction signs in, or shows the page again", func(f *framework) {
		f.loginPages(false)
	}, proveLogin},
	{"SignInAction takes a form that middleware has read", func(f *framework) {
		f.loginPages(true)
	}, proveLogin},
	{"SignInAction answers scripts with JSON", func(f *framework) {
		f.loginPages(false)
	}, func(t *testing.T, f *framework) {
		c := f.open()
		typed := map[string]any{"providerId": "credentials", "redirectTo": "/done", "options": map[string]string{"name": "Ada", "password": "wrong"}}
		p := c.Fetch("POST", "/login", typed, nil)
		if answers(t, p, http.StatusForbidden, `"failed":true`); !strings.HasPrefix(p.Header.Get("Content-Type"), "application/json") {
			t.Errorf("a script gets %s", p.Header.Get("Content-Type"))
		}
		typed["options"] = map[string]string{"name": "Ada", "password": password}
		answers(t, c.Fetch("POST", "/login", typed, nil), http.StatusOK, `{"url":"`+f.url+`/done"}`)
		if c.Session() == nil {
			t.Error("nobody is signed in")
		}
	}},
	{"SignInAction without a page leads to the sign-in page", func(f *framework) {
		f.site.Pages = append(f.site.Pages, Page{Method: http.MethodPost, Path: "/enter", Guard: SignInAction})
	}, func(t *testing.T, f *framework) {
		leads(t, f.open().Post("/enter", url.Values{"providerId": {"credentials"}, "name": {"Ada"}, "password": {"wrong"}}), f.url+"/auth/signin")
	}},
	{"a form of another site signs nobody in", func(f *framework) {
		f.loginPages(false)
	}, func(t *testing.T, f *framework) {
		c := f.open()
		form := url.Values{"providerId": {"credentials"}, "name": {"Ada"}, "password": {password}}
		if answers(t, postFrom(t, c, "https://evil.example", f.url+"/login", form), http.StatusForbidden, ""); c.Session() != nil {
			t.Error("somebody is signed in")
		}
	}},
	{"SignOutAction signs out", func(f *framework) {
		f.site.Pages = append(f.site.Pages, Page{Method: http.MethodPost, Path: "/logout", Guard: SignOutAction})
	}, func(t *testing.T, f *framework) {
		c := f.openAs("Ada")
		if leads(t, c.Post("/logout", url.Values{"redirectTo": {"/bye"}}), f.url+"/bye"); c.Session() != nil {
			t.Error("somebody is still signed in")
		}
	}},
}

// loginPages adds the page /login to the site, and the SignInAction that its form is posted
// to. The page says "please", or what a failed sign-in tells it. With readsForm a middleware
// of the framework reads the form first.
func (f *framework) loginPages(readsForm bool) {
	show := func(c Context) {
		failure := latchkey.FormFailureFrom(c.Context())
		if failure == nil {
			c.Write(http.StatusOK, "please")
			return
		}
		forms, err := c.Forms()
		ok(f.t, err)
		c.Write(failure.Status, fmt.Sprintf("%v; the form has %s, the failure has %s; %s",
			failure.Messages(), c.FormValue("name"), failure.Values.Get("name"), forms.CSRFToken))
	}
	f.page("/login", Unguarded, show)
	f.site.Pages = append(f.site.Pages, Page{
		Method: http.MethodPost, Path: "/login", Guard: SignInAction, ReadsForm: readsForm, Serve: show,
	})
}

// proveLogin checks that a wrong password shows the page again, with the name that was
// typed, and a right one signs in.
func proveLogin(t *testing.T, f *framework) {
	c := f.open()
	answers(t, c.Get("/login"), http.StatusOK, "please")
	form := url.Values{"providerId": {"credentials"}, "name": {"Ada"}, "password": {"wrong"}, "redirectTo": {"/done"}}
	p := c.Post("/login", form)
	answers(t, p, http.StatusForbidden, "the form has Ada, the failure has Ada")
	if c.Session() != nil {
		t.Error("a wrong password signs in")
	}
	form.Set("password", password)
	leads(t, c.Post("/login", form), f.url+"/done")
	if s := c.Session(); s == nil || s.User.Name != "Ada" {
		t.Errorf("signed in: %v", s)
	}
}

// postFrom posts a form as a browser does from a page of another site.
func postFrom(t *testing.T, c *latchkeytest.Client, origin, target string, form url.Values) *latchkeytest.Page {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(form.Encode()))
	ok(t, err)
	for name, value := range map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html", "Origin": origin,
		"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
	} {
		req.Header.Set(name, value)
	}
	return c.Do(req)
}
