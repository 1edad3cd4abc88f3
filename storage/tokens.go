package storage

import (
	"context"
	"time"
)

// TokenAdapter is an [Adapter] that can replace the tokens of an account. Reading
// and renewing provider tokens needs it, together with an [AccountAdapter].
type TokenAdapter interface {
	// SwapTokens stores next in one atomic write if the access token and the refresh
	// token that are stored are exactly those of old. Otherwise it changes nothing
	// and returns ErrConflict, or ErrNotFound if there is no such account.
	SwapTokens(ctx context.Context, provider, providerAccountID string, old, next Tokens) error
}

// TokenSharer is implemented by an [Adapter] whose account rows other programs may
// read.
type TokenSharer interface {
	// SharesTokens reports whether other programs read the account rows. The library
	// then stores provider tokens unencrypted.
	SharesTokens() bool
}

// AccountWalker is an [Adapter] that can hand over the accounts of all users. The commands
// latchkey reseal and latchkey doctor need it, together with an [AccountAdapter] and a
// [TokenAdapter].
type AccountWalker interface {
	// EachAccount calls f for each account with its tokens as stored, in any order, and
	// ends with the first error of f. An account that is there all the time is handed over
	// at least once; one that is linked or unlinked meanwhile may be left out. f and other
	// goroutines may call the store meanwhile. The store is read in pages: an account may have
	// changed while f worked on earlier accounts of its page. Only ctx limits the whole time.
	EachAccount(ctx context.Context, f func(Account) error) error
}

// LeaseStore lets one of several processes do a piece of work. Keys and holders are
// opaque text of at most 200 bytes. It is safe for concurrent use.
type LeaseStore interface {
	// Lease gives key to holder for the duration ttl, by the clock of the store, unless
	// another holder has it. If holder has it already, the lease is extended, and ends
	// ttl from now. A lease that has expired is free. A lease of another holder is no
	// error: Held is then false, and Wait is positive.
	Lease(ctx context.Context, key, holder string, ttl time.Duration) (Lease, error)
	// Release ends the lease if holder has it. It does nothing otherwise.
	Release(ctx context.Context, key, holder string) error
}

// Lease is the answer of [LeaseStore].Lease.
type Lease struct {
	Held bool          // the caller has the lease
	Wait time.Duration // how long the lease of another holder still lasts; 0 if Held
	// Abandoned reports that this call has taken over the lease of another holder, which
	// had expired without Release. It is false if Held is false, and when a holder extends
	// its own lease. A store remembers an expired lease for at least a day, also in
	// [SweepAdapter].Sweep.
	Abandoned bool
}
