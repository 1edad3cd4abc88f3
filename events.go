package latchkey

import (
	"context"
	"log/slog"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
)

// Events are functions of the application that are called when something has happened,
// for welcome mails, counters and the like. Each may be nil. They are called in order,
// after the change that they tell of is stored and before the answer is sent; those of
// several requests are called concurrently. Each call has [Limits].EventTimeout, five
// seconds. An error is logged and changes nothing, and no call is repeated: let nothing
// depend on one call. Auth.js has no UnlinkAccount, DeleteUser, Evict and Observe.
type Events struct {
	SignIn      func(ctx context.Context, e SignInEvent) error
	SignOut     func(ctx context.Context, e SignOutEvent) error
	CreateUser  func(ctx context.Context, u User) error
	UpdateUser  func(ctx context.Context, u User) error
	LinkAccount func(ctx context.Context, e LinkAccountEvent) error
	Session     func(ctx context.Context, e SessionEvent) error // of each session that is read, so of most requests

	UnlinkAccount func(ctx context.Context, e LinkAccountEvent) error
	DeleteUser    func(ctx context.Context, u User) error
	// Evict tells that an e-mail address was proven for the first time, and that the
	// accounts, passkeys, password, second factors and sessions that others may have
	// attached to its user before were removed.
	Evict func(ctx context.Context, e EvictEvent) error

	// Observe hears every [Event], what failed included, without the records
	// that the functions above get: for counters and logs. [Audit] is an audit log.
	Observe func(ctx context.Context, e Event) error
}

// SessionEvent reports a session that was read.
type SessionEvent struct {
	Session Session
	Claims  Claims                 // JWTSessions; nil otherwise
	Stored  *storage.StoredSession // DatabaseSessions; nil otherwise
}

// Event is one thing that happened: its Type and Outcome, UserID, Provider,
// SessionID, the Actor and the client. It holds no name, e-mail address or secret; the
// IP address in Client and UserAgent are personal data. Its types and fields are
// documented in package event.
type Event = event.Event

// SignInEvent tells of a completed sign-in: User, Account, Profile, IDToken, IsNewUser
// and Invitation.
type SignInEvent = event.SignInPayload

// SignOutEvent tells that a sign-out or a logout at the provider has ended a session: Claims of
// a JWT session, or Session, the row of a stored one. A back-channel logout tells of one
// stored session of each user. An end by [Users] or the account page is not told.
type SignOutEvent = event.SignOutPayload

// LinkAccountEvent tells of an account that was linked or unlinked: User, Account,
// the raw Profile of the provider, and Identity, which is what the provider says of the
// person in the fields of a user. For an account that was unlinked these two are zero.
type LinkAccountEvent = event.AccountPayload

// EvictEvent tells of the Accounts and Authenticators that were removed from User when
// the user's e-mail address was proven for the first time. It does not list a password,
// second factors and sessions, which may have gone with them or alone.
type EvictEvent = event.EvictPayload

// Invitation is what an e-mail address is invited with: Email, CallbackURL, Data, Expires
// and NoMail, which says that the application hands the URL over itself. Its fields are
// documented in package event. See [users.Users.Invite].
type Invitation = event.Invitation

// Audit says where security events are kept. The zero value keeps none. See
// docs/audit.md.
type Audit struct {
	// Logger gets the events of package event, one a line. Equal failures beyond ten in
	// ten seconds, and failures beyond 200 in one second, share a line: its count is their
	// number. If the logger is too slow, failures are dropped, and a line audit.failed has
	// their number. Use a logger of its own, which writes to a place that the program
	// cannot change. Lines are written after the answer. [Auth.Shutdown] waits for them; a
	// process that ends without it loses those that are not written yet.
	Logger *slog.Logger
	// Store keeps events in the Adapter, which has to be a [storage.AuditAdapter]. What
	// succeeded is stored in the transaction of the work, if the Adapter is a
	// [storage.TxAdapter], and before the answer otherwise. What failed is stored after
	// the answer.
	Store bool
	// Required rolls work back whose event cannot be stored: it fails with ErrAudit.
	// Sign-outs, other ends of sessions and the loss of a provider's tokens are done all
	// the same. It needs Store and a [storage.TxAdapter], and does not go with
	// [SessionConfig].Store.
	Required bool
	// Keep is how long Auth.Sweep keeps an event of Store. 0: 400 days; negative: for
	// ever.
	Keep time.Duration
	// KeepPersonal is after how long Auth.Sweep erases client, user agent and the id of
	// the user from an event of Store. 0 or negative: as Keep.
	KeepPersonal time.Duration
	// Address says how much of a client's IP address an event has.
	Address AddressDetail
	// HashKey is the key of the hashes of names that were typed at failed sign-ins and are
	// no user's, of at least 16 bytes. Empty: it is derived from the newest secret, so that
	// the hashes change with a rotation.
	HashKey []byte
	// Verbose keeps also that links were mailed and provider tokens renewed.
	Verbose bool
}

// AddressDetail is how much of a client's IP address [Audit].Address keeps in an event.
type AddressDetail string

// The details of addresses.
const (
	AddressFull   AddressDetail = ""       // all of it
	AddressPrefix AddressDetail = "prefix" // the network: /24, or /48 of IPv6
	AddressNone   AddressDetail = "none"
)
