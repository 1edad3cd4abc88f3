package latchkey

import "time"

// Event is one thing that happened, as [Events].Observe hears it. It holds ids
// and never a name, an e-mail address, a claim or a secret. Fields are only
// ever added.
type Event struct {
	Type    EventType
	Outcome EventOutcome
	Time    time.Time // UTC
	Reason  ErrorType // why it failed; empty: it succeeded

	Provider     string // id of the provider involved; empty: none
	ProviderType ProviderType
	UserID       string // whom it is about; empty: unknown
	// SessionID is [Session].ID, never a token; empty: none, or not known. Of a
	// sign-in it is what the store was given: one that chooses ids has another.
	SessionID string
	By        Actor // who did it

	Client    string // IP address of the client; empty: unknown, or no request
	UserAgent string // at most 256 bytes
	Request   string // the X-Request-Id header, at most 64 bytes
	Tenant    string // name of the tenant, on sites made with [NewTenants]

	// Err is the cause of a failure, with what is secret redacted. It is for
	// this call only: do not store it.
	Err error
}

// EventType says what an [Event] tells, such as a sign-in. The list is closed,
// and grows with releases.
type EventType string

// What an [Event] can tell.
const (
	EventSignIn          EventType = "sign_in"        // completed, or refused
	EventSessionOpened   EventType = "session.opened" // for an app, beside the browser's
	EventSessionEnded    EventType = "session.ended"  // by a sign-out
	EventUserCreated     EventType = "user.created"
	EventUserUpdated     EventType = "user.updated"
	EventUserDeleted     EventType = "user.deleted"
	EventUserEvicted     EventType = "user.evicted" // the first proof of an e-mail address detached what others had attached
	EventAccountLinked   EventType = "account.linked"
	EventAccountUnlinked EventType = "account.unlinked"
	EventPasskeyCounter  EventType = "passkey.counter" // the signature counter of a passkey did not rise: there may be a copy of it
)

// EventOutcome says whether what an [Event] tells succeeded or failed.
type EventOutcome string

// The outcomes of an [Event].
const (
	EventSucceeded EventOutcome = "success"
	EventFailed    EventOutcome = "failure"
)

// Actor is who caused an [Event].
type Actor struct {
	Kind ActorKind
	ID   string // of the user; empty: not known
}

// ActorKind tells who caused an [Event]: somebody who is signed in, somebody
// who is not, or the application.
type ActorKind string

// The kinds of [Actor].
const (
	ActorVisitor ActorKind = "visitor" // somebody with a browser, who is not signed in
	ActorUser    ActorKind = "user"    // somebody who is
	ActorSystem  ActorKind = "system"  // the application itself, without a request
)
