package connectauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/connectauth"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

type text = wrapperspb.StringValue

const service = "/acme.v1.Names/"

// errShared is an error that many calls answer with.
var errShared = connect.NewError(connect.CodeNotFound, errors.New("there is no such name"))

// A server has the routes of Latchkey, and procedures that say who calls them,
// over HTTP/1.1 and HTTP/2 without TLS.
type server struct {
	t       *testing.T
	auth    *latchkey.Auth
	browser *latchkeytest.Client
}

func newServer(t *testing.T, intercept func(*connectauth.Auth) connect.Interceptor, change ...func(*latchkey.Config)) *server {
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
	site := http.NewServeMux()
	site.Handle("/auth/", auth)
	mount(site, connect.WithInterceptors(intercept(connectauth.New(auth))))
	srv := httptest.NewUnstartedServer(site)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetHTTP1(true)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Start()
	t.Cleanup(srv.Close)
	return &server{t, auth, latchkeytest.NewClientAt(t, srv.URL)}
}

func mount(site *http.ServeMux, o connect.HandlerOption) {
	who := func(ctx context.Context) *text {
		s := latchkey.SessionFrom(ctx)
		if s == nil {
			return wrapperspb.String("nobody")
		}
		return wrapperspb.String(s.User.Name + " by " + string(s.Via))
	}
	site.Handle(service+"Unary", connect.NewUnaryHandler(service+"Unary", func(ctx context.Context, call *connect.Request[text]) (*connect.Response[text], error) {
		name := who(ctx)
		switch call.Msg.Value {
		case "shared error":
			return nil, errShared
		case "plain error":
			return nil, errors.New("something else")
		}
		return connect.NewResponse(name), nil
	}, o, connect.WithIdempotency(connect.IdempotencyNoSideEffects)))
	site.Handle(service+"Public", connect.NewUnaryHandler(service+"Public", func(ctx context.Context, _ *connect.Request[text]) (*connect.Response[text], error) {
		return connect.NewResponse(who(ctx)), nil
	}, o))
	site.Handle(service+"Blind", connect.NewUnaryHandler(service+"Blind", func(context.Context, *connect.Request[text]) (*connect.Response[text], error) {
		return connect.NewResponse(wrapperspb.String("whoever")), nil
	}, o))
	site.Handle(service+"ClientStream", connect.NewClientStreamHandler(service+"ClientStream", func(ctx context.Context, stream *connect.ClientStream[text]) (*connect.Response[text], error) {
		for stream.Receive() { // all of it
		}
		return connect.NewResponse(who(ctx)), stream.Err()
	}, o))
	site.Handle(service+"ServerStream", connect.NewServerStreamHandler(service+"ServerStream", func(ctx context.Context, _ *connect.Request[text], stream *connect.ServerStream[text]) error {
		return errors.Join(stream.Send(who(ctx)), stream.Send(wrapperspb.String("more")))
	}, o))
	site.Handle(service+"Beside", connect.NewServerStreamHandler(service+"Beside", func(ctx context.Context, _ *connect.Request[text], stream *connect.ServerStream[text]) error {
		var looking sync.WaitGroup
		for range 4 {
			looking.Go(func() { latchkey.SessionFrom(ctx) })
		}
		for i := range 200 {
			stream.ResponseHeader().Set("X-Own", strconv.Itoa(i))
		}
		looking.Wait()
		return stream.Send(who(ctx))
	}, o))
	site.Handle(service+"Bidi", connect.NewBidiStreamHandler(service+"Bidi", func(ctx context.Context, stream *connect.BidiStream[text, text]) error {
		if _, err := stream.Receive(); err != nil {
			return err
		}
		return stream.Send(who(ctx))
	}, o))
}

func (s *server) signIn(name string) {
	s.t.Helper()
	s.browser.SignInCredentials(map[string]string{"name": name})
}

// cookies is the header that the browser would send.
func (s *server) cookies() http.Header {
	var pairs []string
	for _, c := range s.browser.Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return http.Header{"Cookie": {strings.Join(pairs, "; ")}}
}

// bearer is the header of an app of who is signed in.
func (s *server) bearer() http.Header {
	s.t.Helper()
	const verifier = "the-verifier-of-an-app-43-characters-or-more"
	hash := sha256.Sum256([]byte(verifier))
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, s.browser.URL, http.NoBody)
	r.Header = s.cookies()
	code, err := s.auth.BearerCode(r, base64.RawURLEncoding.EncodeToString(hash[:]))
	if err != nil {
		s.t.Fatal(err)
	}
	token, _, err := s.auth.BearerToken(r, code, verifier)
	if err != nil {
		s.t.Fatal(err)
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}

// protocols are all that a handler of Connect speaks.
func protocols() map[string]connect.ClientOption {
	return map[string]connect.ClientOption{
		"connect": connect.WithClientOptions(), "connect, GET": connect.WithHTTPGet(), "connect, JSON": connect.WithProtoJSON(),
		"gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb(),
	}
}

func overHTTP1() *http.Client { return &http.Client{Transport: &http.Transport{}} }

func overHTTP2() *http.Client {
	t := &http.Transport{Protocols: new(http.Protocols)}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: t}
}

// An answer is what a call of any kind ends in.
type answer struct {
	text   string
	header http.Header
	err    error
}

// kinds of calls; bidirectional ones need HTTP/2.
func (s *server) kinds(client *http.Client, o connect.ClientOption) map[string]func(procedure string, h http.Header) answer {
	to := func(procedure string) *connect.Client[text, text] {
		return connect.NewClient[text, text](client, s.browser.URL+service+procedure, o, connect.WithIdempotency(connect.IdempotencyNoSideEffects))
	}
	give := func(to, h http.Header) {
		for name, values := range h {
			to[name] = values
		}
	}
	return map[string]func(string, http.Header) answer{
		"Unary": func(procedure string, h http.Header) answer {
			call := connect.NewRequest(wrapperspb.String("x"))
			give(call.Header(), h)
			return of(to(procedure).CallUnary(s.t.Context(), call))
		},
		"ClientStream": func(procedure string, h http.Header) answer {
			stream := to(procedure).CallClientStream(s.t.Context())
			give(stream.RequestHeader(), h)
			_ = stream.Send(wrapperspb.String("x")) // its error is the answer's
			return of(stream.CloseAndReceive())
		},
		"ServerStream": func(procedure string, h http.Header) answer {
			call := connect.NewRequest(wrapperspb.String("x"))
			give(call.Header(), h)
			stream, err := to(procedure).CallServerStream(s.t.Context(), call)
			if err != nil {
				return answer{err: err}
			}
			defer func() { _ = stream.Close() }()
			if !stream.Receive() {
				return answer{err: stream.Err()}
			}
			return answer{stream.Msg().Value, stream.ResponseHeader(), nil}
		},
		"Bidi": func(procedure string, h http.Header) answer {
			stream := to(procedure).CallBidiStream(s.t.Context())
			give(stream.RequestHeader(), h)
			_ = stream.Send(wrapperspb.String("x"))
			msg, err := stream.Receive()
			if err != nil {
				return answer{err: err}
			}
			defer func() { _ = stream.CloseResponse() }()
			return answer{msg.Value, stream.ResponseHeader(), errors.Join(stream.CloseRequest())}
		},
	}
}

func of(res *connect.Response[text], err error) answer {
	if err != nil {
		return answer{err: err}
	}
	return answer{res.Msg.Value, res.Header(), nil}
}

// reasonOf is the code and the reason of a refusal.
func reasonOf(t *testing.T, err error) (code connect.Code, reason string) {
	t.Helper()
	failed, ok := errors.AsType[*connect.Error](err)
	if !ok {
		t.Fatalf("%v", err)
	}
	for _, detail := range failed.Details() {
		if value, err := detail.Value(); err == nil {
			if info, ok := value.(*errdetails.ErrorInfo); ok && info.Domain == connectauth.Domain {
				reason = info.Reason
			}
		}
	}
	return failed.Code(), reason
}

func require(a *connectauth.Auth) connect.Interceptor { return a.RequireSession(service + "Public") }

// Every protocol, transport and kind of call.
func TestRequireSession(t *testing.T) {
	s := newServer(t, require)
	s.signIn("ada")
	cookies, bearer := s.cookies(), s.bearer()
	wrong := http.Header{"Authorization": {"Bearer wrong"}, "Cookie": cookies["Cookie"]}
	for transport, client := range map[string]*http.Client{"HTTP/1.1": overHTTP1(), "HTTP/2": overHTTP2()} {
		for protocol, option := range protocols() {
			if transport == "HTTP/1.1" && protocol == "gRPC" {
				continue // which needs HTTP/2
			}
			for kind, call := range s.kinds(client, option) {
				if transport == "HTTP/1.1" && kind == "Bidi" {
					continue
				}
				t.Run(transport+", "+protocol+", "+kind, func(t *testing.T) {
					if a := call(kind, cookies); a.text != "ada by cookie" || a.err != nil || !strings.Contains(a.header.Get("Set-Cookie"), "session-token") || !strings.Contains(strings.Join(a.header["Vary"], ", "), "Cookie") {
						t.Errorf("by cookie: %+v", a)
					}
					if a := call(kind, bearer); a.text != "ada by bearer" || a.err != nil || a.header["Set-Cookie"] != nil {
						t.Errorf("R-437 by bearer token: %+v", a)
					}
					for name, h := range map[string]http.Header{"nobody": nil, "a wrong token beside a cookie": wrong} {
						a := call(kind, h)
						if code, reason := reasonOf(t, a.err); code != connect.CodeUnauthenticated || reason != connectauth.ReasonNoSession {
							t.Errorf("R-437 %s: %v, %q", name, a.err, reason)
						}
					}
				})
			}
		}
	}
	unary := s.kinds(overHTTP1(), connect.WithClientOptions())["Unary"]
	if a := unary("Public", nil); a.text != "nobody" || a.err != nil {
		t.Errorf("a public procedure: %+v", a)
	}
	if a := unary("Public", cookies); a.text != "ada by cookie" {
		t.Errorf("a public procedure, signed in: %+v", a)
	}
}

func TestAuthorize(t *testing.T) {
	var asked []string
	answers := map[string]error{
		"Unary": latchkey.ErrAccessDenied, "ServerStream": connect.NewError(connect.CodeResourceExhausted, errors.New("enough")),
		"ClientStream": errors.New("the database is down at 10.0.0.7"), "Bidi": latchkey.RedirectTo("/elsewhere"), "Blind": latchkey.ErrNoSession,
	}
	s := newServer(t, func(a *connectauth.Auth) connect.Interceptor {
		return a.Authorize(func(_ context.Context, procedure string, found *latchkey.Session) error {
			asked = append(asked, procedure)
			name := strings.TrimPrefix(procedure, service)
			if found == nil && name == "Public" {
				return nil
			}
			return answers[name]
		})
	})
	s.signIn("ada")
	cookies := s.cookies()
	for kind, call := range s.kinds(overHTTP2(), connect.WithGRPC()) {
		want := map[string]connect.Code{
			"Unary": connect.CodePermissionDenied, "ServerStream": connect.CodeResourceExhausted,
			"ClientStream": connect.CodeInternal, "Bidi": connect.CodeInternal,
		}[kind]
		a := call(kind, cookies)
		code, reason := reasonOf(t, a.err)
		if code != want || (reason == connectauth.ReasonAccessDenied) != (kind == "Unary") || strings.Contains(a.err.Error(), "10.0.0.7") {
			t.Errorf("R-437 %s: %v, %q", kind, a.err, reason)
		}
		a = call(kind, nil) // any error about nobody
		if code, _ := reasonOf(t, a.err); kind != "ServerStream" && code != connect.CodeUnauthenticated {
			t.Errorf("R-437 %s for nobody: %v", kind, a.err)
		}
	}
	unary := s.kinds(overHTTP1(), connect.WithClientOptions())["Unary"]
	if code, reason := reasonOf(t, unary("Blind", cookies).err); code != connect.CodeUnauthenticated || reason != connectauth.ReasonNoSession {
		t.Errorf("a sign-in that is too old: %v", code)
	}
	if a := unary("Public", nil); a.text != "nobody" || asked[len(asked)-1] != service+"Public" {
		t.Errorf("%+v, %v", a, asked)
	}
}

// TestPanickingGuard is R-462: what decide does not expect refuses one call.
func TestPanickingGuard(t *testing.T) {
	s := newServer(t, func(a *connectauth.Auth) connect.Interceptor {
		return a.Authorize(func(_ context.Context, _ string, found *latchkey.Session) error {
			if found.UserID != "ada" { // forgets that there may be nobody
				return latchkey.ErrAccessDenied
			}
			return nil
		})
	})
	for name, protocol := range protocols() {
		for kind, call := range s.kinds(overHTTP2(), protocol) {
			a := call(kind, nil)
			if code, reason := reasonOf(t, a.err); code != connect.CodeInternal || reason != "" || strings.Contains(a.err.Error(), "nil pointer") {
				t.Errorf("R-462 %s, %s: %v", name, kind, a.err)
			}
		}
	}
}

// TestProofThatNoSessionHas is R-836: a call is not led to prove what the configuration
// never lets anybody prove.
func TestProofThatNoSessionHas(t *testing.T) {
	for _, demand := range []error{latchkey.NeedFactor(), latchkey.NeedRecent(time.Minute)} {
		s := newServer(t, func(a *connectauth.Auth) connect.Interceptor {
			return a.Authorize(func(context.Context, string, *latchkey.Session) error { return demand })
		})
		s.signIn("ada")
		for kind, call := range s.kinds(overHTTP2(), connect.WithGRPC()) {
			if code, reason := reasonOf(t, call(kind, s.cookies()).err); code != connect.CodeInternal || reason != "" {
				t.Errorf("R-836 %s, %v: %v, %q", kind, demand, code, reason)
			}
		}
	}
}

// TestGuardWithoutAFunction is R-689: a guard that was told of nobody lets nobody pass.
func TestGuardWithoutAFunction(t *testing.T) {
	s := newServer(t, func(a *connectauth.Auth) connect.Interceptor { return a.Authorize(nil) })
	s.signIn("ada")
	for kind, call := range s.kinds(overHTTP2(), connect.WithGRPC()) {
		if code, reason := reasonOf(t, call(kind, s.cookies()).err); code != connect.CodeInternal || reason != "" {
			t.Errorf("R-689 %s: %v, %q", kind, code, reason)
		}
	}
}

func TestPublicServices(t *testing.T) {
	s := newServer(t, func(a *connectauth.Auth) connect.Interceptor { return a.RequireSession(service) })
	for kind, call := range s.kinds(overHTTP2(), connect.WithGRPC()) {
		if a := call(kind, nil); a.text != "nobody" || a.err != nil {
			t.Errorf("%s: %+v", kind, a)
		}
	}
	almost := newServer(t, func(a *connectauth.Auth) connect.Interceptor {
		return a.RequireSession("/acme.v1.Name", "acme.v1.Names/Unary", service+"Un", "/", "")
	})
	if a := almost.kinds(overHTTP1(), connect.WithClientOptions())["Unary"]("Unary", nil); a.err == nil {
		t.Errorf("%+v", a)
	}
}

// A session is looked at when a procedure asks, and then kept alive.
func TestLoadSession(t *testing.T) {
	s := newServer(t, (*connectauth.Auth).LoadSession)
	s.signIn("ada")
	unary := s.kinds(overHTTP1(), connect.WithClientOptions())["Unary"]
	if a := unary("Blind", s.cookies()); a.text != "whoever" || a.header["Set-Cookie"] != nil || a.header["Vary"] != nil && strings.Contains(strings.Join(a.header["Vary"], ","), "Cookie") {
		t.Errorf("nobody looked: %+v", a)
	}
	if a := unary("Unary", nil); a.text != "nobody" || a.err != nil {
		t.Errorf("%+v", a)
	}
	if a := unary("Unary", s.cookies()); a.text != "ada by cookie" || len(a.header["Set-Cookie"]) != 1 {
		t.Errorf("%+v", a)
	}
}

// The cookie of one call must not travel with an error that others answer with.
// TestLookingBeside is R-526: goroutines of a procedure look at the session while it
// sets headers, and what they find goes out with the first message. It found, with the
// race detector, that the first look wrote to the header of the stream.
func TestLookingBeside(t *testing.T) {
	s := newServer(t, func(a *connectauth.Auth) connect.Interceptor { return a.LoadSession() })
	s.signIn("Ada")
	client := connect.NewClient[text, text](overHTTP1(), s.browser.URL+service+"Beside")
	for range 20 {
		call := connect.NewRequest(wrapperspb.String(""))
		maps.Copy(call.Header(), s.cookies())
		stream, err := client.CallServerStream(t.Context(), call)
		if err != nil {
			t.Fatal(err)
		}
		if !stream.Receive() || stream.Msg().Value != "Ada by cookie" {
			t.Errorf("R-526: %v, %v", stream.Msg(), stream.Err())
		}
		if h := stream.ResponseHeader(); h.Get("X-Own") != "199" || len(h["Set-Cookie"]) == 0 {
			t.Errorf("R-526: %v", h)
		}
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSharedErrors(t *testing.T) {
	s := newServer(t, (*connectauth.Auth).LoadSession)
	s.signIn("ada")
	for protocol, option := range protocols() {
		client := connect.NewClient[text, text](overHTTP2(), s.browser.URL+service+"Unary", option, connect.WithIdempotency(connect.IdempotencyNoSideEffects))
		for say, want := range map[string]connect.Code{"shared error": connect.CodeNotFound, "plain error": connect.CodeUnknown} {
			call := connect.NewRequest(wrapperspb.String(say))
			call.Header()["Cookie"] = s.cookies()["Cookie"]
			_, err := client.CallUnary(t.Context(), call)
			failed, ok := errors.AsType[*connect.Error](err)
			if !ok || failed.Code() != want || len(failed.Meta()["Set-Cookie"]) != 1 {
				t.Errorf("R-438 %s, %s: %v", protocol, say, err)
			}
			if len(errShared.Meta()) != 0 {
				t.Fatalf("R-438 %s: the next caller gets %v", protocol, errShared.Meta())
			}
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
	for kind, call := range s.kinds(overHTTP2(), connect.WithGRPC()) {
		a := call(kind, cookies)
		if code, reason := reasonOf(t, a.err); code != connect.CodeUnavailable || reason != "" || strings.Contains(a.err.Error(), "10.0.0.7") {
			t.Errorf("R-437 %s: %v", kind, a.err)
		}
	}
}

// Middleware of net/http may stand in front: then the session is read once, and
// its cookie is not set twice.
func TestBehindMiddleware(t *testing.T) {
	s := newServer(t, (*connectauth.Auth).LoadSession)
	s.signIn("ada")
	site := http.NewServeMux()
	mount(site, connect.WithInterceptors(connectauth.New(s.auth).RequireSession()))
	srv := httptest.NewServer(s.auth.LoadSession(site))
	defer srv.Close()
	cookies := s.cookies()
	s.browser = latchkeytest.NewClientAt(t, srv.URL)
	for kind, call := range s.kinds(overHTTP1(), connect.WithGRPCWeb()) {
		if kind == "Bidi" {
			continue
		}
		if a := call(kind, cookies); a.text != "ada by cookie" || len(a.header["Set-Cookie"]) != 1 {
			t.Errorf("%s: %+v", kind, a)
		}
	}
}

// Clients have nothing to do with it.
func TestClientsAreLeftAlone(t *testing.T) {
	s := newServer(t, (*connectauth.Auth).LoadSession)
	for kind, call := range s.kinds(overHTTP2(), connect.WithInterceptors(connectauth.New(s.auth).RequireSession())) {
		if a := call(kind, nil); a.text != "nobody" || a.err != nil {
			t.Errorf("%s: %+v", kind, a)
		}
	}
}

func TestAuth(t *testing.T) {
	s := newServer(t, require)
	if connectauth.New(s.auth).Auth() != s.auth {
		t.Error("another one")
	}
}
