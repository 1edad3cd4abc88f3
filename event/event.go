// Package event has what a site tells of its sign-ins, sessions and users:
// [Event], which latchkey.Events.Observe receives, and the payloads of the other
// functions of latchkey.Events.
package event

import (
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// Event is one thing that happened. It holds ids, and never a name, an e-mail
// address, a claim or a secret. Fields are only ever added.
type Event struct {
	_ [0]func() // not comparable; literals name their fields

	Type    Type
	Outcome Outcome
	Time    time.Time       // UTC
	Reason  fault.ErrorType // why it failed; empty: it succeeded

	Provider     string // id of the provider involved; empty: none
	ProviderType storage.ProviderType
	UserID       string // the user it is about; empty: unknown
	// SessionID is latchkey.Session.ID, never a token. Empty: there is none, or it
	// is not known. Of a sign-in it is the id that the store was given; a store
	// that chooses ids has another.
	SessionID string
	By        Actor // who did it

	Client    string // IP address of the client; empty: unknown, or no request
	UserAgent string // at most 256 bytes
	RequestID string // the X-Request-Id header, at most 64 bytes
	Tenant    string // name of the tenant, on a site with tenants

	// Detail says more of what happened: why it failed, or how it came about, such as
	// "grant.refused". Empty: nothing more. Of UserSearched it is the kind of the search and
	// the number of users that were found, such as "email 1".
	Detail Detail
	// Reference is the reference code of a failure, which latchkey explain opens. Empty:
	// there is none.
	Reference string
	// ID is a UUID of version 7, the same wherever the event is told. Ids of a process
	// rise.
	ID string
	// Count is for how many failures, or events of an audit log, the event stands. 0: one.
	Count int

	// AMR and ACR are the methods and the level that a completed sign-in or step-up has
	// proven, in the words of latchkey.Assurance. Empty: not known.
	AMR []string
	ACR string
	// Name is a keyed hash of the name or e-mail address of a failed sign-in, if that is not
	// known to be a user's. It shows that the same name was tried again. Empty: none.
	Name string

	// Ended is how many stored sessions ended. A logout at a provider has it.
	Ended int

	// Erased says that an audit log has erased what was personal of the event.
	Erased bool

	// Err is the cause of a failure, with its secrets redacted. It is for the
	// duration of the call: do not store it.
	Err error
}

// Detail is the type of package fault.
type Detail = fault.Detail

// Type is what an [Event] tells. Releases add types to the list. Types that begin with
// "app." are the application's own: see latchkey.AuditLog.Record.
type Type string

// The types of [Event].
const (
	SignIn          Type = "sign_in"        // completed or refused
	SessionOpened   Type = "session.opened" // for an app, beside the browser's
	SessionEnded    Type = "session.ended"  // by a sign-out
	SessionsEnded   Type = "sessions.ended" // by the application or on the account page: the one of SessionID, or all
	LinkSent        Type = "link.sent"      // a visitor asked for a magic link, or a call of Users for a sign-in link or a link to a new password, and a mail leaves
	UserCreated     Type = "user.created"
	UserUpdated     Type = "user.updated"
	UserDeleted     Type = "user.deleted"
	UserEvicted     Type = "user.evicted" // the first proof of an e-mail address removed unproven accounts and sessions
	AccountLinked   Type = "account.linked"
	AccountUnlinked Type = "account.unlinked"
	PasswordSet     Type = "password.set"     // the first password of a user, or one that the application has set
	PasswordChanged Type = "password.changed" // by its user
	PasswordReset   Type = "password.reset"   // by a link to the user's address
	PasswordRemoved Type = "password.removed" // by its user, who has a passkey

	// PasswordRequired tells that a password lets its user in no more: the user has to
	// choose another one.
	PasswordRequired Type = "password.required"

	EmailAsked    Type = "email.asked" // a user asked for another address, which is not proven yet
	EmailChanged  Type = "email.changed"
	EmailStopped  Type = "email.stopped"     // a change that staff has asked for does not happen: by a link, or because its user has signed in
	EmailUnheard  Type = "email.unheard"     // the mailbox of an address that staff replaces does not exist, so that nobody there was told
	EmailReverted Type = "email.reverted"    // the owner of the former address took it back
	BrowserForgot Type = "browser.forgotten" // a known browser of a user is known no more
	// TokenRefreshed tells that the tokens of an account were renewed at its provider.
	TokenRefreshed Type = "token.refreshed"
	// TokenDisconnected tells that the library can no longer act for the user at a
	// provider. Detail is one of grant.refused, grant.lost, grant.revoked,
	// grant.unlinked and grant.logout. Err says why a provider refused, or why a revocation failed.
	TokenDisconnected Type = "token.disconnected"
	// ProviderLogout tells that a provider has ended sessions. Detail is LogoutBackChannel
	// or LogoutFrontChannel.
	ProviderLogout    Type = "provider.logout"
	SignInChallenged  Type = "sign_in.challenged" // the first factor was right, and a second one is wanted
	FactorAdded       Type = "factor.added"
	FactorRemoved     Type = "factor.removed"
	FactorReset       Type = "factor.reset" // all of a user, by the application
	FactorUsed        Type = "factor.used"
	FactorFailed      Type = "factor.failed" // at a sign-in; Detail: factor.unreadable if the secret of an app did not open, factor.wrong, or that of a passkey
	StepUp            Type = "step_up"       // the user proved once more who they are, in a session, or failed to: Detail says why
	FactorClosed      Type = "factor.closed" // by wrong codes: it takes none from unknown browsers
	RecoveryUsed      Type = "recovery.used"
	RecoveryChanged   Type = "recovery.changed"   // new recovery codes replaced the old ones
	RecoveryAsked     Type = "recovery.asked"     // the second factors of a user are removed after a delay, unless that is stopped
	RecoveryStopped   Type = "recovery.stopped"   // … by a link, in a session, or by a second factor
	RecoveryDone      Type = "recovery.done"      // the delay has passed, and a link has removed them
	BrowserTrusted    Type = "browser.remembered" // a browser of the user is not asked for the second factor
	InvitationMade    Type = "invitation.made"
	InvitationUsed    Type = "invitation.used" // by the user who signed in with it
	InvitationRevoked Type = "invitation.revoked"
	RequestRefused    Type = "request.refused" // a page of another site has posted a form
	Fault             Type = "fault"           // a panic, or a store that failed
	AuditFailed       Type = "audit.failed"    // the audit log has lost Count events; told there alone
	AuditRead         Type = "audit.read"      // events were listed; UserID: those about this user
	AuditPruned       Type = "audit.pruned"    // Count events were old enough to be removed
	AuditErased       Type = "audit.erased"    // what was personal of Count events was erased
	PasskeyRenamed    Type = "passkey.renamed"
	PasskeyCounter    Type = "passkey.counter" // the signature counter of a passkey did not rise: it may have been copied
)

// Details of [ProviderLogout].
const (
	LogoutBackChannel  = "logout.back_channel"
	LogoutFrontChannel = "logout.front_channel"
)

// Outcome is how an [Event] ended.
type Outcome string

// The outcomes of an [Event].
const (
	Succeeded Outcome = "success"
	Failed    Outcome = "failure"
)

// Actor is who caused an [Event].
type Actor struct {
	Kind ActorKind
	ID   string // of the user; empty: not known
}

// ActorKind is the kind of an [Actor].
type ActorKind string

// The kinds of [Actor]. [ActorAdmin] is another one.
const (
	ActorVisitor  ActorKind = "visitor"  // a browser that is not signed in
	ActorUser     ActorKind = "user"     // a signed-in user
	ActorProvider ActorKind = "provider" // a provider, by a logout
	ActorSystem   ActorKind = "system"   // the application itself, without a request
)

// SignInPayload tells of a completed sign-in.
type SignInPayload struct {
	User      storage.User    // for credentials: what Authorize returned
	Account   storage.Account // as this sign-in brought it: Email and EmailVouched are not those that are stored
	Profile   jwt.Claims      // as the provider sent it; nil: there is none
	IDToken   jwt.Claims      // the verified claims of the ID token, never of userinfo; nil: there is none
	IsNewUser bool

	Invitation *Invitation // that the user came in by; nil: none
}

// Invitation is what a site has invited an e-mail address with.
type Invitation struct {
	Email       string    // the address
	CallbackURL string    // where the browser goes in the end; empty: the application's home
	Data        string    // of the application's own, such as a team; at most 4 KiB
	Expires     time.Time // zero: in 7 days; at most 30 days from now
	NoMail      bool      // the application hands the URL over itself, which proves no address

	ID      string    // names the invitation; set by the library
	Created time.Time // set by the library
}

// SignOutPayload tells of the end of a session. Both fields are nil if the cookie
// held no live session.
type SignOutPayload struct {
	Claims  jwt.Claims             // of a JWT session
	Session *storage.StoredSession // of a stored session
}

// AccountPayload tells of an account that was linked to a user, or unlinked.
type AccountPayload struct {
	User    storage.User
	Account storage.Account
	Profile jwt.Claims // as the provider sent it; nil when unlinked
	// Identity is what the provider says of the person, in the fields of a user: what
	// Auth.js calls the profile of this event. It has no ID, and is zero when unlinked.
	Identity storage.User
}

// EvictPayload tells of the accounts and passkeys that were removed from a user when
// the user's e-mail address was proven for the first time. No provider of theirs had
// vouched for the address, so an attacker may have attached them. The password and the
// second factors of the user may have been removed as well, and the sessions were ended.
// That happens with both lists empty, too.
type EvictPayload struct {
	User           storage.User
	Accounts       []storage.Account
	Authenticators []storage.Authenticator
}
