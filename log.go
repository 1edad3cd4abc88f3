package latchkey

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/redact"
)

// journal writes the log. Nothing that could be used to sign in is ever handed
// to it on purpose; what an application's own errors may carry is redacted. The
// context goes along, for handlers that add trace ids.
type journal struct {
	out *slog.Logger
	now func() time.Time

	mu     sync.Mutex
	second int64
	lines  map[ErrorType]int // written in this second
}

const (
	linesPerSecond = 10 // of one kind: an attacker must not fill the disk
	longestText    = 1 << 10
	longestStack   = 16 << 10
	longestSaid    = 256
)

// subject is what a line is about, beside the error: mostly a request.
type subject interface {
	logAttrs() []any
	secrets() []string // what may not be repeated
}

// noSubject is for work without a request.
type noSubject struct{}

func (noSubject) logAttrs() []any   { return nil }
func (noSubject) secrets() []string { return nil }

func newJournal(r Runtime, now func() time.Time) *journal {
	return &journal{out: loggerOf(r), now: now, lines: map[ErrorType]int{}}
}

// loggerOf is where the log goes.
func loggerOf(r Runtime) *slog.Logger {
	switch {
	case r.Logger != nil:
		return r.Logger
	case r.Debug:
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.Default()
}

// warnAtStart tells the operator what a configuration means. There is no
// request.
func (j *journal) warnAtStart(text string, args ...any) {
	j.warn(context.Background(), text, args...)
}

func (j *journal) warn(ctx context.Context, text string, args ...any) {
	j.out.WarnContext(ctx, "latchkey: "+text, args...)
}

// alert tells the operator what has to be mended, outside of any request.
func (j *journal) alert(text string, args ...any) {
	j.out.ErrorContext(context.Background(), "latchkey: "+text, args...)
}

// info is the trail of what succeeded.
func (j *journal) info(ctx context.Context, about subject, text string, args ...any) {
	if j.out.Enabled(ctx, slog.LevelInfo) {
		j.out.InfoContext(ctx, "latchkey: "+text, append(about.logAttrs(), args...)...)
	}
}

func (j *journal) debug(ctx context.Context, about subject, err error) {
	if j.out.Enabled(ctx, slog.LevelDebug) && j.samples("debug: "+typeOf(err)) {
		text := redact.Text(err.Error(), about.secrets(), longestText)
		j.out.DebugContext(ctx, "latchkey: "+string(typeOf(err)), append(about.logAttrs(), "error", text)...)
	}
}

// error writes what failed, for whom, and why.
func (j *journal) error(ctx context.Context, about subject, err error, args ...any) {
	t := typeOf(err)
	if !j.samples(t) {
		return
	}
	args = append(append(about.logAttrs(), "type", string(t), "error", redact.Text(err.Error(), about.secrets(), longestText)), args...)
	if said, ok := errors.AsType[*oauth.ResponseError](err); ok && said.Description != "" {
		args = append(args, "description", redact.Text(said.Description, about.secrets(), longestSaid)) // the provider's own words
	}
	if p, ok := errors.AsType[*panicError](err); ok {
		args = append(args, "stack", redact.Text(string(p.stack), about.secrets(), longestStack))
	}
	level := slog.LevelError
	if t.onSignInPage() || t == ErrAccessDenied || t == ErrVerification || t == ErrUnknownAction {
		level = slog.LevelWarn // somebody's mistake, not the operator's
	}
	j.out.Log(ctx, level, "latchkey: "+string(t), args...)
}

// refused tells of a request that was not even read.
func (j *journal) refused(ctx context.Context, about subject, why error) {
	if j.samples(ErrorType(why.Error())) {
		j.out.WarnContext(ctx, "latchkey: "+why.Error(), about.logAttrs()...)
	}
}

// samples drops lines of a kind that is pouring in.
func (j *journal) samples(t ErrorType) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if second := j.now().Unix(); second != j.second {
		j.second = second
		clear(j.lines)
	}
	j.lines[t]++
	return j.lines[t] <= linesPerSecond
}

// logUnprepared is for errors before there is a configuration to log with.
func logUnprepared(ctx context.Context, err error) {
	slog.Default().ErrorContext(ctx, "latchkey: "+redact.Printable(err.Error(), longestText))
}
