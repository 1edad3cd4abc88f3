package journal

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Step is something that takes time, such as a call of the Adapter. End or EndWith ends
// it, once. Both do nothing for a nil *Step.
type Step struct {
	log       *Logger
	ctx       context.Context
	text      string // of the line; empty: the log is not told
	key, name string
	began     time.Time
	span      telemetry.Span // nil: none
}

// Begin begins a step and returns its context, which has the span of the tracer. The
// caller ends the step. Begin returns ctx and a nil step, which costs nothing, if l is nil,
// or if there is no tracer and the log writes no line for the kind. The log writes lines
// only if debug level is on, and never for OpRequest and OpBackground.
func (l *Logger) Begin(ctx context.Context, kind telemetry.OperationKind, name, system string) (context.Context, *Step) {
	if l == nil || l.tracer == nil && !l.isRead(ctx, kind) {
		return ctx, nil
	}
	return l.begin(ctx, &telemetry.Operation{Kind: kind, Name: name, System: system})
}

// BeginCall does what Begin does, for a call to a provider or a request. It calls
// describe only if it returns a step.
func (l *Logger) BeginCall(ctx context.Context, kind telemetry.OperationKind, describe func() *telemetry.Operation) (context.Context, *Step) {
	if l == nil || l.tracer == nil && !l.isRead(ctx, kind) {
		return ctx, nil
	}
	return l.begin(ctx, describe())
}

// Traces reports whether there is a tracer.
func (l *Logger) Traces() bool { return l != nil && l.tracer != nil }

// Count passes m to the tracer, if there is one. It replaces an N of 0 by 1,
// except for telemetry.ClockSkew, which 0 is a value of.
func (l *Logger) Count(ctx context.Context, m telemetry.Measure) {
	if l == nil || l.tracer == nil {
		return
	}
	if m.N == 0 && m.Kind != telemetry.ClockSkew {
		m.N = 1
	}
	l.tracer.count(ctx, m)
}

// isRead reports whether the log writes a line for a step of the kind.
func (l *Logger) isRead(ctx context.Context, kind telemetry.OperationKind) bool {
	return l.out.Enabled(ctx, levelOfSteps) && kind != telemetry.OpRequest && kind != telemetry.OpBackground
}

// begin returns a step for op, never nil, and the context of its span. The step has the text
// of a log line if isRead is true. It has a span if there is a tracer that does not panic and
// is not left alone (see tracer). Begin and BeginCall call it if there is a tracer or isRead.
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

// End tells the log at debug level, with args, and the tracer how the step ended and how
// long it took. Of err it tells only the outcome that the rules name: the caller logs the
// reason of a failure itself.
func (s *Step) End(err error, args ...any) { s.EndWith(telemetry.OperationResult{}, err, args...) }

// EndWith does what End does, and passes r to the tracer. If r has no Type and the rules call
// err a failure, it sets r.Type and r.Mend. If r has a Type but no Err, it sets Err, too.
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
