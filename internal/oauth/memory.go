package oauth

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
)

// recall caches one document that the provider publishes. Concurrent callers
// share one request. The request belongs to none of them: a caller that is
// cancelled does not cancel it for the others.
//
// A recall belongs to no client. Each call names the client that makes the
// request, and the recall does not keep it.
type recall[T any] struct {
	fetch func(by *Client, ctx context.Context) (value T, lifetime time.Duration, err error)
	stale func(by *Client, s StaleAnswer) // called whenever a failure leaves an older value in use; nil: not called
	rules Cache
	last  *cache.Cache[struct{}, *memory[T]] // has one entry
}

// newRecall returns a recall that has nothing cached yet and calls fetch for the
// document.
func newRecall[T any](rules Cache, fetch func(*Client, context.Context) (T, time.Duration, error)) *recall[T] {
	return &recall[T]{fetch: fetch, rules: rules, last: cache.New[struct{}, *memory[T]](cache.Rules{Detached: true})}
}

// memory is the outcome of a request, with the value of an earlier one if it
// failed. It never changes once stored.
type memory[T any] struct {
	value T
	known bool      // value is there; it may be from before a failure
	until time.Time // value is current
	since time.Time // value was fetched
	end   time.Time // value is not used any more, whatever fails; zero: there is no such time
	asked time.Time // when the last request ended, however it ended

	err   error     // of the last request, if it failed
	retry time.Time // no further request before this
	pause time.Duration
}

// usable reports whether value may still be used, current or not.
func (m *memory[T]) usable(now time.Time) bool {
	return m.known && (m.end.IsZero() || now.Before(m.end))
}

// failure returns nil if there is a usable value, and otherwise the error of the last
// request.
func (m *memory[T]) failure(now time.Time) error {
	if m.usable(now) {
		return nil
	}
	return m.err
}

// get returns the cached outcome if its value is current, and otherwise makes a request
// as the client by. If seen is not nil, get wants another outcome than seen. If
// FailurePause forbids a request, it returns the cached outcome in any case. fresh
// reports whether a request was made, by this call or by one that it waited for. Without
// a usable value get returns the error of the last request, beside m. If ctx ends, get
// returns its error, and m is nil.
func (r *recall[T]) get(ctx context.Context, by *Client, seen *memory[T]) (m *memory[T], fresh bool, err error) {
	now := by.config.Time
	if m := r.known(); r.serves(m, seen, now()) {
		return m, false, m.failure(now())
	}
	m, err = r.refresh(ctx, by, seen)
	if err != nil {
		return nil, false, transportError(err)
	}
	return m, true, m.failure(now())
}

// known returns the outcome of the last request, or nil if there was none.
func (r *recall[T]) known() *memory[T] {
	m, _ := r.last.Get(struct{}{})
	return m
}

// serves reports whether m answers a call without a request: its value is current and m
// is not the outcome seen, or it is too early to ask again. m may be nil.
func (r *recall[T]) serves(m, seen *memory[T], now time.Time) bool {
	if m == nil {
		return false
	}
	current := m.known && m != seen && now.Before(m.until)
	return current || now.Before(m.retry)
}

// refresh returns the outcome of a new request, or of the one that is under way. It makes
// no request if the cached outcome serves by now; seen is as for get. A failed request is
// an outcome, too: the error of refresh is that of ctx.
func (r *recall[T]) refresh(ctx context.Context, by *Client, seen *memory[T]) (*memory[T], error) {
	return r.last.Refresh(ctx, struct{}{}, func(ctx context.Context) (*memory[T], string, error) {
		return r.renew(ctx, by, seen), "", nil
	})
}

// renew makes a request and returns its outcome, which may be a failure. It returns the
// cached outcome instead if another request has brought one that serves since the caller
// looked. It calls r.stale if a failure leaves an older value in use.
func (r *recall[T]) renew(ctx context.Context, by *Client, seen *memory[T]) *memory[T] {
	last := r.known()
	if r.serves(last, seen, by.config.Time()) {
		return last // another flight landed between the look and this one
	}
	value, lifetime, err := r.fetchSafely(ctx, by)
	now := by.config.Time()
	if err != nil {
		next := r.afterFailure(last, now, err)
		if next.known && r.stale != nil {
			r.stale(by, StaleAnswer{Since: next.since, End: next.end, Err: err})
		}
		return next
	}
	lifetime = min(max(lifetime, r.rules.MinAge), r.rules.MaxAge)
	next := &memory[T]{value: value, known: true, until: now.Add(lifetime), since: now, asked: now}
	if r.rules.MaxStale > 0 {
		next.end = now.Add(max(r.rules.MaxStale, lifetime))
	}
	return next
}

// afterFailure returns the outcome of a request that failed with err. It keeps the value
// of last, the outcome before, if that is usable and MaxAge is not 0. The pause before
// the next request doubles, up to MaxFailurePause, and is longer if the answer asks for
// that. last may be nil.
func (r *recall[T]) afterFailure(last *memory[T], now time.Time, err error) *memory[T] {
	next := &memory[T]{asked: now, err: err, pause: r.rules.FailurePause}
	if last != nil {
		next.pause = min(max(2*last.pause, r.rules.FailurePause), r.rules.MaxFailurePause)
		if r.rules.MaxAge > 0 && last.usable(now) {
			next.value, next.known, next.until, next.since, next.end = last.value, true, last.until, last.since, last.end
		}
	}
	next.retry = now.Add(max(next.pause, min(WaitOf(err), r.rules.MaxRetryAfter)))
	return next
}

// WaitOf returns how long the answer behind err asks the client to wait, by its header
// Retry-After (RFC 9110 section 10.2.3). It returns 0 if the answer has no such header,
// and for errors of the userinfo endpoint, which do not keep it.
func WaitOf(err error) time.Duration {
	if failed, ok := errors.AsType[*StepError](err); ok {
		return failed.wait
	}
	if said, ok := errors.AsType[*ResponseError](err); ok {
		return said.wait
	}
	return 0
}

// askedToWait returns the wait that the header Retry-After asks for, counted from now
// (RFC 9110 section 10.2.3). It returns 0 if the header is absent, malformed or a time
// in the past.
func askedToWait(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// fetchSafely calls fetch and returns a panic as an error. The request runs in a
// goroutine of its own, where a panic in a transport would end the process.
func (r *recall[T]) fetchSafely(ctx context.Context, by *Client) (value T, lifetime time.Duration, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("oauth: the transport panicked")
		}
	}()
	return r.fetch(by, ctx)
}

// unstatedLifetime is for answers that do not say how long they are good.
const unstatedLifetime = time.Hour

// lifetime returns how long an answer may be kept from now on (RFC 9111 section 4.2.1).
// It returns 0 for an answer that must not be kept, and unstatedLifetime if none is
// stated.
func lifetime(h http.Header, now time.Time) time.Duration {
	stated := time.Duration(-1)
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err == nil {
				stated = time.Duration(seconds) * time.Second
			}
		}
	}
	if stated >= 0 {
		return stated
	}
	if expires, err := http.ParseTime(h.Get("Expires")); err == nil {
		return max(0, expires.Sub(now))
	}
	return unstatedLifetime
}
