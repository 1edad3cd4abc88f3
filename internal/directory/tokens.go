package directory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// Tokens of providers in a sign-in, and what becomes of them when an account goes.

// TokenKeeper says how tokens are stored. Package vault has one.
type TokenKeeper interface {
	// ForRow returns the tokens of a new account as its row holds them. fresh is what
	// the provider has sent, and kept what is stored of it.
	ForRow(provider, id string, fresh, kept storage.Tokens) storage.Tokens
	// Replace returns the tokens that take the place of those in a row.
	Replace(row storage.Account, fresh, kept storage.Tokens) storage.Tokens
}

// mostSwaps is how often a sign-in tries to replace tokens while others change them.
const mostSwaps = 3

// TokenRows are the accounts of a store that is a [storage.TokenAdapter].
type TokenRows struct{ *Store }

// GetAccount returns an account, or ErrNotFound.
func (s TokenRows) GetAccount(ctx context.Context, provider, id string) (storage.Account, error) {
	return guarded.CallFor(ctx, s.bounds, "GetAccount", func(a storage.Account) bool { return a.Provider == provider && a.ProviderAccountID == id },
		func(ctx context.Context) (storage.Account, error) {
			return s.AccountLists.GetAccount(ctx, provider, id)
		})
}

// SwapTokens implements [storage.TokenAdapter]: it replaces the tokens of an account if
// they are those of old. Otherwise it returns ErrConflict, or ErrNotFound without such
// an account.
func (s TokenRows) SwapTokens(ctx context.Context, provider, id string, old, next storage.Tokens) error {
	return guarded.Do(ctx, s.bounds, "SwapTokens", func(ctx context.Context) error {
		return s.Store.Tokens.SwapTokens(ctx, provider, id, old, next)
	})
}

// hasTokens reports whether there is anything to store or to revoke.
func hasTokens(t *storage.Tokens) bool {
	return t.AccessToken != "" || t.RefreshToken != "" || t.IDToken != ""
}

// newTokens returns the tokens of a new account as its row holds them. It returns none
// if the account was disconnected since the code was sent.
func newTokens(ctx context.Context, d *Directory, s *Store, signIn *SignIn) (storage.Tokens, error) {
	if d.Tokens == nil || !hasTokens(&signIn.Keep) {
		return signIn.Keep, nil
	}
	if !signIn.IsNew { // of a new user nothing was disconnected
		void, err := d.Revocations.voidsTokens(ctx, s, signIn)
		if err != nil || void {
			return storage.Tokens{}, err
		}
	}
	a := &signIn.Account
	return d.Tokens.ForRow(a.Provider, a.ProviderAccountID, a.Tokens, signIn.Keep), nil
}

// replaceTokens stores the tokens that a sign-in brought in the place of older ones. row
// is the account as it was read. It stores nothing if the account was disconnected since
// the code was sent, or is gone. After mostSwaps conflicts it gives up without an error,
// because the row has newer tokens. It returns ErrConflict if the account is gone after a
// conflict, so that the sign-in is decided once more.
func replaceTokens(ctx context.Context, d *Directory, s *Store, signIn *SignIn, row storage.Account) error {
	if d.Tokens == nil || !hasTokens(&signIn.Keep) {
		return nil
	}
	var err error
	for range mostSwaps {
		void, unread := d.Revocations.voidsTokens(ctx, s, signIn) // after row was read: its tokens may be gone since
		if unread != nil || void {
			return unread
		}
		next := d.Tokens.Replace(row, signIn.Account.Tokens, signIn.Keep)
		err = TokenRows{s}.SwapTokens(ctx, row.Provider, row.ProviderAccountID, row.Tokens, next)
		if !errors.Is(err, storage.ErrConflict) {
			break
		}
		if row, err = (TokenRows{s}).GetAccount(ctx, row.Provider, row.ProviderAccountID); errors.Is(err, storage.ErrNotFound) {
			return storage.ErrConflict
		} else if err != nil {
			return err
		}
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// WithoutTokens returns the accounts without access, refresh and ID tokens, if a vault
// has these. Type, scope and expiry stay.
func WithoutTokens(d *Directory, accounts []storage.Account) []storage.Account {
	if d.Tokens == nil {
		return accounts
	}
	accounts = slices.Clone(accounts)
	for i := range accounts {
		accounts[i] = withoutTokens(d, accounts[i])
	}
	return accounts
}

// withoutTokens returns the account without access, refresh and ID token, if a vault has
// these. Without a vault it returns the account as it is.
func withoutTokens(d *Directory, a storage.Account) storage.Account {
	if d.Tokens != nil {
		a.Tokens.AccessToken, a.Tokens.RefreshToken, a.Tokens.IDToken = "", "", ""
	}
	return a
}

// letGo adds the removed accounts to q, so that their tokens are revoked after the
// commit: see [Outbox.TakeGone]. It does nothing if no vault keeps tokens.
func letGo(d *Directory, q *Outbox, accounts ...storage.Account) {
	if d.Tokens == nil {
		return
	}
	for _, a := range accounts {
		if hasTokens(&a.Tokens) {
			q.list = append(q.list, Entry{Gone: &a})
		}
	}
}

// accountEndLife is for how long an instant counts that voids the tokens of an account:
// longer than the request in which a code was sent.
const accountEndLife = time.Hour

// ForgetTokens records that the tokens of an account from before now are void: those
// of a sign-in that is under way are not stored. s is the store of the transaction that
// this is part of; nil: none.
func (r *Revocations) ForgetTokens(ctx context.Context, s *Store, provider, id string) error {
	if r == nil {
		return nil
	}
	now := wholeMillisecond(r.Now())
	at := now.Add(jwtclaims.Tolerance)
	var err error
	if r.Store != nil {
		err = r.void(ctx, s, r.accountKeys(provider, id), at, at.Add(accountEndLife))
	}
	own := ownAccount(provider, id)
	r.own.Delete(own)
	r.own.GetOrAdd(own, ownEnd{void: at, done: r.Now()})
	return err
}

// voidsTokens reports whether the account of a sign-in was disconnected since its code
// was sent.
func (r *Revocations) voidsTokens(ctx context.Context, s *Store, signIn *SignIn) (bool, error) {
	if r == nil {
		return false, nil
	}
	provider, id := signIn.Account.Provider, signIn.Account.ProviderAccountID
	own, known := r.own.Get(ownAccount(provider, id))
	last := own.void
	if r.Store != nil {
		found, err := r.revokedAt(ctx, s, r.accountKeys(provider, id))
		if errors.Is(err, errors.ErrUnsupported) {
			found, err = nil, nil
		}
		if err != nil {
			return false, err
		}
		last = time.Time{}
		for _, at := range found {
			if at.After(last) {
				last = at
			}
		}
	}
	switch {
	case last.IsZero(), signIn.Started.Truncate(time.Millisecond).After(last):
		return false, nil
	case known && own.void.Equal(last):
		return !signIn.Started.After(own.done), nil
	}
	return true, nil
}

// accountKeys returns the keys of the instant that voids the tokens of an account.
func (r *Revocations) accountKeys(provider, id string) []string {
	if r.InAdapter {
		return new(keys.Keys).All(keys.RevokedTokens, provider, id)
	}
	return r.Keys.All(keys.RevokedTokens, provider, id)
}

// ownAccount returns the key of an account among the ends that this process has recorded.
// No user id begins like that.
func ownAccount(provider, id string) string { return "\x00" + provider + "\x00" + id }
