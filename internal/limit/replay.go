package limit

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// Once lets each value be used one time. It is safe for concurrent use.
type Once struct {
	store  storage.ReplayStore
	tenant string
}

// NewOnce returns what keeps the used values of a tenant in store. An empty
// tenant is a site without tenants.
func NewOnce(store storage.ReplayStore, tenant string) *Once { return &Once{store, tenant} }

// Use records the value until expires and reports whether this was its first use.
// client is the IP address of the client that brought it; empty: unknown.
func (o *Once) Use(ctx context.Context, client, value string, expires time.Time) (first bool, err error) {
	if o.tenant != "" {
		value += "\x00" + o.tenant
	}
	return guarded.ContainResult(func() (bool, error) {
		return o.store.Use(withClient(ctx, clientKey("", client)), secret.Hash(value), expires)
	})
}

// UsedValues is a [storage.ReplayStore] in memory. It never forgets a value that
// has not expired: when it is full, Use returns an error.
type UsedValues struct{ used *cache.Ledger }

var errNoRoom = errors.New("too many sign-ins at one time to remember each: set Limits.Replay to a store with more room")

// NewUsedValues returns an empty store.
func NewUsedValues(now func() time.Time) *UsedValues { return &UsedValues{newLedger(now, false)} }

// Use records key until expires and reports whether this was its first use.
func (u *UsedValues) Use(ctx context.Context, key string, expires time.Time) (first bool, err error) {
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

// SharedReplay is a replay store for all instances of a site. It bounds and names
// the calls of Store.
type SharedReplay struct {
	Store  storage.ReplayStore
	Bounds *guarded.Bounds
}

// Use records key until expires and reports whether this was its first use.
func (r *SharedReplay) Use(ctx context.Context, key string, expires time.Time) (bool, error) {
	return guarded.Call(ctx, r.Bounds, "Limits.Replay: Use", func(ctx context.Context) (bool, error) { return r.Store.Use(ctx, key, expires) })
}
