package memoryadapter

import (
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// pair is a key of two texts: provider and account id, or identifier and token.
type pair [2]string

// data is everything a store holds. Only the call or transaction that has the turn may
// use it. All changes go through put and remove, so that they can be taken back.
type data struct {
	users          map[string]storage.User
	emails         map[string]string // to user id
	accounts       map[pair]storage.Account
	sessions       map[string]storage.StoredSession // by stored token
	tokens         map[pair]storage.VerificationToken
	authenticators map[string]storage.Authenticator // by credential id
	signUps        map[pair]string                  // to user id
	revocations    map[string]revocation
	leases         map[string]lease
	factors        map[string]storage.Factor // by id
	recoveryCodes  map[pair]struct{}         // by user id and hash
	challenges     map[string]storage.Challenge
	browsers       map[pair]storage.Browser // by id and user id
	passwords      map[string]storage.PasswordHash
	suspensions    map[string]storage.Suspension  // by user id
	activities     map[string]storage.Activity    // by id
	audit          map[string]storage.AuditRecord // by id

	depth int      // transactions that are open, one in the other
	undo  []func() // take their changes back; the last one is called first
}

// revocation is what is stored of a call of Revoke.
type revocation struct{ at, expires time.Time }

func newData() *data {
	return &data{
		users:          map[string]storage.User{},
		emails:         map[string]string{},
		accounts:       map[pair]storage.Account{},
		sessions:       map[string]storage.StoredSession{},
		tokens:         map[pair]storage.VerificationToken{},
		authenticators: map[string]storage.Authenticator{},
		signUps:        map[pair]string{},
		revocations:    map[string]revocation{},
		leases:         map[string]lease{},
		factors:        map[string]storage.Factor{},
		recoveryCodes:  map[pair]struct{}{},
		challenges:     map[string]storage.Challenge{},
		browsers:       map[pair]storage.Browser{},
		passwords:      map[string]storage.PasswordHash{},
		suspensions:    map[string]storage.Suspension{},
		activities:     map[string]storage.Activity{},
		audit:          map[string]storage.AuditRecord{},
	}
}

// put sets m[k], so that a rollback can take it back. m is a map of d.
func put[K comparable, V any](d *data, m map[K]V, k K, v V) {
	d.remember(restore(m, k))
	m[k] = v
}

// remove deletes m[k], so that a rollback can take it back. m is a map of d.
func remove[K comparable, V any](d *data, m map[K]V, k K) {
	d.remember(restore(m, k))
	delete(m, k)
}

// removeIf removes the entries of m for which goes returns true, and returns how
// many.
func removeIf[K comparable, V any](d *data, m map[K]V, goes func(K, V) bool) (n int) {
	for k, v := range m {
		if goes(k, v) {
			remove(d, m, k)
			n++
		}
	}
	return n
}

// find returns m[k], or ErrNotFound.
func find[K comparable, V any](m map[K]V, k K) (v V, err error) {
	v, known := m[k]
	if !known {
		err = storage.ErrNotFound
	}
	return v, err
}

// restore returns a function that sets m[k] back to its present value, or deletes
// it if there is none.
func restore[K comparable, V any](m map[K]V, k K) func() {
	old, had := m[k]
	return func() {
		if had {
			m[k] = old
		} else {
			delete(m, k)
		}
	}
}

// remember keeps a function for rollback if a transaction is open.
func (d *data) remember(undo func()) {
	if d.depth > 0 {
		d.undo = append(d.undo, undo)
	}
}

// rollback takes back, the last one first, the changes that were made since len(d.undo)
// was mark.
func (d *data) rollback(mark int) {
	for i := len(d.undo) - 1; i >= mark; i-- {
		d.undo[i]()
	}
	d.undo = d.undo[:mark]
}
