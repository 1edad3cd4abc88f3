package ginauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/ui"
)

// Auth is a [latchkey.Auth] in Gin's types. Get one from [New] or [NewFunc]. It is safe
// for concurrent use, but only the goroutine of a handler may call the methods that
// take its [gin.Context]. Behind a middleware or guard of Auth, other goroutines may
// call [latchkey.SessionFrom] while the response is written.
type Auth struct {
	auth     *latchkey.Auth
	configOf func(c *gin.Context) (*latchkey.Config, error) // nil: one configuration for every request
}

// New returns auth in Gin's types, whichever function of package latchkey made it.
func New(auth *latchkey.Auth) *Auth { return &Auth{auth: auth} }

// Func says how [NewFunc] finds the configuration of a request.
type Func struct {
	// Config returns the configuration, as that of [latchkey.Func] does. It is called
	// once for each request that reaches one of the handlers. It must not keep c.
	Config    func(c *gin.Context) (*latchkey.Config, error)
	CacheSize int // as in [latchkey.Func]
}

// NewFunc returns an Auth whose configuration f.Config finds for each request of Gin.
// It returns ErrInvalidConfig if f.Config is nil. See [latchkey.NewFunc].
func NewFunc(f Func) (a *Auth, err error) {
	if f.Config == nil {
		return nil, &latchkey.Error{Type: latchkey.ErrInvalidConfig, Err: errors.New("ginauth: Func.Config is nil")}
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
	return nil, errors.New("ginauth: the configuration depends on a request of Gin, and this is none")
}

// remember calls configOf once for each request, and returns ctx with the result for
// config. A panic of configOf is kept for config, too. Without configOf remember
// returns ctx. It does not use c after it has returned, because Gin reuses c.
func (a *Auth) remember(ctx context.Context, c *gin.Context) context.Context {
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

// Router is what routes are mounted on: a [gin.Engine] or a [gin.RouterGroup].
type Router interface {
	gin.IRoutes
	BasePath() string
}

// Mount mounts each route of Latchkey by itself: other paths below the base path stay
// the application's. Site.BasePath counts from the root of the site, also where r is a
// group. An Auth whose configuration depends on the request takes the path of the group
// as its base path, or /auth without a group. Mount panics if the base path is not
// below the path of the group, and, as Gin does, for routes that conflict.
func (a *Auth) Mount(r Router) {
	paths, err := a.auth.Routes(r.BasePath())
	if err != nil {
		panic(err)
	}
	for _, path := range paths {
		r.Any(strings.Replace(path, "{name}", ":name", 1), a.Handler())
	}
}

// Handler returns a handler that answers every request as one for Latchkey, and ends
// the chain. A path that is none of its routes gets Latchkey's own error. Use Handler
// in place of [Auth.Mount] if the application has no path of its own below the base
// path: router.Any("/auth/*path", sessions.Handler()).
func (a *Auth) Handler() gin.HandlerFunc {
	return func(c *gin.Context) {
		defer a.renew(c)
		r := a.request(c)
		a.auth.ServeHTTP(c.Writer, r)
		c.Abort()
	}
}

// Middleware answers the routes of Latchkey and hands on all other requests with
// their session, as [latchkey.Auth.Middleware] does. It belongs in front of the
// whole site: router.Use(sessions.Middleware()).
func (a *Auth) Middleware() gin.HandlerFunc {
	return func(c *gin.Context) { a.pass(c, a.auth.Middleware) }
}

// LoadSession makes the session available to what follows, through
// [latchkey.SessionFrom] and the context of the request, as [latchkey.Auth.LoadSession]
// does. [Auth.Session] does not need it.
func (a *Auth) LoadSession() gin.HandlerFunc {
	return func(c *gin.Context) {
		defer a.renew(c)
		a.request(c)
		c.Next()
	}
}

// RequireSession hands on requests of signed-in users alone. It redirects the others to the
// sign-in page, or answers scripts with status 401: see [latchkey.Auth.RequireSession].
func (a *Auth) RequireSession() gin.HandlerFunc {
	return func(c *gin.Context) { a.pass(c, a.auth.RequireSession) }
}

// Authorize returns a guard that calls decide for each request. The request passes if decide
// returns nil. An error of decide is answered as by [latchkey.Auth.Authorize]. decide gets a
// nil session for a request without one.
func (a *Auth) Authorize(decide func(c *gin.Context, s *latchkey.Session) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		a.pass(c, a.auth.Authorize(func(_ *http.Request, s *latchkey.Session) error { return decide(c, s) }))
	}
}

// WriteError answers a request with err, for a handler that has no other answer, as
// [latchkey.Auth.WriteError] does, and ends the chain. Call it before anything is
// written.
func (a *Auth) WriteError(c *gin.Context, err error) {
	defer a.renew(c)
	r := a.request(c)
	a.auth.WriteError(c.Writer, r, err)
	c.Abort()
}

// Session returns the session of a request, or ErrNoSession. The session is read once a
// request, with or without a middleware of Auth in front. If the response has not
// begun, the session is renewed: its cookie goes into the response. Any other error is
// a fault, which has been logged: treat the request as one without a session.
func (a *Auth) Session(c *gin.Context) (*latchkey.Session, error) {
	defer a.renew(c)
	r := a.request(c)
	return a.auth.ReadSession(c.Writer, r)
}

// CurrentUser returns the signed-in user, as the Adapter has it, or ErrNoSession. It needs no
// middleware in front. Any other error is a fault: see [latchkey.Auth.CurrentUser].
func (a *Auth) CurrentUser(c *gin.Context) (latchkey.User, error) {
	defer a.renew(c)
	return a.auth.CurrentUser(a.request(c).Context())
}

// SignIn starts signing in with a provider, and redirects. If it returns an error it has
// sent nothing, and the handler has to answer. See [latchkey.Auth.SignIn].
func (a *Auth) SignIn(c *gin.Context, provider string, o latchkey.SignInOptions) error {
	r := a.request(c)
	return a.auth.SignIn(c.Writer, r, provider, o)
}

// SignInURL does what SignIn does, but returns the URL to redirect to. See
// [latchkey.Auth.SignInURL].
func (a *Auth) SignInURL(c *gin.Context, provider string, o latchkey.SignInOptions) (string, error) {
	r := a.request(c)
	return a.auth.SignInURL(c.Writer, r, provider, o)
}

// SignOut ends the session, and redirects. See [latchkey.Auth.SignOut].
func (a *Auth) SignOut(c *gin.Context, o latchkey.SignOutOptions) error {
	r := a.request(c)
	return a.auth.SignOut(c.Writer, r, o)
}

// SignOutURL does what SignOut does, but returns the URL to redirect to. See
// [latchkey.Auth.SignOutURL].
func (a *Auth) SignOutURL(c *gin.Context, o latchkey.SignOutOptions) (string, error) {
	r := a.request(c)
	return a.auth.SignOutURL(c.Writer, r, o)
}

// AccessToken returns a usable access token of the signed-in user at a provider, or
// ErrNoSession. Call it before writing the body. See [latchkey.Auth.AccessToken].
func (a *Auth) AccessToken(c *gin.Context, provider string, o latchkey.TokenOptions) (latchkey.Tokens, error) {
	defer a.renew(c)
	r := a.request(c)
	return a.auth.AccessToken(c.Writer, r, provider, o)
}

// Link sends the signed-in user to a provider, to link an account there or to grant the site
// more scopes. Without a session it returns ErrNoSession. See [latchkey.Auth.Link].
func (a *Auth) Link(c *gin.Context, provider string, o latchkey.LinkOptions) error {
	r := a.request(c)
	return a.auth.Link(c.Writer, r, provider, o)
}

// LinkURL does what Link does, but returns the URL to redirect to. See
// [latchkey.Auth.LinkURL].
func (a *Auth) LinkURL(c *gin.Context, provider string, o latchkey.LinkOptions) (string, error) {
	r := a.request(c)
	return a.auth.LinkURL(c.Writer, r, provider, o)
}

// UpdateSession hands data to the token callback, or with stored sessions to the session
// callback, and returns the new session. See [latchkey.Auth.UpdateSession].
func (a *Auth) UpdateSession(c *gin.Context, data any) (*latchkey.Session, error) {
	defer a.renew(c)
	r := a.request(c)
	return a.auth.UpdateSession(c.Writer, r, data)
}

// SignInAction returns a handler that answers the posts of the application's own
// sign-in forms. After a failure it calls page, which shows the form again and finds
// the reason in latchkey.FormFailureFrom(c.Request.Context()). If page is nil, the
// browser is redirected to the sign-in page. See [latchkey.Auth.SignInAction].
func (a *Auth) SignInAction(page gin.HandlerFunc) gin.HandlerFunc {
	return a.action(page, a.auth.SignInAction)
}

// SignOutAction returns a handler that answers the posts of the application's own
// sign-out forms. page is as with [Auth.SignInAction]. See
// [latchkey.Auth.SignOutAction].
func (a *Auth) SignOutAction(page gin.HandlerFunc) gin.HandlerFunc {
	return a.action(page, a.auth.SignOutAction)
}

// CSRFToken returns the token that the application's own forms post to the routes as
// csrfToken. It may set a cookie. See [latchkey.Auth.CSRFToken].
func (a *Auth) CSRFToken(c *gin.Context) (string, error) {
	r := a.request(c)
	return a.auth.CSRFToken(c.Writer, r)
}

// ActionURL returns the absolute URL of an action, such as "signin". See
// [latchkey.Auth.ActionURL].
func (a *Auth) ActionURL(c *gin.Context, action string) (*url.URL, error) {
	return a.auth.ActionURL(a.request(c), action)
}

// Forms returns what a page needs to render its own forms. See [latchkey.Auth.Forms].
func (a *Auth) Forms(c *gin.Context) (*latchkey.Forms, error) {
	defer a.renew(c)
	r := a.request(c)
	return a.auth.Forms(c.Writer, r)
}

// UI returns the components of a page for templates, such as a sign-in box and a user
// button. It may set a cookie. See package ui.
func (a *Auth) UI(c *gin.Context) (*ui.Page, error) {
	defer a.renew(c)
	r := a.request(c)
	return ui.New(a.auth, c.Writer, r)
}

// request puts the configuration and the session into the context of c.Request, and
// returns c.Request. The first call for a request also replaces c.Writer by one that
// adds the renewal of the session when the response begins.
func (a *Auth) request(c *gin.Context) *http.Request {
	if a.configOf != nil {
		c.Request = c.Request.WithContext(a.remember(c.Request.Context(), c))
	}
	r := c.Request
	ctx := a.auth.Core().Attach(r.Context(), func() *latchkey.Request {
		return &latchkey.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr, TLS: r.TLS != nil}
	})
	if ctx != r.Context() {
		c.Request = r.WithContext(ctx)
		c.Writer = &writer{ResponseWriter: c.Writer, begin: func(h http.Header) { a.auth.Core().Renew(ctx, h) }}
	}
	return c.Request
}

// renew adds the renewal of the session (Set-Cookie, Vary, Cache-Control) to the
// response, unless the response has begun.
func (a *Auth) renew(c *gin.Context) {
	if !c.Writer.Written() {
		a.auth.Core().Renew(c.Request.Context(), c.Writer.Header())
	}
}

// pass lets middleware decide whether the chain goes on, and renews the session. If
// middleware does not call its handler, pass aborts the chain.
func (a *Auth) pass(c *gin.Context, middleware func(http.Handler) http.Handler) {
	defer a.renew(c)
	r, passed := a.request(c), false
	middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		passed, c.Request = true, r
		a.renew(c)
		c.Next()
	})).ServeHTTP(c.Writer, r)
	if !passed {
		c.Abort()
	}
}

// action returns a handler that runs action and ends the chain. page, unless it is nil,
// is called after a failure.
func (a *Auth) action(page gin.HandlerFunc, action func(http.Handler) http.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		defer a.renew(c)
		var again http.Handler
		if page != nil {
			again = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				c.Request = r
				page(c)
			})
		}
		r := a.request(c)
		action(again).ServeHTTP(c.Writer, r)
		c.Abort()
	}
}
