package limit

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// Newest knows the newest of the codes that were sent to a mailbox. A guess at
// codes that are few digits long must not be a guess at several of them. It is
// safe for concurrent use.
type Newest struct {
	store  storage.RevocationStore // nil: this process remembers
	bounds *guarded.Bounds
	here   *cache.Ledger
	keys   *keys.Keys
}

// NewNewest returns a Newest that keeps codes in store, for all instances, or in this
// process if store is nil.
func NewNewest(store storage.RevocationStore, bounds *guarded.Bounds, now func() time.Time, k *keys.Keys) *Newest {
	here := cache.NewLedger(cache.LedgerRules{Size: mostRecent, Share: mostRecent, Evict: true, Now: now})
	return &Newest{store, bounds, here, k}
}

// Send makes the code that expires at an instant the newest one of a mailbox.
// Codes of one mailbox live equally long.
func (n *Newest) Send(ctx context.Context, mailbox string, expires time.Time) error {
	for _, key := range n.keys.All(keys.NewestCode, mailbox) {
		if n.store == nil {
			n.here.Update(key, "", func(newest, _ time.Time) time.Time {
				if newest.After(expires) {
					return newest
				}
				return expires
			})
			continue
		}
		err := guarded.Do(ctx, n.bounds, "Session.Revocations: Revoke", func(ctx context.Context) error {
			return n.store.Revoke(ctx, key, expires.Add(-time.Millisecond), expires.Add(time.Minute))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// IsNewest reports whether no later code was sent to a mailbox than the one that
// expires at an instant.
func (n *Newest) IsNewest(ctx context.Context, mailbox string, expires time.Time) (newest bool, err error) {
	all := n.keys.All(keys.NewestCode, mailbox)
	newest = true
	if n.store == nil {
		for _, key := range all {
			n.here.Update(key, "", func(known, _ time.Time) time.Time {
				newest = newest && !known.After(expires)
				return known
			})
		}
		return newest, nil
	}
	voided, err := guarded.Call(ctx, n.bounds, "Session.Revocations: RevokedAt", func(ctx context.Context) (map[string]time.Time, error) {
		return n.store.RevokedAt(ctx, all...)
	})
	for _, at := range voided {
		newest = newest && expires.After(at)
	}
	return newest && err == nil, err
}
