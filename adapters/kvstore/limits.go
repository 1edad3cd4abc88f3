package kvstore

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// limitValue is the generic cell rate algorithm: every event fills a key by its
// share of the period, and the key empties with time.
type limitValue struct {
	Empty int64 `json:"empty"` // when it will be empty again, in microseconds since 1970
}

func (v limitValue) isWhole() bool { return v.Empty > 0 }

// Take implements [storage.Limiter]. Without a [LimitConn] the clock is that of
// [Options], so those of several instances should agree.
func (s *Store) Take(ctx context.Context, key string, r storage.Rate) (wait time.Duration, err error) {
	if r.Events <= 0 || r.Per <= 0 {
		return 0, ctx.Err()
	}
	if s.limits != nil {
		return s.limits.TakeLimit(ctx, keyOfLimit(key), r)
	}
	err = s.fill(ctx, key, r.Per, func(_, empty, full time.Time) (time.Time, bool) {
		next := empty.Add(r.Per / time.Duration(r.Events))
		wait = max(0, next.Sub(full))
		return next, wait == 0
	})
	return wait, err
}

// Return implements [storage.ReturningLimiter].
func (s *Store) Return(ctx context.Context, key string, r storage.Rate) error {
	if r.Events <= 0 || r.Per <= 0 {
		return ctx.Err()
	}
	if s.limits != nil {
		return s.limits.ReturnLimit(ctx, keyOfLimit(key), r)
	}
	return s.fill(ctx, key, r.Per, func(now, empty, _ time.Time) (time.Time, bool) {
		return empty.Add(-r.Per / time.Duration(r.Events)), empty.After(now)
	})
}

// Forget implements [storage.Limiter].
func (s *Store) Forget(ctx context.Context, key string) error {
	if s.limits != nil {
		return s.limits.ForgetLimit(ctx, keyOfLimit(key))
	}
	return s.records.remove(ctx, Record{Key: keyOfLimit(key)})
}

// fill replaces the instant at which a key will be empty by what change returns, and
// calls change again if another call was faster. full is now plus per, the latest
// instant there can be: a later one was written before a clock was set back, and counts
// as full. If change returns false, fill writes nothing, unless it had to correct such
// an instant.
func (s *Store) fill(ctx context.Context, key string, per time.Duration, change func(now, empty, full time.Time) (time.Time, bool)) error {
	for try := 0; ; try++ {
		seen, err := s.records.look(ctx, keyOfLimit(key))
		if err != nil {
			return err
		}
		now := s.records.now()
		empty, full, ahead := now, now.Add(per), false
		if seen.isAlive() {
			v, err := decode[limitValue](&seen)
			if err != nil {
				return err
			}
			if at := time.UnixMicro(v.Empty); at.After(now) {
				empty = at
			}
			if ahead = empty.Sub(full) > time.Microsecond; ahead {
				empty = full
			}
		}
		next, changed := change(now, empty, full)
		if !changed {
			if !ahead {
				return nil
			}
			next = full
		}
		_, err = s.records.write(ctx, seen, limitValue{max(1, next.UnixMicro())}, next)
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}
