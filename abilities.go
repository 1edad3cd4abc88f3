package latchkey

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
	sessionRows    SessionAdapter
	sessionLists   SessionListAdapter
	verification   VerificationTokenAdapter
	accountLists   AccountAdapter
	authenticators AuthenticatorAdapter
	deletion       UserDeletionAdapter
	tx             TxAdapter
	signUps        SignUpAdapter
	revocations    RevocationStore
}

func abilitiesOf(a Adapter) (found abilities) {
	found.sessionRows, _ = a.(SessionAdapter)
	found.sessionLists, _ = a.(SessionListAdapter)
	found.verification, _ = a.(VerificationTokenAdapter)
	found.accountLists, _ = a.(AccountAdapter)
	found.authenticators, _ = a.(AuthenticatorAdapter)
	found.deletion, _ = a.(UserDeletionAdapter)
	found.tx, _ = a.(TxAdapter)
	found.signUps, _ = a.(SignUpAdapter)
	found.revocations, _ = a.(RevocationStore)
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
