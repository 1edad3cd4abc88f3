package latchkey

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
)

// MemoryLimiter is a [storage.ReturningLimiter] in this process's memory. It remembers
// 65,536 keys, in 16 MiB at most; where there are more, it forgets what one
// client's flood has brought, and then what would be forgotten soonest anyway.
// Make one with [NewMemoryLimiter].
type MemoryLimiter struct {
	// full says when a key will be empty again, by the generic cell rate
	// algorithm: every event fills it by its share of the period, and it
	// empties with time.
	full *cache.Ledger
}

// NewMemoryLimiter returns an empty limiter. now tells the time; nil: time.Now.
func NewMemoryLimiter(now func() time.Time) *MemoryLimiter {
	if now == nil {
		now = time.Now
	}
	return &MemoryLimiter{newLedger(now, true)}
}

// Take counts one event under key, unless r is reached already; then it says
// how long until the next one fits.
func (l *MemoryLimiter) Take(ctx context.Context, key string, r Rate) (wait time.Duration, err error) {
	if r.Events <= 0 || r.Per <= 0 {
		return 0, nil
	}
	l.full.Update(key, clientIn(ctx), func(full, now time.Time) time.Time {
		next := now
		if !full.IsZero() {
			next = full
		}
		next = next.Add(r.Per / time.Duration(r.Events))
		if wait = max(0, next.Sub(now.Add(r.Per))); wait > 0 {
			return full
		}
		return next
	})
	return wait, nil
}

// Return takes back one event that Take counted under key at rate r.
func (l *MemoryLimiter) Return(ctx context.Context, key string, r Rate) error {
	if r.Events <= 0 || r.Per <= 0 {
		return nil
	}
	l.full.Update(key, clientIn(ctx), func(full, _ time.Time) time.Time {
		if full.IsZero() {
			return full
		}
		return full.Add(-r.Per / time.Duration(r.Events))
	})
	return nil
}

// Forget clears what was counted under key.
func (l *MemoryLimiter) Forget(_ context.Context, key string) error {
	l.full.Delete(key)
	return nil
}
