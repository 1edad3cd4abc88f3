package latchkeytest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/ui"
)

// Framework proves that a mounting of Latchkey in a web framework behaves as
// Latchkey does on net/http: routes, guards, form actions, cookies, streams,
// panics, prefixes, proxies, and everything a handler can call. Each case is
// tried twice, with the routes mounted one by one, and with the middleware for
// the whole site.
//
//	func TestFramework(t *testing.T) {
//		latchkeytest.Framework(t, func(t *testing.T, site latchkeytest.FrameworkSite) string {
//			// mount site.Auth, or what the framework's NewFunc makes of site.ByHost,
//			// add site.Pages behind their guards, and serve them on a loopback port
//			return serverURL
//		})
//	}
//
// serve starts a server that ends with the test, and returns its URL without a
// path. What has an [http.Handler] returns [FrameworkSite.Serve]. Run it with the
// race detector, too.
//
// except names what the framework cannot have at all, such as "HTTP/2". It is
// logged and not tried; a name that no case has fails the test.
func Framework(t *testing.T, serve func(t *testing.T, site FrameworkSite) string, except ...string) {
	t.Helper()
	unknown := map[string]bool{}
	for _, name := range except {
		unknown[name] = true
	}
	for _, c := range frameworkCases {
		if unknown[c.name] {
			delete(unknown, c.name)
			t.Logf("not tried: %s", c.name)
			continue
		}
		for way, whole := range map[string]bool{"routes": false, "whole site": true} {
			t.Run(c.name+"/"+way, func(t *testing.T) { c.try(t, serve, whole) })
		}
	}
	for name := range unknown {
		t.Errorf("there is no case called %q", name)
	}
}

// FrameworkSite is an application that a framework has to serve for the suite.
type FrameworkSite struct {
	hidden

	Auth *latchkey.Auth // nil: ByHost
	// ByHost is the configuration of a request with that Host header. Give it to the
	// framework's NewFunc, with the host as the framework's own request says it.
	ByHost func(host string) (*latchkey.Config, error)

	// WholeSite wants the middleware that answers Latchkey's routes in front of
	// every page. false: the routes are mounted, without such a middleware.
	WholeSite bool
	// Group is the path of a group of routes that the pages belong to, and
	// Latchkey's routes where they are mounted, such as "/shop". Empty: none.
	Group string
	// StripPrefix is what [http.StripPrefix] takes off in front of the framework.
	// Empty: nothing.
	StripPrefix string
	// HTTP2 wants HTTP/2 without TLS, and nothing else.
	HTTP2 bool

	// Pages are the pages of the application. In front of them is what the framework
	// has to recover from panics, which answers with status 500.
	Pages []FrameworkPage
}

// FrameworkPage is a page of a [FrameworkSite].
type FrameworkPage struct {
	hidden

	Method, Path string // the path without the group's
	Guard        FrameworkGuard
	// Decide is for FrameworkAuthorize, with the path of the framework's own
	// request.
	Decide func(path string, s *latchkey.Session) error
	// ReadsForm wants a middleware of the framework's own in front of the guard
	// that reads the form, as one that looks for a field does.
	ReadsForm bool
	// Serve is the handler; nil, for form actions alone: there is none.
	Serve func(c FrameworkContext)
}

// FrameworkGuard is what is in front of a page.
type FrameworkGuard string

// What can be in front of a page, as in [latchkey.Auth].
const (
	FrameworkUnguarded      FrameworkGuard = ""
	FrameworkLoadSession    FrameworkGuard = "LoadSession"
	FrameworkRequireSession FrameworkGuard = "RequireSession"
	FrameworkAuthorize      FrameworkGuard = "Authorize"
	FrameworkSignInAction   FrameworkGuard = "SignInAction"
	FrameworkSignOutAction  FrameworkGuard = "SignOutAction"
)

// FrameworkContext is one request of a framework with its answer, seen through
// the integration: each method calls the one of that name. The others are the
// framework's own.
type FrameworkContext interface {
	Session() (*latchkey.Session, error)
	CurrentUser() (latchkey.User, error)
	SignIn(provider string, o latchkey.SignInOptions) error
	SignInURL(provider string, o latchkey.SignInOptions) (string, error)
	SignOut(o latchkey.SignOutOptions) error
	SignOutURL(o latchkey.SignOutOptions) (string, error)
	UpdateSession(data any) (*latchkey.Session, error)
	WriteError(err error)
	CSRFToken() (string, error)
	ActionURL(action string) (*url.URL, error)
	Forms() (*latchkey.Forms, error)
	UI() (*ui.Page, error)

	// Context is that of the request, where [latchkey.SessionFrom] looks.
	Context() context.Context
	// FormValue is a field of the form that was posted.
	FormValue(name string) string
	SetCookie(name, value string)
	// Write answers with HTML.
	Write(status int, html string)
	// Stream answers with parts that are flushed one by one: the next is asked for
	// when the one before is on its way. A framework that streams after its handler
	// has returned asks for them then.
	Stream(parts ...func() string)
}

// Serve serves h as the site wants it, on a loopback port until the test ends,
// and returns its URL.
func (s FrameworkSite) Serve(t testing.TB, h http.Handler) string {
	t.Helper()
	if s.StripPrefix != "" {
		h = http.StripPrefix(s.StripPrefix, h)
	}
	server := httptest.NewUnstartedServer(h)
	if s.HTTP2 {
		server.Config.Protocols = onlyHTTP2()
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

// onlyHTTP2 is HTTP/2 with prior knowledge (RFC 9113, section 3.3).
func onlyHTTP2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}
