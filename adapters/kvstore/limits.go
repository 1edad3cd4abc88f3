package kvstore

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// limitValue is the state of a key in the generic cell rate algorithm. Every event fills
// the key by its share of the period, and the key empties with time.
type limitValue struct {
	Empty int64 `json:"empty"` // when it will be empty again, in microseconds since 1970
}

// isWhole implements value. The instant is after 1970.
func (v limitValue) isWhole() bool { return v.Empty > 0 }

// Take implements [storage.Limiter]. Without a [LimitConn] it counts by the clock of
// [Options], so the clocks of several instances should agree. If r.Events or r.Per is
// not positive, there is no limit: Take counts nothing and returns 0.
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

// Return takes back one event that Take has counted: it implements
// [storage.ReturningLimiter]. It does nothing if r.Events or r.Per is not positive.
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

// Forget implements [storage.Limiter]. It returns nil if nothing is counted under key.
func (s *Store) Forget(ctx context.Context, key string) error {
	if s.limits != nil {
		return s.limits.ForgetLimit(ctx, keyOfLimit(key))
	}
	return s.records.remove(ctx, Record{Key: keyOfLimit(key)})
}

// fill reads the instant at which key will be empty, calls change and stores the instant
// that change returns. empty is the instant that was read, or now if that has passed or
// there is none. full is now plus per, the latest instant that is possible. An instant
// after full was written before a clock was set back, and fill treats it as full. If
// change returns false, fill stores nothing, except full in place of such an instant. If
// another call changes the key meanwhile, fill begins again and calls change again.
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
