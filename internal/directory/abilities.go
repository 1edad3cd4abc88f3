package directory

import "github.com/latchkeyhq/latchkey/storage"

// Ability is the name of an optional interface of package storage.
type Ability string

const (
	AbilitySessions       Ability = "SessionAdapter"
	AbilitySessionLists   Ability = "SessionListAdapter"
	AbilityVerification   Ability = "VerificationTokenAdapter"
	AbilityAccountLists   Ability = "AccountAdapter"
	AbilityDeletion       Ability = "UserDeletionAdapter"
	AbilityAuthenticators Ability = "AuthenticatorAdapter"
	AbilityFactors        Ability = "FactorAdapter"
	AbilityChallenges     Ability = "ChallengeAdapter"
	AbilityBrowsers       Ability = "BrowserAdapter"
	AbilityPasswords      Ability = "PasswordAdapter"
	AbilityTokens         Ability = "TokenAdapter"
	AbilityPeople         Ability = "DirectoryAdapter"
	AbilitySuspensions    Ability = "SuspensionAdapter"
	AbilityActivities     Ability = "ActivityAdapter"
	AbilityAudit          Ability = "AuditAdapter"
	AbilityTx             Ability = "TxAdapter"
)

// abilities are an adapter's optional interfaces, found once. A nil field means
// that the adapter does not have it.
type abilities struct {
	SessionRows    storage.SessionAdapter
	sessionLists   storage.SessionListAdapter
	verification   storage.VerificationTokenAdapter
	AccountLists   storage.AccountAdapter
	authenticators storage.AuthenticatorAdapter
	deletion       storage.UserDeletionAdapter
	Tx             storage.TxAdapter
	SignUps        storage.SignUpAdapter
	Revocations    storage.RevocationStore
	factors        storage.FactorAdapter
	challenges     storage.ChallengeAdapter
	browsers       storage.BrowserAdapter
	passwords      storage.PasswordAdapter
	Tokens         storage.TokenAdapter
	Leases         storage.LeaseStore
	people         storage.DirectoryAdapter
	suspensions    storage.SuspensionAdapter
	activities     storage.ActivityAdapter
	audit          storage.AuditAdapter
}

func abilitiesOf(a storage.Adapter) (found abilities) {
	found.SessionRows, _ = a.(storage.SessionAdapter)
	found.sessionLists, _ = a.(storage.SessionListAdapter)
	found.verification, _ = a.(storage.VerificationTokenAdapter)
	found.AccountLists, _ = a.(storage.AccountAdapter)
	found.authenticators, _ = a.(storage.AuthenticatorAdapter)
	found.deletion, _ = a.(storage.UserDeletionAdapter)
	found.Tx, _ = a.(storage.TxAdapter)
	found.SignUps, _ = a.(storage.SignUpAdapter)
	found.Revocations, _ = a.(storage.RevocationStore)
	found.factors, _ = a.(storage.FactorAdapter)
	found.challenges, _ = a.(storage.ChallengeAdapter)
	found.browsers, _ = a.(storage.BrowserAdapter)
	found.passwords, _ = a.(storage.PasswordAdapter)
	found.Tokens, _ = a.(storage.TokenAdapter)
	found.Leases, _ = a.(storage.LeaseStore)
	found.people, _ = a.(storage.DirectoryAdapter)
	found.suspensions, _ = a.(storage.SuspensionAdapter)
	found.activities, _ = a.(storage.ActivityAdapter)
	found.audit, _ = a.(storage.AuditAdapter)
	return found
}

// Has reports whether the adapter itself implements the interface that what names. A
// store of sessions apart does not count: see [Store.Require]. Has returns false for an
// unknown name.
func (a *abilities) Has(what Ability) bool {
	return map[Ability]bool{
		AbilitySessions:       a.SessionRows != nil,
		AbilitySessionLists:   a.sessionLists != nil,
		AbilityVerification:   a.verification != nil,
		AbilityAccountLists:   a.AccountLists != nil,
		AbilityDeletion:       a.deletion != nil,
		AbilityAuthenticators: a.authenticators != nil,
		AbilityFactors:        a.factors != nil,
		AbilityChallenges:     a.challenges != nil,
		AbilityBrowsers:       a.browsers != nil,
		AbilityPasswords:      a.passwords != nil,
		AbilityTokens:         a.Tokens != nil,
		AbilityPeople:         a.people != nil,
		AbilitySuspensions:    a.suspensions != nil,
		AbilityActivities:     a.activities != nil,
		AbilityAudit:          a.audit != nil,
		AbilityTx:             a.Tx != nil,
	}[what]
}
