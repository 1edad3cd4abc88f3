package connectauth

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	ReasonProofNeeded  = "PROOF_NEEDED"  // with CodeUnauthenticated: prove again at route /reauth
	ReasonAccessDenied = "ACCESS_DENIED" // with CodePermissionDenied: signing in again would not help
)

// Auth is a [latchkey.Auth] in Connect's types. Get one from [New]. It is safe for
// concurrent use.
type Auth struct {
	auth *latchkey.Auth
}

// New returns auth in Connect's types, whichever function of package latchkey made it.
// The functions that the application gave to [latchkey.NewFunc] or [latchkey.NewTenants] get
// a request with the headers of the call and the procedure as path. Connect does not say
// whether a call came over TLS: if the program itself speaks TLS, set Site.URL, or put
// [latchkey.Auth.LoadSession] in front.
func New(auth *latchkey.Auth) *Auth { return &Auth{auth} }

// Auth returns the [latchkey.Auth], for its routes, guards for net/http, and users.
func (a *Auth) Auth() *latchkey.Auth { return a.auth }

// LoadSession returns an interceptor that makes the session available through
// [latchkey.SessionFrom] and refuses no call. The first SessionFrom of a call reads the
// session.
func (a *Auth) LoadSession() connect.Interceptor { return &interceptor{auth: a.auth} }

// RequireSession returns an interceptor that lets only calls of signed-in users pass,
// and all calls of the procedures in public: "/acme.v1.Notes/List" names one procedure,
// and "/acme.v1.Notes/", with a slash at the end, all procedures of a service. It
// refuses calls as [Auth.Authorize] does.
func (a *Auth) RequireSession(public ...string) connect.Interceptor {
	return a.Authorize(func(_ context.Context, _ string, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession
		}
		return nil
	}, public...)
}

// Authorize returns an interceptor that calls decide with the procedure, such as
// "/acme.v1.Notes/List", and the session, which is nil if no user is signed in. The
// call passes if decide returns nil. An error of decide is answered by the first of
// these rules that fits it:
//
//   - A [connect.Error] is sent as it is.
//   - ErrNoSession, and any other error without a session, is CodeUnauthenticated.
//   - [latchkey.NeedRecent] and [latchkey.NeedFactor] let the call pass if the session has
//     the proof. Otherwise they are CodeUnauthenticated, or CodeInternal if the
//     configuration never gives that proof.
//   - ErrAccessDenied is CodePermissionDenied.
//   - Any other error, and a panic, is CodeInternal.
//
// If the session cannot be read, the answer is CodeUnavailable, and decide is not
// called. Of an error that is not sent as it is, the caller does not see the cause;
// interceptors around this one find it by errors.Is or errors.As. decide is called once a
// stream, before its first message. It is not called for the procedures in public, which
// are named as in [Auth.RequireSession]: all their calls pass. A nil decide lets no other
// call pass: that of a signed-in user is CodeInternal, and one without a session is
// CodeUnauthenticated.
func (a *Auth) Authorize(decide func(ctx context.Context, procedure string, s *latchkey.Session) error, public ...string) connect.Interceptor {
	if decide == nil {
		decide = func(context.Context, string, *latchkey.Session) error { return errNoDecide }
	}
	i := &interceptor{auth: a.auth, decide: decide, public: make(map[string]bool, len(public))}
	for _, name := range public {
		i.public[name] = true
	}
	return i
}

// errNoDecide refuses all calls of a guard without a function.
var errNoDecide = errors.New("connectauth: Authorize was called with nil")

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
			return nil, i.withHeader(ctx, err)
		}
		res, err := next(ctx, call)
		if err != nil {
			return nil, i.withHeader(ctx, err)
		}
		i.auth.Core().Renew(ctx, res.Header())
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
		s := &sessionStream{StreamingHandlerConn: call, renew: func(h http.Header) { i.auth.Core().Renew(ctx, h) }}
		err := i.judge(ctx, spec.Procedure)
		if err == nil {
			err = next(ctx, s)
		}
		s.begin() // if nothing has been sent
		return err
	}
}

// sessionStream is a stream that adds the renewal of the session to its header with the
// first message, in the goroutine that sends. Other goroutines may read the session
// meanwhile. It has only the methods of [connect.StreamingHandlerConn].
type sessionStream struct {
	connect.StreamingHandlerConn

	renew func(http.Header)
	begun bool
}

// begin adds the renewal to the header. Only its first call does anything. Only the
// sending goroutine may call it.
func (s *sessionStream) begin() {
	if !s.begun {
		s.begun = true
		s.renew(s.ResponseHeader())
	}
}

// Send sends a message. The first call adds the renewal of the session to the header
// before.
func (s *sessionStream) Send(m any) error {
	s.begin()
	return s.StreamingHandlerConn.Send(m)
}

// judge returns nil if a call may pass, or else the error to answer with, as
// [Auth.Authorize] documents it. ctx comes from Core.Attach.
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

// ask calls decide and returns its error as why. If that is [latchkey.NeedRecent] or
// [latchkey.NeedFactor], why is nil when the session has the proof. A panic of decide
// is returned as fault, so that it refuses this one call.
func (i *interceptor) ask(ctx context.Context, procedure string, s *latchkey.Session) (why, fault error) {
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Errorf("panic: %v\n\n%s", p, debug.Stack())
		}
	}()
	return i.auth.Core().Unmet(ctx, s, i.decide(ctx, procedure, s)), nil
}

// refusal returns an error that shows callers the text of err and an ErrorInfo with
// reason.
func refusal(code connect.Code, reason string, err error) *connect.Error {
	refused := connect.NewError(code, err)
	if detail, err := connect.NewErrorDetail(&errdetails.ErrorInfo{Reason: reason, Domain: Domain}); err == nil {
		refused.AddDetail(detail)
	}
	return refused
}

// hiddenError shows callers a text, and the program its cause, by Unwrap.
type hiddenError struct {
	text  string
	cause error
}

func (h *hiddenError) Error() string { return h.text }
func (h *hiddenError) Unwrap() error { return h.cause }

// requestOf returns a call in the types of Latchkey, with TLS unset. The result shares
// header.
func requestOf(method string, spec connect.Spec, peer connect.Peer, header http.Header) *latchkey.Request {
	return &latchkey.Request{
		Method: method, URL: &url.URL{Path: spec.Procedure}, Host: header.Get("Host"), Header: header, RemoteAddr: peer.Addr,
	}
}

// withHeader returns a copy of err with the renewal of the session in its header. The copy
// of an err that is no [connect.Error] has CodeUnknown. withHeader returns err itself if no
// renewal is due, or if err says that the call was cancelled or ran out of time. It copies
// because the same error may answer other calls, and a cookie belongs to one answer.
func (i *interceptor) withHeader(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
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
	i.auth.Core().Renew(ctx, own.Meta())
	if maps.EqualFunc(own.Meta(), failed.Meta(), slices.Equal) {
		return err
	}
	return own
}
