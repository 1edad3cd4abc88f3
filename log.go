package latchkey

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/internal/weburl"
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

	saidLarge, saidHuge atomic.Bool // see warnOfSize
}

const (
	// largeSession is what with the other headers fills the 4 KiB into which
	// nginx reads the head of an answer, unless proxy_buffer_size says otherwise.
	largeSession = 3500
	// hugeSession is what with the names of its pieces fills the 8 KiB that a
	// line of a request may have there, unless large_client_header_buffers says
	// otherwise.
	hugeSession = 7500
)

// warnOfSize says once of either size what a session of that many bytes runs
// into.
func (j *journal) warnOfSize(ctx context.Context, about subject, size int) {
	switch {
	case size <= largeSession:
	case size > hugeSession && j.saidHuge.CompareAndSwap(false, true):
		j.warn(ctx, "a session is so large that nginx answers 400 to its cookies, unless large_client_header_buffers allows more: put less into Callbacks.Token, or store sessions",
			append(about.logAttrs(), "bytes", size)...)
	case size <= hugeSession && j.saidLarge.CompareAndSwap(false, true):
		j.warn(ctx, "a session is so large that nginx answers 502 instead of setting its cookies, unless proxy_buffer_size allows more: put less into Callbacks.Token, or store sessions",
			append(about.logAttrs(), "bytes", size)...)
	}
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
	if j.out.Enabled(ctx, slog.LevelDebug) && j.samples("debug: "+failure.TypeOf(err)) {
		text := redact.Text(err.Error(), about.secrets(), longestText)
		j.out.DebugContext(ctx, "latchkey: "+string(failure.TypeOf(err)), append(about.logAttrs(), "error", text)...)
	}
}

// note is a word at debug level on what has just been decided. It never
// holds a value that a browser brought.
func (j *journal) note(ctx context.Context, about subject, text string, args ...any) {
	if j.out.Enabled(ctx, slog.LevelDebug) && j.samples("debug: "+ErrorType(text)) {
		j.out.DebugContext(ctx, "latchkey: "+text, append(about.logAttrs(), args...)...)
	}
}

// step is something that takes time, such as a call of the Adapter, for the log
// at debug level. nil: nobody reads that.
type step struct {
	log       *journal
	ctx       context.Context
	text      string
	key, name string
	began     time.Time
}

// step begins one. It costs nothing where nobody reads it.
func (j *journal) step(ctx context.Context, text, key, name string) *step {
	if j == nil || !j.out.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	return &step{j, ctx, text, key, name, j.now()}
}

// end says how it went and how long it took; why it failed is logged by whoever
// gets the error.
func (s *step) end(err error, args ...any) {
	if s == nil || !s.log.samples("debug: "+ErrorType(s.text+s.name)) {
		return
	}
	args = append([]any{s.key, s.name, "outcome", outcomeOf(err), "took", s.log.now().Sub(s.began)}, args...)
	s.log.out.DebugContext(s.ctx, "latchkey: "+s.text, args...)
}

func outcomeOf(err error) string {
	_, elsewhere := errors.AsType[*redirect](err)
	_, own := errors.AsType[*ownResponse](err)
	switch {
	case err == nil:
		return "ok"
	case elsewhere:
		return "redirect"
	case own:
		return "answer of its own"
	case errors.Is(err, ErrNotFound):
		return "not found"
	case errors.Is(err, ErrConflict):
		return "conflict"
	case failure.IsTyped(err):
		return string(failure.TypeOf(err))
	}
	return "failed"
}

// error writes what failed, for whom, and why.
func (j *journal) error(ctx context.Context, about subject, err error, args ...any) {
	t := failure.TypeOf(err)
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
	j.out.Log(ctx, levelOf(err), "latchkey: "+string(t), args...)
}

// levelOf is Error for what an operator has to mend, and less for what visitors
// and strangers get wrong.
func levelOf(err error) slog.Level {
	if errors.Is(err, errBadRequest) || errors.Is(err, ErrBodyTooLarge) {
		return slog.LevelInfo
	}
	if _, ok := errors.AsType[*panicError](err); ok {
		return slog.LevelError
	}
	if _, ok := errors.AsType[*unusable](err); ok {
		return slog.LevelWarn
	}
	if _, ok := errors.AsType[*failure.Mistake](err); ok || errors.Is(err, errBadHost) || errors.Is(err, weburl.ErrInvalid) || errors.Is(err, context.Canceled) {
		return slog.LevelWarn
	}
	if failed, ok := errors.AsType[*oauth.StepError](err); ok && failed.Step == oauth.StepAuthorization {
		return slog.LevelWarn // the browser brought something that makes no sense
	}
	if said, ok := errors.AsType[*oauth.ResponseError](err); ok && slices.Contains(operatorCodes, said.Code) {
		return slog.LevelError
	}
	switch t := failure.TypeOf(err); {
	case isForSignInPage(t), t == ErrAccessDenied, t == ErrVerification, t == ErrUnknownAction, t == ErrInvalidCheck:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// operatorCodes are refusals of a provider that no visitor can mend (RFC 6749,
// section 4.1.2.1).
var operatorCodes = []string{"invalid_request", "invalid_scope", "unauthorized_client", "unsupported_response_type"}

// logFailure is for what went wrong on the way of a request; nil: before there
// was one to speak of.
func logFailure(ctx context.Context, x *exchange, err error) {
	if x == nil {
		logUnprepared(ctx, err)
		return
	}
	x.setup.log.error(ctx, x, err)
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

// logUnread is for requests whose session could not even be looked for.
func logUnread(ctx context.Context, s *setup, err error) {
	if s == nil {
		logUnprepared(ctx, err)
		return
	}
	s.log.error(ctx, noSubject{}, err)
}

// logUnprepared is for errors before there is a configuration to log with.
func logUnprepared(ctx context.Context, err error) {
	slog.Default().ErrorContext(ctx, "latchkey: "+redact.Printable(err.Error(), longestText))
}
