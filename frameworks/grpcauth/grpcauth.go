package grpcauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/latchkeyhq/latchkey"
)

// Reasons of google.rpc.ErrorInfo, whose domain is [Domain].
const (
	Domain             = "latchkey"
	ReasonNoSession    = "NO_SESSION"    // with Unauthenticated: sign in, or get another token
	ReasonProofNeeded  = "PROOF_NEEDED"  // with Unauthenticated: prove again at the route /reauth
	ReasonAccessDenied = "ACCESS_DENIED" // with PermissionDenied: signing in again would not help
)

// Auth is a [latchkey.Auth] in gRPC's types. Get one from [New]. It is safe for
// concurrent use.
type Auth struct {
	auth *latchkey.Auth
}

// New returns auth in gRPC's types, whichever function of package latchkey made it. The
// functions that the application gave to [latchkey.NewFunc] or [latchkey.NewTenants] get a
// request with the call's metadata as headers, the method as path, and the authority as host.
func New(auth *latchkey.Auth) *Auth { return &Auth{auth} }

// Auth returns the [latchkey.Auth], for routes and guards for net/http, and users.
func (a *Auth) Auth() *latchkey.Auth { return a.auth }

// LoadSession returns interceptors that make the session available through
// [latchkey.SessionFrom] and refuse no call. The first SessionFrom of a call reads the
// session.
func (a *Auth) LoadSession() *Guard { return &Guard{auth: a.auth} }

// RequireSession returns interceptors that let only calls of signed-in users pass, and
// all calls of the methods in public: "/acme.v1.Notes/List" names one method, and
// "/grpc.health.v1.Health/", with a slash at the end, all methods of a service. They
// refuse calls as [Auth.Authorize] does.
func (a *Auth) RequireSession(public ...string) *Guard {
	return a.Authorize(func(_ context.Context, _ string, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession
		}
		return nil
	}, public...)
}

// Authorize returns interceptors that call decide with the method, such as
// "/acme.v1.Notes/List", and the session, which is nil if no user is signed in. The
// call passes if decide returns nil. An error of decide is answered by the first of
// these rules that fits it:
//
//   - An error with a status of its own (package status) is sent as it is.
//   - ErrNoSession, and any other error without a session, is Unauthenticated.
//   - [latchkey.NeedRecent] and [latchkey.NeedFactor] let the call pass if the session has
//     the proof. Otherwise they are Unauthenticated, or Internal if the
//     configuration never gives that proof.
//   - ErrAccessDenied is PermissionDenied.
//   - Any other error, and a panic, is Internal.
//
// If the session cannot be read, the answer is Unavailable, and decide is not called.
// Of an error that is not sent as it is, the caller does not see the cause; interceptors
// around this one find the cause by errors.Unwrap. decide is called once a stream, before
// its first message. It is not called for the methods in public, which are named as in
// [Auth.RequireSession]: all their calls pass. A nil decide lets no other call pass: that
// of a signed-in user is Internal, and one without a session is Unauthenticated.
func (a *Auth) Authorize(decide func(ctx context.Context, method string, s *latchkey.Session) error, public ...string) *Guard {
	if decide == nil {
		decide = func(context.Context, string, *latchkey.Session) error { return errNoDecide }
	}
	g := &Guard{auth: a.auth, decide: decide, public: make(map[string]bool, len(public))}
	for _, name := range public {
		g.public[name] = true
	}
	return g
}

// errNoDecide refuses all calls of a guard without a function.
var errNoDecide = errors.New("grpcauth: Authorize was called with nil")

// Guard is a pair of server interceptors. Get one from [Auth.LoadSession],
// [Auth.RequireSession] or [Auth.Authorize]. It is safe for concurrent use.
type Guard struct {
	auth   *latchkey.Auth
	decide func(ctx context.Context, method string, s *latchkey.Session) error // nil: everybody may pass
	public map[string]bool                                                     // methods, and services with a slash at the end
}

// Unary guards unary calls. It is a [grpc.UnaryServerInterceptor].
func (g *Guard) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	core, outer := g.auth.Core(), ctx
	ctx = core.Attach(ctx, func() *latchkey.Request { return requestOf(outer, info.FullMethod) })
	if err := g.judge(ctx, info.FullMethod); err != nil {
		send(outer, core.Renewal(ctx))
		return nil, err
	}
	res, err := handler(ctx, req)
	send(outer, core.Renewal(ctx))
	return res, err
}

// Stream guards streams. It is a [grpc.StreamServerInterceptor].
func (g *Guard) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	s := &sessionStream{ServerStream: stream, core: g.auth.Core()}
	s.ctx = s.core.Attach(stream.Context(), func() *latchkey.Request { return requestOf(stream.Context(), info.FullMethod) })
	err := g.judge(s.ctx, info.FullMethod)
	if err == nil {
		err = handler(srv, s)
	}
	s.giveHeader() // if nothing has been sent
	return err
}

// sessionStream is a stream with the session in its context. It adds the renewal of the
// session to its header before the first message.
type sessionStream struct {
	grpc.ServerStream

	ctx  context.Context //nolint:containedctx // that of the stream, as grpc.ServerStream has one
	core *latchkey.Core
}

func (s *sessionStream) Context() context.Context { return s.ctx }

func (s *sessionStream) SendMsg(m any) error {
	s.giveHeader()
	return s.ServerStream.SendMsg(m)
}

func (s *sessionStream) SendHeader(md metadata.MD) error {
	s.giveHeader()
	return s.ServerStream.SendHeader(md)
}

// giveHeader adds the renewal of the session to the header. It does nothing if none is
// due. After the header has been sent the renewal is lost.
func (s *sessionStream) giveHeader() {
	if header := s.core.Renewal(s.ctx); len(header) > 0 {
		_ = s.ServerStream.SetHeader(metadataOf(header))
	}
}

// judge returns nil if a call may pass, or else the error to answer with, as
// [Auth.Authorize] documents it. ctx comes from Core.Attach.
func (g *Guard) judge(ctx context.Context, method string) error {
	if g.decide == nil || g.public[method] || g.public[method[:strings.LastIndexByte(method, '/')+1]] {
		return nil
	}
	s, fault := g.auth.Core().Session(ctx)
	if fault != nil && !errors.Is(fault, latchkey.ErrNoSession) {
		return refusal(codes.Unavailable, "The session could not be read.", "", fault)
	}
	why, fault := g.ask(ctx, method, s)
	if fault != nil {
		return refusal(codes.Internal, "The call could not be judged.", "", fault)
	}
	_, own := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](why)
	switch {
	case why == nil, own:
		return why
	case s == nil, errors.Is(why, latchkey.ErrNoSession):
		return refusal(codes.Unauthenticated, "Sign in to call this.", ReasonNoSession, why)
	case latchkey.StepUpChallenge(why) != "":
		return refusal(codes.Unauthenticated, "Prove again who you are to call this.", ReasonProofNeeded, why)
	case errors.Is(why, latchkey.ErrAccessDenied):
		return refusal(codes.PermissionDenied, "Access denied.", ReasonAccessDenied, why)
	}
	return refusal(codes.Internal, "The call could not be judged.", "", why)
}

// ask calls decide and returns its error as why. If that is [latchkey.NeedRecent] or
// [latchkey.NeedFactor], why is nil when the session has the proof. A panic of decide
// is returned as fault, since it would otherwise end the program.
func (g *Guard) ask(ctx context.Context, method string, s *latchkey.Session) (why, fault error) {
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Errorf("panic: %v\n\n%s", p, debug.Stack())
		}
	}()
	return g.auth.Core().Unmet(ctx, s, g.decide(ctx, method, s)), nil
}

// refusal returns an error that shows callers text and an ErrorInfo with reason. If
// reason is empty, there is no ErrorInfo. The program finds cause by errors.Unwrap.
func refusal(code codes.Code, text, reason string, cause error) error {
	s := status.New(code, text)
	if reason != "" {
		if detailed, err := s.WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: Domain}); err == nil {
			s = detailed
		}
	}
	return &refused{s, cause}
}

// refused shows callers a status, and the program its cause, by Unwrap.
type refused struct {
	status *status.Status
	cause  error
}

func (r *refused) Error() string              { return r.status.Message() }
func (r *refused) Unwrap() error              { return r.cause }
func (r *refused) GRPCStatus() *status.Status { return r.status }

// requestOf returns a call in the types of Latchkey, without its binary metadata. The
// result shares the values of the metadata.
func requestOf(ctx context.Context, method string) *latchkey.Request {
	r := &latchkey.Request{Method: http.MethodPost, URL: &url.URL{Path: method}}
	md, _ := metadata.FromIncomingContext(ctx)
	r.Header = make(http.Header, len(md))
	for name, values := range md {
		if name == ":authority" && len(values) > 0 {
			r.Host = values[0]
		} else if !strings.HasSuffix(name, "-bin") {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if caller, ok := peer.FromContext(ctx); ok && caller.Addr != nil {
		r.RemoteAddr = caller.Addr.String()
		_, r.TLS = caller.AuthInfo.(credentials.TLSInfo)
	}
	return r
}

// send adds header, the renewal of a session, to the header of the response of a unary
// call. It does nothing if the handler has sent the header already.
func send(ctx context.Context, header http.Header) {
	if len(header) > 0 {
		_ = grpc.SetHeader(ctx, metadataOf(header))
	}
}

// metadataOf returns header as metadata, with names in lower case. It shares the
// values.
func metadataOf(header http.Header) metadata.MD {
	md := make(metadata.MD, len(header))
	for name, values := range header {
		md[strings.ToLower(name)] = values
	}
	return md
}
