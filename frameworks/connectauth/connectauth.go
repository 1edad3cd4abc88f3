package connectauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	"github.com/latchkeyhq/latchkey"
)

// Reasons of google.rpc.ErrorInfo, whose domain is [Domain].
const (
	Domain             = "latchkey"
	ReasonNoSession    = "NO_SESSION"    // with CodeUnauthenticated: sign in, or get another token
	ReasonProofNeeded  = "PROOF_NEEDED"  // latchkey.NeedRecent, NeedFactor: at the site's /reauth
	ReasonAccessDenied = "ACCESS_DENIED" // with CodePermissionDenied: signing in again would not help
)

// Auth is a [latchkey.Auth] in Connect's types. Get one from [New]. It is safe for
// concurrent use.
type Auth struct {
	auth *latchkey.Auth
}

// New is auth, however it was made, in Connect's types. What [latchkey.NewFunc]
// and [latchkey.NewTenants] ask about a request is the call: its headers, the
// procedure as path.
func New(auth *latchkey.Auth) *Auth { return &Auth{auth} }

// Auth is the way out of Connect: its routes, guards for net/http, users.
func (a *Auth) Auth() *latchkey.Auth { return a.auth }

// LoadSession puts the session into the context of each call, for
// [latchkey.SessionFrom], and refuses no call. A call that never looks costs next
// to nothing.
func (a *Auth) LoadSession() connect.Interceptor { return &interceptor{auth: a.auth} }

// RequireSession lets only calls of signed-in users pass. Procedures that public
// names are for all callers: "/acme.v1.Notes/List" is one, and "/acme.v1.Notes/",
// with a slash at the end, all of a service.
func (a *Auth) RequireSession(public ...string) connect.Interceptor {
	return a.Authorize(func(_ context.Context, _ string, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession
		}
		return nil
	}, public...)
}

// Authorize asks decide whether a call may pass; it gets the procedure, such as
// "/acme.v1.Notes/List", and the session, nil without one. nil lets the call pass. A
// [connect.Error] is sent as it is. ErrNoSession, and any other error without a
// session, is CodeUnauthenticated, and so are [latchkey.NeedRecent] and
// [latchkey.NeedFactor] of a session without the proof; ErrAccessDenied is
// CodePermissionDenied; any other error is CodeInternal, which tells the caller nothing more and interceptors around
// this one everything, by errors.Unwrap. A panic is such an error. Streams are judged
// once, before their first message. For public see [Auth.RequireSession]; decide is
// not asked about those.
func (a *Auth) Authorize(decide func(ctx context.Context, procedure string, s *latchkey.Session) error, public ...string) connect.Interceptor {
	i := &interceptor{auth: a.auth, decide: decide, public: make(map[string]bool, len(public))}
	for _, name := range public {
		i.public[name] = true
	}
	return i
}

// interceptor is a guard in front of procedures.
type interceptor struct {
	auth   *latchkey.Auth
	decide func(ctx context.Context, procedure string, s *latchkey.Session) error // nil: everybody may pass
	public map[string]bool                                                        // procedures, and services with a slash at the end
}

// WrapUnary guards unary calls to a handler. Clients are left alone.
func (i *interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, call connect.AnyRequest) (connect.AnyResponse, error) {
		if call.Spec().IsClient {
			return next(ctx, call)
		}
		ctx = i.auth.Core().Attach(ctx, func() *latchkey.Request {
			return requestOf(call.HTTPMethod(), call.Spec(), call.Peer(), call.Header())
		})
		if err := i.judge(ctx, call.Spec().Procedure); err != nil {
			return nil, withHeader(err, i.auth.Core().Renewal(ctx))
		}
		res, err := next(ctx, call)
		if err != nil {
			return nil, withHeader(err, i.auth.Core().Renewal(ctx))
		}
		addTo(res.Header(), i.auth.Core().Renewal(ctx))
		return res, nil
	}
}

// WrapStreamingClient leaves clients alone.
func (*interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler guards streams, of either side or of both.
func (i *interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, call connect.StreamingHandlerConn) error {
		spec, peer, header := call.Spec(), call.Peer(), call.RequestHeader()
		ctx = i.auth.Core().Attach(ctx, func() *latchkey.Request { return requestOf(http.MethodPost, spec, peer, header) })
		s := &sessionStream{StreamingHandlerConn: call, renewal: func() http.Header { return i.auth.Core().Renewal(ctx) }}
		err := i.judge(ctx, spec.Procedure)
		if err == nil {
			err = next(ctx, s)
		}
		s.begin() // if nothing has been sent
		return err
	}
}

// sessionStream is a stream whose header gets what keeps the session alive with the
// first message, from the goroutine that sends it: other goroutines may look at the
// session meanwhile. It has no more methods than its stream promises.
type sessionStream struct {
	connect.StreamingHandlerConn

	renewal func() http.Header
	begun   bool
}

func (s *sessionStream) begin() {
	if !s.begun {
		s.begun = true
		addTo(s.ResponseHeader(), s.renewal())
	}
}

// Send sends a message, and the header in front of the first one.
func (s *sessionStream) Send(m any) error {
	s.begin()
	return s.StreamingHandlerConn.Send(m)
}

// judge says why a call may not pass.
func (i *interceptor) judge(ctx context.Context, procedure string) error {
	if i.decide == nil || i.public[procedure] || i.public[procedure[:strings.LastIndexByte(procedure, '/')+1]] {
		return nil
	}
	s, fault := i.auth.Core().Session(ctx)
	if fault != nil && !errors.Is(fault, latchkey.ErrNoSession) {
		return connect.NewError(connect.CodeUnavailable, &hiddenError{"The session could not be read.", fault})
	}
	why, fault := i.ask(ctx, procedure, s)
	if fault != nil {
		return connect.NewError(connect.CodeInternal, &hiddenError{"The call could not be judged.", fault})
	}
	own, ok := errors.AsType[*connect.Error](why)
	switch {
	case why == nil:
		return nil
	case ok:
		return own
	case s == nil, errors.Is(why, latchkey.ErrNoSession):
		return refusal(connect.CodeUnauthenticated, ReasonNoSession, &hiddenError{"Sign in to call this.", why})
	case latchkey.StepUpChallenge(why) != "":
		return refusal(connect.CodeUnauthenticated, ReasonProofNeeded, &hiddenError{"Prove again who you are to call this.", why})
	case errors.Is(why, latchkey.ErrAccessDenied):
		return refusal(connect.CodePermissionDenied, ReasonAccessDenied, &hiddenError{"Access denied.", why})
	}
	return connect.NewError(connect.CodeInternal, &hiddenError{"The call could not be judged.", why})
}

// ask is decide. Its panic is a fault, so that it refuses this one call.
func (i *interceptor) ask(ctx context.Context, procedure string, s *latchkey.Session) (why, fault error) {
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Errorf("panic: %v\n\n%s", p, debug.Stack())
		}
	}()
	return i.auth.Core().Unmet(ctx, s, i.decide(ctx, procedure, s)), nil
}

func refusal(code connect.Code, reason string, err error) *connect.Error {
	refused := connect.NewError(code, err)
	if detail, err := connect.NewErrorDetail(&errdetails.ErrorInfo{Reason: reason, Domain: Domain}); err == nil {
		refused.AddDetail(detail)
	}
	return refused
}

// hiddenError tells callers a text, and the program its cause.
type hiddenError struct {
	text  string
	cause error
}

func (h *hiddenError) Error() string { return h.text }
func (h *hiddenError) Unwrap() error { return h.cause }

// requestOf is a call in the types of Latchkey.
func requestOf(method string, spec connect.Spec, peer connect.Peer, header http.Header) *latchkey.Request {
	return &latchkey.Request{
		Method: method, URL: &url.URL{Path: spec.Procedure}, Host: header.Get("Host"), Header: header, RemoteAddr: peer.Addr,
	}
}

// addTo puts what reading the session has to say into an answer.
func addTo(answer, header http.Header) {
	for name, values := range header {
		if name == "Cache-Control" && answer[name] != nil {
			continue // the procedure knows better
		}
		answer[name] = append(answer[name], values...)
	}
}

// withHeader is a copy of err with header: the same error may be the answer to
// other calls, and a cookie belongs to one answer.
func withHeader(err error, header http.Header) error {
	if len(header) == 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	failed, ok := errors.AsType[*connect.Error](err)
	if !ok {
		failed = connect.NewError(connect.CodeUnknown, err) // as Connect itself would
	}
	own := connect.NewError(failed.Code(), failed.Unwrap())
	for _, detail := range failed.Details() {
		own.AddDetail(detail)
	}
	for name, values := range failed.Meta() {
		own.Meta()[name] = slices.Clone(values)
	}
	addTo(own.Meta(), header)
	return own
}
