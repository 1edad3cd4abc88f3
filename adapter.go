package latchkey

import (
	"context"
	"time"
)

// Adapter stores users and the provider accounts linked to them.
//
// An adapter stores and decides nothing. These rules hold for every method of
// this interface and of the optional abilities below; the adapter suite of
// package latchkeytest proves them:
//
//   - A lookup, update or deletion that finds no row returns [ErrNotFound].
//   - A write that a unique key refuses returns [ErrConflict] and changes nothing.
//   - Records are copied: what is passed in is not kept, what is returned is not shared.
//   - Times are instants, kept to the millisecond at least and returned in UTC.
//   - Text is compared exactly; e-mail addresses arrive lower-cased.
//   - A cancelled context ends the call with its error.
//   - An error of a store that does not answer for now wraps what says so: the end of a
//     context, the error of package net, or [ErrUnavailable]. People are asked to try
//     again then, and any other error is the operator's.
//   - Methods are safe for concurrent use.
//   - A store whose tables lack what a method needs returns an error that is
//     [errors.ErrUnsupported].
//   - Fields that a record's type says a store need not keep read back empty where
//     it has no room for them.
//   - Expired sessions and verification tokens are found as they were; a store
//     whose engine removes them by itself may answer ErrNotFound instead.
//
// What an adapter can do beyond these six methods it says by implementing
// [SessionAdapter], [VerificationTokenAdapter], [AccountAdapter] and the
// others. [New] checks that the configured features have what they need.
type Adapter interface {
	// CreateUser stores u and returns it as stored. An empty ID is replaced by
	// one of the store's choosing; a store whose ids are of another type may
	// replace any ID. A taken, non-empty e-mail address is
	// ErrConflict.
	CreateUser(ctx context.Context, u User) (User, error)
	GetUser(ctx context.Context, id string) (User, error)
	// GetUserByEmail finds nobody by the empty e-mail address.
	GetUserByEmail(ctx context.Context, email string) (User, error)
	GetUserByAccount(ctx context.Context, provider, providerAccountID string) (User, error)
	// UpdateUser changes what c names and returns the whole user.
	UpdateUser(ctx context.Context, id string, c UserChange) (User, error)
	// LinkAccount stores a. The pair of provider and provider account id is
	// unique.
	LinkAccount(ctx context.Context, a Account) error
}

// UserChange names what to change of a user. A nil field stays as it is, so
// that nothing is overwritten by a stale read.
type UserChange struct {
	Name          *string
	Email         *string    // a new one is unproven: clear EmailVerified too
	EmailVerified *time.Time // a zero time clears it
	Image         *string
}

// SessionAdapter keeps sessions. The "database" strategy needs it.
type SessionAdapter interface {
	// CreateSession stores s. An empty ID is replaced by one of the store's
	// choosing; a store whose ids are of another type may replace any ID.
	CreateSession(ctx context.Context, s StoredSession) error
	// GetSessionAndUser finds a session with its user in as few round trips as the
	// store allows; Token is the one that was asked for, however it is stored. An
	// expired session is found too, unless the engine has removed it
	// (ErrNotFound).
	GetSessionAndUser(ctx context.Context, token string) (StoredSession, User, error)
	// UpdateSession extends the session to expires. It never brings a deleted
	// session back (ErrNotFound) and never moves an expiry backwards: then it
	// does nothing.
	UpdateSession(ctx context.Context, token string, expires time.Time) error
	// DeleteSession removes the session and returns what was removed.
	DeleteSession(ctx context.Context, token string) (StoredSession, error)
}

// SessionListAdapter knows the sessions of one user: "your devices".
// The Token of a listed session is empty.
type SessionListAdapter interface {
	ListSessions(ctx context.Context, userID string) ([]StoredSession, error)
	// DeleteSessionByID removes one session of the user, named by
	// [StoredSession].ID.
	DeleteSessionByID(ctx context.Context, userID, id string) error
	// DeleteSessions removes all sessions of the user but the one whose ID is
	// keep (empty: all), and says how many.
	DeleteSessions(ctx context.Context, userID, keep string) (int, error)
}

// SessionStore keeps sessions and knows no users, so that they can be kept apart
// from them: see [SessionConfig].Store. What is said of [Adapter] holds for it
// too. An adapter whose sessions refer to its users may refuse those of others.
type SessionStore interface {
	// CreateSession stores s. An empty ID is replaced by one of the store's
	// choosing.
	CreateSession(ctx context.Context, s StoredSession) error
	// GetSession finds a session; Token is the one that was asked for, however
	// it is stored. An expired session is found too, unless the engine has
	// removed it (ErrNotFound).
	GetSession(ctx context.Context, token string) (StoredSession, error)
	// UpdateSession extends the session to expires. It never brings a deleted
	// session back (ErrNotFound) and never moves an expiry backwards: then it
	// does nothing.
	UpdateSession(ctx context.Context, token string, expires time.Time) error
	// DeleteSession removes the session and returns what was removed.
	DeleteSession(ctx context.Context, token string) (StoredSession, error)
	SessionListAdapter
}

// VerificationTokenAdapter keeps magic links. An [Email] provider needs it.
type VerificationTokenAdapter interface {
	CreateVerificationToken(ctx context.Context, t VerificationToken) error
	// UseVerificationToken returns the token and deletes it in one atomic step:
	// of any number of concurrent calls at most one succeeds. An expired token
	// is found too, unless the engine has removed it (ErrNotFound). Purpose is
	// returned and never compared: links of another purpose than signing in
	// have it in their hash.
	UseVerificationToken(ctx context.Context, identifier, token string) (VerificationToken, error)
}

// AccountAdapter knows the accounts of one user. Account settings need it, and
// so does the eviction of unproven accounts when an e-mail address is first
// proven.
type AccountAdapter interface {
	GetAccount(ctx context.Context, provider, providerAccountID string) (Account, error)
	ListAccounts(ctx context.Context, userID string) ([]Account, error)
	// UnlinkAccount removes the account and returns what was removed.
	UnlinkAccount(ctx context.Context, provider, providerAccountID string) (Account, error)
}

// UserDeletionAdapter removes a user with everything that belongs to them:
// accounts, sessions, authenticators.
type UserDeletionAdapter interface {
	// DeleteUser returns what was removed.
	DeleteUser(ctx context.Context, id string) (User, error)
}

// AuthenticatorAdapter keeps passkeys.
type AuthenticatorAdapter interface {
	// CreateAuthenticator stores a. The credential id is unique.
	CreateAuthenticator(ctx context.Context, a Authenticator) error
	GetAuthenticator(ctx context.Context, credentialID []byte) (Authenticator, error)
	// ListAuthenticators of an unknown user is empty.
	ListAuthenticators(ctx context.Context, userID string) ([]Authenticator, error)
	// UpdateAuthenticatorCounter raises the counter in one atomic step. A
	// stored value that is not lower is ErrConflict, unless both are zero (Web
	// Authentication Level 3, section 6.1.1).
	UpdateAuthenticatorCounter(ctx context.Context, credentialID []byte, counter uint32) (Authenticator, error)
	// UpdateAuthenticator changes what c names, as far as the store keeps it, and
	// returns the whole passkey.
	UpdateAuthenticator(ctx context.Context, credentialID []byte, c AuthenticatorChange) (Authenticator, error)
	DeleteAuthenticator(ctx context.Context, credentialID []byte) error
}

// AuthenticatorChange names what to change of a passkey. A nil field stays as it
// is.
type AuthenticatorChange struct {
	Name     *string    // empty: it has none
	BackedUp *bool      // what the authenticator said last
	Used     *time.Time // the latest sign-in with it
}

// TxAdapter does several writes in one transaction.
type TxAdapter interface {
	// InTx calls f with an Adapter of the same abilities, bound to one
	// transaction. An error of f, or a panic, rolls everything back and is
	// passed on. A call inside that ends in ErrNotFound leaves the transaction
	// usable. After one that ends in ErrConflict the engine may have ended it:
	// f returns that error, and whatever is tried instead is tried in another
	// transaction. If f goes on regardless, InTx keeps all of it or reports an
	// error and keeps nothing.
	//
	// f may be called again where the database asks for another try: what its
	// earlier runs did was rolled back, and its last run counts.
	//
	// UpdateUser locks the user, even if it changes nothing: another transaction
	// that updates the same user waits until this one has ended, and sees in all
	// that it reads afterwards what this one has done; or one of the two ends in
	// ErrConflict. So two who take away somebody's last two ways to sign in
	// notice each other.
	InTx(ctx context.Context, f func(Adapter) error) error
}

// SignUpAdapter is for stores without transactions. It remembers which new
// user an account was going to be linked to, so that a sign-up that was cut
// short is finished by the same account and by nobody else. The record is made
// before the user is, and removed when the account is linked.
type SignUpAdapter interface {
	// BeginSignUp records userID for the account, unless one is recorded
	// already; it returns the one on record. A store whose ids are of another
	// type returns the id that it makes of it: what CreateUser is given, users
	// have.
	BeginSignUp(ctx context.Context, provider, providerAccountID, userID string) (string, error)
	EndSignUp(ctx context.Context, provider, providerAccountID string) error
}

// SweepAdapter removes rows that have expired.
type SweepAdapter interface {
	// Sweep removes sessions, verification tokens, revocations, used values and
	// limits that expired before the given instant, and says how many.
	Sweep(ctx context.Context, before time.Time) (int, error)
}

// RevocationStore remembers signed-out JWT sessions until they would have
// expired anyway. Adapters may implement it. Keys are opaque text of at most
// 200 bytes.
type RevocationStore interface {
	// Revoke records that whatever key names and was issued at or before at is
	// void, until expires. Of several calls the latest at and the latest
	// expires count.
	Revoke(ctx context.Context, key string, at, expires time.Time) error
	// RevokedAt returns, for each key on record, the instant given to Revoke.
	RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error)
}
