package latchkey

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
)

// usedValues is a ReplayStore in memory. A value that is still needed is never
// forgotten: where there is no room for another, the check refuses.
type usedValues struct{ used *cache.Ledger }

// errNoRoom: more sign-ins were completed at one time than are remembered.
var errNoRoom = errors.New("too many sign-ins at one time to remember each: set Limits.Replay to a store with more room")

func newUsedValues(now func() time.Time) *usedValues {
	return &usedValues{newLedger(now, false)}
}

func (u *usedValues) Use(ctx context.Context, key string, expires time.Time) (first bool, err error) {
	room := u.used.Update(key, clientIn(ctx), func(known, _ time.Time) time.Time {
		if first = known.IsZero(); first {
			return expires
		}
		return known
	})
	if !room {
		return false, errNoRoom
	}
	return first, nil
}
