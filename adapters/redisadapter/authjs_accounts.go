package redisadapter

import (
	"context"
	"encoding/json"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// accountObject is the record of an account.
type accountObject struct {
	ID                string          `json:"id"`
	UserID            string          `json:"userId"`
	Type              string          `json:"type"`
	Provider          string          `json:"provider"`
	ProviderAccountID string          `json:"providerAccountId"`
	RefreshToken      string          `json:"refresh_token,omitempty"`
	AccessToken       string          `json:"access_token,omitempty"`
	ExpiresAt         *int64          `json:"expires_at,omitempty"` // in seconds
	TokenType         string          `json:"token_type,omitempty"`
	Scope             string          `json:"scope,omitempty"`
	IDToken           string          `json:"id_token,omitempty"`
	SessionState      json.RawMessage `json:"session_state,omitempty"`
	Details           json.RawMessage `json:"authorization_details,omitempty"`
	TokenExtra        json.RawMessage `json:"token_extra,omitempty"` // ours, as are the rest
	Email             string          `json:"email,omitempty"`
	EmailVouched      bool            `json:"emailVouched,omitempty"`
}

// accountID joins the two names as Auth.js does. Two accounts may have the same result,
// so a caller that finds a record compares both names.
func accountID(provider, id string) string { return provider + ":" + id }

// asAccount returns the account in text, the value of a key. It returns ErrNotFound if
// text is nil or is not the record of this account.
func asAccount(text *string, provider, id string) (storage.Account, error) {
	var o accountObject
	if !decodeObject(text, &o) || o.Provider != provider || o.ProviderAccountID != id || o.UserID == "" {
		return storage.Account{}, storage.ErrNotFound
	}
	a := storage.Account{
		ID: o.ID, UserID: o.UserID, Provider: provider, ProviderAccountID: id, Type: storage.ProviderType(o.Type),
		Email: o.Email, EmailVouched: o.EmailVouched, Extra: extraOf(text, o),
		Tokens: storage.Tokens{
			RefreshToken: o.RefreshToken, AccessToken: o.AccessToken, TokenType: o.TokenType, Scope: o.Scope, IDToken: o.IDToken,
		},
	}
	_ = json.Unmarshal(o.SessionState, &a.Tokens.SessionState) // a value that is not text is ignored
	if o.ExpiresAt != nil {
		a.Tokens.ExpiresAt = time.Unix(*o.ExpiresAt, 0).UTC()
	}
	a.Tokens.AuthorizationDetails, a.Tokens.Extra = decodeOpen[[]map[string]any](o.Details), decodeOpen[map[string]any](o.TokenExtra)
	return a, nil
}

// accountText returns the record of an account as Auth.js writes it. It returns errNoUTF8
// for a field that is not UTF-8, and errMember for a value that has no form in JSON.
func accountText(a storage.Account) (text string, err error) {
	t := a.Tokens
	if !areUTF8(a.UserID, string(a.Type), a.Provider, a.ProviderAccountID, a.Email, t.RefreshToken, t.AccessToken, t.TokenType, t.Scope, t.IDToken, t.SessionState) {
		return "", errNoUTF8
	}
	o := accountObject{
		ID: accountID(a.Provider, a.ProviderAccountID), UserID: a.UserID, Type: string(a.Type), Provider: a.Provider, ProviderAccountID: a.ProviderAccountID,
		RefreshToken: t.RefreshToken, AccessToken: t.AccessToken, TokenType: t.TokenType, Scope: t.Scope, IDToken: t.IDToken,
		Email: a.Email, EmailVouched: a.EmailVouched,
	}
	if t.SessionState != "" {
		o.SessionState, _ = json.Marshal(t.SessionState) // a string never fails
	}
	if !t.ExpiresAt.IsZero() {
		seconds := t.ExpiresAt.Unix()
		o.ExpiresAt = &seconds
	}
	if o.Details, err = encodeOpen(t.AuthorizationDetails); err != nil {
		return "", err
	}
	if o.TokenExtra, err = encodeOpen(t.Extra); err != nil {
		return "", err
	}
	return encodeObject(nil, o, a.Extra)
}

// GetUserByAccount implements [storage.Adapter].
func (a *authJS) GetUserByAccount(ctx context.Context, provider, providerAccountID string) (storage.User, error) {
	account, err := a.GetAccount(ctx, provider, providerAccountID)
	if err != nil {
		return storage.User{}, err
	}
	return a.GetUser(ctx, account.UserID)
}

// GetAccount implements [storage.AccountAdapter]. It does not ask whether the account's
// user was deleted.
func (a *authJS) GetAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	text, err := a.keys.text(ctx, a.keys.at(ofAccount, accountID(provider, providerAccountID)))
	if err != nil {
		return storage.Account{}, err
	}
	return asAccount(text, provider, providerAccountID)
}

// LinkAccount implements [storage.Adapter]. An unknown user is ErrNotFound. An account
// of a deleted user counts as free.
func (a *authJS) LinkAccount(ctx context.Context, account storage.Account) error {
	text, err := accountText(account)
	if err != nil {
		return err
	}
	key := a.keys.at(ofAccount, accountID(account.Provider, account.ProviderAccountID))
	return a.keys.change(ctx, func(p *plan) error {
		if err := a.users.want(ctx, p, account.UserID); err != nil {
			return err
		}
		if err := a.users.wantFree(ctx, p, key); err != nil {
			return err
		}
		p.set(key, text)
		p.set(a.keys.at(lastAccountOf, account.UserID), key)
		a.owned.add(p, account.UserID, key)
		return nil
	})
}

// ListAccounts implements [storage.AccountAdapter]. Of the accounts that Auth.js has
// linked it finds only the last. That one comes last; the others are in the order of
// their keys.
func (a *authJS) ListAccounts(ctx context.Context, userID string) ([]storage.Account, error) {
	all, _, err := a.owned.list(ctx, userID, ofAccount)
	var list []storage.Account
	for _, one := range all {
		var o accountObject
		if decodeObject(&one.text, &o) {
			if account, err := asAccount(&one.text, o.Provider, o.ProviderAccountID); err == nil {
				list = append(list, account)
			}
		}
	}
	return list, err
}

// UnlinkAccount implements [storage.AccountAdapter].
func (a *authJS) UnlinkAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	key := a.keys.at(ofAccount, accountID(provider, providerAccountID))
	var removed storage.Account
	err := a.keys.end(ctx, func(p *plan) error {
		text, err := a.keys.text(ctx, key)
		if err != nil {
			return err
		}
		if removed, err = asAccount(text, provider, providerAccountID); err != nil {
			return err
		}
		p.want(key, text)
		return a.owned.remove(ctx, p, lastAccountOf, removed.UserID, key)
	})
	if err != nil {
		return storage.Account{}, err
	}
	return removed, nil
}

// SwapTokens implements [storage.TokenAdapter].
func (a *authJS) SwapTokens(ctx context.Context, provider, providerAccountID string, old, next storage.Tokens) error {
	key := a.keys.at(ofAccount, accountID(provider, providerAccountID))
	return a.keys.change(ctx, func(p *plan) error {
		text, err := a.keys.text(ctx, key)
		if err != nil {
			return err
		}
		account, err := asAccount(text, provider, providerAccountID)
		if err != nil {
			return err
		}
		if account.Tokens.AccessToken != old.AccessToken || account.Tokens.RefreshToken != old.RefreshToken {
			return storage.ErrConflict
		}
		account.Tokens = next
		after, err := accountText(account)
		if err != nil {
			return err
		}
		p.want(key, text)
		p.set(key, after)
		return nil
	})
}
