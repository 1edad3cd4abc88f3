package vault

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/storage"
)

// How often a revocation is tried, the pause before the second try, the longest pause
// that the provider can ask for by Retry-After, and for how long it is tried in all.
const (
	revokeTries = 3
	revokePause = time.Second
	revokeAsked = 10 * time.Second
	revokeTime  = 30 * time.Second
)

// mostSwaps is how often a swap is tried while others change the row.
const mostSwaps = 3

// Revoke removes the tokens of an account from the store and calls LetGo, which revokes them
// at the provider in the background and reports event.TokenDisconnected. row is the
// account as [Vault.Find] has read it. The account stays linked. An account without tokens is
// no error. Revoke returns storage.ErrNotFound if the account is gone, ErrRefresh if other
// calls change the row mostSwaps times, and the errors of the store.
func (v *Vault) Revoke(ctx context.Context, row storage.Account) error {
	of := Ref{row.UserID, row.Provider, row.ProviderAccountID}
	for range mostSwaps {
		if row.Tokens.AccessToken == "" && row.Tokens.RefreshToken == "" && row.Tokens.IDToken == "" {
			return nil
		}
		err := v.Rows.SwapTokens(ctx, row.Provider, row.ProviderAccountID, row.Tokens, storage.Tokens{})
		if err == nil {
			v.LetGo(row, GrantRevoked)
			return nil
		}
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if row, err = v.Find(ctx, of); err != nil {
			return err
		}
	}
	return failure.WrapFor(fault.ErrRefresh, of.Provider, errors.New("other calls keep changing the tokens of the account"))
}

// LetGo revokes at the provider the tokens of an account that was removed or
// disconnected, in the background, and then reports event.TokenDisconnected with detail.
// It changes nothing in the store. row is the account as it was stored. No request goes
// out with KeepGrants, for a provider that is unknown or cannot revoke, and for tokens
// that do not open or belong to another client or tenant: LetGo then only reports the
// event. Without an access token and a refresh token it does nothing at all. A failure is
// logged.
func (v *Vault) LetGo(row storage.Account, detail string) {
	p := v.Providers[row.Provider]
	key := accountKey{row.Provider, row.ProviderAccountID}
	if row.Tokens.AccessToken == "" && row.Tokens.RefreshToken == "" {
		return
	}
	if p == nil {
		v.ended(row, detail, nil)
		return
	}
	clear, grant, err := v.Seals.openTokens(key, row.Tokens)
	if err == nil {
		err = p.owns(row.Provider, &opened{row: row, grant: grant})
	}
	if err != nil {
		v.ended(row, detail, err)
		return
	}
	v.revokeLater(p, row, clear, detail)
}

// revokeLater revokes the tokens t, which are in clear, in the background and then
// reports event.TokenDisconnected with detail. If the provider does not revoke them, it
// writes a warning and the event has the error. With KeepGrants, or if p has no Revoke,
// it only reports the event.
func (v *Vault) revokeLater(p *Provider, row storage.Account, t storage.Tokens, detail string) {
	if v.KeepGrants || p.Revoke == nil {
		v.ended(row, detail, nil)
		return
	}
	v.Later.Start(func() {
		err := guarded.Contain(func() error { return v.revoke(p, row, t) })
		if err != nil {
			v.Log.Warn(context.Background(), "tokens could not be revoked at the provider", "provider", row.Provider, "user", row.UserID, "error", textOf(err, t))
		}
		v.ended(row, detail, hide(err, t))
	})
}

// revoke revokes tokens at the provider, in at most three tries. The pauses between them
// are 1 s and 2 s, or longer if the provider asks for that. It returns nil without a
// further try if the account has tokens again: revoking may end the grant that they
// belong to.
func (v *Vault) revoke(p *Provider, row storage.Account, t storage.Tokens) error {
	ctx, cancel := context.WithTimeout(context.Background(), revokeTime)
	defer cancel()
	var err error
	pause := revokePause
	for i := range revokeTries {
		if i > 0 {
			sleep(ctx, max(pause, min(oauth.WaitOf(err), revokeAsked)))
			pause *= 2
			if v.isConnected(ctx, row) {
				return nil
			}
		}
		once, end := context.WithTimeout(ctx, v.CallTime)
		err = p.Revoke(once, t)
		end()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// isConnected reports whether the row of an account has an access token or a refresh
// token now. It returns false if the row cannot be read.
func (v *Vault) isConnected(ctx context.Context, row storage.Account) bool {
	now, err := v.Rows.GetAccount(ctx, row.Provider, row.ProviderAccountID)
	return err == nil && (now.Tokens.AccessToken != "" || now.Tokens.RefreshToken != "")
}

// ended reports event.TokenDisconnected for an account. err is why the provider did not
// revoke; nil: it did, or was not asked.
func (v *Vault) ended(row storage.Account, detail string, err error) {
	e := event.Event{Type: event.TokenDisconnected, Detail: fault.Detail(detail), Err: err}
	v.tellOf(context.Background(), &row, e)
}

// Disconnect removes the refresh token of an account from the store, because the provider
// has ended the grant with a logout, and reports event.TokenDisconnected with
// GrantLogout. The access token stays. It makes no request to the provider. An account
// that is gone, has no refresh token, or is of another tenant, is no error. Disconnect
// returns ErrRefresh if other calls change the row mostSwaps times, and the errors of the
// store.
func (v *Vault) Disconnect(ctx context.Context, provider, accountID string) error {
	if !v.Providers[provider].holds(accountID) {
		return nil
	}
	for range mostSwaps {
		row, err := v.Rows.GetAccount(ctx, provider, accountID)
		if errors.Is(err, storage.ErrNotFound) || err == nil && row.Tokens.RefreshToken == "" {
			return nil
		}
		if err != nil {
			return err
		}
		next := row.Tokens
		next.RefreshToken = ""
		err = v.Rows.SwapTokens(ctx, provider, accountID, row.Tokens, next)
		if err == nil {
			v.ended(row, GrantLogout, nil)
			return nil
		}
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return failure.WrapFor(fault.ErrRefresh, provider, errors.New("other calls keep changing the tokens of the account"))
}
