package limit

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/storage"
)

// Shared is a limiter for all instances of a site. While it fails, this process counts in
// its own memory: the limits stay, multiplied by the number of instances. An event is
// given back where it was counted, so that a limiter that fails for one call and answers
// the next gives nothing back that it never counted.
type Shared struct {
	limiter storage.Limiter
	local   *Memory
	bounds  *guarded.Bounds
	now     func() time.Time
	told    atomic.Int64 // when a failure was last logged, in Unix seconds; 0: never
	hung    atomic.Int64 // when the limiter last timed out, in Unix seconds; 0: never
}

// NewShared returns a Shared that counts in limiter, and in local while limiter fails.
// bounds has the timeout of each call and the log of failures.
func NewShared(limiter storage.Limiter, local *Memory, bounds *guarded.Bounds, now func() time.Time) *Shared {
	return &Shared{limiter: limiter, local: local, bounds: bounds, now: now}
}

const (
	quiet = time.Minute     // between two log lines on a limiter that goes on failing
	rest  = 5 * time.Second // before a limiter that has timed out is asked again
)

var errResting = failure.Wrap(fault.ErrAdapter, failure.Of(fault.LimitStore, errors.New("the limiter did not answer in time a moment ago")))

// ask calls f, an operation of the shared limiter, within the timeout of l.bounds. For a
// few seconds after that timeout it returns errResting and does not call f. The end of ctx
// is no such timeout: it says nothing about the limiter.
func (l *Shared) ask(ctx context.Context, operation string, f func(context.Context) (time.Duration, error)) (time.Duration, error) {
	now := l.now().Unix()
	if hung := l.hung.Load(); hung != 0 && now-hung < int64(rest/time.Second) {
		return 0, errResting
	}
	wait, err := guarded.Call(ctx, l.bounds, operation, f)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		l.hung.Store(now)
	}
	return wait, err
}

// take counts one event under key, or returns how long to wait if r is reached. here
// reports whether this process has counted, because the shared limiter failed. take then
// logs the failure, and returns no error. It returns an error only if ctx has ended.
func (l *Shared) take(ctx context.Context, key string, r storage.Rate) (here bool, wait time.Duration, err error) {
	wait, err = l.ask(ctx, "Limits.Limiter: Take", func(ctx context.Context) (time.Duration, error) {
		return l.limiter.Take(ctx, key, r)
	})
	if err == nil || ctx.Err() != nil {
		return false, wait, err
	}
	l.tell(ctx, err)
	wait, err = l.local.Take(ctx, key, r)
	return true, wait, err
}

// giveBack takes back one event that the shared limiter has counted. If that limiter is no
// ReturningLimiter, giveBack does nothing. If the limiter fails, giveBack logs the failure,
// and the event stays counted: this process has not counted it, so it takes nothing back
// either. giveBack returns an error only if ctx has ended.
func (l *Shared) giveBack(ctx context.Context, key string, r storage.Rate) error {
	able, ok := l.limiter.(storage.ReturningLimiter)
	if !ok {
		return nil
	}
	_, err := l.ask(ctx, "Limits.Limiter: Return", func(ctx context.Context) (time.Duration, error) {
		return 0, able.Return(ctx, key, r)
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	l.tell(ctx, err)
	return nil
}

// tell logs a failure of the shared limiter as an alert, at most once a minute.
func (l *Shared) tell(ctx context.Context, err error) {
	now, told := l.now().Unix(), l.told.Load()
	if told != 0 && now-told < int64(quiet/time.Second) || !l.told.CompareAndSwap(told, now) {
		return
	}
	l.bounds.Log.Error(ctx, journal.NoSubject{}, err, "alert", true, "meanwhile", "tries and mails are counted by each instance for itself")
}

// count counts an event under b in the shared limiter, or in this process if there is none.
// If b is used up, it counts nothing and returns how long to wait. here reports whether
// this process was asked, which it also is while the shared limiter fails. A panic of a
// limiter becomes an error.
func (l *Limits) count(ctx context.Context, b budget) (here bool, wait time.Duration, err error) {
	err = guarded.Contain(func() error {
		if l.shared == nil {
			here = true
			wait, err = l.here.Take(ctx, b.key, b.rate)
			return err
		}
		here, wait, err = l.shared.take(ctx, b.key, b.rate)
		return err
	})
	return here, wait, err
}

// giveBack takes back one event where it was counted: in this process or in the shared
// limiter. A panic of the limiter becomes an error.
func (l *Limits) giveBack(ctx context.Context, c counted) error {
	return guarded.Contain(func() error {
		if c.here {
			return l.here.Return(ctx, c.key, c.rate)
		}
		return l.shared.giveBack(ctx, c.key, c.rate)
	})
}
