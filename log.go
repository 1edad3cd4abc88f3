package latchkey

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/redact"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// logRules are what the log asks about the errors of requests.
var logRules = journal.Rules{Level: levelOf, Outcome: outcomeOf, Details: detailsOf, Fails: isFailure, Name: explain.DetailOf}

// loggerOf returns Logger of a configuration. If that is nil, it returns a logger that
// writes text of all levels to os.Stderr with Debug, and slog.Default otherwise.
func loggerOf(r *Runtime) *slog.Logger {
	switch {
	case r.Logger != nil:
		return r.Logger
	case r.Debug:
		return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return slog.Default()
}

// sizeWarnings remember which warnings about large sessions were written.
type sizeWarnings struct{ large, huge atomic.Bool }

const (
	// largeSession fills, with the other headers, the 4 KiB into which nginx reads
	// the head of an answer, unless proxy_buffer_size says otherwise.
	largeSession = 3500
	// hugeSession fills, with the names of its pieces, the 8 KiB that a line of a
	// request may have in nginx, unless large_client_header_buffers says otherwise.
	hugeSession = 7500
)

// warn logs a warning for the first session that is larger than hugeSession, and another one
// for the first that is larger than largeSession alone. size is in bytes.
func (w *sizeWarnings) warn(ctx context.Context, log *journal.Logger, about journal.Subject, size int) {
	switch {
	case size <= largeSession:
	case size > hugeSession && w.huge.CompareAndSwap(false, true):
		log.Warn(ctx, "a session is so large that nginx answers 400 to its cookies, unless large_client_header_buffers allows more: put less into Callbacks.Token, or store sessions",
			append(about.LogAttrs(), "bytes", size)...)
	case size <= hugeSession && w.large.CompareAndSwap(false, true):
		log.Warn(ctx, "a session is so large that nginx answers 502 instead of setting its cookies, unless proxy_buffer_size and the buffers beside it allow more, such as 16k, 8 16k and 32k: raise them, put less into Callbacks.Token, or store sessions",
			append(about.LogAttrs(), "bytes", size)...)
	}
}

// outcomeOf returns a word for how a step ended.
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

// isFailure reports whether an error of a step is a failure. A record that is not found,
// a conflict, and a redirect or response of the application are results, and no failures.
// err is not nil.
func isFailure(err error) bool {
	return !isSteering(err) && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrConflict)
}

const (
	longestStack = 16 << 10
	longestSaid  = 256
)

// detailsOf returns what the log says of err besides its text: the provider's description
// of a refusal, and the stack of a panic. It returns nil if err has neither.
func detailsOf(err error) (details []journal.Detail) {
	if said, ok := errors.AsType[*oauth.ResponseError](err); ok && said.Description != "" {
		details = append(details, journal.Detail{Key: "description", Value: said.Description, Limit: longestSaid})
	}
	if p, ok := errors.AsType[*guarded.Panic](err); ok {
		details = append(details, journal.Detail{Key: "stack", Value: string(p.Stack), Limit: longestStack})
	}
	return details
}

// levelOf returns Error for what an operator has to mend, and less for what
// visitors and attackers cause.
func levelOf(err error) slog.Level {
	if errors.Is(err, errBadRequest) || errors.Is(err, ErrBodyTooLarge) {
		return slog.LevelInfo
	}
	if _, ok := errors.AsType[*unknownTenant](err); ok {
		return slog.LevelInfo
	}
	if _, ok := errors.AsType[*guarded.Panic](err); ok {
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
	if text, known := explain.Find(explain.DetailOf(err)); known && text.Party == explain.Visitor {
		return slog.LevelWarn // as a code of the provider that is made up or too old
	}
	switch t := failure.TypeOf(err); {
	case isForSignInPage(t), t == ErrAccessDenied, t == ErrVerification, t == ErrUnknownAction, t == ErrInvalidCheck:
		return slog.LevelWarn
	}
	return slog.LevelError
}

// operatorCodes are refusals of a provider that only the operator can mend (RFC
// 6749, section 4.1.2.1).
var operatorCodes = []string{"invalid_request", "invalid_scope", "unauthorized_client", "unsupported_response_type"}

// Facts returns names and values, in turn, that help to explain a failure: the host, how
// many bytes of headers and which of our cookies came, and what was decided.
func (x *exchange) Facts() []any {
	r := x.request
	headers := 0
	for name, values := range r.Header {
		headers += len(name) + len(strings.Join(values, ""))
	}
	facts := []any{"host", redact.Printable(r.Host, 64), "headers", headers, "cookies", strings.Join(x.cookies.Sizes(), " ")}
	for _, f := range [][2]string{{"site", x.setup.trust.origin.Text}, {"origin", x.origin.Text}, {"decisions", strings.Join(x.trail.Decisions, " ")}} {
		if f[1] != "" {
			facts = append(facts, f[0], f[1])
		}
	}
	if r.TLS || x.origin.Secure {
		facts = append(facts, "tls", r.TLS)
	}
	return facts
}

// logFailure logs the error of a request. x is nil if there is no configuration for the
// request.
func logFailure(ctx context.Context, x *exchange, err error) {
	if x == nil {
		logUnprepared(ctx, err)
		return
	}
	x.setup.log.Error(ctx, x, err)
}

// logUnread logs why the session of a request could not be looked for. s is nil if there
// is no configuration for the request.
func logUnread(ctx context.Context, s *setup, err error) {
	if s == nil {
		logUnprepared(ctx, err)
		return
	}
	s.log.Error(ctx, journal.NoSubject{}, err)
}

// logUnprepared logs an error, with slog.Default, before there is a configuration that
// names a logger.
func logUnprepared(ctx context.Context, err error) {
	slog.Default().Log(ctx, levelOf(err), "latchkey: "+redact.Printable(err.Error(), journal.LongestText))
}
