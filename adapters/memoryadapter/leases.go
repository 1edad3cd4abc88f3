package memoryadapter

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// lease is a lease that was not released.
type lease struct {
	holder string
	until  time.Time
}

// abandonedFor is how long a lease that has expired without Release is remembered.
const abandonedFor = 24 * time.Hour

// SwapTokens implements [storage.TokenAdapter]. It returns an error if next has a member
// that cannot be encoded as JSON.
func (a *Adapter) SwapTokens(ctx context.Context, provider, providerAccountID string, old, next storage.Tokens) error {
	return a.withData(ctx, func(d *data) error {
		key := pair{provider, providerAccountID}
		account, known := d.accounts[key]
		if !known {
			return storage.ErrNotFound
		}
		if account.Tokens.AccessToken != old.AccessToken || account.Tokens.RefreshToken != old.RefreshToken {
			return storage.ErrConflict
		}
		account.Tokens = next
		account, err := copyAccount(account)
		if err != nil {
			return err
		}
		put(d, d.accounts, key, account)
		return nil
	})
}

// Lease implements [storage.LeaseStore] with the clock of the process. For a day after a lease
// has expired without Release, another holder that gets it is told that it was Abandoned.
func (a *Adapter) Lease(ctx context.Context, key, holder string, life time.Duration) (given storage.Lease, err error) {
	err = a.withData(ctx, func(d *data) error {
		now := time.Now()
		last, known := d.leases[key]
		if known && last.holder != holder && now.Before(last.until) {
			given.Wait = last.until.Sub(now)
			return nil
		}
		put(d, d.leases, key, lease{holder, now.Add(life)})
		given = storage.Lease{Held: true, Abandoned: known && last.holder != holder && now.Before(last.until.Add(abandonedFor))}
		return nil
	})
	return given, err
}

// Release implements [storage.LeaseStore].
func (a *Adapter) Release(ctx context.Context, key, holder string) error {
	return a.withData(ctx, func(d *data) error {
		if last, known := d.leases[key]; known && last.holder == holder {
			remove(d, d.leases, key)
		}
		return nil
	})
}
