package limit

import (
	"context"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// Once lets each value be used one time. It is safe for concurrent use.
type Once struct {
	store  storage.ReplayStore
	recent *Recent
	keys   *keys.Keys
}

// NewOnce returns a Once that keeps the values of Use in store, under a key for each secret
// of k. It keeps those of MarkSeen in recent, under a key for the secret in use. If recent
// is nil, MarkSeen remembers nothing and returns true.
func NewOnce(store storage.ReplayStore, recent *Recent, k *keys.Keys) *Once {
	return &Once{store: store, recent: recent, keys: k}
}

// MarkSeen records that a client has brought a value, such as the state of a callback, and
// reports whether this process sees it for the first time. It does not use the value up:
// only Use decides whether a value was used. A client can bring any number of values at
// no cost, so MarkSeen keeps them in this process alone, and forgets some when its memory is
// full. The arguments are those of Use.
func (o *Once) MarkSeen(ctx context.Context, client, purpose, value string, expires time.Time) (first bool) {
	return o.recent.markSeen(withClient(ctx, widely(client)), o.keys.Of(keys.UsedValue, purpose, value), expires)
}

// Use records the value until expires and reports whether this was its first use. purpose
// says what the value is for: the same value may be used once for each purpose. client is
// the IP address of the client that brought the value, or empty if it is unknown. Use
// records the value under each secret: while secrets rotate, an instance that knows only
// the older secret has to find it. If the store fails or panics, Use returns false and an
// error. The value may be used up even so.
func (o *Once) Use(ctx context.Context, client, purpose, value string, expires time.Time) (first bool, err error) {
	ctx = withClient(ctx, widely(client))
	for _, key := range o.keys.All(keys.UsedValue, purpose, value) {
		first, err = guarded.ContainResult(func() (bool, error) { return o.store.Use(ctx, key, expires) })
		if err != nil || !first {
			return false, err
		}
	}
	return first, nil
}

// Recent remembers values that clients have sent. When it is full it forgets those of a
// client that floods it, and then those that expire soonest. A nil *Recent
// remembers nothing.
type Recent struct{ shown *cache.Ledger }

const mostRecent = mostKeys / 8

// NewRecent returns an empty Recent, which takes 2 MiB at most.
func NewRecent(now func() time.Time) *Recent {
	return &Recent{cache.NewLedger(cache.LedgerRules{Size: mostRecent, Share: mostRecent / 16, Evict: true, Now: now})}
}

// markSeen records key until expires and reports whether key was not on record. A nil Recent
// records nothing and returns true.
func (r *Recent) markSeen(ctx context.Context, key string, expires time.Time) (first bool) {
	if r == nil {
		return true
	}
	r.shown.Update(key, clientIn(ctx), func(known, _ time.Time) time.Time {
		if first = known.IsZero(); first {
			return expires
		}
		return known
	})
	return first
}

// UsedValues is a [storage.ReplayStore] in memory. It never forgets a value that has not
// expired: when it is full, Use refuses new values with an error. When it is half full,
// Use also refuses those of a client that has a sixteenth of the room.
type UsedValues struct{ used *cache.Ledger }

// ErrNoRoom reports that the memory of used values, or the share of one client, is full. A
// later try may succeed: values expire within minutes.
var ErrNoRoom = fmt.Errorf("%w: too many sign-ins at one time to remember each: set Limits.Replay to a store with more room", storage.ErrUnavailable)

// NewUsedValues returns an empty store.
func NewUsedValues(now func() time.Time) *UsedValues { return &UsedValues{newLedger(now, false)} }

// Use records key until expires and reports whether this was its first use. If there is
// no room for a new key, it returns false and an ErrAdapter that wraps ErrNoRoom. It
// does not look at the end of ctx.
func (u *UsedValues) Use(ctx context.Context, key string, expires time.Time) (first bool, err error) {
	room := u.used.Update(key, clientIn(ctx), func(known, _ time.Time) time.Time {
		if first = known.IsZero(); first {
			return expires
		}
		return known
	})
	if !room {
		return false, failure.Wrap(fault.ErrAdapter, failure.Of(fault.ReplayFull, ErrNoRoom))
	}
	return first, nil
}

// SharedReplay is a replay store for all instances of a site. It calls Store within the
// timeout of Bounds.
type SharedReplay struct {
	Store  storage.ReplayStore
	Bounds *guarded.Bounds
}

// Use records key in the Store until expires and reports whether this was its first use.
// Its error is an ErrAdapter that names the operation, unless Store returns ErrNotFound
// or ErrConflict.
func (r *SharedReplay) Use(ctx context.Context, key string, expires time.Time) (bool, error) {
	return guarded.Call(ctx, r.Bounds, "Limits.Replay: Use", func(ctx context.Context) (bool, error) { return r.Store.Use(ctx, key, expires) })
}
