package storage

import (
	"context"
	"time"
)

// FactorKind is a kind of second factor. A [FactorStore] has no factors of the kinds
// FactorPasskey and FactorRecovery: passkeys are in an [AuthenticatorAdapter], and of
// recovery codes it keeps hashes.
type FactorKind string

// The kinds of second factor.
const (
	FactorTOTP     FactorKind = "totp"     // codes of an authenticator app (RFC 6238)
	FactorPasskey  FactorKind = "passkey"  // a passkey of the user: see [Authenticator]
	FactorEmail    FactorKind = "email"    // codes mailed to the proven address
	FactorRecovery FactorKind = "recovery" // recovery codes, kept beside another factor
)

// Factor is a second factor of a user. The library stores one for each authenticator app,
// and one of the kind FactorEmail for a user who has chosen to get codes by mail.
type Factor struct {
	hidden

	ID       string // chosen by the library; unique
	UserID   string
	Kind     FactorKind
	Name     string    // the name that the user gave it; empty: none
	Secret   string    // encrypted by the library; empty: the kind has none
	Step     int64     // the last time step whose code was accepted (RFC 6238, section 5.2)
	Failures int       // wrong codes since the last right one
	Created  time.Time // when it was enrolled
	Used     time.Time // the latest sign-in with it; zero: never
}

// FactorAdapter is an [Adapter] that keeps second factors. latchkey.Factors needs
// it.
type FactorAdapter interface {
	// Factors returns the store of factors. In a transaction it is the store that is
	// bound to the transaction.
	Factors() FactorStore
}

// FactorStore keeps second factors and the hashes of recovery codes.
type FactorStore interface {
	// Create stores f. IDs are unique: a taken one is ErrConflict. An unknown user
	// may be ErrNotFound.
	Create(ctx context.Context, f Factor) error
	// List returns the factors of a user, in any order. An unknown user has none.
	List(ctx context.Context, userID string) ([]Factor, error)
	// Use records that a code of the step was accepted at the instant used, and
	// clears the failures, in one atomic step. A step that is not higher than the
	// stored one is ErrConflict and changes nothing. A secret that is not empty
	// replaces the stored one.
	Use(ctx context.Context, id string, step int64, secret string, used time.Time) error
	// Fail counts one wrong code in one atomic step and returns how many there have
	// been since the last right one.
	Fail(ctx context.Context, id string) (failures int, err error)
	// Delete removes a factor of the user and returns what was removed. The factor of
	// another user is ErrNotFound.
	Delete(ctx context.Context, userID, id string) (Factor, error)
	// ReplaceRecoveryCodes replaces the hashes of the user's recovery codes in one
	// atomic step. Without hashes the user has no codes afterwards. It may return
	// ErrNotFound for an unknown user.
	ReplaceRecoveryCodes(ctx context.Context, userID string, hashes []string) error
	// UseRecoveryCode removes one hash and returns how many are left. Of any number of
	// concurrent calls with one hash at most one succeeds; the others, and those with an
	// unknown hash, return ErrNotFound.
	UseRecoveryCode(ctx context.Context, userID, hash string) (left int, err error)
}
