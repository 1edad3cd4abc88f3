package frameworktest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/veil"
	"github.com/latchkeyhq/latchkey/ui"
)

// hidden is embedded in types that hold secrets, so that the output of a failed
// test shows none.
type hidden = veil.Hidden

// Test tests that a mounting of Latchkey in a web framework behaves as Latchkey
// does on net/http: routes, guards, form actions, cookies, streams, panics,
// prefixes, proxies, and everything that a handler can call. It runs each case
// twice: with the routes mounted one by one, and with the middleware for the
// whole site. [Site.WholeSite] tells serve which.
//
//	func TestFramework(t *testing.T) {
//		frameworktest.Test(t, func(t *testing.T, site frameworktest.Site) string {
//			// mount site.Auth, or what the framework's NewFunc makes of site.ByHost,
//			// add site.Pages behind their guards, and serve them on a loopback port
//			return serverURL
//		})
//	}
//
// serve starts a server that ends with the test, and returns its URL without a
// path. A framework that has an [http.Handler] returns [Site.Serve]. Run the test
// with the race detector too.
//
// except names the cases that are impossible in the framework, such as "HTTP/2".
// They are logged and not run. A name that no case has fails the test.
func Test(t *testing.T, serve func(t *testing.T, site Site) string, except ...string) {
	t.Helper()
	notFound := map[string]bool{}
	for _, name := range except {
		notFound[name] = true
	}
	for _, c := range testCases {
		if notFound[c.name] {
			delete(notFound, c.name)
			t.Logf("not tried: %s", c.name)
			continue
		}
		for way, wholeSite := range map[string]bool{"routes": false, "whole site": true} {
			t.Run(c.name+"/"+way, func(t *testing.T) { c.try(t, serve, wholeSite) })
		}
	}
	for name := range notFound {
		t.Errorf("there is no case called %q", name)
	}
}

// Site is an application that a framework serves for the tests.
type Site struct {
	hidden

	Auth *latchkey.Auth // nil: ByHost is set
	// ByHost returns the configuration for a request with that Host header. It is
	// for the framework's NewFunc, with the host as the framework's own request says
	// it.
	ByHost func(host string) (*latchkey.Config, error)

	// WholeSite asks for the middleware that answers Latchkey's routes in front of
	// every page. false: the routes are mounted, without such a middleware.
	WholeSite bool
	// Guarded asks for RequireSession in front of the whole site, as a middleware of
	// the framework that comes after Latchkey's own routes or middleware and before
	// the pages.
	Guarded bool
	// CatchAll is a handler for every method and every path that has no page: the
	// framework's route with a star, or what it calls where nothing is found. It is
	// behind the guard of the site. nil: none.
	CatchAll func(c Context)
	// Group is the path of a group of routes, such as "/shop", for the pages and for
	// Latchkey's routes where they are mounted. Empty: none.
	Group string
	// StripPrefix is the prefix that [http.StripPrefix] removes in front of the
	// framework. Empty: none.
	StripPrefix string
	// HTTP2 asks for HTTP/2 without TLS, and for no other protocol.
	HTTP2 bool

	// Pages are the pages of the application. The framework's middleware that
	// recovers from panics is in front of them and answers with status 500.
	Pages []Page
}

// Page is a page of a [Site].
type Page struct {
	hidden

	Method, Path string // the path without the group's
	Guard        Guard
	// Decide is for Authorize. Its path is that of the framework's own request.
	Decide func(path string, s *latchkey.Session) error
	// ReadsForm asks for a middleware of the framework's own in front of the guard
	// that reads the form.
	ReadsForm bool
	// Serve is the handler. nil, for form actions alone: there is none.
	Serve func(c Context)
}

// Guard names the method of [latchkey.Auth] that is in front of a page.
type Guard string

// The guards of a page.
const (
	Unguarded      Guard = ""
	LoadSession    Guard = "LoadSession"
	RequireSession Guard = "RequireSession"
	Authorize      Guard = "Authorize"
	SignInAction   Guard = "SignInAction"
	SignOutAction  Guard = "SignOutAction"
)

// Context is one request of a framework with its answer. The methods of the first
// group call the integration's function of the same name. The others call the
// framework's own.
type Context interface {
	Session() (*latchkey.Session, error)
	CurrentUser() (latchkey.User, error)
	SignIn(provider string, o latchkey.SignInOptions) error
	SignInURL(provider string, o latchkey.SignInOptions) (string, error)
	AccessToken(provider string, o latchkey.TokenOptions) (latchkey.Tokens, error)
	LinkURL(provider string, o latchkey.LinkOptions) (string, error)
	SignOut(o latchkey.SignOutOptions) error
	SignOutURL(o latchkey.SignOutOptions) (string, error)
	UpdateSession(data any) (*latchkey.Session, error)
	WriteError(err error)
	CSRFToken() (string, error)
	ActionURL(action string) (*url.URL, error)
	Forms() (*latchkey.Forms, error)
	UI() (*ui.Page, error)

	// Context returns the context of the request, which [latchkey.SessionFrom] reads.
	Context() context.Context
	// FormValue returns a field of the form that was posted.
	FormValue(name string) string
	// SetCookie adds a cookie to the answer.
	SetCookie(name, value string)
	// Write answers with HTML.
	Write(status int, html string)
	// Stream answers with parts and flushes each of them. It calls for the next part
	// after it has flushed the one before. A framework that streams after its handler
	// has returned calls for them then.
	Stream(parts ...func() string)
}

// Serve serves h on a loopback port until the test ends, with the StripPrefix and
// HTTP2 of the site, and returns its URL.
func (s Site) Serve(t testing.TB, h http.Handler) string {
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

// onlyHTTP2 returns HTTP/2 with prior knowledge (RFC 9113, section 3.3).
func onlyHTTP2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}
