package storage

import (
	"context"
	"time"
)

// Rate is a limit: Events at once, and then one more each Per/Events. It is a bucket
// (GCRA), not a window, so a refused caller never waits longer than Per/Events for the
// next. In a field of latchkey.Limits the zero Rate stands for the default; latchkey.New
// refuses any other Rate whose Events or Per is not positive.
type Rate struct {
	Events int
	Per    time.Duration
}

// Limiter counts sign-in attempts and mails by key. Keys are opaque text of at
// most 200 bytes. It is safe for concurrent use.
type Limiter interface {
	// Take counts one event under key and returns zero. If r is reached already,
	// it counts nothing and returns how long until the next event fits. If Events or Per
	// of r is not positive, Take counts nothing: latchkey.New calls it with the zero Rate
	// and an empty key on a hardened site, to learn from an error that is
	// [errors.ErrUnsupported] that the tables have no place for limits.
	Take(ctx context.Context, key string, r Rate) (wait time.Duration, err error)
	// Forget clears what was counted under key. It does nothing if nothing is counted
	// there. The library does not call it: a success gives back its own event alone, by
	// [ReturningLimiter].
	Forget(ctx context.Context, key string) error
}

// ReturningLimiter is a [Limiter] that can take an event back. A right password then
// costs neither its client nor its account a try, and an attempt that one limit refused
// is not counted by the others. A plain Limiter keeps all these events counted.
type ReturningLimiter interface {
	Limiter
	// Return takes back one event that Take counted under key at rate r. It does
	// nothing if nothing is counted there.
	Return(ctx context.Context, key string, r Rate) error
}

// ReplayStore remembers values that must not be used twice, such as the state of
// a completed sign-in. It is safe for concurrent use.
type ReplayStore interface {
	// Use records key until expires and reports whether this was its first use. A
	// value that has expired counts as never used. Of any number of concurrent calls
	// with one key at most one returns true. latchkey.New calls Use with an empty key and
	// the zero time on a hardened site, to learn from an error that is
	// [errors.ErrUnsupported] that the tables have no place for used values.
	Use(ctx context.Context, key string, expires time.Time) (first bool, err error)
}

// RevocationStore remembers which JWT sessions were signed out, and when all sessions of
// a user were ended. It keeps each record until the sessions that the record voids would
// have expired by themselves. Keys are opaque text of at most 200 bytes. It is safe for
// concurrent use.
type RevocationStore interface {
	// Revoke records that what key names is void if it is from the time issued or earlier.
	// The store keeps the record until the time expires. Of several calls with one key the
	// latest issued counts, and the latest expires.
	Revoke(ctx context.Context, key string, issued, expires time.Time) error
	// RevokedAt returns, for each key on record, the time issued that Revoke was given. A
	// revocation that has expired may be on record or not: nothing that it voids is
	// valid by then. Without keys it returns an empty map, or an error that is
	// [errors.ErrUnsupported] if the tables have no place for revocations. The library
	// makes such a call to learn that, so a store looks for the table before it looks at
	// keys.
	RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error)
}
