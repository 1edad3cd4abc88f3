package limit

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// Newest remembers which code is the newest of those that were sent to a mailbox. Only
// that one is accepted, so that a guess at a short code is not a guess at several codes.
// A code is known by when it expires. Newest is safe for concurrent use.
type Newest struct {
	store  storage.RevocationStore // nil: this process remembers
	bounds *guarded.Bounds
	here   *cache.Ledger
	keys   *keys.Keys
}

// NewNewest returns a Newest that keeps the expiry of the newest code of each mailbox in
// store, for all instances, or in this process if store is nil. A full memory forgets the
// codes that expire soonest. bounds has the timeout of calls of store, and now is for the
// memory alone.
func NewNewest(store storage.RevocationStore, bounds *guarded.Bounds, now func() time.Time, k *keys.Keys) *Newest {
	here := cache.NewLedger(cache.LedgerRules{Size: mostRecent, Share: mostRecent, Evict: true, Now: now})
	return &Newest{store: store, bounds: bounds, here: here, keys: k}
}

// Send records that the code that expires at expires is the newest of a mailbox. If a
// code that expires later is on record, that one stays. So all codes of a mailbox must
// have the same life. Send sends no mail. Its error is that of the store.
func (n *Newest) Send(ctx context.Context, mailbox string, expires time.Time) error {
	for _, key := range n.keys.All(keys.NewestCode, mailbox) {
		if n.store == nil {
			n.here.Update(key, "", func(known, _ time.Time) time.Time {
				if known.After(expires) {
					return known
				}
				return expires
			})
			continue
		}
		// In the store a code is "issued" when it expires. All codes that expire before this
		// one are void. Of several such instants Revoke keeps the latest.
		void := expires.Add(-time.Millisecond)
		err := guarded.Do(ctx, n.bounds, "Session.Revocations: Revoke", func(ctx context.Context) error {
			return n.store.Revoke(ctx, key, void, expires.Add(time.Minute))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// IsNewest reports whether the code that expires at expires is the newest of a mailbox.
// That is so if no code on record for the mailbox has a later expiry, and if none is on
// record. IsNewest does not look at the clock. If the store fails, it returns false and
// the error.
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
	found, err := guarded.Call(ctx, n.bounds, "Session.Revocations: RevokedAt", func(ctx context.Context) (map[string]time.Time, error) {
		return n.store.RevokedAt(ctx, all...)
	})
	for _, void := range found {
		newest = newest && expires.After(void)
	}
	return newest && err == nil, err
}
