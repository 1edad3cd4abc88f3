package storage

import (
	"context"
	"time"
)

// Adapter stores users and the provider accounts that are linked to them. The
// package comment has the rules that hold for every method.
type Adapter interface {
	// CreateUser stores u and returns it as stored, with the ID that the user has from
	// then on. The store replaces an empty ID by one that it chooses. It may replace any
	// other ID as well, for example because its ids have another type, or because the ID
	// is taken; a taken ID that it does not replace is ErrConflict. A taken e-mail
	// address that is not empty is ErrConflict. The store keeps Created as it is, also if
	// it is zero. It does not store Suspension: see [SuspensionStore].
	CreateUser(ctx context.Context, u User) (User, error)
	// GetUser returns the user with the given id.
	GetUser(ctx context.Context, id string) (User, error)
	// GetUserByEmail returns the user with the given e-mail address. The empty
	// address is ErrNotFound.
	GetUserByEmail(ctx context.Context, email string) (User, error)
	// GetUserByAccount returns the user whom an account is linked to.
	GetUserByAccount(ctx context.Context, provider, providerAccountID string) (User, error)
	// UpdateUser changes the fields that c names and returns the whole user. An e-mail
	// address that another user has is ErrConflict. In a transaction it locks the user,
	// even if c names nothing: see [TxAdapter].
	UpdateUser(ctx context.Context, id string, c UserChange) (User, error)
	// LinkAccount stores a. The pair of Provider and ProviderAccountID is unique:
	// a pair that is taken is ErrConflict. If there is no user with the UserID, a
	// store may return ErrNotFound, or store the account. GetUserByAccount of such an
	// account must then return ErrNotFound.
	LinkAccount(ctx context.Context, a Account) error
}

// UserChange names the fields of a user to change. A nil field stays as it is, so that no
// stale read overwrites it. A pointer to an empty text clears the field.
type UserChange struct {
	Name          *string
	Email         *string    // the caller sets EmailVerified with a new address; the store changes only what is named
	EmailVerified *time.Time // a zero time clears it
	Image         *string
	Provisioned   *time.Time // a zero time clears it; a store without the field ignores it
}

// VerificationTokenAdapter keeps the tokens of magic links.
type VerificationTokenAdapter interface {
	// CreateVerificationToken stores t. The pair of Identifier and Token is unique: a
	// pair that is taken is ErrConflict.
	CreateVerificationToken(ctx context.Context, t VerificationToken) error
	// UseVerificationToken returns the token and deletes it in one atomic step: of
	// any number of concurrent calls at most one succeeds. It returns Purpose and
	// never compares it: the purpose of a link is part of its hash.
	UseVerificationToken(ctx context.Context, identifier, token string) (VerificationToken, error)
}

// AccountAdapter lists and unlinks the accounts of one user. The account page
// needs it, and so does the removal of unproven accounts when an e-mail address
// is proven for the first time.
type AccountAdapter interface {
	// GetAccount returns one account.
	GetAccount(ctx context.Context, provider, providerAccountID string) (Account, error)
	// ListAccounts returns the accounts of a user, in any order. An unknown user has
	// none.
	ListAccounts(ctx context.Context, userID string) ([]Account, error)
	// UnlinkAccount removes the account and returns what was removed.
	UnlinkAccount(ctx context.Context, provider, providerAccountID string) (Account, error)
}

// UserDeletionAdapter deletes users.
type UserDeletionAdapter interface {
	// DeleteUser removes a user and returns the user. It also removes what the adapter
	// keeps of the user: accounts, sessions, authenticators, factors, recovery codes,
	// challenges, browsers, activities, the suspension and the password. Records of the
	// audit log stay. A store without transactions hides the user first and removes the rest
	// afterwards: if that is interrupted, the next call finishes it and returns the user.
	DeleteUser(ctx context.Context, id string) (User, error)
}

// AuthenticatorAdapter keeps passkeys.
type AuthenticatorAdapter interface {
	// CreateAuthenticator stores a. The credential id is unique: one that is taken is
	// ErrConflict, whatever its user.
	CreateAuthenticator(ctx context.Context, a Authenticator) error
	// GetAuthenticator returns the passkey with the given credential id.
	GetAuthenticator(ctx context.Context, credentialID []byte) (Authenticator, error)
	// ListAuthenticators returns the passkeys of a user, in any order. An unknown user
	// has none.
	ListAuthenticators(ctx context.Context, userID string) ([]Authenticator, error)
	// UpdateAuthenticatorCounter raises the signature counter in one atomic step
	// and returns the whole passkey. If the stored value is not lower it returns
	// ErrConflict, unless both are zero (Web Authentication Level 3, section
	// 6.1.1).
	UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (Authenticator, error)
	// UpdateAuthenticator changes the fields that c names, as far as the store
	// keeps them, and returns the whole passkey.
	UpdateAuthenticator(ctx context.Context, credentialID []byte, c AuthenticatorChange) (Authenticator, error)
	// DeleteAuthenticator removes a passkey.
	DeleteAuthenticator(ctx context.Context, credentialID []byte) error
}

// AuthenticatorChange names the fields of a passkey to change. A nil field stays
// as it is.
type AuthenticatorChange struct {
	Name     *string    // empty: the user has given it no name
	BackedUp *bool      // what the authenticator said last
	Used     *time.Time // the latest sign-in with it
}

// TxAdapter runs several calls in one transaction.
type TxAdapter interface {
	// InTx calls f with an Adapter that has the same optional interfaces and is
	// bound to one transaction. If f returns an error or panics, everything is
	// rolled back and the error or panic is passed on.
	//
	// What f does through the Adapter that it gets is part of the transaction: users,
	// accounts, authenticators, sessions, verification tokens, revocations, and the
	// stores that the Adapter's methods return. Limits and used values may be written at
	// once. What is done meanwhile through another Adapter is not part of the
	// transaction. f must not keep the Adapter that it gets: nothing uses that Adapter
	// after f has returned.
	//
	// InTx of the Adapter that f gets is a transaction within the transaction: its
	// error rolls back what it did, and the rest goes on. An engine without
	// savepoints may roll back everything then, and return an error from the outer
	// InTx too.
	//
	// A call in f that returns ErrNotFound leaves the transaction usable. After a call
	// that returns ErrConflict the engine may have ended the transaction. If f then
	// returns that error, everything is rolled back, and the library tries again in
	// another transaction. If f goes on and returns nil, InTx has two choices: it
	// commits all that f did, or it returns an error and commits nothing.
	//
	// InTx may call f again after a serialization failure or a deadlock. What the
	// earlier runs did is rolled back, and the last run counts.
	//
	// UpdateUser locks the user, even if it changes nothing: of two transactions that
	// update the same user, the second waits until the first has ended, and then sees in
	// all its reads what the first has done. A store may instead end one of the two with
	// ErrConflict. Two transactions that each remove one of the last two sign-in methods
	// of a user rely on that lock.
	InTx(ctx context.Context, f func(Adapter) error) error
}

// SignUpAdapter is for stores without transactions. It records which new user an
// account will be linked to, so that an interrupted sign-up can be finished, by
// the same account only. The library writes the record before it creates the
// user and removes it after it has linked the account.
type SignUpAdapter interface {
	// BeginSignUp records userID for the account, unless an id is on record
	// already, and returns the id on record. A store whose ids have another type
	// returns the id that it makes of userID; its CreateUser stores a user with that id
	// unchanged.
	BeginSignUp(ctx context.Context, provider, providerAccountID, userID string) (string, error)
	// EndSignUp removes the record. Without a record it returns ErrNotFound or nil.
	EndSignUp(ctx context.Context, provider, providerAccountID string) error
}

// SweepAdapter removes rows that have expired.
type SweepAdapter interface {
	// Sweep removes the rows that expired before the given instant, and returns how many:
	// sessions, verification tokens, revocations, used values, limits, challenges and
	// browsers, as far as the store keeps them. It removes a lease only if the lease
	// expired a day or more before that instant, because of [Lease].Abandoned. It leaves
	// sign-ups, activities and the audit log alone; [ActivityStore].Prune and
	// [AuditStore].Prune remove the last two. If the deadline of ctx leaves no time for all
	// rows, Sweep stops before the deadline, and returns ErrUnfinished with the number of
	// rows that it has removed.
	Sweep(ctx context.Context, before time.Time) (int, error)
}
