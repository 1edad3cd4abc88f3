package journal

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// O-001: without a tracer a step and a count cost no allocation and change no context.
func TestStepsCostNothing(t *testing.T) {
	ctx := context.Background()
	l := New(slog.New(slog.DiscardHandler), time.Now, Rules{})
	for name, log := range map[string]*Logger{"no logger": nil, "quiet": l} {
		got := testing.AllocsPerRun(100, func() {
			own, step := log.Begin(ctx, telemetry.OpStore, "GetUser", "memory")
			if own != ctx || step != nil {
				t.Fatal(name, "begins a step")
			}
			step.End(nil)
			log.Count(ctx, telemetry.Measure{Kind: telemetry.SignIns})
		})
		if got != 0 {
			t.Errorf("O-001: %s: %v allocations", name, got)
		}
	}
}

// a clock that is right is counted as it is, and a count without a number as one.
func TestCountOfNothing(t *testing.T) {
	of := &counting{}
	l := New(slog.New(slog.DiscardHandler), time.Now, Rules{})
	l.Trace(of)
	for kind, want := range map[telemetry.MeasureKind]int64{telemetry.ClockSkew: 0, telemetry.SignIns: 1} {
		if l.Count(t.Context(), telemetry.Measure{Kind: kind}); of.last.N != want {
			t.Errorf("%s: N is %d, want %d", kind, of.last.N, want)
		}
	}
}

type counting struct {
	begun, ended, counted int
	last                  telemetry.Measure
}

func (c *counting) Begin(ctx context.Context, _ telemetry.Operation) (context.Context, telemetry.Span) {
	c.begun++
	return ctx, c
}

func (c *counting) Count(_ context.Context, m telemetry.Measure) { c.counted, c.last = c.counted+1, m }
func (c *counting) End(telemetry.OperationResult)                { c.ended++ }

// O-002: a tracer that was slow rests for a minute; what it has begun is still ended.
func TestSlowTracerRests(t *testing.T) {
	lines := 0
	of, now := &counting{}, time.Unix(1000, 0)
	l := New(slog.New(slog.DiscardHandler), time.Now, Rules{Outcome: func(error) string { return "ok" }})
	l.Trace(of)
	l.tracer.now = func() time.Time { return now }
	l.tracer.warn = func(string) { lines++ }
	ctx := context.Background()
	_, early := l.Begin(ctx, telemetry.OpStore, "a", "")
	if l.tracer.settle(now.Add(-slowTracer), nil) {
		t.Fatal("a slow call counts as a panic")
	}
	for range 10 {
		_, step := l.Begin(ctx, telemetry.OpStore, "b", "")
		step.End(errors.New("x"))
		l.Count(ctx, telemetry.Measure{})
	}
	early.End(nil)
	if of.begun != 1 || of.ended != 1 || of.counted != 0 || lines != 1 {
		t.Errorf("O-002: %+v, %d lines", *of, lines)
	}
	now = now.Add(restTracer)
	if _, step := l.Begin(ctx, telemetry.OpStore, "c", ""); step == nil || of.begun != 2 {
		t.Error("O-002: the tracer rests for ever")
	}
}

// a second has ten lines of a kind, however many failures it has.
func TestLinesOfASecond(t *testing.T) {
	lines, now := &countingHandler{}, time.Unix(1000, 0)
	l := New(slog.New(lines), func() time.Time { return now }, Rules{
		Level: func(error) slog.Level { return slog.LevelError }, Details: func(error) []Detail { return nil },
	})
	for range 100 {
		l.Error(t.Context(), NoSubject{}, fault.ErrAccessDenied)
	}
	l.Error(t.Context(), NoSubject{}, fault.ErrVerification)
	if lines.n != linesPerSecond+1 {
		t.Errorf("R-224: %d lines in a second", lines.n)
	}
	now = now.Add(time.Second)
	if l.Error(t.Context(), NoSubject{}, fault.ErrAccessDenied); lines.n != linesPerSecond+2 {
		t.Error("R-224: the next second has no line")
	}
}

type countingHandler struct {
	slog.Handler
	n int
}

func (*countingHandler) Enabled(context.Context, slog.Level) bool    { return true }
func (h *countingHandler) Handle(context.Context, slog.Record) error { h.n++; return nil }
