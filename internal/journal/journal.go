// Package journal writes the log. The library hands it no secret on purpose; it
// redacts what the application's own errors may carry. Each step that the log tells at
// debug level is told to the tracer, too, if there is one.
package journal

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Logger writes to a [slog.Logger], and tells steps and counts to the tracer. Of Error,
// Debug, Note and Step.End it writes at most ten lines of a kind in a second; Warn,
// WarnAtStart, Alert and Info have no limit. It passes the context on, for handlers that
// add trace ids. A nil *Logger is valid for Begin, BeginCall, Traces and Count alone. It
// is safe for concurrent use.
type Logger struct {
	out    *slog.Logger
	now    func() time.Time
	rules  Rules
	tracer *tracer                   // nil: none
	codes  func(fault.Detail) string // makes reference codes; nil: there are none

	mu     sync.Mutex
	second int64
	lines  map[string]int // written in this second, by kind
}

// Rules are what a Logger asks about an error. Level, Outcome and Details have to be set.
type Rules struct {
	Level   func(err error) slog.Level
	Outcome func(err error) string   // of a step, in a few words
	Details func(err error) []Detail // returns nil if the text of err says all
	Name    func(err error) fault.Detail
	// Fails reports whether err is a failure, and not an answer such as "not found".
	// nil: every error is.
	Fails func(err error) bool
}

// Detail is an attribute of a line about an error. The Logger redacts Value and cuts it
// to Limit bytes.
type Detail struct {
	Key, Value string
	Limit      int
}

const (
	linesPerSecond = 10 // of one kind: an attacker must not fill the disk

	// LongestText is the length in bytes to which the text of an error is cut.
	LongestText = 1 << 10
)

// Subject is what a line is about, beside the error: in most cases a request.
type Subject interface {
	// LogAttrs returns keys and values, as [slog.Logger.Log] takes them.
	LogAttrs() []any
	// Secrets returns the texts that the line must not repeat.
	Secrets() []string
}

// referrer is a Subject that has one reference code, however many failures it meets.
type referrer interface {
	// Refer returns the code. It calls make for the first failure.
	Refer(make func() string) string
}

// factual is a Subject that can say what helps to explain a failure. The facts hold no
// value that a client sent.
type factual interface{ Facts() []any }

// NoSubject is the Subject of work without a request.
type NoSubject struct{}

// LogAttrs returns nil.
func (NoSubject) LogAttrs() []any { return nil }

// Secrets returns nil.
func (NoSubject) Secrets() []string { return nil }

// New returns a Logger that writes to out, without a tracer and without reference codes.
// now is the clock that counts lines and measures steps.
func New(out *slog.Logger, now func() time.Time, rules Rules) *Logger {
	return &Logger{out: out, now: now, rules: rules, lines: map[string]int{}}
}

// Refer has l give each failure a reference code that make returns. Call it before l is
// used: it is not safe for concurrent use.
func (l *Logger) Refer(make func(fault.Detail) string) { l.codes = make }

// referenceOf returns the reference code of a failure with the detail d, or "" if l gives
// none. A subject that is a referrer has one code for all its failures.
func (l *Logger) referenceOf(about Subject, d fault.Detail) string {
	if l.codes == nil {
		return ""
	}
	if one, ok := about.(referrer); ok {
		return one.Refer(func() string { return l.codes(d) })
	}
	return l.codes(d)
}

// WarnAtStart writes at level Warn what a configuration means, outside of any request.
func (l *Logger) WarnAtStart(text string, args ...any) {
	l.Warn(context.Background(), text, args...)
}

// Warn writes text and args at level Warn. It redacts nothing.
func (l *Logger) Warn(ctx context.Context, text string, args ...any) {
	l.out.WarnContext(ctx, "latchkey: "+text, args...)
}

// Alert writes at level Error what the operator has to mend, outside of any request. It
// redacts nothing.
func (l *Logger) Alert(text string, args ...any) {
	l.out.ErrorContext(context.Background(), "latchkey: "+text, args...)
}

// Info writes at level Info what succeeded, with the attributes of about and
// args. It redacts nothing.
func (l *Logger) Info(ctx context.Context, about Subject, text string, args ...any) {
	if l.out.Enabled(ctx, slog.LevelInfo) {
		l.out.InfoContext(ctx, "latchkey: "+text, append(about.LogAttrs(), args...)...)
	}
}

// Debug writes an error that needs no attention at debug level, redacted, with the
// attributes of about, which must not be nil. It drops lines of one type of error that
// come too often.
func (l *Logger) Debug(ctx context.Context, about Subject, err error) {
	kind := string(failure.TypeOf(err))
	if l.out.Enabled(ctx, slog.LevelDebug) && l.samples("debug: "+kind) {
		text := redact.Text(err.Error(), about.Secrets(), LongestText)
		l.out.DebugContext(ctx, "latchkey: "+kind, append(about.LogAttrs(), "error", text)...)
	}
}

// Note writes a decision at debug level, with the attributes of about. It drops a text
// that comes too often. It redacts nothing: text and args must hold no value of a browser.
func (l *Logger) Note(ctx context.Context, about Subject, text string, args ...any) {
	if l.out.Enabled(ctx, slog.LevelDebug) && l.samples("debug: "+text) {
		l.out.DebugContext(ctx, "latchkey: "+text, append(about.LogAttrs(), args...)...)
	}
}

// Error writes what failed, for which subject, and why, at the level of the rules. It
// redacts the texts of err, but not args. Even if the line is one too many and is
// dropped, Error counts the failure for the tracer, and makes the reference code if about
// has none yet. about must not be nil: use NoSubject.
func (l *Logger) Error(ctx context.Context, about Subject, err error, args ...any) {
	kind := string(failure.TypeOf(err))
	detail := l.rules.nameOf(err)
	l.Count(ctx, telemetry.Measure{Kind: telemetry.Failures, Type: failure.TypeOf(err), Value: string(detail)})
	reference := l.referenceOf(about, detail) // also of a line that is dropped: a page may show it
	if !l.samples(kind) {
		return
	}
	secrets := about.Secrets()
	args = append(append(about.LogAttrs(), "type", kind, "error", redact.Text(err.Error(), secrets, LongestText)), args...)
	if reference != "" {
		args = append(args, "reference", reference)
	}
	if detail != "" {
		args = append(args, "detail", string(detail))
	}
	if f, ok := about.(factual); ok {
		args = append(args, slog.Group("facts", f.Facts()...))
	}
	for _, d := range l.rules.Details(err) {
		args = append(args, d.Key, redact.Text(d.Value, secrets, d.Limit))
	}
	l.out.Log(ctx, l.rules.Level(err), "latchkey: "+kind, args...)
}

// nameOf returns the detail of err, or "" if the rules name none.
func (r *Rules) nameOf(err error) fault.Detail {
	if r.Name == nil {
		return ""
	}
	return r.Name(err)
}

// samples counts a line of the kind and reports whether it may be written. It returns
// false for a line beyond linesPerSecond in the same second.
func (l *Logger) samples(kind string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if second := l.now().Unix(); second != l.second {
		l.second = second
		clear(l.lines)
	}
	l.lines[kind]++
	return l.lines[kind] <= linesPerSecond
}
