package latchkey

import (
	"context"
	"sync"
	"time"
)

// MemoryLimiter is a [storage.ReturningLimiter] in this process's memory. It remembers
// 65,536 keys, in 16 MiB at most; where there are more, it forgets what one
// client's flood has brought, and then what would be forgotten soonest anyway.
// Make one with [NewMemoryLimiter].
type MemoryLimiter struct {
	now func() time.Time

	mu sync.Mutex
	// full says when a key will be empty again, by the generic cell rate
	// algorithm: every event fills it by its share of the period, and it
	// empties with time.
	full *ledger
}

// NewMemoryLimiter returns an empty limiter. now tells the time; nil: time.Now.
func NewMemoryLimiter(now func() time.Time) *MemoryLimiter {
	if now == nil {
		now = time.Now
	}
	return &MemoryLimiter{now: now, full: newLedger()}
}

// Take counts one event under key, unless r is reached already; then it says
// how long until the next one fits.
func (l *MemoryLimiter) Take(ctx context.Context, key string, r Rate) (time.Duration, error) {
	if r.Events <= 0 || r.Per <= 0 {
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	hash, each := l.full.hash(key), r.Per/time.Duration(r.Events)
	full, known := l.full.until(hash, now)
	if !known {
		full = now
	}
	if wait := full.Add(each).Sub(now.Add(r.Per)); wait > 0 {
		return wait, nil
	}
	owner := l.full.owner(ctx)
	if !known {
		l.makeRoom(owner, now)
	}
	l.full.put(hash, owner, full.Add(each))
	return 0, nil
}

// makeRoom lets a client that floods push out its own keys, oldest first.
func (l *MemoryLimiter) makeRoom(owner uint32, now time.Time) {
	l.full.dropPassed(now)
	if l.full.crowds(owner) {
		l.full.drop(l.full.shares[owner].first)
	}
	if len(l.full.entries) >= mostEntries {
		l.full.drop(l.full.soonest[0])
	}
}

// Return takes back one event that Take counted under key at rate r.
func (l *MemoryLimiter) Return(_ context.Context, key string, r Rate) error {
	if r.Events <= 0 || r.Per <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	hash := l.full.hash(key)
	if full, known := l.full.until(hash, l.now()); known {
		l.full.put(hash, 0, full.Add(-r.Per/time.Duration(r.Events)))
	}
	return nil
}

// Forget clears what was counted under key.
func (l *MemoryLimiter) Forget(_ context.Context, key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.full.entries[l.full.hash(key)]; e != nil {
		l.full.drop(e)
	}
	return nil
}
