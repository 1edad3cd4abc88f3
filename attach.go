package latchkey

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
)

// What integrations with frameworks without net/http are built on, beside [Core]:
// what the context of a request remembers there, and what can be had without
// turning a request into a [Request].

// neutralRequest holds the request of a framework without net/http, made when it is needed.
type neutralRequest struct {
	ctx  context.Context
	make func() *Request // nil: it has been asked
	head *Request        // nil: not made yet, or over
	csrf string          // the token that a cookie of this response has; empty: none
}

// LoadSession does what [Auth.LoadSession] does, for frameworks without net/http. It
// returns a context in which [SessionFrom] reads the session of r on its first call. That
// call adds the cookies that renew the session to header, the header of the response:
// make it before the header is sent, and in the goroutine that answers. If ctx comes from
// a middleware or guard of this Auth, from LoadSession or from [Core.Attach], LoadSession
// returns ctx as it is and leaves header alone.
func (c *Core) LoadSession(ctx context.Context, r *Request, header http.Header) context.Context {
	if state := stateIn(ctx); state != nil && state.auth == c.auth {
		return ctx
	}
	state := &requestState{auth: c.auth, header: header, neutral: &neutralRequest{ctx: ctx, head: r}, path: urlPath(r.URL)}
	return state.within(ctx)
}

// Attach does what [Core.LoadSession] does, for frameworks in which it is expensive to
// make a [Request]. It calls request at most once, when a call first needs the request,
// such as the first read of the session. request returns nil if the framework has reused
// its request for another client; then no session is read, and [Core.Session] returns an
// error. [Core.Renewal] returns the headers that the response needs. If ctx comes from a
// middleware or guard of this Auth, from [Core.LoadSession] or from Attach, Attach
// returns ctx as it is and never calls request.
func (c *Core) Attach(ctx context.Context, request func() *Request) context.Context {
	if state := stateIn(ctx); state != nil && state.auth == c.auth {
		return ctx
	}
	state := &requestState{auth: c.auth, neutral: &neutralRequest{ctx: ctx, make: request}}
	return state.within(ctx)
}

// SessionFrom returns the session of the request that ctx belongs to. It reads the
// session at the first call; later ones return the same Session, which must not be
// changed. It returns nil if the visitor is not signed in, after any fault, and without
// [Auth.LoadSession] or one of the guards in front; [Auth.Session] tells these apart. It
// may be called from any goroutine, but in a context of [Auth.Attach] or
// [Core.LoadSession] the first call has to come from the goroutine that answers. The
// first call sets the cookie that keeps the session alive, if the answer has not begun.
func SessionFrom(ctx context.Context) *Session {
	state := stateIn(ctx)
	if state == nil {
		return nil
	}
	s, _ := state.session() // the fault has been logged
	return s
}

// ContextWithSession returns a context in which [SessionFrom] and the guards of every
// Auth find s, and no copy of it. It is for integrations that read the session
// themselves, and for tests of handlers and routers. A nil s is a visitor without a
// session. Nothing that a client sends can put a session into a context.
func ContextWithSession(ctx context.Context, s *Session) context.Context {
	state := &requestState{known: true, err: ErrNoSession}
	if s != nil {
		state.reading, state.err = &reading{session: s}, nil
	}
	return context.WithValue(ctx, stateKey{}, state)
}

// Session returns the session of the request that ctx belongs to, as [SessionFrom] does,
// and says why there is none: ErrNoSession if the visitor is not signed in, or if ctx
// names another tenant than that of the request; ErrInvalidConfig if neither a middleware
// nor a guard of a is in front. Any other error is a fault, which has been logged: treat
// the request as one without a session.
func (a *Auth) Session(ctx context.Context) (*Session, error) {
	if state := stateIn(ctx); state != nil && state.concerns(a) {
		return state.session()
	}
	if a.tenants != nil && tenantIn(ctx) != "" { // work on another tenant than the request's
		return nil, ErrNoSession
	}
	return nil, errNotLoaded
}

// errNotLoaded is the error for a context in which no session can be read. A visitor who has
// no session is no such case: the error is then ErrNoSession.
var errNotLoaded = failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigContext, errors.New("the context has no session to read: put Auth.Middleware, Auth.LoadSession or a guard in front, or use ReadSession")))

// Session does what [Auth.Session] does. ctx comes from [Core.LoadSession],
// [Core.Attach], [ContextWithSession] or a middleware or guard of [Auth].
func (c *Core) Session(ctx context.Context) (*Session, error) { return c.auth.Session(ctx) }

// Renewal returns the headers that the response needs after calls in a context of
// [Core.Attach] have read the session or renewed a provider token. The cookies of
// [Core.UpdateSession] are not among them: that call returns them. Add Set-Cookie and Vary to
// those of the response. Set Cache-Control if the response has none, or if the returned one
// has the directive no-store. Set any other header, such as Session-Token after
// [Core.UpdateSession]. Renewal returns these headers once; nil means none.
// [Core.Renew] does all of this.
func (c *Core) Renewal(ctx context.Context) http.Header {
	state := stateIn(ctx)
	if state == nil || state.auth != c.auth || state.neutral == nil {
		return nil
	}
	return state.late.Take()
}

// Renew adds the headers that [Core.Renewal] would return to header, that of the
// response. It repeats neither a cookie nor a word of Vary. A cookie that the application
// has set stays as it is; one that an earlier call of Renew has added is replaced. Call
// it as often as you like before the header is sent.
func (c *Core) Renew(ctx context.Context, header http.Header) {
	if state := stateIn(ctx); state != nil && state.auth == c.auth && state.neutral != nil {
		state.late.Give(header)
	}
}

// MatchPath reports whether an escaped path is one of Latchkey's, as [Core.Match] does. It
// calls request only if the configuration depends on the request, as with [NewFunc] and
// [NewTenants]. If request returns nil, because the request is over, MatchPath returns false.
func (c *Core) MatchPath(ctx context.Context, path string, request func() *Request) bool {
	s := c.auth.fixed
	if s == nil {
		r := request()
		if r == nil {
			return false
		}
		s, _ = c.auth.setupOrBlank(ctx, r)
	}
	return s != nil && s.config.owns(path)
}

// ReadBody reads a body into r, up to [Limits].MaxBodyBytes. Call it before
// [Core.Respond] and the form actions, which do not enforce that limit. length is the
// Content-Length of the request; less than 0: it has none. ReadBody returns nil if the
// body was read, and otherwise the response to send: status 413 for a body over the
// limit, and 400 for one that ends too early.
func (c *Core) ReadBody(ctx context.Context, r *Request, body io.Reader, length int64) *Response {
	s, _ := c.auth.setupOrBlank(ctx, r)
	return readBody(ctx, s, r, body, length)
}

// attached returns the state that [Core.LoadSession] or [Core.Attach] of c has put into
// ctx for r. It returns nil if there is none, if it is about another request, and for a
// context of net/http.
func attached(ctx context.Context, c *Core, r *Request) *requestState {
	state := stateIn(ctx)
	if state == nil || state.auth != c.auth || state.neutral == nil || !state.isAbout(r) {
		return nil
	}
	return state
}

// remembered returns the state in ctx that knows the session of r, or reads it once: that
// of a middleware or guard of c.auth, or else that of [ContextWithSession]. It returns
// nil if neither is in ctx, or if it is about another request.
func remembered(ctx context.Context, c *Core, r *Request) *requestState {
	state := stateIn(ctx)
	if state == nil || state.auth != nil && (state.auth != c.auth || !state.isAbout(r)) {
		return nil
	}
	return state
}

// settle makes r, or err, what later reads of the session in ctx return: the application
// has just changed or ended the session, and the cookie that came with the request is
// outdated. It also drops cookies that were to renew the session and are not yet
// in the header of the response. It does nothing if ctx is not that of the request about.
// of is the setup that about has. A nil r needs an err.
func (a *Auth) settle(ctx context.Context, of *setup, about *Request, r *reading, err error) {
	s := stateIn(ctx)
	if s == nil || !s.concerns(a) || s.auth != nil && !s.isAbout(about) && !s.isOfTenant(of, about) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.reading, s.err = true, r, err
	if s.header == nil { // it would come last, and win
		s.late.Change(func(h http.Header) {
			h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(line string) bool {
				name, _, _ := strings.Cut(line, "=")
				return slices.Contains(s.renewed, name)
			})
			delete(h, browser.SessionTokenHeader)
		})
	}
}

// isOfTenant reports whether r has the credentials and the tenant of the state, wherever its
// path leads: a handler may have rewritten it. of is the setup of r.
func (s *requestState) isOfTenant(of *setup, r *Request) bool {
	if own, _ := s.head(); s.auth.tenants == nil || own == nil || !isAlike(own, r, true) {
		return false
	}
	found, err := s.setup()
	return err == nil && found.tenant == of.tenant
}

// csrfOnce returns the CSRF token of the browser and the cookies to set for it: none if
// the browser has the token, or if this response has been given the cookie. In a context
// of [Core.LoadSession] or [Core.Attach] all calls return the same token. The error is
// nil.
func csrfOnce(ctx context.Context, c *Core, x *exchange) (string, []*http.Cookie, error) {
	state := attached(ctx, c, x.request)
	if state == nil {
		x.takeCSRF()
		return x.csrfToken, x.cookies.Out, nil
	}
	state.mu.Lock()
	defer state.mu.Unlock()
	if given := state.neutral.csrf; given != "" {
		return given, nil, nil
	}
	x.takeCSRF()
	if len(x.cookies.Out) > 0 {
		state.neutral.csrf = x.csrfToken
	}
	return x.csrfToken, x.cookies.Out, nil
}

// HasTenants reports whether the site was made by [NewTenants] or [NewFunc], so that its
// configuration depends on the request.
func (c *Core) HasTenants() bool { return c.auth.tenants != nil }
