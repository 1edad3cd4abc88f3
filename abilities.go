package latchkey

import "github.com/latchkeyhq/latchkey/storage"

// ability is something an adapter may do beyond the Adapter interface: the name
// of an optional interface.
type ability string

const (
	abilitySessions       ability = "SessionAdapter"
	abilitySessionLists   ability = "SessionListAdapter"
	abilityVerification   ability = "VerificationTokenAdapter"
	abilityAccountLists   ability = "AccountAdapter"
	abilityDeletion       ability = "UserDeletionAdapter"
	abilityAuthenticators ability = "AuthenticatorAdapter"
)

// abilities are an adapter's optional interfaces, found once. nil: it does not
// have it.
type abilities struct {
	sessionRows    storage.SessionAdapter
	sessionLists   storage.SessionListAdapter
	verification   storage.VerificationTokenAdapter
	accountLists   storage.AccountAdapter
	authenticators storage.AuthenticatorAdapter
	deletion       storage.UserDeletionAdapter
	tx             storage.TxAdapter
	signUps        storage.SignUpAdapter
	revocations    storage.RevocationStore
}

func abilitiesOf(a storage.Adapter) (found abilities) {
	found.sessionRows, _ = a.(storage.SessionAdapter)
	found.sessionLists, _ = a.(storage.SessionListAdapter)
	found.verification, _ = a.(storage.VerificationTokenAdapter)
	found.accountLists, _ = a.(storage.AccountAdapter)
	found.authenticators, _ = a.(storage.AuthenticatorAdapter)
	found.deletion, _ = a.(storage.UserDeletionAdapter)
	found.tx, _ = a.(storage.TxAdapter)
	found.signUps, _ = a.(storage.SignUpAdapter)
	found.revocations, _ = a.(storage.RevocationStore)
	return found
}

// has answers for the abilities that a feature cannot do without.
func (a *abilities) has(what ability) bool {
	return map[ability]bool{
		abilitySessions:       a.sessionRows != nil,
		abilitySessionLists:   a.sessionLists != nil,
		abilityVerification:   a.verification != nil,
		abilityAccountLists:   a.accountLists != nil,
		abilityDeletion:       a.deletion != nil,
		abilityAuthenticators: a.authenticators != nil,
	}[what]
}
