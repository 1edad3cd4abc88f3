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
	Renew    bool   // it signs the user in no more: the user must choose a new password
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
	// Set stores p if the stored hash equals oldHash, in one atomic step, and returns
	// ErrConflict otherwise. An empty oldHash demands that the user has no password. Set
	// may return ErrNotFound for an unknown user. It keeps Created of a row that exists.
	// p.Hash may equal oldHash: the library clears Failures so.
	Set(ctx context.Context, p PasswordHash, oldHash string) error
	// Fail counts one wrong password in one atomic step and returns how many there
	// have been since the last right one. It returns ErrNotFound if the user has no
	// password.
	Fail(ctx context.Context, userID string) (failures int, err error)
	// Delete removes the password of a user.
	Delete(ctx context.Context, userID string) error
}
