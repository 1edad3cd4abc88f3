package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// What integrations with web frameworks are built on.

func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		name, base, group string
		account           bool
		some, other       string // the first is there, the second is not
	}{
		{"at the root of the router", "/auth", "", true, "/auth/signin/{name}", "/auth/login"},
		{"an action that is off", "/auth", "/", false, "/auth/callback/{name}", "/auth/account"},
		{"one that is on", "/auth", "/", true, "/auth/account", "/auth/factor"},
		{"in a group", "/shop/auth", "/shop", true, "/auth/session", "/shop/auth/session"},
		{"in a group with a slash at its end", "/shop/auth", "/shop/", true, "/auth/session", "/auth/session/{name}"},
		{"in a group of their own", "/auth", "/auth", true, "/session", "/"},
		{"without a base path that the program sees", "/", "", true, "/session", "//session"},
	} {
		t.Run("R-308 "+c.name, func(t *testing.T) {
			s := newSite(t, func(cfg *latchkey.Config) {
				cfg.Site.BasePath, cfg.AccountPage.Enabled = c.base, c.account
				if c.base == "/" {
					cfg.Site.Prefix = "/auth"
				}
			})
			paths, err := s.auth.Routes(c.group)
			if err != nil || !slices.Contains(paths, c.some) || slices.Contains(paths, c.other) {
				t.Errorf("%v %q", err, paths)
			}
			for _, path := range paths {
				path = strings.TrimRight(c.group, "/") + strings.Replace(path, "{name}", "x", 1)
				if !s.auth.Match(httptest.NewRequest(http.MethodGet, siteOrigin+path, nil)) {
					t.Errorf("%s is for somebody else", path)
				}
			}
		})
	}
	s := newSite(t)
	if paths, err := s.auth.Routes("/shop"); err == nil || !strings.Contains(err.Error(), "/auth") || !strings.Contains(err.Error(), "/shop") {
		t.Errorf("a group beside the base path: %v %q", err, paths)
	}
	lazy := newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return nil, errors.New("not now") })
	for group, want := range map[string]string{"": "/auth/account", "/": "/auth/account", "/api/auth": "/account", "/:tenant/auth/": "/account"} {
		if paths, err := lazy.Routes(group); err != nil || !slices.Contains(paths, want) {
			t.Errorf("R-308: without a base path, in %q: %v %q", group, err, paths)
		}
	}
	paths, _ := lazy.Routes("/auth")
	for _, want := range []string{"/password", "/factor", "/reauth", "/invite", "/act-as", "/signed-out/{name}", "/backchannel-logout/{name}", "/frontchannel-logout/{name}"} {
		if !slices.Contains(paths, want) {
			t.Errorf("R-796: a configuration of a request can switch %s on, which is no route", want)
		}
	}
	if slices.Contains(paths, "/device") {
		t.Error("R-796: a name that is kept for later is a route")
	}
}

// A framework's request and writer are somebody else's as soon as the handler is
// done.
type reusedWriter struct{ http.ResponseWriter }

func TestLookingTooLate(t *testing.T) {
	s, b := newEnteredSite(t)
	s.clock.Advance(1000)
	first, second := httptest.NewRecorder(), httptest.NewRecorder()
	w := &reusedWriter{first}
	r := s.auth.Attach(w, b.request(http.MethodGet, "/shop", "", ""))
	if s.auth.Attach(w, r) != r {
		t.Error("what is attached is attached again")
	}
	w.ResponseWriter = second
	if found := latchkey.SessionFrom(r.Context()); found == nil || found.User.Name != "Alice" {
		t.Errorf("R-451: %v", found)
	}
	if len(second.Header()) != 0 || first.Header().Get("Set-Cookie") == "" {
		t.Errorf("R-451: the cookie went to %v", second.Header())
	}
}
