package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// recorder is a tracer that remembers what it was told.
type recorder struct {
	mu       sync.Mutex
	begun    []telemetry.Operation
	parents  []string // the name of the operation around each, in the same order
	ended    []telemetry.OperationResult
	ends     map[int]int
	measures []telemetry.Measure
	outgoing http.Header // what Begin writes into the carrier of a call to a provider
}

type recordedSpan struct {
	of *recorder
	i  int
}

type spanKey struct{}

func (r *recorder) Begin(ctx context.Context, op telemetry.Operation) (context.Context, telemetry.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if op.Kind == telemetry.OpProvider {
		for name, values := range r.outgoing {
			op.Carrier[name] = values
		}
	}
	parent, _ := ctx.Value(spanKey{}).(string)
	r.begun, r.parents, r.ended = append(r.begun, op), append(r.parents, parent), append(r.ended, telemetry.OperationResult{})
	return context.WithValue(ctx, spanKey{}, op.Name), recordedSpan{r, len(r.begun) - 1}
}

func (r *recorder) Count(_ context.Context, m telemetry.Measure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.measures = append(r.measures, m)
}

func (s recordedSpan) End(r telemetry.OperationResult) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.of.ends == nil {
		s.of.ends = map[int]int{}
	}
	s.of.ends[s.i]++
	s.of.ended[s.i] = r
}

// check fails for an operation that was not ended once.
func (r *recorder) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, op := range r.begun {
		if r.ends[i] != 1 {
			t.Errorf("O-003: %s %s ended %d times", op.Kind, op.Name, r.ends[i])
		}
	}
}

// names returns the operations of a kind, in order.
func (r *recorder) names(kind telemetry.OperationKind) (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, op := range r.begun {
		if op.Kind == kind {
			names = append(names, op.Name)
		}
	}
	return names
}

// counted returns the measures of a kind, as text.
func (r *recorder) counted(kind telemetry.MeasureKind) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.measures {
		if m.Kind == kind {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", m.Provider, m.Value, string(m.Type))))
		}
	}
	return list
}

// text returns everything that the tracer was told.
func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%+v\n%+v\n%+v", r.begun, r.ended, r.measures)
}

func traced(t telemetry.Tracer) func(*latchkey.Config) {
	return func(c *latchkey.Config) { c.Operations.Tracer = t }
}

// O-003, O-008, O-013: an OIDC sign-in is one tree of operations, each ended once.
func TestTraceSignIn(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			r := &recorder{}
			s := newOAuthSite(t, traced(r), func(c *latchkey.Config) {
				c.Session.Strategy = strategy
				c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { return nil }
				c.Events.SignIn = func(context.Context, latchkey.SignInEvent) error { return nil }
			})
			b := s.newBrowser()
			if a := s.signIn(b); !a.signsIn() {
				t.Fatal(a.Code, a.location())
			}
			r.check(t)
			for _, want := range []string{"POST /auth/signin/{provider}", "GET /auth/callback/{provider}"} {
				if !slices.Contains(r.names(telemetry.OpRequest), want) {
					t.Errorf("O-008: no %s among %v", want, r.names(telemetry.OpRequest))
				}
			}
			var steps []string
			for i, op := range r.begun {
				switch op.Kind {
				case telemetry.OpProvider:
					steps = append(steps, op.Action)
					if strings.ContainsAny(op.URL, "?#@") || op.Provider != "issuer" {
						t.Errorf("O-010: %+v", op)
					}
				case telemetry.OpStore, telemetry.OpCallback:
					if r.parents[i] == "" && i > 0 && slices.ContainsFunc(r.begun[:i], func(op telemetry.Operation) bool { return op.Kind == telemetry.OpRequest }) {
						t.Errorf("O-008: %s has no parent", op.Name)
					}
				}
			}
			if got := strings.Join(steps, " "); got != "discovery token keys" && got != "discovery token keys userinfo" {
				t.Errorf("O-008: the provider was asked for %q", got)
			}
			for _, want := range []string{"Callbacks.SignIn", "Events.signIn"} {
				if !slices.Contains(r.names(telemetry.OpCallback), want) {
					t.Errorf("O-008: no %s among %v", want, r.names(telemetry.OpCallback))
				}
			}
			last := r.ended[slices.IndexFunc(r.begun, func(op telemetry.Operation) bool { return op.Action == "callback" })]
			if last.Status != http.StatusFound || last.Type != "" || last.UserID == "" || !slices.Contains(last.Decisions, "state=ok") || !slices.Contains(last.Decisions, "resolve=created") {
				t.Errorf("the callback ended as %+v", last)
			}
			if got := r.counted(telemetry.SignIns); !slices.Equal(got, []string{"issuer new_user"}) {
				t.Errorf("O-014: sign-ins %q", got)
			}
			if got := r.counted(telemetry.KeyFetches); !slices.Equal(got, []string{"issuer first"}) {
				t.Errorf("O-014: key fetches %q", got)
			}
		})
	}
}

// O-008: a callback whose state ties it to no sign-in is told apart from one whose state
// was compared.
func TestTraceOfAnUncheckedState(t *testing.T) {
	for name, c := range map[string]struct {
		state, want string
	}{"none of this browser": {"surprise", "state=unchecked"}, "that was sent": {"", "state=ok"}} {
		t.Run("O-008 "+name, func(t *testing.T) {
			r := &recorder{}
			s := newOAuthSite(t, traced(r), withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckPKCE} }),
				func(c *latchkey.Config) { c.Security.SkipStateCheck = true })
			b := s.newBrowser()
			params := s.authResponse(b, "issuer")
			if c.state != "" {
				params.Set("state", c.state)
			}
			if a := b.callback("issuer", params); !a.signsIn() {
				t.Fatal(a.Code, a.location())
			}
			last := r.ended[slices.IndexFunc(r.begun, func(op telemetry.Operation) bool { return op.Action == "callback" })]
			if !slices.Contains(last.Decisions, c.want) {
				t.Errorf("decisions %q, want %s", last.Decisions, c.want)
			}
		})
	}
}

// O-013: a mistyped password is no error of the site, and a store that is down is.
func TestTraceFailures(t *testing.T) {
	r := &recorder{}
	s := newSite(t, traced(r))
	b := s.newBrowser()
	b.post("/auth/callback/crew", "username", "alice", "password", "wrong")
	last := r.ended[len(r.ended)-1]
	for i, op := range r.begun {
		if op.Action == "callback" {
			last = r.ended[i]
		}
	}
	if last.Type != latchkey.ErrCredentialsSignin || last.Mend {
		t.Errorf("O-013: %+v", last)
	}
	if got := r.counted(telemetry.SignIns); !slices.Equal(got, []string{"crew failure CredentialsSignin"}) {
		t.Errorf("O-014: %q", got)
	}
	r.check(t)
}

// O-005: nothing that is secret or personal reaches the tracer.
func TestTraceHoldsNoSecrets(t *testing.T) {
	r := &recorder{}
	s := newOAuthSite(t, traced(r))
	b := s.newBrowser()
	b.post("/auth/callback/crew", "username", "alice@example.com", "password", "canary-password")
	s.signIn(b)
	req := b.request(http.MethodGet, "/auth/session?token=canary-query&email=ada@example.com", "", "")
	req.Header.Set("Authorization", "Bearer canary-bearer")
	req.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	b.serve(s.auth, req)
	text := r.text()
	canaries := []string{"canary", "example.com", siteSecret, "alice", s.issuer.Provider().ClientSecret}
	for _, value := range b.jar {
		canaries = append(canaries, value)
	}
	for _, secret := range canaries {
		if len(secret) > 3 && strings.Contains(text, secret) {
			t.Errorf("O-005: the tracer was told %q", secret)
		}
	}
	for _, op := range r.begun {
		for name := range op.Carrier {
			if !slices.Contains([]string{"Traceparent", "Tracestate", "Baggage"}, name) {
				t.Errorf("O-005: the carrier has %s", name)
			}
		}
	}
	if !strings.Contains(text, "00f067aa0ba902b7") {
		t.Error("O-009: the caller's trace context did not reach the tracer")
	}
}

// O-010: of what a tracer writes only the headers of a trace reach the provider.
func TestTraceHeadersToProviders(t *testing.T) {
	r := &recorder{outgoing: http.Header{"Traceparent": {"00-aa-bb-01"}, "Cookie": {"canary"}}}
	s := newOAuthSite(t, traced(r))
	s.signIn(s.newBrowser())
	seen := s.issuer.Requests("/token")
	if len(seen) == 0 || seen[0].Header.Get("Traceparent") != "00-aa-bb-01" || seen[0].Header.Get("Cookie") != "" {
		t.Errorf("O-010: %+v", seen)
	}
}

// O-011: names come from the configuration and closed lists.
func TestTraceNames(t *testing.T) {
	r := &recorder{}
	s := newSite(t, traced(r))
	b := s.newBrowser()
	for i := range 200 {
		b.do([]string{"GET", "POST", fmt.Sprint("BREW", i), "PUT"}[i%4], fmt.Sprintf("/auth/%s%d/%d", []string{"signin/x", "callback/x", "junk", "client/"}[i/4%4], i, i), "", "")
		b.do("GET", fmt.Sprintf("/auth/callback/p%d", i), "", "")
	}
	names := map[string]bool{}
	for _, op := range r.begun {
		if op.Kind == telemetry.OpRequest {
			names[op.Name] = true
			if op.Provider != "" {
				t.Errorf("O-011: provider %q is not configured", op.Provider)
			}
		}
	}
	if len(names) > 8 {
		t.Errorf("O-011: %d names: %v", len(names), names)
	}
	r.check(t)
}

// hostile is a tracer that does harm.
type hostile struct{ do func() }

func (h hostile) Begin(ctx context.Context, op telemetry.Operation) (context.Context, telemetry.Span) {
	h.do()
	if op.Kind == telemetry.OpRequest {
		return nil, nil
	}
	return ctx, h
}
func (h hostile) Count(context.Context, telemetry.Measure) { h.do() }
func (h hostile) End(telemetry.OperationResult)            { h.do() }

// O-002: a tracer that fails changes no answer and is told of once.
func TestTraceHostileTracer(t *testing.T) {
	for name, do := range map[string]func(){
		"panics":  func() { panic("canary") },
		"blocks":  func() { time.Sleep(300 * time.Millisecond) },
		"returns": func() {},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			s := newSite(t, traced(hostile{do}))
			b := s.newBrowser()
			if a := b.signIn(); !a.signsIn() {
				t.Fatal("O-002:", a.Code, a.location())
			}
			for range 20 {
				if !b.isLive() {
					t.Fatal("O-002: no session")
				}
			}
			want := 1
			if name == "returns" {
				want = 0
			}
			if got := strings.Count(s.log.text(), "Operations.Tracer"); got != want {
				t.Errorf("O-002: %d lines, want %d", got, want)
			}
			if strings.Contains(s.log.text(), "canary") {
				t.Error("O-002: the log repeats the value of the panic")
			}
			if now := runtime.NumGoroutine(); now > before+2 {
				t.Errorf("O-002: %d goroutines, then %d", before, now)
			}
		})
	}
}

// O-003: an operation ends once, also after a panic, a redirect, RespondWith, and a
// request that is cancelled; and it is seen once, whichever way it came.
func TestTraceEveryWay(t *testing.T) {
	for name, decide := range map[string]func(context.Context, latchkey.SignInAttempt) error{
		"panic":    func(context.Context, latchkey.SignInAttempt) error { panic("x") },
		"redirect": func(context.Context, latchkey.SignInAttempt) error { return latchkey.RedirectTo("/wait") },
		"respond": func(context.Context, latchkey.SignInAttempt) error {
			return latchkey.RespondWith(&latchkey.Response{Status: 418})
		},
		"refuse": func(context.Context, latchkey.SignInAttempt) error { return errors.New("no") },
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			s := newSite(t, traced(r), func(c *latchkey.Config) { c.Callbacks.SignIn = decide })
			s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland")
			r.check(t)
		})
	}
	r := &recorder{}
	s := newSite(t, traced(r))
	req, err := latchkey.FromHTTP(httptest.NewRequest(http.MethodGet, siteOrigin+"/auth/csrf", nil))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for way, call := range map[string]func(){
		"Respond": func() { s.auth.Core().Respond(t.Context(), req) },
		"Do":      func() { _, _ = s.auth.Core().Do(t.Context(), req) },
		"ServeHTTP": func() {
			s.auth.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, siteOrigin+"/auth/csrf", nil))
		},
		"cancelled": func() { s.auth.Core().Respond(ctx, req) },
	} {
		before := len(r.names(telemetry.OpRequest))
		call()
		if got := len(r.names(telemetry.OpRequest)) - before; got != 1 {
			t.Errorf("O-003: %s made %d operations", way, got)
		}
	}
	before := len(r.names(telemetry.OpRequest))
	s.auth.RequireSession(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, siteOrigin+"/private", nil))
	if got := len(r.names(telemetry.OpRequest)) - before; got != 0 {
		t.Errorf("A.1: a guard made %d operations", got)
	}
	r.check(t)
}

// O-014: what came of reading a session.
func TestTraceSessionReads(t *testing.T) {
	for _, c := range []struct {
		name     string
		strategy latchkey.Strategy
		spoil    func(s *testSite, b *browser)
		want     string
	}{
		{"none", latchkey.JWTSessions, func(_ *testSite, b *browser) { clear(b.jar) }, "none"},
		{"renewed", latchkey.JWTSessions, nil, "renewed"},
		{"live", latchkey.DatabaseSessions, nil, "live"},
		{"junk", latchkey.JWTSessions, func(_ *testSite, b *browser) { b.jar["__Secure-authjs.session-token"] = "junk" }, "invalid"},
		{"changed", latchkey.JWTSessions, func(_ *testSite, b *browser) { b.jar["__Secure-authjs.session-token"] += "A" }, "invalid"},
		{"another secret's", latchkey.JWTSessions, func(_ *testSite, b *browser) { b.jar["__Secure-authjs.session-token"] = foreignToken() }, "unknown_key"},
		{"old", latchkey.JWTSessions, func(s *testSite, _ *browser) { s.clock.Advance(31 * 24 * time.Hour) }, "expired"},
		{"old row", latchkey.DatabaseSessions, func(s *testSite, _ *browser) { s.clock.Advance(31 * 24 * time.Hour) }, "expired"},
		{"no row", latchkey.DatabaseSessions, func(_ *testSite, b *browser) {
			b.jar["__Secure-authjs.session-token"] = strings.Repeat("ab", 32)
		}, "ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &recorder{}
			s := newOAuthSite(t, traced(r), func(cfg *latchkey.Config) { cfg.Session.Strategy = c.strategy })
			b := s.newBrowser()
			s.signIn(b)
			if c.spoil != nil {
				c.spoil(s.testSite, b)
			}
			b.session()
			got := r.counted(telemetry.SessionReads)
			if len(got) == 0 || got[len(got)-1] != c.want {
				t.Errorf("O-014: %q, want %s", got, c.want)
			}
		})
	}
}

// foreignToken returns a session of an instance with another secret.
func foreignToken() string {
	token, err := sealedBy("another secret, which is long enough too").SealClaims(map[string]any{"sub": "x"}, time.Now(), time.Hour)
	if err != nil {
		panic(err)
	}
	return token
}

// O-021: after a rollout with another secret cookies are kept for RolloutGrace, and open
// nothing.
func TestRolloutGrace(t *testing.T) {
	for grace, kept := range map[time.Duration]bool{0: false, time.Hour: true} {
		r := &recorder{}
		s := newSite(t, traced(r), func(c *latchkey.Config) { c.Operations.RolloutGrace = grace })
		b := s.newBrowser()
		b.jar["__Secure-authjs.session-token"] = foreignToken()
		if b.isLive() {
			t.Fatal("O-021: a foreign token is live")
		}
		if _, still := b.jar["__Secure-authjs.session-token"]; still != kept {
			t.Errorf("O-021: with a grace of %v the cookie is kept: %t", grace, still)
		}
		s.clock.Advance(2 * time.Hour)
		if b.session(); grace > 0 {
			if _, still := b.jar["__Secure-authjs.session-token"]; still {
				t.Error("O-021: the cookie is kept after the grace")
			}
		}
	}
}

func sealedBy(secret string) *jwt.Codec {
	return jwt.NewCodec([]string{secret}, "__Secure-authjs.session-token")
}
