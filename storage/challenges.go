package storage

import (
	"context"
	"time"
)

// Challenge is something that the library waits for: the second factor of a
// sign-in, the proof of an address, an answer to an invitation. The store keeps a
// hash of its secret as ID, and Data encrypted.
type Challenge struct {
	hidden

	ID         string // a hash of the secret; unique
	Purpose    string // what it is for, such as "signin" or "reset"
	Tenant     string // the tenant that it belongs to; empty: none
	UserID     string // the user it is about, who need not exist; empty: none
	Identifier string // the e-mail address it is about; empty: none
	Data       string // encrypted by the library; up to 256 KiB
	Tries      int    // how often an answer was tried
	Created    time.Time
	Expires    time.Time
}

// ChallengeQuery names challenges. An empty Purpose, UserID or Identifier matches every
// challenge. Tenant is always compared: an empty Tenant matches only challenges without
// a tenant.
type ChallengeQuery struct {
	Purpose    string
	Tenant     string
	UserID     string
	Identifier string
	Limit      int // challenges to return at most; 0: 1,000
}

// ChallengeAdapter is an [Adapter] that keeps challenges. Passwords, mail codes,
// second factors and invitations need it.
type ChallengeAdapter interface {
	// Challenges returns the store of challenges. In a transaction it is the store
	// that is bound to the transaction.
	Challenges() ChallengeStore
}

// ChallengeStore keeps challenges. A challenge that has expired is returned as it
// is; a store whose engine removes it may return ErrNotFound instead.
type ChallengeStore interface {
	// Create stores c. IDs are unique: a taken one is ErrConflict. The user need not
	// exist.
	Create(ctx context.Context, c Challenge) error
	// Get returns a challenge.
	Get(ctx context.Context, id string) (Challenge, error)
	// List returns the challenges that q names, the newest first.
	List(ctx context.Context, q ChallengeQuery) ([]Challenge, error)
	// Try counts one try in one atomic step and returns the challenge with that try
	// counted. If limit tries were counted before, it returns ErrConflict and counts
	// nothing.
	Try(ctx context.Context, id string, limit int) (Challenge, error)
	// Take removes a challenge and returns it. Of any number of concurrent calls at
	// most one succeeds.
	Take(ctx context.Context, id string) (Challenge, error)
	// Delete removes the challenges of a user that have one of the purposes, of every
	// tenant, and returns how many. Without purposes it removes all challenges of the
	// user. With an empty userID it removes nothing.
	Delete(ctx context.Context, userID string, purposes ...string) (int, error)
}
