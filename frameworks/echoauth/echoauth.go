package echoauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/labstack/echo/v5"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/ui"
)

// Auth is a [latchkey.Auth] in Echo's types. Get one from [New] or [NewFunc]. It is
// safe for concurrent use, but only the goroutine of a handler may call the methods
// that take its [echo.Context]. Behind a middleware or guard of Auth, other goroutines
// may call [latchkey.SessionFrom] while the response is written.
type Auth struct {
	auth     *latchkey.Auth
	configOf func(c *echo.Context) (*latchkey.Config, error) // nil: one configuration for every request
}

// New returns auth in Echo's types, whichever function of package latchkey made it.
func New(auth *latchkey.Auth) *Auth { return &Auth{auth: auth} }

// Func says how [NewFunc] finds the configuration of a request.
type Func struct {
	// Config returns the configuration, as that of [latchkey.Func] does. It is called
	// once for each request that reaches one of the handlers. It must not keep c.
	Config    func(c *echo.Context) (*latchkey.Config, error)
	CacheSize int // as in [latchkey.Func]
}

// NewFunc returns an Auth whose configuration f.Config finds for each request of Echo.
// It returns ErrInvalidConfig if f.Config is nil. See [latchkey.NewFunc].
func NewFunc(f Func) (a *Auth, err error) {
	if f.Config == nil {
		return nil, &latchkey.Error{Type: latchkey.ErrInvalidConfig, Err: errors.New("echoauth: Func.Config is nil")}
	}
	a = &Auth{configOf: f.Config}
	a.auth, err = latchkey.NewFunc(latchkey.Func{Config: a.config, CacheSize: f.CacheSize})
	return a, err
}

// configKey is the context key of a function that returns what configOf answered. Each
// Auth has a key of its own.
type configKey struct{ of *Auth }

// config returns what configOf returned for the request that ctx belongs to. It panics
// with the panic of configOf. It returns an error if ctx does not come from remember.
func (a *Auth) config(ctx context.Context, _ *latchkey.Request) (*latchkey.Config, error) {
	if answer, ok := ctx.Value(configKey{a}).(func() (*latchkey.Config, error)); ok {
		return answer()
	}
	return nil, errors.New("echoauth: the configuration depends on a request of Echo, and this is none")
}

// remember calls configOf once for each request, and returns ctx with the result for
// config. A panic of configOf is kept for config, too. Without configOf remember
// returns ctx. It does not use c after it has returned, because Echo reuses c.
func (a *Auth) remember(ctx context.Context, c *echo.Context) context.Context {
	if a.configOf == nil || ctx.Value(configKey{a}) != nil {
		return ctx
	}
	answer := sync.OnceValues(func() (*latchkey.Config, error) { return a.configOf(c) })
	func() {
		defer func() { _ = recover() }() // config repeats the panic, and the root contains it
		_, _ = answer()
	}()
	return context.WithValue(ctx, configKey{a}, answer)
}

// Auth returns the [latchkey.Auth], for users, devices, and everything on net/http.
// With [NewFunc] its calls need the context of a request that a handler of Auth has seen.
func (a *Auth) Auth() *latchkey.Auth { return a.auth }

// Router is what routes are mounted on: an [echo.Echo] or an [echo.Group].
type Router interface {
	Any(path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) echo.RouteInfo
}

// Mount mounts each route of Latchkey by itself: other paths below the base path stay
// the application's. If r is an [echo.Group], pass its path as prefix; several prefixes
// are joined. Site.BasePath counts from the root of the site. An Auth whose
// configuration depends on the request takes prefix as its base path, or /auth without
// one. Mount panics if the base path is not below prefix, and for routes that conflict.
func (a *Auth) Mount(r Router, prefix ...string) {
	paths, err := a.auth.Routes(strings.Join(prefix, ""))
	if err != nil {
		panic(err)
	}
	for _, path := range paths {
		r.Any(strings.Replace(path, "{name}", ":name", 1), a.Handler())
	}
}

// Handler returns a handler that answers every request as one for Latchkey. A path that
// is none of its routes gets Latchkey's own error. Use Handler in place of [Auth.Mount]
// if the application has no path of its own below the base path: e.Any("/auth/*",
// sessions.Handler()).
func (a *Auth) Handler() echo.HandlerFunc {
	return func(c *echo.Context) error {
		defer a.renew(c)
		a.auth.ServeHTTP(c.Response(), a.request(c))
		return nil
	}
}

// Middleware answers the routes of Latchkey and hands on all other requests with
// their session, as [latchkey.Auth.Middleware] does. It belongs in front of the
// whole site: e.Use(sessions.Middleware()).
func (a *Auth) Middleware() echo.MiddlewareFunc { return a.wrap(a.auth.Middleware) }

// LoadSession makes the session available to what follows, through
// [latchkey.SessionFrom] and the context of the request, as [latchkey.Auth.LoadSession]
// does. [Auth.Session] does not need it.
func (a *Auth) LoadSession() echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			defer a.renew(c)
			a.request(c)
			return next(c)
		}
	}
}

// RequireSession hands on requests of signed-in users alone. It redirects the others to the
// sign-in page, or answers scripts with status 401: see [latchkey.Auth.RequireSession].
func (a *Auth) RequireSession() echo.MiddlewareFunc { return a.wrap(a.auth.RequireSession) }

// Authorize returns a guard that calls decide for each request. The request passes if decide
// returns nil. An error of decide is answered as by [latchkey.Auth.Authorize]. decide gets a
// nil session for a request without one.
func (a *Auth) Authorize(decide func(c *echo.Context, s *latchkey.Session) error) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			return a.pass(c, next, a.auth.Authorize(func(_ *http.Request, s *latchkey.Session) error { return decide(c, s) }))
		}
	}
}

// WriteError answers a request with err, for a handler that has no other answer, as
// [latchkey.Auth.WriteError] does. It always returns nil: return sessions.WriteError(c,
// err). Call it before anything is written.
func (a *Auth) WriteError(c *echo.Context, err error) error {
	defer a.renew(c)
	a.auth.WriteError(c.Response(), a.request(c), err)
	return nil
}

// ErrorHandler returns an error handler for [echo.Config]. It answers an error of a
// handler for which [latchkey.IsRefusal] returns true, such as [latchkey.ErrNoSession],
// [latchkey.ErrAccessDenied] or [latchkey.NeedRecent], by [Auth.WriteError]. All other
// errors go to next, and so do those after the response has begun and those of
// Latchkey's own routes. A nil next is Echo's own.
func (a *Auth) ErrorHandler(next echo.HTTPErrorHandler) echo.HTTPErrorHandler {
	if next == nil {
		next = echo.DefaultHTTPErrorHandler(false)
	}
	return func(c *echo.Context, err error) {
		if !latchkey.IsRefusal(err) || isCommitted(c) || a.auth.Match(a.request(c)) {
			next(c, err)
			return
		}
		_ = a.WriteError(c, err)
	}
}

// isCommitted reports whether the response has begun, so that its header cannot change.
// It returns false for a writer that is not Echo's.
func isCommitted(c *echo.Context) bool {
	under, _ := echo.UnwrapResponse(c.Response())
	return under != nil && under.Committed
}

// Session returns the session of a request, or ErrNoSession. The session is read once a
// request, with or without a middleware of Auth in front. If the response has not
// begun, the session is renewed: its cookie goes into the response. Any other error is
// a fault, which has been logged: treat the request as one without a session.
func (a *Auth) Session(c *echo.Context) (*latchkey.Session, error) {
	defer a.renew(c)
	return a.auth.ReadSession(c.Response(), a.request(c))
}

// CurrentUser returns the signed-in user, as the Adapter has it, or ErrNoSession. It needs no
// middleware in front. Any other error is a fault: see [latchkey.Auth.CurrentUser].
func (a *Auth) CurrentUser(c *echo.Context) (latchkey.User, error) {
	defer a.renew(c)
	return a.auth.CurrentUser(a.request(c).Context())
}

// SignIn starts signing in with a provider, and redirects. If it returns an error it has
// sent nothing, and the handler has to answer. See [latchkey.Auth.SignIn].
func (a *Auth) SignIn(c *echo.Context, provider string, o latchkey.SignInOptions) error {
	return a.auth.SignIn(c.Response(), a.request(c), provider, o)
}

// SignInURL does what SignIn does, but returns the URL to redirect to. See
// [latchkey.Auth.SignInURL].
func (a *Auth) SignInURL(c *echo.Context, provider string, o latchkey.SignInOptions) (string, error) {
	return a.auth.SignInURL(c.Response(), a.request(c), provider, o)
}

// SignOut ends the session, and redirects. See [latchkey.Auth.SignOut].
func (a *Auth) SignOut(c *echo.Context, o latchkey.SignOutOptions) error {
	return a.auth.SignOut(c.Response(), a.request(c), o)
}

// SignOutURL does what SignOut does, but returns the URL to redirect to. See
// [latchkey.Auth.SignOutURL].
func (a *Auth) SignOutURL(c *echo.Context, o latchkey.SignOutOptions) (string, error) {
	return a.auth.SignOutURL(c.Response(), a.request(c), o)
}

// AccessToken returns a usable access token of the signed-in user at a provider, or
// ErrNoSession. Call it before writing the body. See [latchkey.Auth.AccessToken].
func (a *Auth) AccessToken(c *echo.Context, provider string, o latchkey.TokenOptions) (latchkey.Tokens, error) {
	defer a.renew(c)
	return a.auth.AccessToken(knownWriter{c.Response(), c}, a.request(c), provider, o)
}

// Link sends the signed-in user to a provider, to link an account there or to grant the site
// more scopes. Without a session it returns ErrNoSession. See [latchkey.Auth.Link].
func (a *Auth) Link(c *echo.Context, provider string, o latchkey.LinkOptions) error {
	return a.auth.Link(c.Response(), a.request(c), provider, o)
}

// LinkURL does what Link does, but returns the URL to redirect to. See
// [latchkey.Auth.LinkURL].
func (a *Auth) LinkURL(c *echo.Context, provider string, o latchkey.LinkOptions) (string, error) {
	return a.auth.LinkURL(c.Response(), a.request(c), provider, o)
}

// UpdateSession hands data to the token callback, or with stored sessions to the session
// callback, and returns the new session. See [latchkey.Auth.UpdateSession].
func (a *Auth) UpdateSession(c *echo.Context, data any) (*latchkey.Session, error) {
	defer a.renew(c)
	return a.auth.UpdateSession(c.Response(), a.request(c), data)
}

// SignInAction returns a handler that answers the posts of the application's own
// sign-in forms. After a failure it calls page, which shows the form again and finds
// the reason in latchkey.FormFailureFrom(c.Request().Context()). If page is nil, the
// browser is redirected to the sign-in page. See [latchkey.Auth.SignInAction].
func (a *Auth) SignInAction(page echo.HandlerFunc) echo.HandlerFunc {
	return a.action(page, a.auth.SignInAction)
}

// SignOutAction returns a handler that answers the posts of the application's own
// sign-out forms. page is as with [Auth.SignInAction]. See
// [latchkey.Auth.SignOutAction].
func (a *Auth) SignOutAction(page echo.HandlerFunc) echo.HandlerFunc {
	return a.action(page, a.auth.SignOutAction)
}

// CSRFToken returns the token that the application's own forms post to the routes as
// csrfToken. It may set a cookie. See [latchkey.Auth.CSRFToken].
func (a *Auth) CSRFToken(c *echo.Context) (string, error) {
	return a.auth.CSRFToken(c.Response(), a.request(c))
}

// ActionURL returns the absolute URL of an action, such as "signin". See
// [latchkey.Auth.ActionURL].
func (a *Auth) ActionURL(c *echo.Context, action string) (*url.URL, error) {
	return a.auth.ActionURL(a.request(c), action)
}

// Forms returns what a page needs to render its own forms. See [latchkey.Auth.Forms].
func (a *Auth) Forms(c *echo.Context) (*latchkey.Forms, error) {
	defer a.renew(c)
	return a.auth.Forms(c.Response(), a.request(c))
}

// UI returns the components of a page for templates, such as a sign-in box and a user
// button. It may set a cookie. See package ui.
func (a *Auth) UI(c *echo.Context) (*ui.Page, error) {
	defer a.renew(c)
	return ui.New(a.auth, c.Response(), a.request(c))
}

// request puts the configuration and the session into the context of c's request, and
// returns that request. The first call for a request also sees to it that the renewal
// of the session is added before the header is sent.
func (a *Auth) request(c *echo.Context) *http.Request {
	r := c.Request()
	if a.configOf != nil {
		r = r.WithContext(a.remember(r.Context(), c))
	}
	ctx := a.auth.Core().Attach(r.Context(), func() *latchkey.Request {
		return &latchkey.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr, TLS: r.TLS != nil}
	})
	if ctx != r.Context() {
		r = r.WithContext(ctx)
		if res, err := echo.UnwrapResponse(c.Response()); err == nil {
			res.Before(func() { a.auth.Core().Renew(ctx, res.Header()) })
		}
	}
	c.SetRequest(r)
	return r
}

// renew adds the renewal of the session (Set-Cookie, Vary, Cache-Control) to the
// response, unless the response has begun.
func (a *Auth) renew(c *echo.Context) {
	if !isCommitted(c) {
		a.auth.Core().Renew(c.Request().Context(), c.Response().Header())
	}
}

// wrap makes a middleware of Echo out of one of net/http.
func (a *Auth) wrap(middleware func(http.Handler) http.Handler) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error { return a.pass(c, next, middleware) }
	}
}

// pass lets middleware decide whether to call next, and renews the session. It returns
// the error of next, or nil if middleware answered in its place.
func (a *Auth) pass(c *echo.Context, next echo.HandlerFunc, middleware func(http.Handler) http.Handler) (err error) {
	defer a.renew(c)
	middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.SetRequest(r)
		a.renew(c)
		err = next(c)
	})).ServeHTTP(c.Response(), a.request(c))
	return err
}

// action returns a handler that answers by action. page, unless it is nil, is called
// after a failure, and its error is returned.
func (a *Auth) action(page echo.HandlerFunc, action func(http.Handler) http.Handler) echo.HandlerFunc {
	if page == nil {
		return func(c *echo.Context) error {
			defer a.renew(c)
			action(nil).ServeHTTP(c.Response(), a.request(c))
			return nil
		}
	}
	return func(c *echo.Context) error { return a.pass(c, page, action) }
}
