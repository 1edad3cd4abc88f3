package latchkey

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Operations is how a team sees and runs a site. The zero value costs nothing: no
// allocation, query, header or cookie.
type Operations struct {
	// Tracer hears of requests, calls and counts; module otel has one for
	// OpenTelemetry. nil: nothing is traced.
	Tracer telemetry.Tracer
	// RolloutGrace keeps session cookies that are sealed under an unknown secret for so
	// long after the start, instead of clearing them: an instance that is rolled out
	// with a wrong secret then signs nobody out for good. Such a cookie opens nothing.
	// 0: they are cleared at once, as in Auth.js.
	RolloutGrace time.Duration
}

// propagated are the headers that carry a trace from one program to the next.
var propagated = []string{"Traceparent", "Tracestate", "Baggage"}

// tracedMethods are the methods that a span is named by.
var tracedMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}

// beginRequest begins the operation of a request. The step is nil if nothing traces.
func beginRequest(ctx context.Context, s *setup, r *Request) (context.Context, *journal.Step) {
	if s == nil || !s.log.Traces() {
		return ctx, nil
	}
	return s.log.BeginCall(ctx, telemetry.OpRequest, func() *telemetry.Operation { return s.operationOf(r) })
}

// operationOf describes a request in words of the configuration alone.
func (s *setup) operationOf(r *Request) *telemetry.Operation {
	op := &telemetry.Operation{Kind: telemetry.OpRequest, Method: "_OTHER", Tenant: s.tenant, Carrier: http.Header{}}
	if slices.Contains(tracedMethods, r.Method) {
		op.Method = r.Method
	}
	for _, name := range propagated {
		if values := r.Header[name]; values != nil {
			op.Carrier[name] = slices.Clone(values)
		}
	}
	route := "*"
	if action, id, ok := parsePath(s.config.Site.BasePath, r.URL.EscapedPath()); ok && s.config.offersAction(action) {
		op.Action, route = action, action
		if p := s.providers[id]; p != nil {
			op.Provider = p.info().id
		}
		if id != "" {
			route += "/{" + secondPart(action) + "}"
		}
	}
	op.Route = s.config.Site.Prefix + s.config.Site.BasePath + "/" + route
	op.Name = op.Method + " " + op.Route
	return op
}

// secondPart names what follows an action in a path.
func secondPart(action string) string {
	if action == "client" {
		return "file"
	}
	return "provider"
}

// endRequest ends the operation of a request. x and res are nil if there are none.
func endRequest(step *journal.Step, x *exchange, res *Response, err error) {
	if step == nil {
		return
	}
	var r telemetry.OperationResult
	if res != nil {
		r.Status = statusOf(res)
	}
	if x != nil {
		r.UserID, r.Decisions = x.trail.userID, x.trail.decisions
	}
	if err != nil && !isSteering(err) {
		r.Type, r.Mend, r.Err = failure.TypeOf(err), levelOf(err) >= slog.LevelError, x.handOut(err)
	}
	step.EndWith(r, err)
}

// statusOf returns the status with which res is sent.
func statusOf(res *Response) int {
	switch {
	case res.Status != 0:
		return res.Status
	case res.Redirect != "":
		return http.StatusFound
	}
	return http.StatusOK
}

// trail is what a request leaves for the tracer. It stays empty unless it is on.
type trail struct {
	on        bool
	userID    string
	decisions []string
}

const mostDecisions = 16

// decided adds a decision.
func (t *trail) decided(what string) {
	if t.on && len(t.decisions) < mostDecisions {
		t.decisions = append(t.decisions, what)
	}
}

// trace tells of every call to the provider. The log is told at debug level.
func (p *oauthProvider) trace(s *setup) func(context.Context, oauth.Call) (context.Context, func(int, http.Header, error)) {
	return func(ctx context.Context, c oauth.Call) (context.Context, func(int, http.Header, error)) {
		began := s.now()
		endpoint, _ := url.Parse(c.Endpoint)
		ctx, step := p.beginCall(ctx, s, string(c.Step), c.Method, endpoint, p.Transport == nil, c.Header)
		return ctx, func(status int, header http.Header, err error) {
			p.countCall(ctx, s, &c, began, header, err)
			host := ""
			if endpoint != nil {
				host = endpoint.Host
			}
			step.EndWith(telemetry.OperationResult{Status: status}, err, "host", host, "status", status)
		}
	}
}

// beginCall begins the operation of a call to the provider, and adds the headers that
// carry the trace on. byUs reports that the library itself has chosen the path.
func (p *oauthProvider) beginCall(ctx context.Context, s *setup, what, method string, to *url.URL, byUs bool, header http.Header) (context.Context, *journal.Step) {
	var carrier http.Header
	ctx, step := s.log.BeginCall(ctx, telemetry.OpProvider, func() *telemetry.Operation {
		carrier = http.Header{}
		op := &telemetry.Operation{Kind: telemetry.OpProvider, Name: method, Action: what, Provider: p.ID, Tenant: s.tenant, Method: method, Carrier: carrier}
		if to != nil && to.Host != "" {
			op.URL = to.Scheme + "://" + to.Host
			if byUs {
				op.Name, op.URL = method+" "+to.EscapedPath(), op.URL+to.EscapedPath()
			}
		}
		return op
	})
	for _, name := range propagated {
		if values := carrier[name]; values != nil {
			header[name] = values
		}
	}
	return ctx, step
}

// countCall counts a fetch of keys, and how far the provider's clock is off.
func (p *oauthProvider) countCall(ctx context.Context, s *setup, c *oauth.Call, began time.Time, header http.Header, err error) {
	if !s.log.Traces() {
		return
	}
	if c.Step == oauth.StepKeys {
		m := telemetry.Measure{Kind: telemetry.KeyFetches, Provider: p.ID, Value: c.Reason}
		if err != nil {
			m.Type = ErrCallbackRoute
		}
		s.log.Count(ctx, m)
	}
	now := s.now()
	if date, bad := http.ParseTime(header.Get("Date")); bad == nil {
		middle := began.Add(now.Sub(began) / 2).Truncate(time.Second) // Date has whole seconds
		s.log.Count(ctx, telemetry.Measure{Kind: telemetry.ClockSkew, Provider: p.ID, N: date.Sub(middle).Milliseconds()})
	}
}

// tracedTransport tells of the calls that the application's own code makes.
type tracedTransport struct {
	base http.RoundTripper
	of   *oauthProvider
}

// RoundTrip implements [http.RoundTripper].
func (t tracedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	ctx, step := t.of.beginCall(r.Context(), t.of.setup, "profile", methodOf(r.Method), r.URL, false, r.Header)
	res, err := t.base.RoundTrip(r.WithContext(ctx))
	status := 0
	if res != nil {
		status = res.StatusCode
	}
	step.EndWith(telemetry.OperationResult{Status: status}, err, "host", r.URL.Host, "status", status)
	return res, err
}

// methodOf returns the method for the name of a span.
func methodOf(method string) string {
	if method = strings.ToUpper(method); slices.Contains(tracedMethods, method) {
		return method
	}
	return "_OTHER"
}
