package latchkey

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// Events tell the application what happened, for audit logs and the like. They
// run after what they tell is done, in order, and before the answer is sent. An
// error is logged and changes nothing. Each has [Limits].EventTimeout, five seconds.
type Events struct {
	SignIn      func(ctx context.Context, e SignInEvent) error
	SignOut     func(ctx context.Context, e SignOutEvent) error
	CreateUser  func(ctx context.Context, u User) error
	UpdateUser  func(ctx context.Context, u User) error
	LinkAccount func(ctx context.Context, e LinkAccountEvent) error
	Session     func(ctx context.Context, e SessionEvent) error

	// The three that Auth.js does not have.

	UnlinkAccount func(ctx context.Context, e LinkAccountEvent) error
	DeleteUser    func(ctx context.Context, u User) error
	// Evict tells that an e-mail address was proven for the first time and that
	// what others may have attached to its user before was removed, all
	// sessions included.
	Evict func(ctx context.Context, e EvictEvent) error

	// Observe hears every [Event], what failed included, without the records
	// that the functions above get: for audit trails and counters.
	Observe func(ctx context.Context, e Event) error
}

// SignInEvent reports a completed sign-in.
type SignInEvent struct {
	User      User // for credentials: what Authorize returned
	Account   Account
	Profile   Claims
	IsNewUser bool
}

// SignOutEvent reports the end of a session. Both are nil when the cookie held
// none that was good for anything any more.
type SignOutEvent struct {
	Claims  Claims                 // JWTSessions
	Session *storage.StoredSession // DatabaseSessions
}

// LinkAccountEvent reports an account that was linked to, or unlinked from, a
// user.
type LinkAccountEvent struct {
	User    User
	Account Account
	Profile Claims // nil when unlinked
}

// SessionEvent reports a session that was read.
type SessionEvent struct {
	Session Session
	Claims  Claims                 // JWTSessions; nil otherwise
	Stored  *storage.StoredSession // DatabaseSessions; nil otherwise
}

// EvictEvent reports the accounts and passkeys that were removed from a user
// when their e-mail address was proven for the first time: none of them vouched
// for it, so that others may have attached them before. There may be none of
// either: then only sessions were ended.
type EvictEvent struct {
	User           User
	Accounts       []Account
	Authenticators []storage.Authenticator
}
