package latchkey

import (
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// The names of package storage, until everything uses that package.
type (
	Adapter                  = storage.Adapter
	UserChange               = storage.UserChange
	SessionAdapter           = storage.SessionAdapter
	SessionListAdapter       = storage.SessionListAdapter
	SessionStore             = storage.SessionStore
	VerificationTokenAdapter = storage.VerificationTokenAdapter
	AccountAdapter           = storage.AccountAdapter
	UserDeletionAdapter      = storage.UserDeletionAdapter
	AuthenticatorAdapter     = storage.AuthenticatorAdapter
	AuthenticatorChange      = storage.AuthenticatorChange
	TxAdapter                = storage.TxAdapter
	SignUpAdapter            = storage.SignUpAdapter
	SweepAdapter             = storage.SweepAdapter
	RevocationStore          = storage.RevocationStore
	Limiter                  = storage.Limiter
	ReturningLimiter         = storage.ReturningLimiter
	ReplayStore              = storage.ReplayStore
	StoredSession            = storage.StoredSession
	VerificationToken        = storage.VerificationToken
	Authenticator            = storage.Authenticator
	AccountRecord            = storage.AccountRecord
	VerificationTokenRecord  = storage.VerificationTokenRecord
	AuthenticatorRecord      = storage.AuthenticatorRecord
	StoredSessionRecord      = storage.StoredSessionRecord
)

// The names of packages event and passkey, until everything uses those.
type (
	EventType             = event.Type
	EventOutcome          = event.Outcome
	Actor                 = event.Actor
	ActorKind             = event.ActorKind
	Requirement           = passkey.Requirement
	RegistrationOptions   = passkey.RegistrationOptions
	AuthenticationOptions = passkey.AuthenticationOptions
	RelyingParty          = passkey.RelyingParty
	Registration          = passkey.Registration
	Authentication        = passkey.Authentication
	Presentation          = passkey.Presentation
	Ceremony              = passkey.Ceremony
)

// The same.
const (
	Required             = passkey.Required
	Preferred            = passkey.Preferred
	Discouraged          = passkey.Discouraged
	EventSucceeded       = event.Succeeded
	EventFailed          = event.Failed
	ActorVisitor         = event.ActorVisitor
	ActorUser            = event.ActorUser
	ActorSystem          = event.ActorSystem
	EventSignIn          = event.SignIn
	EventSessionOpened   = event.SessionOpened
	EventSessionEnded    = event.SessionEnded
	EventUserCreated     = event.UserCreated
	EventUserUpdated     = event.UserUpdated
	EventUserDeleted     = event.UserDeleted
	EventUserEvicted     = event.UserEvicted
	EventAccountLinked   = event.AccountLinked
	EventAccountUnlinked = event.AccountUnlinked
	EventPasskeyCounter  = event.PasskeyCounter
)
