package latchkey

import (
	"context"
	"errors"
	"sync"
	"time"
)

// usedValues is a ReplayStore in memory. A value that is still needed is never
// forgotten: where there is no room for another, the check refuses.
type usedValues struct {
	now func() time.Time

	mu   sync.Mutex
	used *ledger
}

// errNoRoom: more sign-ins were completed at one time than are remembered.
var errNoRoom = errors.New("too many sign-ins at one time to remember each: set Limits.Replay to a store with more room")

func newUsedValues(now func() time.Time) *usedValues {
	return &usedValues{now: now, used: newLedger()}
}

func (u *usedValues) Use(ctx context.Context, key string, expires time.Time) (bool, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	u.used.dropPassed(now)
	hash, owner := u.used.hash(key), u.used.owner(ctx)
	if _, known := u.used.until(hash, now); known {
		return false, nil
	}
	if u.used.crowds(owner) || !u.used.put(hash, owner, expires) {
		return false, errNoRoom
	}
	return true, nil
}
