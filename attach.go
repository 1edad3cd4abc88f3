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

// LoadSession does what [Auth.LoadSession] does, for frameworks without
// net/http. It returns a context in which [SessionFrom] reads the session of r
// on its first call. The cookies that renew the session are added to header,
// the header of the response; call SessionFrom before the header is sent, and first
// from the goroutine that answers. A ctx
// that has a session already, because r is part of a request on net/http, is
// returned as it is.
func (c *Core) LoadSession(ctx context.Context, r *Request, header http.Header) context.Context {
	if state := stateIn(ctx); state != nil && state.auth == c.auth {
		return ctx
	}
	state := &requestState{auth: c.auth, header: header, neutral: &neutralRequest{ctx: ctx, head: r}, path: urlPath(r.URL)}
	return state.within(ctx)
}

// Attach does what [Core.LoadSession] does, for frameworks in which it is
// expensive to make a [Request]. It calls request once, on the first read of
// the session. request returns nil if the framework has reused its request for
// another client; then no session is read, and [Core.Session] returns an error.
// [Core.Renewal] returns the headers that the response needs. A context that is attached
// already is returned as it is.
func (c *Core) Attach(ctx context.Context, request func() *Request) context.Context {
	if state := stateIn(ctx); state != nil && state.auth == c.auth {
		return ctx
	}
	state := &requestState{auth: c.auth, neutral: &neutralRequest{ctx: ctx, make: request}}
	return state.within(ctx)
}

// SessionFrom returns the session of the request that ctx belongs to. It returns
// nil if the visitor is not signed in, after any fault, and without
// [Auth.LoadSession] or one of the guards in front; [Auth.Session] tells these
// apart. It may be called from any goroutine; only in a context of [Auth.Attach] and
// [Core.LoadSession] does the first call have to come from the goroutine that answers.
// The cookie that keeps the session alive is set if the answer has not begun.
func SessionFrom(ctx context.Context) *Session {
	state := stateIn(ctx)
	if state == nil {
		return nil
	}
	s, _ := state.session() // the fault has been logged
	return s
}

// ContextWithSession returns a context in which [SessionFrom] and the guards of
// every Auth find s. It is for integrations that read the session themselves,
// and for tests of handlers and routers. A nil s is a visitor without a
// session. Nothing that a client sends can put a session into a context.
func ContextWithSession(ctx context.Context, s *Session) context.Context {
	state := &requestState{known: true, err: ErrNoSession}
	if s != nil {
		state.reading, state.err = &reading{session: s}, nil
	}
	return context.WithValue(ctx, stateKey{}, state)
}

// Session returns the session of the request that ctx belongs to, as
// [SessionFrom] does, and says why there is none: ErrNoSession if the visitor is
// not signed in, ErrInvalidConfig if neither a middleware nor a guard of a is in
// front. Any other error is a fault, which has been logged: treat the request as one
// without a session.
func (a *Auth) Session(ctx context.Context) (*Session, error) {
	if state := stateIn(ctx); state != nil && state.concerns(a) {
		return state.session()
	}
	if a.tenants != nil && tenantIn(ctx) != "" { // work on another tenant than the request's
		return nil, ErrNoSession
	}
	return nil, errNotLoaded
}

// errNotLoaded is the error for a context in which no session can be read. For a visitor
// without a session it is ErrNoSession.
var errNotLoaded = failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigContext, errors.New("the context has no session to read: put Auth.Middleware, Auth.LoadSession or a guard in front, or use ReadSession")))

// Session does what [Auth.Session] does. ctx comes from [Core.LoadSession],
// [Core.Attach] or a guard.
func (c *Core) Session(ctx context.Context) (*Session, error) { return c.auth.Session(ctx) }

// Renewal returns the headers that the response needs after the session was
// read in a context of [Core.Attach]: Set-Cookie and Vary, which are added, and
// Cache-Control, which is set only if the response has none. It returns them
// once; nil means none.
func (c *Core) Renewal(ctx context.Context) http.Header {
	state := stateIn(ctx)
	if state == nil || state.auth != c.auth || state.neutral == nil {
		return nil
	}
	return state.late.Take()
}

// Renew adds what [Core.Renewal] returns to the header of a response: each cookie once and
// each word of Vary once. What the response has decided about a cookie stays, and an earlier
// renewal gives way. Call it as often as you like before the header is sent.
func (c *Core) Renew(ctx context.Context, header http.Header) {
	if state := stateIn(ctx); state != nil && state.auth == c.auth && state.neutral != nil {
		state.late.Give(header)
	}
}

// MatchPath does what [Core.Match] does, with the escaped path alone. It calls
// request only if the configuration depends on the request; request returns nil
// once the request is over.
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

// ReadBody reads a body into r, up to [Limits].MaxBodyBytes. [Core.Respond] and the form
// actions do not enforce that limit. length is the Content-Length of the request; less
// than 0: it has none. ReadBody returns nil if the body was read, and otherwise the
// response to send.
func (c *Core) ReadBody(ctx context.Context, r *Request, body io.Reader, length int64) *Response {
	s, _ := c.auth.setupOrBlank(ctx, r)
	return readBody(ctx, s, r, body, length)
}

// attached returns the state of r in ctx. It returns nil if there is none, or
// if it belongs to net/http.
func attached(ctx context.Context, c *Core, r *Request) *requestState {
	state := stateIn(ctx)
	if state == nil || state.auth != c.auth || state.neutral == nil || !state.isAbout(r) {
		return nil
	}
	return state
}

// remembered returns the state that knows the session of r: that of the request, or
// else that of [ContextWithSession]. It returns nil if neither is in ctx.
func remembered(ctx context.Context, c *Core, r *Request) *requestState {
	state := stateIn(ctx)
	if state == nil || state.auth != nil && (state.auth != c.auth || !state.isAbout(r)) {
		return nil
	}
	return state
}

// settle makes r or err the result of each later read of the session in the request of
// ctx, if that is about: the application has just changed or ended the session, and the
// cookie that came with the request is history. of is the setup that about has.
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

// csrfOnce returns the CSRF token of a response, with its cookie unless the
// browser has it or this response has set it.
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

// HasTenants reports whether the site was made by [NewTenants].
func (c *Core) HasTenants() bool { return c.auth.tenants != nil }
