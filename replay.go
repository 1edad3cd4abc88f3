package latchkey

import (
	"context"
	"sync"
	"time"
)

// usedValues is a ReplayStore in memory: two generations of keys, so that
// dropping the old costs nothing.
type usedValues struct {
	now func() time.Time

	mu       sync.Mutex
	young    map[string]time.Time
	old      map[string]time.Time
	turnedAt time.Time
}

const mostUsed = 100_000

func newUsedValues(now func() time.Time) *usedValues {
	return &usedValues{now: now, young: map[string]time.Time{}}
}

func (u *usedValues) Use(_ context.Context, key string, expires time.Time) (bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	if len(u.young) >= mostUsed || now.Sub(u.turnedAt) > checkMaxAge+time.Minute {
		u.old, u.young, u.turnedAt = u.young, map[string]time.Time{}, now
	}
	if u.young[key].After(now) || u.old[key].After(now) {
		return false, nil
	}
	u.young[key] = expires
	return true, nil
}
