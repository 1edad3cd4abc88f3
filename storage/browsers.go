package storage

import (
	"context"
	"time"
)

// Browser is a browser from which a user has signed in. One browser has a row for
// each of its users.
type Browser struct {
	hidden

	ID        string // a hash of the secret in the browser's cookie
	UserID    string
	PublicID  string // safe to show; unique
	Created   time.Time
	Seen      time.Time // the latest sign-in
	Trusted   time.Time // until then the user is not asked for a second factor; zero: the user is asked
	Expires   time.Time // when the row may be removed
	UserAgent string    // the browser's description of itself; optional
}

// BrowserAdapter is an [Adapter] that keeps known browsers. Passwords and second
// factors need it.
type BrowserAdapter interface {
	// Browsers returns the store of known browsers. In a transaction it is the store
	// that is bound to the transaction.
	Browsers() BrowserStore
}

// BrowserStore keeps the browsers from which users have signed in.
type BrowserStore interface {
	// Put stores b, or replaces the row with its ID and UserID. A PublicID that
	// another row has is ErrConflict. An unknown user may be ErrNotFound.
	Put(ctx context.Context, b Browser) error
	// Get returns the row of a browser for a user.
	Get(ctx context.Context, id, userID string) (Browser, error)
	// Renew gives all rows of a browser the ID next, and sets Seen, in one atomic step.
	// Of any number of concurrent calls for one id at most one succeeds; the others, and
	// those for an unknown id, return ErrNotFound. If rows with the ID next
	// exist, it may return ErrConflict.
	Renew(ctx context.Context, id, next string, seen time.Time) error
	// List returns the browsers of a user, in any order.
	List(ctx context.Context, userID string) ([]Browser, error)
	// Delete removes the browser of the user with the public id, or with an empty
	// publicID all of them, and returns how many.
	Delete(ctx context.Context, userID, publicID string) (int, error)
}
