package memoryadapter

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// Contents is what a store holds, except sign-ups, suspensions, activities, revocations
// and leases. Each list has a fixed order.
type Contents struct {
	Users              []storage.User
	Accounts           []storage.Account
	Sessions           []storage.StoredSession // Token is what is stored: a hash, unless [Options].PlainTokens
	VerificationTokens []storage.VerificationToken
	Authenticators     []storage.Authenticator
	Factors            []storage.Factor
	RecoveryCodes      []RecoveryCode
	Challenges         []storage.Challenge
	Browsers           []storage.Browser
	Passwords          []storage.PasswordHash
	Audit              []storage.AuditRecord // the newest first
}

// RecoveryCode is the hash of a recovery code of a user.
type RecoveryCode struct{ UserID, Hash string }

// Contents returns a copy of what the store holds; the type [Contents] says what is left
// out. It waits until no transaction runs. So the function that InTx calls must not call
// it on the outer adapter, where it would wait forever.
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
		c.Factors = slices.SortedFunc(maps.Values(d.factors), byCreation)
		for code := range d.recoveryCodes {
			c.RecoveryCodes = append(c.RecoveryCodes, RecoveryCode{code[0], code[1]})
		}
		c.Challenges = slices.SortedFunc(maps.Values(d.challenges), newestChallenge)
		c.Browsers = slices.SortedFunc(maps.Values(d.browsers), func(a, b storage.Browser) int { return cmp.Compare(a.PublicID, b.PublicID) })
		c.Passwords = slices.SortedFunc(maps.Values(d.passwords), func(a, b storage.PasswordHash) int { return cmp.Compare(a.UserID, b.UserID) })
		c.Audit = slices.SortedFunc(maps.Values(d.audit), newestRecord)
		return nil
	})
	slices.SortFunc(c.RecoveryCodes, func(a, b RecoveryCode) int {
		return cmp.Or(cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.Hash, b.Hash))
	})
	slices.SortFunc(c.Accounts, byAccountKey)
	slices.SortFunc(c.Authenticators, byCredentialID)
	slices.SortFunc(c.Sessions, func(a, b storage.StoredSession) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(c.VerificationTokens, func(a, b storage.VerificationToken) int {
		return cmp.Or(cmp.Compare(a.Identifier, b.Identifier), cmp.Compare(a.Token, b.Token))
	})
	return c
}
