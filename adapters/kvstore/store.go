package kvstore

import (
	"time"

	"github.com/latchkeyhq/latchkey/storage"
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
	walker  WalkConn  // nil: records cannot be listed
	limits  LimitConn // nil: read, compare, put
	leases  LeaseConn // nil: the same
}

// New returns a [Store] that keeps its records in c. It uses what c implements of [Follower],
// [WalkConn], [LimitConn] and [LeaseConn]. New makes no call to c. The Store also serves as a
// session store, revocation store, limiter, store of used values or lease store alone.
// Another adapter then keeps the users.
func New(c Conn, o Options) *Store {
	r := &records{conn: c, now: o.Now}
	if r.now == nil {
		r.now = time.Now
	}
	owned := &ownedRecords{r}
	users := &userRecords{records: r, owned: owned}
	users.follower, _ = c.(Follower)
	s := &Store{records: r, owned: owned, users: users}
	s.walker, _ = c.(WalkConn)
	s.limits, _ = c.(LimitConn)
	s.leases, _ = c.(LeaseConn)
	return s
}

var (
	_ storage.Adapter                  = (*Store)(nil)
	_ storage.SessionAdapter           = (*Store)(nil)
	_ storage.SessionListAdapter       = (*Store)(nil)
	_ storage.SessionStore             = (*Store)(nil)
	_ storage.VerificationTokenAdapter = (*Store)(nil)
	_ storage.AccountAdapter           = (*Store)(nil)
	_ storage.UserDeletionAdapter      = (*Store)(nil)
	_ storage.AuthenticatorAdapter     = (*Store)(nil)
	_ storage.SignUpAdapter            = (*Store)(nil)
	_ storage.RevocationStore          = (*Store)(nil)
	_ storage.ReturningLimiter         = (*Store)(nil)
	_ storage.ReplayStore              = (*Store)(nil)
	_ storage.TokenAdapter             = (*Store)(nil)
	_ storage.AccountWalker            = (*Store)(nil)
	_ storage.LeaseStore               = (*Store)(nil)
	_ storage.ProviderLogoutAdapter    = (*Store)(nil)
)
