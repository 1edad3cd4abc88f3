package latchkey

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/storage"
)

// fallbackLimiter counts for all instances, and while it cannot, for this process
// alone: limits stay, times the number of instances. It is a [storage.ReturningLimiter]
// as far as the shared one is.
type fallbackLimiter struct {
	limiter storage.Limiter
	here    *MemoryLimiter
	bounds  *store // what bounds calls of the Adapter bounds these too
	now     func() time.Time
	told    atomic.Int64 // when a failure was last logged, in Unix seconds; 0: never
	hung    atomic.Int64 // when it last did not answer in time; 0: never
}

const (
	quiet = time.Minute     // a limiter that goes on failing is not spoken of again
	rest  = 5 * time.Second // one that does not answer in time is not asked again
)

// shared asks the limiter that counts for all, unless it rests.
func (l *fallbackLimiter) shared(ctx context.Context, operation string, ask func(context.Context) (time.Duration, error)) (time.Duration, error) {
	now := l.now().Unix()
	if hung := l.hung.Load(); hung != 0 && now-hung < int64(rest/time.Second) {
		return 0, errResting
	}
	wait, err := call(ctx, l.bounds, operation, ask)
	if errors.Is(err, context.DeadlineExceeded) {
		l.hung.Store(now)
	}
	return wait, err
}

var errResting = failure.Wrap(ErrAdapter, errors.New("the limiter did not answer in time a moment ago"))

func (l *fallbackLimiter) Take(ctx context.Context, key string, r Rate) (time.Duration, error) {
	wait, err := l.shared(ctx, "Limits.Limiter: Take", func(ctx context.Context) (time.Duration, error) {
		return l.limiter.Take(ctx, key, r)
	})
	if err == nil || ctx.Err() != nil {
		return wait, err
	}
	l.tell(ctx, err)
	return l.here.Take(ctx, key, r)
}

func (l *fallbackLimiter) Forget(ctx context.Context, key string) error {
	return l.orHere(ctx, "Limits.Limiter: Forget",
		func(ctx context.Context) error { return l.limiter.Forget(ctx, key) },
		func(ctx context.Context) error { return l.here.Forget(ctx, key) })
}

func (l *fallbackLimiter) Return(ctx context.Context, key string, r Rate) error {
	able, ok := l.limiter.(storage.ReturningLimiter)
	if !ok {
		return nil
	}
	return l.orHere(ctx, "Limits.Limiter: Return",
		func(ctx context.Context) error { return able.Return(ctx, key, r) },
		func(ctx context.Context) error { return l.here.Return(ctx, key, r) })
}

func (l *fallbackLimiter) orHere(ctx context.Context, operation string, shared, here func(context.Context) error) error {
	_, err := l.shared(ctx, operation, func(ctx context.Context) (time.Duration, error) { return 0, shared(ctx) })
	if err == nil || ctx.Err() != nil {
		return err
	}
	l.tell(ctx, err)
	return here(ctx)
}

// tell logs a failure, at most once a minute.
func (l *fallbackLimiter) tell(ctx context.Context, err error) {
	now, told := l.now().Unix(), l.told.Load()
	if told != 0 && now-told < int64(quiet/time.Second) || !l.told.CompareAndSwap(told, now) {
		return
	}
	l.bounds.log.Error(ctx, journal.NoSubject{}, err, "alert", true, "meanwhile", "tries and mails are counted by each instance for itself")
}

// boundedReplay is a ReplayStore of somebody else's, whose calls have a deadline
// and a name.
type boundedReplay struct {
	store  storage.ReplayStore
	bounds *store
}

func (r *boundedReplay) Use(ctx context.Context, key string, expires time.Time) (bool, error) {
	return call(ctx, r.bounds, "Limits.Replay: Use", func(ctx context.Context) (bool, error) { return r.store.Use(ctx, key, expires) })
}
