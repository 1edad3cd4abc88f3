package grpcauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/grpcauth"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

const service = "/grpc.testing.TestService/"

// names says who calls it.
type names struct {
	grpc_testing.UnimplementedTestServiceServer
}

func who(ctx context.Context) string {
	s := latchkey.SessionFrom(ctx)
	if s == nil {
		return "nobody"
	}
	return s.User.Name + " by " + string(s.Via)
}

func (names) UnaryCall(ctx context.Context, in *grpc_testing.SimpleRequest) (*grpc_testing.SimpleResponse, error) {
	name := who(ctx)
	if in.FillUsername {
		return nil, status.Error(codes.NotFound, "there is no such name")
	}
	return &grpc_testing.SimpleResponse{Username: name}, nil
}

func (names) EmptyCall(context.Context, *grpc_testing.Empty) (*grpc_testing.Empty, error) {
	return &grpc_testing.Empty{}, nil // and never looks
}

func (names) StreamingInputCall(stream grpc.ClientStreamingServer[grpc_testing.StreamingInputCallRequest, grpc_testing.StreamingInputCallResponse]) error {
	for {
		if _, err := stream.Recv(); err != nil {
			break
		}
	}
	if who(stream.Context()) == "nobody" {
		return stream.SendAndClose(&grpc_testing.StreamingInputCallResponse{})
	}
	return stream.SendAndClose(&grpc_testing.StreamingInputCallResponse{AggregatedPayloadSize: int32(len(who(stream.Context())))})
}

func (names) StreamingOutputCall(_ *grpc_testing.StreamingOutputCallRequest, stream grpc.ServerStreamingServer[grpc_testing.StreamingOutputCallResponse]) error {
	return errors.Join(stream.Send(payload(who(stream.Context()))), stream.Send(payload("more")))
}

func (names) FullDuplexCall(stream grpc.BidiStreamingServer[grpc_testing.StreamingOutputCallRequest, grpc_testing.StreamingOutputCallResponse]) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	name := who(stream.Context())
	if err := stream.SendHeader(metadata.Pairs("own", "header")); err != nil {
		return err
	}
	return stream.Send(payload(name))
}

func payload(text string) *grpc_testing.StreamingOutputCallResponse {
	return &grpc_testing.StreamingOutputCallResponse{Payload: &grpc_testing.Payload{Body: []byte(text)}}
}

// A server has the routes of Latchkey over HTTP, and gRPC over a port of its own.
type server struct {
	t       *testing.T
	auth    *latchkey.Auth
	browser *latchkeytest.Client
	client  grpc_testing.TestServiceClient
	conn    *grpc.ClientConn
}

func newServer(t *testing.T, guard func(*grpcauth.Auth) *grpcauth.Guard, change ...func(*latchkey.Config)) *server {
	t.Helper()
	c := latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Session: latchkey.SessionConfig{Bearer: true},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{ID: typed["name"], Name: typed["name"]}, nil
			},
		}},
	}
	for _, f := range change {
		f(&c)
	}
	auth, err := latchkey.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, auth: auth, browser: latchkeytest.NewClient(t, auth)}
	s.serve(guard(grpcauth.New(auth)))
	return s
}

func (s *server) serve(guard *grpcauth.Guard) {
	s.t.Helper()
	srv := grpc.NewServer(grpc.ChainUnaryInterceptor(guard.Unary), grpc.ChainStreamInterceptor(guard.Stream))
	grpc_testing.RegisterTestServiceServer(srv, names{})
	grpc_health_v1.RegisterHealthServer(srv, health.NewServer())
	reflection.Register(srv)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	go func() { _ = srv.Serve(listener) }()
	s.t.Cleanup(srv.Stop)
	s.conn, err = grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = s.conn.Close() })
	s.client = grpc_testing.NewTestServiceClient(s.conn)
}

func (s *server) signIn(name string) { s.browser.SignInCredentials(map[string]string{"name": name}) }

// cookies is the metadata that a proxy for browsers passes on.
func (s *server) cookies() metadata.MD {
	var pairs []string
	for _, c := range s.browser.Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return metadata.Pairs("cookie", strings.Join(pairs, "; "))
}

// bearer is the metadata of an app of who is signed in.
func (s *server) bearer() metadata.MD {
	s.t.Helper()
	const verifier = "the-verifier-of-an-app-43-characters-or-more"
	hash := sha256.Sum256([]byte(verifier))
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, s.browser.URL, http.NoBody)
	r.Header["Cookie"] = s.cookies()["cookie"]
	code, err := s.auth.BearerCode(r, base64.RawURLEncoding.EncodeToString(hash[:]))
	if err != nil {
		s.t.Fatal(err)
	}
	token, _, err := s.auth.BearerToken(r, code, verifier)
	if err != nil {
		s.t.Fatal(err)
	}
	return metadata.Pairs("authorization", "Bearer "+token)
}

// An answer is what a call of any kind ends in.
type answer struct {
	text   string
	header metadata.MD
	err    error
}

// kinds of calls.
func (s *server) kinds() map[string]func(metadata.MD) answer {
	with := func(md metadata.MD) context.Context { return metadata.NewOutgoingContext(s.t.Context(), md) }
	return map[string]func(metadata.MD) answer{
		"UnaryCall": func(md metadata.MD) (a answer) {
			var res *grpc_testing.SimpleResponse
			res, a.err = s.client.UnaryCall(with(md), &grpc_testing.SimpleRequest{}, grpc.Header(&a.header))
			a.text = res.GetUsername()
			return a
		},
		"StreamingInputCall": func(md metadata.MD) (a answer) {
			stream, err := s.client.StreamingInputCall(with(md), grpc.Header(&a.header))
			if err != nil {
				return answer{err: err}
			}
			_ = stream.Send(&grpc_testing.StreamingInputCallRequest{}) // its error is the answer's
			res, err := stream.CloseAndRecv()
			a.text, a.err = map[int32]string{0: "nobody", 13: "ada by cookie", 14: "ada by bearer"}[res.GetAggregatedPayloadSize()], err
			if res.GetAggregatedPayloadSize() == 13 && len(md["cookie"]) == 0 {
				a.text = "ada by bearer" // which is as long
			}
			return a
		},
		"StreamingOutputCall": func(md metadata.MD) (a answer) {
			stream, err := s.client.StreamingOutputCall(with(md), &grpc_testing.StreamingOutputCallRequest{}, grpc.Header(&a.header))
			if err != nil {
				return answer{err: err}
			}
			res, err := stream.Recv()
			a.text, a.err = string(res.GetPayload().GetBody()), err
			a.header, _ = stream.Header()
			return a
		},
		"FullDuplexCall": func(md metadata.MD) (a answer) {
			stream, err := s.client.FullDuplexCall(with(md))
			if err != nil {
				return answer{err: err}
			}
			_ = stream.Send(&grpc_testing.StreamingOutputCallRequest{})
			res, err := stream.Recv()
			a.text, a.err = string(res.GetPayload().GetBody()), err
			a.header, _ = stream.Header()
			if err == nil && len(a.header["own"]) != 1 {
				s.t.Errorf("the method's own header is lost: %v", a.header)
			}
			return a
		},
	}
}

// reasonOf is the code and the reason of a refusal.
func reasonOf(err error) (code codes.Code, reason string) {
	s := status.Convert(err)
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Domain == grpcauth.Domain {
			reason = info.Reason
		}
	}
	return s.Code(), reason
}

func require(a *grpcauth.Auth) *grpcauth.Guard {
	return a.RequireSession("/grpc.health.v1.Health/", "/grpc.reflection.v1.ServerReflection/")
}

func TestRequireSession(t *testing.T) {
	s := newServer(t, require)
	s.signIn("ada")
	cookies, bearer := s.cookies(), s.bearer()
	split := metadata.MD{"cookie": strings.Split(cookies["cookie"][0], "; ")} // as HTTP/2 may bring them
	for kind, call := range s.kinds() {
		for name, md := range map[string]metadata.MD{"cookies": cookies, "split cookies": split} {
			if a := call(md); a.text != "ada by cookie" || a.err != nil || len(a.header["set-cookie"]) != 1 || !strings.Contains(a.header["set-cookie"][0], "session-token") {
				t.Errorf("%s by %s: %+v", kind, name, a)
			}
		}
		if a := call(bearer); a.text != "ada by bearer" || a.err != nil || a.header["set-cookie"] != nil {
			t.Errorf("R-437 %s by bearer token: %+v", kind, a)
		}
		for name, md := range map[string]metadata.MD{
			"nobody": nil, "a wrong token beside a cookie": {"cookie": cookies["cookie"], "authorization": {"Bearer wrong"}},
			"two tokens": {"authorization": {bearer["authorization"][0], bearer["authorization"][0]}},
		} {
			if code, reason := reasonOf(call(md).err); code != codes.Unauthenticated || reason != grpcauth.ReasonNoSession {
				t.Errorf("R-437 %s, %s: %v, %q", kind, name, code, reason)
			}
		}
	}
}

// Probes and tools need no session where the guard says so.
func TestPublicServices(t *testing.T) {
	s := newServer(t, require)
	if res, err := grpc_health_v1.NewHealthClient(s.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil || res.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", res, err)
	}
	s.serve(grpcauth.New(s.auth).RequireSession(service, "/grpc.health.v1.Healt", "grpc.health.v1.Health/", "/"))
	if _, err := grpc_health_v1.NewHealthClient(s.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("almost the name: %v", err)
	}
	for kind, call := range s.kinds() {
		if a := call(nil); a.text != "nobody" || a.err != nil {
			t.Errorf("%s: %+v", kind, a)
		}
	}
}

func TestAuthorize(t *testing.T) {
	answers := map[string]error{
		"UnaryCall": latchkey.ErrAccessDenied, "StreamingInputCall": status.Error(codes.ResourceExhausted, "enough"),
		"StreamingOutputCall": errors.New("the database is down at 10.0.0.7"), "FullDuplexCall": latchkey.ErrNoSession,
	}
	want := map[string]codes.Code{
		"UnaryCall": codes.PermissionDenied, "StreamingInputCall": codes.ResourceExhausted,
		"StreamingOutputCall": codes.Internal, "FullDuplexCall": codes.Unauthenticated,
	}
	s := newServer(t, func(a *grpcauth.Auth) *grpcauth.Guard {
		return a.Authorize(func(_ context.Context, method string, _ *latchkey.Session) error {
			return answers[strings.TrimPrefix(method, service)]
		})
	})
	s.signIn("ada")
	for kind, call := range s.kinds() {
		a := call(s.cookies())
		code, reason := reasonOf(a.err)
		if code != want[kind] || (reason == grpcauth.ReasonAccessDenied) != (kind == "UnaryCall") || strings.Contains(a.err.Error(), "10.0.0.7") {
			t.Errorf("R-437 %s: %v, %q", kind, a.err, reason)
		}
		if code, _ := reasonOf(call(nil).err); kind != "StreamingInputCall" && code != codes.Unauthenticated {
			t.Errorf("R-437 %s for nobody: %v", kind, code)
		}
	}
	if _, err := s.client.EmptyCall(t.Context(), &grpc_testing.Empty{}); err != nil {
		t.Errorf("nil lets nobody pass, too: %v", err)
	}
}

// TestPanickingGuard is R-462: what decide does not expect refuses one call, and
// the program lives on.
func TestPanickingGuard(t *testing.T) {
	s := newServer(t, func(a *grpcauth.Auth) *grpcauth.Guard {
		return a.Authorize(func(_ context.Context, _ string, found *latchkey.Session) error {
			if found.UserID != "ada" { // forgets that there may be nobody
				return latchkey.ErrAccessDenied
			}
			return nil
		})
	})
	for kind, call := range s.kinds() {
		if code, reason := reasonOf(call(nil).err); code != codes.Internal || reason != "" {
			t.Errorf("R-462 %s: %v, %q", kind, code, reason)
		}
	}
	guard := grpcauth.New(s.auth).Authorize(func(context.Context, string, *latchkey.Session) error { panic("a slip") })
	ctx := metadata.NewIncomingContext(t.Context(), metadata.Pairs(":authority", strings.TrimPrefix(s.browser.URL, "http://")))
	_, err := guard.Unary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: service + "UnaryCall"}, nil)
	if cause := errors.Unwrap(err); status.Code(err) != codes.Internal || strings.Contains(err.Error(), "slip") || cause == nil || !strings.Contains(cause.Error(), "a slip") {
		t.Errorf("R-462 %v", err)
	}
}

// TestProofThatNoSessionHas is R-836: a call is not led to prove what the configuration
// never lets anybody prove.
func TestProofThatNoSessionHas(t *testing.T) {
	for _, demand := range []error{latchkey.NeedFactor(), latchkey.NeedRecent(time.Minute)} {
		s := newServer(t, func(a *grpcauth.Auth) *grpcauth.Guard {
			return a.Authorize(func(context.Context, string, *latchkey.Session) error { return demand })
		})
		s.signIn("ada")
		for kind, call := range s.kinds() {
			if code, reason := reasonOf(call(s.cookies()).err); code != codes.Internal || reason != "" {
				t.Errorf("R-836 %s, %v: %v, %q", kind, demand, code, reason)
			}
		}
	}
}

// TestGuardWithoutAFunction is R-689: a guard that was told of nobody lets nobody pass.
func TestGuardWithoutAFunction(t *testing.T) {
	s := newServer(t, func(a *grpcauth.Auth) *grpcauth.Guard { return a.Authorize(nil) })
	s.signIn("ada")
	for kind, call := range s.kinds() {
		if code, reason := reasonOf(call(s.cookies()).err); code != codes.Internal || reason != "" {
			t.Errorf("R-689 %s: %v, %q", kind, code, reason)
		}
		if code, _ := reasonOf(call(nil).err); code != codes.Unauthenticated { // as with any error
			t.Errorf("R-689 %s, nobody: %v", kind, code)
		}
	}
}

// A session is looked at when a method asks, and then kept alive, also where the
// method fails.
func TestLoadSession(t *testing.T) {
	s := newServer(t, (*grpcauth.Auth).LoadSession)
	s.signIn("ada")
	var header metadata.MD
	ctx := metadata.NewOutgoingContext(t.Context(), s.cookies())
	if _, err := s.client.EmptyCall(ctx, &grpc_testing.Empty{}, grpc.Header(&header)); err != nil || header["set-cookie"] != nil || header["vary"] != nil {
		t.Errorf("nobody looked: %v, %v", header, err)
	}
	if _, err := s.client.UnaryCall(ctx, &grpc_testing.SimpleRequest{FillUsername: true}, grpc.Header(&header)); status.Code(err) != codes.NotFound || len(header["set-cookie"]) != 1 {
		t.Errorf("%v, %v", header, err)
	}
	for kind, call := range s.kinds() {
		if a := call(nil); a.text != "nobody" || a.err != nil {
			t.Errorf("%s: %+v", kind, a)
		}
	}
}

// revocations are those of a store that can go down.
type revocations struct{ down atomic.Bool }

func (*revocations) Revoke(context.Context, string, time.Time, time.Time) error { return nil }

func (r *revocations) RevokedAt(context.Context, ...string) (map[string]time.Time, error) {
	if r.down.Load() {
		return nil, errors.New("the store at 10.0.0.7 is down")
	}
	return nil, nil
}

func TestFaults(t *testing.T) {
	var store revocations
	s := newServer(t, require, func(c *latchkey.Config) { c.Session.Revocations = &store })
	s.signIn("ada")
	cookies := s.cookies()
	store.down.Store(true)
	for kind, call := range s.kinds() {
		a := call(cookies)
		if code, reason := reasonOf(a.err); code != codes.Unavailable || reason != "" || strings.Contains(a.err.Error(), "10.0.0.7") {
			t.Errorf("R-437 %s: %v", kind, a.err)
		}
	}
}

// What a guard hides from callers, interceptors around it know.
func TestCauses(t *testing.T) {
	cause := errors.New("the database is down")
	s := newServer(t, (*grpcauth.Auth).LoadSession)
	guard := grpcauth.New(s.auth).Authorize(func(context.Context, string, *latchkey.Session) error { return cause })
	s.signIn("ada")
	ctx := metadata.NewIncomingContext(t.Context(), metadata.Join(s.cookies(), metadata.Pairs(":authority", strings.TrimPrefix(s.browser.URL, "http://"))))
	_, err := guard.Unary(ctx, nil, &grpc.UnaryServerInfo{FullMethod: service + "UnaryCall"}, nil)
	if !errors.Is(err, cause) || status.Code(err) != codes.Internal || err.Error() != "The call could not be judged." {
		t.Errorf("%v", err)
	}
	if grpcauth.New(s.auth).Auth() != s.auth {
		t.Error("another one")
	}
}
