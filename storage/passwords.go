package storage

import (
	"context"
	"time"
)

// PasswordHash is the password of a user, hashed.
type PasswordHash struct {
	hidden

	UserID   string
	Hash     string // as latchkey.PasswordHasher made it
	Failures int    // wrong passwords since the last right one
	Renew    bool   // it lets nobody in any more: a new one must be chosen
	Created  time.Time
	Changed  time.Time
}

// PasswordAdapter is an [Adapter] that keeps passwords. latchkey.Password needs it.
type PasswordAdapter interface {
	// Passwords returns the store of passwords. In a transaction it is the store that
	// is bound to the transaction.
	Passwords() PasswordStore
}

// PasswordStore keeps at most one password for each user.
type PasswordStore interface {
	// Get returns the password of a user.
	Get(ctx context.Context, userID string) (PasswordHash, error)
	// Set stores p if the stored hash is was, in one atomic step, and returns
	// ErrConflict otherwise. With an empty was there must be none. An unknown user may
	// be ErrNotFound. Created of a row that exists stays. The hash may stay as it is:
	// that is how failures are cleared.
	Set(ctx context.Context, p PasswordHash, was string) error
	// Fail counts one wrong password in one atomic step and returns how many there
	// have been since the last right one. It returns ErrNotFound if the user has no
	// password.
	Fail(ctx context.Context, userID string) (failures int, err error)
	// Delete removes the password of a user.
	Delete(ctx context.Context, userID string) error
}
