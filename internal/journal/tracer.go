package journal

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/telemetry"
)

const (
	levelOfSteps = slog.LevelDebug

	slowTracer = 250 * time.Millisecond // a call that takes longer holds up requests
	restTracer = time.Minute            // how long a tracer is left alone then
)

// tracer calls the tracer of the application. It leaves that one alone for a minute after
// a call that panicked or took too long, so that requests go on in any case. It measures
// time by the process's own clock.
type tracer struct {
	of   telemetry.Tracer
	warn func(text string)
	now  func() time.Time
	rest atomic.Int64 // until when it is left alone, in Unix nanoseconds; 0: it is not
}

// Trace has l tell t of each step. A nil t changes nothing. Call Trace before l is used.
func (l *Logger) Trace(t telemetry.Tracer) {
	if t != nil {
		l.tracer = &tracer{of: t, now: time.Now, warn: func(text string) { l.Alert(text) }}
	}
}

// rests reports whether the tracer is left alone at the time now.
func (t *tracer) rests(now time.Time) bool {
	until := t.rest.Load()
	return until != 0 && now.UnixNano() < until
}

// begin begins a span and returns it with its context, which is never nil. The span is
// nil, and the context is ctx, if the tracer is left alone or panics.
func (t *tracer) begin(ctx context.Context, op telemetry.Operation) (own context.Context, span telemetry.Span) {
	began := t.now()
	if t.rests(began) {
		return ctx, nil
	}
	defer func() {
		if t.settle(began, recover()) {
			own, span = ctx, nil
		}
		if own == nil {
			own = ctx
		}
	}()
	return t.of.Begin(ctx, op)
}

// count passes m to the tracer and recovers its panic. It drops m while t.rests is true.
func (t *tracer) count(ctx context.Context, m telemetry.Measure) {
	began := t.now()
	if t.rests(began) {
		return
	}
	defer func() { t.settle(began, recover()) }()
	t.of.Count(ctx, m)
}

// end ends a span even while the tracer is left alone, so that a tracer that counts open
// spans stays right. A panic is recovered.
func (t *tracer) end(s telemetry.Span, r telemetry.OperationResult) {
	began := t.now()
	defer func() { t.settle(began, recover()) }()
	s.End(r)
}

// settle leaves the tracer alone for a minute if its call, which began at began, took
// too long or panicked. It warns of that, once in such a minute. recovered is what recover returned.
// settle reports whether the call panicked.
func (t *tracer) settle(began time.Time, recovered any) (panicked bool) {
	now := t.now()
	if recovered == nil && now.Sub(began) < slowTracer {
		return false
	}
	if until := t.rest.Load(); !t.rests(now) && t.rest.CompareAndSwap(until, now.Add(restTracer).UnixNano()) {
		text := "Operations.Tracer took too long and is left alone for a minute: it must not block"
		if recovered != nil {
			text = "Operations.Tracer panicked and is left alone for a minute"
		}
		t.warn(text)
	}
	return recovered != nil
}
