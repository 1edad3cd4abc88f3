package kvstore

import (
	"time"

	"github.com/latchkeyhq/latchkey"
)

// Options says how a [Store] behaves. The zero value is the usual.
type Options struct {
	Now func() time.Time // nil: time.Now
}

// Store is an adapter on a [Conn]. Make one with [New]. It is safe for concurrent
// use, and keeps nothing itself: any number of them, in any number of processes,
// work on one store.
type Store struct {
	records *records
	owned   *ownedRecords
	users   *userRecords
	limits  LimitConn // nil: read, compare, put
}

// New returns an adapter on a store. It is also a session store, a revocation
// store, a limiter and a store of used values, each of which needs no other.
func New(c Conn, o Options) *Store {
	r := &records{conn: c, now: o.Now}
	if r.now == nil {
		r.now = time.Now
	}
	owned := &ownedRecords{r}
	users := &userRecords{records: r, owned: owned}
	users.follower, _ = c.(Follower)
	s := &Store{records: r, owned: owned, users: users}
	s.limits, _ = c.(LimitConn)
	return s
}

var (
	_ latchkey.Adapter                  = (*Store)(nil)
	_ latchkey.SessionAdapter           = (*Store)(nil)
	_ latchkey.SessionListAdapter       = (*Store)(nil)
	_ latchkey.SessionStore             = (*Store)(nil)
	_ latchkey.VerificationTokenAdapter = (*Store)(nil)
	_ latchkey.AccountAdapter           = (*Store)(nil)
	_ latchkey.UserDeletionAdapter      = (*Store)(nil)
	_ latchkey.AuthenticatorAdapter     = (*Store)(nil)
	_ latchkey.SignUpAdapter            = (*Store)(nil)
	_ latchkey.RevocationStore          = (*Store)(nil)
	_ latchkey.ReturningLimiter         = (*Store)(nil)
	_ latchkey.ReplayStore              = (*Store)(nil)
)
