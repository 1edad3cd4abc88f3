package latchkey

import (
	"context"
	"net/http"
	"time"

	"github.com/latchkeyhq/latchkey/internal/lateheader"
)

// What handlers ask: the session of a request, and whether it may pass.

// ReadSession returns the session of r, for handlers without a middleware in front. Its
// errors are those of [Auth.Session]: ErrNoSession without a session, and otherwise a
// fault, which has been logged. It adds the cookie that keeps the session alive, or the
// one that clears the cookie of a session that has ended, to the header of w. So call it
// before writing the body.
func (a *Auth) ReadSession(w http.ResponseWriter, r *http.Request) (*Session, error) {
	state, _ := a.stateOf(w, r)
	return state.session()
}

// LoadSession makes the session available to next through [SessionFrom]. The first call
// of SessionFrom, from any goroutine, reads the session. The renewed cookie is added
// when next begins the response, so call SessionFrom before you write the body: a session
// that is read later, or never, is not renewed. [Auth.Middleware] and the guards do the
// same. A request costs next to nothing if its handler never calls SessionFrom.
func (a *Auth) LoadSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := a.serve(w, r)
		defer s.end()
		next.ServeHTTP(s.w, s.r)
	})
}

// Attach does what [Auth.LoadSession] does, for integrations that cannot give the handler
// another http.ResponseWriter. It returns r with a context in which [SessionFrom] reads
// the session on its first call. That call adds a renewed cookie to w.Header() at once,
// so it has to come from the goroutine that answers. [Core.Attach] and [Core.Renewal]
// have no such limit. A request that is attached already is returned as it is.
func (a *Auth) Attach(w http.ResponseWriter, r *http.Request) *http.Request {
	_, r = a.stateOf(w, r)
	return r
}

// CurrentUser returns the signed-in user as the Adapter has them. With DatabaseSessions
// the user was read together with the session, so the call makes no query; with
// JWTSessions the first call makes one; without an Adapter the user is what the token
// says. It returns ErrNoSession if no user is signed in, if the user was deleted, and if
// neither [Auth.LoadSession] nor one of the guards is in front. Any other error is a
// fault, such as an ErrAdapter: the user may be signed in. [Auth.WriteError] answers it.
func (a *Auth) CurrentUser(ctx context.Context) (User, error) {
	state := stateIn(ctx)
	if state == nil || !state.concerns(a) {
		return User{}, ErrNoSession
	}
	return state.currentUser(ctx, a)
}

// RequireSession passes requests with a session to next. It redirects all others to the
// sign-in page, which returns to the requested page afterwards. htmx gets the URL in
// HX-Redirect. Scripts, WebSockets, streams of events and API clients get status 401 with
// a challenge. A request is one of these if
//
//   - it has Upgrade: websocket; or
//   - it has a Sec-Fetch-Mode that is not navigate; or
//   - it has no Sec-Fetch-Mode, and X-Requested-With is XMLHttpRequest; or
//   - it has no Sec-Fetch-Mode, does not accept text/html, and has Authorization or an
//     Accept for JSON or text/event-stream.
//
// A request for one of [Pages] that a visitor needs to sign in is passed to next without a
// session, too; [Pages] says which. After a refused request of another method than GET or
// HEAD, the sign-in page returns to the page of the Referer if that is of the site, and
// else to the home page. Like all guards RequireSession answers a fault, such as a store
// that fails, with status 500 or 503; see [Auth.Authorize].
func (a *Auth) RequireSession(next http.Handler) http.Handler {
	return a.Authorize(func(_ *http.Request, s *Session) error {
		if s == nil {
			return ErrNoSession
		}
		return nil
	})(next)
}

// RequireSelf passes requests of users themselves to next. It does what
// [Auth.RequireSession] does, and refuses with status 403 an administrator that acts as
// a user. Put it before what only the user may do, such as a payment.
func (a *Auth) RequireSelf(next http.Handler) http.Handler {
	return a.Authorize(func(_ *http.Request, s *Session) error {
		switch {
		case s == nil:
			return ErrNoSession
		case s.Actor != nil:
			return ErrAccessDenied
		}
		return nil
	})(next)
}

// Authorize returns a guard that calls decide for each request. s is nil for a
// request without a session. The request passes if decide returns nil. Any error is
// answered, by the first of these rules that fits it:
//
//   - [RespondWith] answers with a response of the application's.
//   - [NeedRecent] and [NeedFactor] lead a signed-in user to the page that asks for the
//     proof, unless the session has it: then the request passes. On a site with neither
//     [Config].Factors nor a [Password], NeedRecent leads to the sign-in page. Scripts get
//     status 401.
//   - [RedirectTo] sends the browser elsewhere; scripts get status 401. Another site has
//     to be accepted by [Callbacks].Redirect: otherwise the answer is status 500.
//   - A panic of decide is logged and answered with status 500.
//   - [ErrNoSession] leads to the sign-in page. Scripts get status 401.
//   - Any other error about a request without a session, ErrAccessDenied among them, does
//     what ErrNoSession does. It is logged unless it has a line of its own here.
//   - [ErrAccessDenied] refuses a signed-in user, with status 403.
//   - Any other error is a fault of decide. It is logged and answered with status
//     500, or 503 if a store does not answer for now.
//
// With [Pages].Error, a browser that opens a page is redirected there instead of
// status 403, with error=AccessDenied, and instead of status 500, with
// error=Configuration. A request for that page itself gets the built-in one.
//
// No request passes if the session cannot be read, if the configuration is wrong, or if
// decide panics, such as by a use of a nil s. After any other error of decide but
// RespondWith and RedirectTo, a request for a page that [Pages] opens to the visitor passes
// to next. The error is then not logged. A request for the target of RedirectTo passes, too,
// if [Pages] names that page. The guard never redirects a page to itself: for any other page
// the status is then 403.
//
// The guard answers Auth's own routes, which [Auth.Match] knows, without calling
// decide: next never sees them.
func (a *Auth) Authorize(decide func(r *http.Request, s *Session) error) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			here := a.serve(w, r)
			defer here.end()
			w, r = here.w, here.r
			if answers(a, w, r, here.state) {
				return
			}
			s, err := here.state.session()
			res, why := consult(err, func() error { return decide(r, s) })
			if why != nil {
				res = a.Core().refuse(r.Context(), requestHead(r), s, why, true)
			}
			if res != nil {
				a.Core().challenge(r.Context(), requestHead(r), res).Send(w)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// RequireRecent returns a guard that passes a request if the user of the session has
// proven their identity at most d ago. It leads any other signed-in user to the page that
// asks for a proof, or to the sign-in page on a site with neither [Config].Factors nor a
// [Password]. It leads a visitor without a session to the sign-in page. See [NeedRecent].
func (a *Auth) RequireRecent(d time.Duration) func(http.Handler) http.Handler {
	return a.Authorize(func(*http.Request, *Session) error { return NeedRecent(d) })
}

// RequireFactor returns a guard that passes a request if the session has a proof of one
// of the kinds of second factors, or, without kinds, one that reaches aal2. It leads
// other visitors where [Auth.RequireRecent] does. See [NeedFactor].
func (a *Auth) RequireFactor(kinds ...FactorKind) func(http.Handler) http.Handler {
	return a.Authorize(func(*http.Request, *Session) error { return NeedFactor(kinds...) })
}

// WriteError answers r for a handler that err stops: with a page for people, and with JSON for
// scripts. It answers a refusal ([IsRefusal]) as [Auth.Authorize] would, [Pages].Error
// included: [ErrNoSession] leads to the sign-in page, or is status 401; [ErrAccessDenied] is
// status 403 for a signed-in user, and leads any other visitor to the sign-in page.
// [ErrMissingCSRF] is status 403. Every other error, nil included, is logged and answered with
// status 500, or 503 if a store does not answer for now. A visitor without a session gets that,
// too, but from a guard the sign-in page. For an untrusted host the status is 400, whatever err
// is. A page is never redirected to itself: the status is then 403.
//
// Call it before anything is written. It removes the headers Content-Encoding,
// Content-Length, ETag and Last-Modified, and sets Cache-Control to private unless the
// answer has one of its own.
func (a *Auth) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	state, r := a.stateOf(w, r)
	res := a.Core().answerError(r.Context(), requestHead(r), err, state, state.session)
	h := w.Header()
	for _, name := range []string{"Content-Encoding", "Content-Length", "Etag", "Last-Modified"} {
		delete(h, name)
	}
	h["Cache-Control"] = []string{"private"} // unless res knows better
	res.Send(w)
}

// Match reports whether r is for Latchkey: below the base path, and a route of
// its own that is switched on, whatever the method. Other paths there are the
// application's. With [NewFunc] and [NewTenants] it calls their functions to find the
// configuration. If one fails, it goes by the default base path and routes, and
// [Auth.ServeHTTP] answers the failure.
func (a *Auth) Match(r *http.Request) bool {
	return a.Core().Match(r.Context(), requestHead(r))
}

// Middleware serves a whole site: it answers the routes below the base path and
// passes all other requests to next, with the session in their context. As with
// [Auth.LoadSession], only a handler that looks at the session renews it. To renew it with
// every request, give Middleware a handler that calls [SessionFrom] and then your own.
func (a *Auth) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := a.serve(w, r)
		defer s.end()
		if !answers(a, s.w, s.r, s.state) {
			next.ServeHTTP(s.w, s.r)
		}
	})
}

// answers serves r and returns true if r is for a route of Auth's own. Otherwise
// it writes nothing and returns false.
func answers(a *Auth, w http.ResponseWriter, r *http.Request, state *requestState) bool {
	s, fault := state.setup()
	if s = orBlank(a, s); s == nil || !s.config.owns(r.URL.EscapedPath()) {
		return false
	}
	serveHTTP(w, r, requestHead(r), s, fault)
	return true
}

// served is a request with its state, and the writer for the handlers that get it:
// what any goroutine has found out about the session goes into the response when the
// goroutine that answers begins it.
type served struct {
	state *requestState
	w     http.ResponseWriter
	r     *http.Request
	late  *lateheader.Writer // nil: a handler around this one has the writer
}

// serve finds the state of a request in its context, or makes one and puts it there. The
// caller passes w and r of the result to the handler, and defers end.
func (a *Auth) serve(w http.ResponseWriter, r *http.Request) served {
	if state := stateFor(a, r); state != nil {
		return served{state: state, w: w, r: r}
	}
	state := &requestState{auth: a, r: r, path: urlPath(r.URL)}
	s := served{state: state, r: r.WithContext(state.within(r.Context()))}
	s.w, s.late = lateheader.Wrap(w, &state.late)
	return s
}

// end adds the collected headers, such as a renewed cookie, to a response that no handler
// has begun. It does nothing if a handler around this one has the writer.
func (s *served) end() {
	if s.late != nil {
		s.late.Begin()
	}
}
