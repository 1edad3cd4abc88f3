package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/oauth"
)

// Core is what an [Auth] does on a neutral [Request] and [Response], for web frameworks without
// net/http and for integrations. Get one from [Auth.Core]. The methods of Auth with the same names
// do the same on net/http. A Core is safe for concurrent use.
//
// The context of a call decides where the cookies of a session that is read go:
//
//	context of           cookies go                          first read of the session
//	Core.LoadSession     into the header given to it         in the goroutine that answers
//	Core.Attach          into the result of Core.Renewal     in any goroutine
//	Auth.LoadSession     into the http.ResponseWriter        in any goroutine
//	ContextWithSession   nowhere: it holds the session       in any goroutine
//	any other            into the results of the call        in any goroutine
//
// Add cookies that a call returns to the response, whatever the context.
type Core struct {
	hidden

	auth *Auth
}

// Core returns what Auth does for frameworks without net/http: the same calls, on [Request] and [Response].
func (a *Auth) Core() *Core { return &Core{auth: a} }

// Respond answers r. An error becomes a page, a redirect or JSON. A path without a route gets status 404 or 400.
func (c *Core) Respond(ctx context.Context, r *Request) *Response {
	s, fault := c.auth.setupOrBlank(ctx, r)
	return ownHeader(respond(ctx, s, fault, r))
}

// Do answers r and leaves errors to the caller, as Auth.js does with the option raw. Each error is or
// wraps an [*Error], and has been logged. The cookies that the answer would have set are then lost.
func (c *Core) Do(ctx context.Context, r *Request) (*Response, error) {
	s, fault := c.auth.setupOrBlank(ctx, r)
	return do(ctx, s, fault, r, false)
}

func do(ctx context.Context, s *setup, fault error, r *Request, trusted bool) (*Response, error) {
	x, res, err := answerTraced(ctx, s, fault, r, trusted)
	if err != nil {
		return nil, fail(ctx, x, err)
	}
	if dependsOnCookie(x.action) {
		res = variedFor(x.setup.config.Session.Bearer, res)
	}
	return ownHeader(res), nil
}

// fail logs err, and returns it as the application may see it.
func fail(ctx context.Context, x *exchange, err error) error {
	logFailure(ctx, x, err)
	return handOut(x, err)
}

// Match reports whether r is for a route of Latchkey that is switched on. See [Auth.Match].
func (c *Core) Match(ctx context.Context, r *Request) bool {
	s, _ := c.auth.setupOrBlank(ctx, r) // better an error page than the application's own answer
	return s != nil && s.config.owns(r.URL.EscapedPath())
}

// ReadSession returns the session of r and the cookies for the response, also with an error: they keep the
// session alive, or clear the cookie of one that has ended. The errors are those of [Auth.Session]. In a
// context of [Core.Attach] or [Core.LoadSession] the session is read once, and ReadSession returns no
// cookies: they are in [Core.Renewal], or in the header given to Core.LoadSession.
func (c *Core) ReadSession(ctx context.Context, r *Request) (*Session, []*http.Cookie, error) {
	if state := remembered(ctx, c, r); state != nil {
		s, err := state.session()
		return s, nil, err
	}
	x, err := c.reading(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	found, err := x.readSession(ctx, nil)
	if err != nil {
		return nil, x.cookies.Out, err
	}
	return found.session, x.cookies.Out, nil
}

// reading returns an exchange to read the session of r. It logs its error, which callers may hand out.
func (c *Core) reading(ctx context.Context, r *Request) (*exchange, error) {
	s, err := c.auth.setupFor(ctx, r)
	if err != nil {
		logUnread(ctx, s, err)
		return nil, failure.Public(err)
	}
	x, err := readingExchange(s, r)
	if err != nil {
		return nil, fail(ctx, x, err)
	}
	return x, nil
}

// Access is the answer of [Core.Authorize]: whether a request may pass, and who is signed in.
type Access struct {
	hidden

	Session  *Session       // nil: not signed in, or Response is for a fault or a route of Latchkey's own
	Response *Response      // what to answer instead; nil: the request may pass
	Cookies  []*http.Cookie // for the response, in either case
}

// Authorize calls decide to learn whether r may pass, and answers as [Auth.Authorize] does. decide
// gets a nil s for a request without a session. A request for a route of Latchkey's own is answered
// without calling decide; for that r needs its body.
func (c *Core) Authorize(ctx context.Context, r *Request, decide func(r *Request, s *Session) error) Access {
	if c.Match(ctx, r) {
		return Access{Response: c.Respond(ctx, r)}
	}
	s, cookies, err := c.ReadSession(ctx, r)
	res, why := consult(err, func() error { return decide(r, s) })
	if why != nil {
		res = c.refuse(ctx, r, s, why, true)
	}
	if res != nil {
		res = c.challenge(ctx, r, varied(res))
	}
	return Access{Session: s, Cookies: cookies, Response: res}
}

// refuse returns what a guard (guards is true), or a handler in its place, answers for why, or nil if
// the request may pass after all. s is nil for a request without a session.
func (c *Core) refuse(ctx context.Context, r *Request, s *Session, why error, guards bool) *Response {
	if _, ok := errors.AsType[*undecided](why); ok {
		return c.fault(ctx, r, why)
	}
	x, err := c.reading(ctx, r)
	if err != nil {
		return c.fault(ctx, r, err)
	}
	return refuse(ctx, x, s, why, guards)
}

// ErrorResponse returns what [Auth.WriteError] answers for err. It is never nil.
func (c *Core) ErrorResponse(ctx context.Context, r *Request, err error) *Response {
	var cookies []*http.Cookie
	res := c.answerError(ctx, r, err, remembered(ctx, c, r), func() (s *Session, err error) {
		s, cookies, err = c.ReadSession(ctx, r)
		return s, err
	})
	res.Cookies = append(res.Cookies, cookies...)
	return res
}

// answerError answers err. It calls session only if the answer depends on it. state may be nil.
func (c *Core) answerError(ctx context.Context, r *Request, err error, state *requestState, session func() (*Session, error)) *Response {
	if state.hasTold(err) {
		return c.challenge(ctx, r, varied(c.fault(ctx, r, err)))
	}
	x, unread := c.reading(ctx, r)
	if unread != nil {
		return c.fault(ctx, r, unread)
	}
	switch {
	case errors.Is(err, ErrMissingCSRF):
		return c.challenge(ctx, r, varied(crossSite(ctx, x)))
	case !IsRefusal(err):
		return c.challenge(ctx, r, varied(guardFault(ctx, x, cmp.Or(err, errNoError))))
	}
	s, fault := session()
	res, why := consult(fault, func() error { return err })
	if why != nil {
		res = c.refuse(ctx, r, s, why, false)
	}
	if res == nil { // the page that it would lead to
		res = forbidden(ctx, x, s)
	}
	return c.challenge(ctx, r, varied(res))
}

// hasTold reports whether err is the fault that reading the session has returned and logged. A nil s has
// told nothing.
func (s *requestState) hasTold(err error) bool {
	if s == nil || errors.Is(err, ErrNoSession) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known && s.err != nil && errors.Is(err, s.err)
}

// challenge adds Vary and, to status 401, WWW-Authenticate on sites that take bearer tokens.
func (c *Core) challenge(ctx context.Context, r *Request, res *Response) *Response {
	if s, _ := c.auth.setupFor(ctx, r); s == nil || !s.config.Session.Bearer {
		return res
	}
	if x, err := c.reading(ctx, r); err == nil {
		res = variedFor(true, res)
		challengeOwn(x, res)
	}
	return res
}

// fault returns the answer of a guard that cannot decide because of why. It does not log why.
func (c *Core) fault(ctx context.Context, r *Request, why error) *Response {
	s, _ := c.auth.setupOrBlank(ctx, r)
	if stray, ok := errors.AsType[*unknownTenant](why); ok {
		return renderNoTenant(ctx, s, r, stray)
	}
	if errors.Is(why, errBadHost) { // which the client chose
		return renderStray(ctx, s, r, why)
	}
	if s == nil {
		return configJSON()
	}
	return faultAnswer(ctx, strayExchange(s, r), why)
}

// SignIn starts signing in with a provider. The URL that the browser has to open is Response.Redirect: the
// sign-in page for an empty provider, and for an unknown one, which is logged. The error is an [*Error].
func (c *Core) SignIn(ctx context.Context, r *Request, provider string, o SignInOptions) (*Response, error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return nil, err
	}
	failed, res, err := startSignIn(ctx, c, x, provider, o)
	if err != nil {
		return nil, fail(ctx, failed, err)
	}
	return res, nil
}

// startSignIn posts to the route of a provider for the browser. Log its error with the exchange returned.
func startSignIn(ctx context.Context, c *Core, x *exchange, provider string, o SignInOptions) (*exchange, *Response, error) {
	s, asked, to := x.setup, x.request, landingAsked(&x.links, x.request.Header, &o)
	p, ok := s.providers[provider]
	ctx, err := withAsked(ctx, p, oneCall{params: o.Params, scopes: o.Scopes, maxAge: o.MaxAge, ask: oauth.Ask{Prompt: o.Prompt, ACRValues: o.ACRValues, LoginHint: o.LoginHint}})
	if err != nil {
		return x, nil, err
	}
	if !ok {
		if provider != "" {
			s.log.Error(ctx, x, errNoProvider(provider))
		}
		if s.config.Pages.SignIn != "" { // the built-in page checks it itself
			var err error
			if to, err = x.resolveRedirect(ctx, to); err != nil {
				return x, nil, failure.Wrap(ErrInvalidCallbackURL, err)
			}
		}
		return x, &Response{Redirect: x.links.signIn(to)}, nil
	}
	if err := refuseForeign(x, o.Form, o.SkipCSRFCheck); err != nil {
		return x, nil, err
	}
	query, form := routeFields(o.Form, o.Params)
	form.Set("callbackUrl", to)
	x, res, err := answerTraced(ctx, s, nil, ownPost(s, x.request, p.info().start+provider, query, form), true)
	if err != nil {
		return x, nil, err
	}
	if s.setsSession(res) {
		c.auth.settle(ctx, s, asked, nil, ErrNoSession) // the new session begins with the next request
	}
	return x, varied(res), nil
}

// routeFields returns what was typed, and params, as the query and the form of a route.
func routeFields(typed, params url.Values) (query, form url.Values) {
	query, form = make(url.Values, len(params)), make(url.Values, len(typed)+1)
	for name, values := range params {
		query[name] = values
	}
	for name, values := range typed {
		param, ok := strings.CutPrefix(name, "authorizationParams-")
		switch {
		case ok:
			query[param] = values
		case name != "redirectTo" && name != "redirect": // options in the place of fields, as Auth.js has them
			form[name] = values
		}
	}
	return query, form
}

// SignOut ends the session of r, if any, and returns the redirect that follows. It logs its error, an [*Error].
func (c *Core) SignOut(ctx context.Context, r *Request, o SignOutOptions) (*Response, error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return nil, err
	}
	failed, res, err := startSignOut(ctx, c, x, o, nil)
	if err != nil {
		return nil, fail(ctx, failed, err)
	}
	return res, nil
}

// startSignOut posts to the route signout for the browser. form is what was posted, maybe with a csrfToken.
func startSignOut(ctx context.Context, c *Core, x *exchange, o SignOutOptions, form url.Values) (*exchange, *Response, error) {
	if err := refuseForeign(x, form, o.SkipCSRFCheck || x.credential.Bearer != nil); err != nil {
		return x, nil, err
	}
	asked, to := x.request, url.Values{"callbackUrl": {returnTo(&x.links, x.request.Header, o.RedirectTo)}}
	ctx = context.WithValue(ctx, signOutKey{}, oneSignOut{o.AtProvider, o.Params})
	x, res, err := answerTraced(ctx, x.setup, nil, ownPost(x.setup, x.request, "signout", nil, to), true)
	if err != nil {
		return x, nil, err
	}
	c.auth.settle(ctx, x.setup, asked, nil, ErrNoSession)
	return x, varied(res), nil
}

// CSRFToken returns the token that the application's own form must post as csrfToken, and its cookie if
// the browser has none yet. In a context of [Core.Attach] or [Core.LoadSession] all calls return the same
// token, and only the first the cookie. The error is ErrUntrustedHost or a fault of the configuration.
func (c *Core) CSRFToken(ctx context.Context, r *Request) (string, []*http.Cookie, error) {
	x, err := c.reading(ctx, asGet(r))
	if err != nil {
		return "", nil, err
	}
	return csrfOnce(ctx, c, x)
}

// ActionURL returns the absolute URL of an action, such as "signin", as the browser that
// sent r sees the site. The error is ErrUntrustedHost or a fault of the configuration.
func (c *Core) ActionURL(ctx context.Context, r *Request, action string) (*url.URL, error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return nil, err
	}
	return url.Parse(x.url(strings.TrimLeft(action, "/")))
}

// ownPost returns the request that a browser would have sent to a route.
func ownPost(s *setup, r *Request, route string, query, form url.Values) *Request {
	header := r.Header.Clone()
	header.Set("Content-Type", formType)
	for _, name := range []string{"Origin", "Sec-Fetch-Site", "X-Auth-Return-Redirect"} {
		header.Del(name) // they speak of the application's own request, which it has answered for
	}
	return &Request{
		Method: http.MethodPost, URL: &url.URL{Path: s.config.Site.BasePath + "/" + route, RawQuery: query.Encode()},
		Host: r.Host, Header: header, Body: []byte(form.Encode()), RemoteAddr: r.RemoteAddr, TLS: r.TLS,
	}
}
