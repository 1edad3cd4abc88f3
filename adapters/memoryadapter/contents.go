package memoryadapter

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// Contents is everything a store holds, each list in a fixed order.
type Contents struct {
	Users              []storage.User
	Accounts           []storage.Account
	Sessions           []storage.StoredSession // Token is what is stored: a hash, unless [Options].PlainTokens
	VerificationTokens []storage.VerificationToken
	Authenticators     []storage.Authenticator
}

// Contents returns a copy of everything the store holds. It waits for its turn,
// so it must not be called from within a transaction of the same store.
func (a *Adapter) Contents() (c Contents) {
	_ = a.withData(context.Background(), func(d *data) error {
		for _, id := range slices.Sorted(maps.Keys(d.users)) {
			u, _ := copyUser(d.users[id]) // it is stored, so it was copied before
			c.Users = append(c.Users, u)
		}
		for _, found := range d.accounts {
			account, _ := copyAccount(found)
			c.Accounts = append(c.Accounts, account)
		}
		for _, found := range d.authenticators {
			c.Authenticators = append(c.Authenticators, copyAuthenticator(found))
		}
		for _, s := range d.sessions {
			c.Sessions = append(c.Sessions, copySession(s))
		}
		c.VerificationTokens = slices.Collect(maps.Values(d.tokens))
		return nil
	})
	slices.SortFunc(c.Accounts, byAccountKey)
	slices.SortFunc(c.Authenticators, byCredentialID)
	slices.SortFunc(c.Sessions, func(a, b storage.StoredSession) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(c.VerificationTokens, func(a, b storage.VerificationToken) int {
		return cmp.Or(cmp.Compare(a.Identifier, b.Identifier), cmp.Compare(a.Token, b.Token))
	})
	return c
}
