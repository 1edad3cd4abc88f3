package latchkey

import "github.com/latchkeyhq/latchkey/storage"

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
