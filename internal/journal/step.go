package journal

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Step is something that takes time, such as a call of the Adapter. A nil *Step
// tells nothing.
type Step struct {
	log       *Logger
	ctx       context.Context
	text      string // of the line; empty: the log is not told
	key, name string
	began     time.Time
	span      telemetry.Span // nil: none
}

// Begin begins a step and returns its context. The step is nil, and costs nothing,
// unless the log is read at debug level or there is a tracer.
func (l *Logger) Begin(ctx context.Context, kind telemetry.OperationKind, name, system string) (context.Context, *Step) {
	if l == nil || l.tracer == nil && !l.isRead(ctx, kind) {
		return ctx, nil
	}
	return l.begin(ctx, &telemetry.Operation{Kind: kind, Name: name, System: system})
}

// BeginCall begins the step of a call to a provider, or of a request, as Begin does.
// describe is called only if the step is told.
func (l *Logger) BeginCall(ctx context.Context, kind telemetry.OperationKind, describe func() *telemetry.Operation) (context.Context, *Step) {
	if l == nil || l.tracer == nil && !l.isRead(ctx, kind) {
		return ctx, nil
	}
	return l.begin(ctx, describe())
}

// Traces reports whether there is a tracer.
func (l *Logger) Traces() bool { return l != nil && l.tracer != nil }

// Count passes m to the tracer, if there is one. An N of 0 stands for 1.
func (l *Logger) Count(ctx context.Context, m telemetry.Measure) {
	if l == nil || l.tracer == nil {
		return
	}
	if m.N == 0 {
		m.N = 1
	}
	l.tracer.count(ctx, m)
}

// isRead reports whether the log writes a line for a step of the kind.
func (l *Logger) isRead(ctx context.Context, kind telemetry.OperationKind) bool {
	return l.out.Enabled(ctx, levelOfSteps) && kind != telemetry.OpRequest && kind != telemetry.OpBackground
}

// begin returns the step of op, which is never nil: with the text of a line if the log
// is read, and with a span if there is a tracer. Its callers have found that there is
// at least one of the two.
func (l *Logger) begin(ctx context.Context, op *telemetry.Operation) (context.Context, *Step) {
	s := &Step{log: l, ctx: ctx, name: op.Name, began: l.now()}
	if l.isRead(ctx, op.Kind) {
		switch op.Kind {
		case telemetry.OpStore:
			s.text, s.key = "adapter", "operation"
		case telemetry.OpProvider:
			s.text, s.key, s.name = "call to "+op.Provider, "step", op.Action
		default:
			s.text, s.key = "callback", "name"
		}
	}
	if l.tracer != nil {
		ctx, s.span = l.tracer.begin(ctx, *op)
	}
	return ctx, s
}

// End tells the outcome and the time that the step took. The caller of the step
// logs the reason of a failure.
func (s *Step) End(err error, args ...any) { s.EndWith(telemetry.OperationResult{}, err, args...) }

// EndWith does what End does, for a step with a result.
func (s *Step) EndWith(r telemetry.OperationResult, err error, args ...any) {
	if s == nil {
		return
	}
	outcome := s.log.rules.Outcome(err)
	if s.text != "" && s.log.samples("debug: "+s.text+s.name) {
		args = append([]any{s.key, s.name, "outcome", outcome, "took", s.log.now().Sub(s.began)}, args...)
		s.log.out.DebugContext(s.ctx, "latchkey: "+s.text, args...)
	}
	if s.span == nil {
		return
	}
	if err != nil && r.Type == "" && (s.log.rules.Fails == nil || s.log.rules.Fails(err)) {
		r.Type, r.Mend = failure.TypeOf(err), true
	}
	if r.Type != "" && r.Err == nil { // the text of err may repeat what people typed
		r.Err = &failure.Redacted{Text: outcome, Cause: err}
	}
	s.log.tracer.end(s.span, r)
}
