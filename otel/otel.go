package latchkeyotel

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/latchkeyhq/latchkey/telemetry"
)

// Scope is the name of the instrumentation scope of spans and metrics.
const Scope = "github.com/latchkeyhq/latchkey/otel"

// Options say what is told, and where. The zero value uses the global providers, and
// tells nothing personal.
type Options struct {
	TracerProvider trace.TracerProvider          // nil: otel.GetTracerProvider
	MeterProvider  metric.MeterProvider          // nil: otel.GetMeterProvider
	Propagator     propagation.TextMapPropagator // nil: otel.GetTextMapPropagator

	// PublicEndpoint makes the trace context of the caller a link of a new trace, and
	// not its parent, so that visitors cannot force sampling. A span that is in the
	// context of the request already, such as otelhttp's, stays the parent.
	PublicEndpoint bool

	User    User   // what spans say of the user who signed in
	UserKey []byte // of UserHash: at least 16 bytes

	// Propagate reports whether the headers of the trace are sent to a host of a
	// provider. nil: to none.
	Propagate func(host string) bool

	// StandardMetrics reports http.client.request.duration and
	// db.client.operation.duration instead of latchkey.provider.duration and
	// latchkey.store.duration. Use it if neither your transport nor your driver
	// reports them.
	StandardMetrics bool

	// MaxProviders bounds how many providers metrics name; others are "_OTHER". 0: 30;
	// at most 33.
	MaxProviders int

	// Tenants adds the tenant to spans, and the counter latchkey.tenant.sign_ins with at
	// most 100 tenants.
	Tenants bool
}

// User is what spans say of a user. Metrics never name a user.
type User string

// The kinds of User.
const (
	UserNone User = ""     // nothing
	UserHash User = "hash" // user.hash: an HMAC of the id under Options.UserKey
	UserID   User = "id"   // user.id
)

const (
	defaultProviders = 30
	mostProviders    = 33
	shortestKey      = 16
)

// New returns a tracer for latchkey.Operations.Tracer. It returns an error if the
// options make no sense, or if an instrument cannot be made.
func New(o Options) (telemetry.Tracer, error) {
	switch {
	case o.User != UserNone && o.User != UserHash && o.User != UserID:
		return nil, fmt.Errorf("latchkeyotel: Options.User %q is none of UserNone, UserHash, UserID", o.User)
	case o.User == UserHash && len(o.UserKey) < shortestKey:
		return nil, fmt.Errorf("latchkeyotel: Options.UserKey has %d bytes: UserHash needs at least %d", len(o.UserKey), shortestKey)
	case o.MaxProviders < 0 || o.MaxProviders > mostProviders:
		return nil, fmt.Errorf("latchkeyotel: Options.MaxProviders is %d: want 0 to %d", o.MaxProviders, mostProviders)
	}
	if o.MaxProviders == 0 {
		o.MaxProviders = defaultProviders
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.Propagator == nil {
		o.Propagator = otel.GetTextMapPropagator()
	}
	t := &tracer{
		options: o, spans: o.TracerProvider.Tracer(Scope),
		providers: closed{most: o.MaxProviders}, tenants: closed{most: 100}, types: closed{most: 60}, words: closed{most: 250},
	}
	var err error
	t.instruments, err = newInstruments(o.MeterProvider.Meter(Scope), &o)
	if err != nil {
		return nil, errors.Join(errors.New("latchkeyotel: an instrument cannot be made"), err)
	}
	return t, nil
}

// tracer implements [telemetry.Tracer].
type tracer struct {
	options     Options
	spans       trace.Tracer
	instruments *instruments

	providers, tenants, types, words closed // what metrics may name
}

// Begin implements [telemetry.Tracer]. It starts a span, and counts a request as active.
func (t *tracer) Begin(ctx context.Context, op telemetry.Operation) (context.Context, telemetry.Span) {
	s := &span{of: t, op: op, began: now()}
	ctx, s.span = t.start(ctx, &s.op)
	s.ctx = ctx
	switch op.Kind {
	case telemetry.OpRequest:
		t.instruments.active.Add(ctx, 1)
	case telemetry.OpProvider:
		if op.Carrier != nil && t.options.Propagate != nil && t.options.Propagate(hostOf(op.URL)) {
			t.options.Propagator.Inject(ctx, propagation.HeaderCarrier(op.Carrier))
		}
	}
	s.op.Carrier = nil
	return ctx, s
}

// start starts the span of an operation.
func (t *tracer) start(ctx context.Context, op *telemetry.Operation) (context.Context, trace.Span) {
	kind := trace.SpanKindInternal
	options := make([]trace.SpanStartOption, 0, 3)
	switch op.Kind {
	case telemetry.OpProvider:
		kind = trace.SpanKindClient
	case telemetry.OpStore:
		if op.System != "memory" {
			kind = trace.SpanKindClient
		}
	case telemetry.OpRequest:
		if local := trace.SpanContextFromContext(ctx); !local.IsValid() || local.IsRemote() {
			kind = trace.SpanKindServer
			ctx = t.caller(ctx, op.Carrier)
			if t.options.PublicEndpoint {
				options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.LinkFromContext(ctx)))
			}
		}
	}
	ctx, s := t.spans.Start(ctx, nameOf(op), append(options, trace.WithSpanKind(kind))...)
	if s.IsRecording() {
		s.SetAttributes(t.attributesOf(op)...)
	}
	return ctx, s
}

// caller returns ctx with the trace context that a request brought.
func (t *tracer) caller(ctx context.Context, h http.Header) context.Context {
	return t.options.Propagator.Extract(ctx, propagation.HeaderCarrier(h))
}

// nameOf returns the name of a span.
func nameOf(op *telemetry.Operation) string {
	switch op.Kind {
	case telemetry.OpCallback:
		if name, ok := cutPrefix(op.Name, "Events."); ok {
			return "event " + name
		}
		name, _ := cutPrefix(op.Name, "Callbacks.")
		return "callback " + name
	case telemetry.OpMail:
		return "send mail"
	}
	return op.Name
}
