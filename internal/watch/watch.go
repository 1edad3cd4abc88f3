// Package watch describes to a tracer what the library does: calls to providers,
// requests, refusals of limits. It costs nothing while there is no tracer.
package watch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/health"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// propagated are the headers that carry a trace from one program to the next.
var propagated = []string{"Traceparent", "Tracestate", "Baggage"}

// methods are those that a span is named by.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}

// Method returns the method for the name of a span: method itself if it is a usual one in
// capitals, and "_OTHER" for any other.
func Method(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "_OTHER"
}

// Carrier returns a copy of those headers in h that carry a trace (Traceparent,
// Tracestate and Baggage). It is never nil.
func Carrier(h http.Header) http.Header {
	carrier := http.Header{}
	copyHeaders(carrier, h)
	return carrier
}

// copyHeaders copies those headers that carry a trace, and replaces them in to.
func copyHeaders(to, from http.Header) {
	for _, name := range propagated {
		if values := from[name]; values != nil {
			to[name] = slices.Clone(values)
		}
	}
}

// Provider tells the tracer and the debug log of the calls to one provider.
type Provider struct {
	ID, Tenant string
	// Opaque reports that a transport of the application's own decides where a call
	// goes: its path is not told then.
	Opaque bool
	Log    *journal.Logger
	Now    func() time.Time
	Health *health.Part // nil: not remembered
}

// Trace begins the step of a call that the library makes. It is for the field Trace of
// [oauth.Config]. It adds the headers of the trace to c.Header. The returned function ends
// the step with the status (0 for no response), the headers of the response and the error,
// and counts for the tracer. It tells p.Health whether the status is from 1 to 499 (the
// provider works), and nothing if the call was canceled.
func (p *Provider) Trace(ctx context.Context, c oauth.Call) (context.Context, func(int, http.Header, error)) {
	began := p.Now()
	endpoint, _ := url.Parse(c.Endpoint)
	ctx, step := p.begin(ctx, string(c.Step), c.Method, endpoint, p.Opaque, c.Header)
	return ctx, func(status int, header http.Header, err error) {
		p.count(ctx, &c, began, header, err)
		if !errors.Is(err, context.Canceled) {
			p.Health.Saw(status != 0 && status < 500)
		}
		host := ""
		if endpoint != nil {
			host = endpoint.Host
		}
		step.EndWith(telemetry.OperationResult{Status: status}, err, "host", host, "status", status)
	}
}

// begin begins the step of a call, and adds the headers of the trace to header. With
// opaque it tells the host of the URL, and not its path.
func (p *Provider) begin(ctx context.Context, what, method string, to *url.URL, opaque bool, header http.Header) (context.Context, *journal.Step) {
	var carrier http.Header
	ctx, step := p.Log.BeginCall(ctx, telemetry.OpProvider, func() *telemetry.Operation {
		carrier = http.Header{}
		op := &telemetry.Operation{Kind: telemetry.OpProvider, Name: method, Action: what, Provider: p.ID, Tenant: p.Tenant, Method: method, Carrier: carrier}
		if to != nil && to.Host != "" {
			op.URL = to.Scheme + "://" + to.Host
			if !opaque {
				op.Name, op.URL = method+" "+to.EscapedPath(), op.URL+to.EscapedPath()
			}
		}
		return op
	})
	copyHeaders(header, carrier)
	return ctx, step
}

// count tells the tracer of a fetch of keys, and of how far the provider's clock is off
// if the response has a Date. It does nothing without a tracer.
func (p *Provider) count(ctx context.Context, c *oauth.Call, began time.Time, header http.Header, err error) {
	if !p.Log.Traces() {
		return
	}
	if c.Step == oauth.StepKeys {
		m := telemetry.Measure{Kind: telemetry.KeyFetches, Provider: p.ID, Value: c.Reason}
		if err != nil {
			m.Type = fault.ErrCallbackRoute
		}
		p.Log.Count(ctx, m)
	}
	if date, bad := http.ParseTime(header.Get("Date")); bad == nil {
		middle := began.Add(p.Now().Sub(began) / 2).Truncate(time.Second) // Date has whole seconds
		p.Log.Count(ctx, telemetry.Measure{Kind: telemetry.ClockSkew, Provider: p.ID, N: date.Sub(middle).Milliseconds()})
	}
}

// Transport returns a transport that tells of the calls that the application's own code
// makes to the provider through base. Without a tracer it returns base, and the debug log
// has no lines about such calls.
func (p *Provider) Transport(base http.RoundTripper) http.RoundTripper {
	if !p.Log.Traces() {
		return base
	}
	return transport{base, p}
}

type transport struct {
	base http.RoundTripper
	of   *Provider
}

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	ctx, step := t.of.begin(r.Context(), "profile", Method(r.Method), r.URL, true, r.Header)
	res, err := t.base.RoundTrip(r.WithContext(ctx))
	status := 0
	if res != nil {
		status = res.StatusCode
	}
	step.EndWith(telemetry.OperationResult{Status: status}, err, "host", r.URL.Host, "status", status)
	return res, err
}

// Refusals returns a function that counts what limits refuse, for the tracer. field names
// the limit in Config.Limits, and shared says that all instances count together. Refusals
// returns nil if log has no tracer.
func Refusals(log *journal.Logger) func(ctx context.Context, field string, shared bool) {
	if !log.Traces() {
		return nil
	}
	return func(ctx context.Context, field string, shared bool) {
		scope := "local"
		if shared {
			scope = "shared"
		}
		log.Count(ctx, telemetry.Measure{Kind: telemetry.LimiterRefusals, Value: field, Provider: scope})
	}
}

// Mail counts a mail of a kind for the tracer, and tells part whether mails go out. A nil
// err means that the mail was sent. log and part may be nil.
func Mail(ctx context.Context, log *journal.Logger, part *health.Part, kind string, err error) {
	part.Saw(err == nil)
	m := telemetry.Measure{Kind: telemetry.Mails, Value: kind}
	if err != nil {
		m.Type = failure.TypeOf(err)
	}
	log.Count(ctx, m)
}

// Trail is what a request leaves for the tracer. It stays empty unless On is set.
type Trail struct {
	On        bool
	UserID    string
	Decisions []string
}

const mostDecisions = 16

// Decided adds a decision if On is set. It drops those after the first mostDecisions.
func (t *Trail) Decided(what string) {
	if t.On && len(t.Decisions) < mostDecisions {
		t.Decisions = append(t.Decisions, what)
	}
}
