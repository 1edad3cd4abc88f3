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
	AbilityPeople         Ability = "DirectoryAdapter"
	AbilitySuspensions    Ability = "SuspensionAdapter"
	AbilityActivities     Ability = "ActivityAdapter"
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
	people         storage.DirectoryAdapter
	suspensions    storage.SuspensionAdapter
	activities     storage.ActivityAdapter
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
	found.people, _ = a.(storage.DirectoryAdapter)
	found.suspensions, _ = a.(storage.SuspensionAdapter)
	found.activities, _ = a.(storage.ActivityAdapter)
	return found
}

// Has reports whether the adapter has the ability.
func (a *abilities) Has(what Ability) bool {
	return map[Ability]bool{
		AbilitySessions:       a.SessionRows != nil,
		AbilitySessionLists:   a.sessionLists != nil,
		AbilityVerification:   a.verification != nil,
		AbilityAccountLists:   a.AccountLists != nil,
		AbilityDeletion:       a.deletion != nil,
		AbilityAuthenticators: a.authenticators != nil,
		AbilityPeople:         a.people != nil,
		AbilitySuspensions:    a.suspensions != nil,
		AbilityActivities:     a.activities != nil,
	}[what]
}
