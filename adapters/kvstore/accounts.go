package kvstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// accountValue is the stored form of an account.
type accountValue struct {
	owned
	Provider     string               `json:"provider"`
	ID           string               `json:"id"` // the provider's
	Type         storage.ProviderType `json:"type,omitempty"`
	Access       string               `json:"access_token,omitempty"`
	Refresh      string               `json:"refresh_token,omitempty"`
	IDToken      string               `json:"id_token,omitempty"`
	TokenType    string               `json:"token_type,omitempty"`
	Scope        string               `json:"scope,omitempty"`
	SessionState string               `json:"session_state,omitempty"`
	Expires      stamp                `json:"expires,omitzero"`
	Details      json.RawMessage      `json:"authorization_details,omitempty"`
	TokenExtra   json.RawMessage      `json:"token_extra,omitempty"`
	Extra        json.RawMessage      `json:"extra,omitempty"`
	Email        string               `json:"email,omitempty"`
	Vouched      bool                 `json:"email_vouched,omitempty"`
}

// accountAsValue returns the value to store for an account, without the entry's part.
// born is the Born of the account's user. It returns errText for a text that is not
// UTF-8, and errJSON for a member that cannot be encoded as JSON.
func accountAsValue(a *storage.Account, born string) (v accountValue, err error) {
	t := &a.Tokens
	if !isText(a.UserID, a.Provider, a.ProviderAccountID, string(a.Type), t.AccessToken, t.RefreshToken, t.IDToken, t.TokenType, t.Scope, t.SessionState, a.Email) {
		return v, errText
	}
	v = accountValue{
		owned: owned{owner: owner{a.UserID, born}}, Provider: a.Provider, ID: a.ProviderAccountID, Type: a.Type,
		Access: t.AccessToken, Refresh: t.RefreshToken, IDToken: t.IDToken, TokenType: t.TokenType, Scope: t.Scope,
		SessionState: t.SessionState, Expires: stampOf(t.ExpiresAt), Email: a.Email, Vouched: a.EmailVouched,
	}
	if v.Details, err = open(t.AuthorizationDetails); err != nil {
		return v, err
	}
	if v.TokenExtra, err = open(t.Extra); err != nil {
		return v, err
	}
	v.Extra, err = open(a.Extra)
	return v, err
}

// account returns v as an account. It returns errJSON for a member that is no JSON.
func (v *accountValue) account() (storage.Account, error) {
	a := storage.Account{
		UserID: v.User, Provider: v.Provider, ProviderAccountID: v.ID, Type: v.Type, Email: v.Email, EmailVouched: v.Vouched,
		Tokens: storage.Tokens{
			AccessToken: v.Access, RefreshToken: v.Refresh, IDToken: v.IDToken, TokenType: v.TokenType, Scope: v.Scope,
			SessionState: v.SessionState, ExpiresAt: v.Expires.Time,
		},
	}
	return a, errors.Join(opened(v.Details, &a.Tokens.AuthorizationDetails), opened(v.TokenExtra, &a.Tokens.Extra), opened(v.Extra, &a.Extra))
}

// LinkAccount implements [storage.Adapter]. An unknown user is ErrNotFound. An account
// that is stored already is ErrConflict, unless its user was deleted.
func (s *Store) LinkAccount(ctx context.Context, a storage.Account) error {
	u, err := s.users.find(ctx, a.UserID)
	if err != nil {
		return err
	}
	v, err := accountAsValue(&a, u.Born)
	if err != nil {
		return err
	}
	with := func(part string) value {
		v.Entry = part
		return v
	}
	return s.owned.create(ctx, a.UserID, Record{Key: keyOfAccount(a.Provider, a.ProviderAccountID)}, with, never, s.users.isAbandoned)
}

// GetUserByAccount implements [storage.Adapter]. It is a step of each sign-in, and so it
// writes the claim to the user's e-mail address anew if the store has lost that claim.
// It ignores errors of that write.
func (s *Store) GetUserByAccount(ctx context.Context, provider, providerAccountID string) (storage.User, error) {
	_, of, user, err := findWithUser[owner](ctx, s.users, keyOfAccount(provider, providerAccountID))
	if err == nil && of.Born != user.Born {
		err = storage.ErrNotFound
	}
	if err == nil {
		s.users.reclaim(ctx, user)
	}
	return user.orZero(err)
}

// GetAccount implements [storage.AccountAdapter]. An account of a deleted user is
// ErrNotFound.
func (s *Store) GetAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	_, v, user, err := findWithUser[accountValue](ctx, s.users, keyOfAccount(provider, providerAccountID))
	if err == nil && v.Born != user.Born {
		err = storage.ErrNotFound
	}
	if err != nil {
		return storage.Account{}, err
	}
	return v.account()
}

// ListAccounts implements [storage.AccountAdapter]. It orders the accounts by provider,
// and then by the account's id at the provider.
func (s *Store) ListAccounts(ctx context.Context, userID string) (list []storage.Account, err error) {
	records, err := s.users.list(ctx, userID, KindAccount)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		v, err := decode[accountValue](&r)
		if err != nil {
			return nil, err
		}
		a, err := v.account()
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b storage.Account) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	return list, nil
}

// UnlinkAccount implements [storage.AccountAdapter]. An error may follow the removal.
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	r, err := s.owned.take(ctx, keyOfAccount(provider, providerAccountID))
	if err != nil {
		return storage.Account{}, err
	}
	v, err := decode[accountValue](&r)
	if err != nil {
		return storage.Account{}, err
	}
	return v.account()
}

// signUpAge is how long a sign-up that was cut short can be taken up again.
const signUpAge = 30 * 24 * time.Hour

// BeginSignUp implements [storage.SignUpAdapter]. It returns the user id that is stored for
// the account: an earlier one, or else userID. The store may forget a record after 30 days.
func (s *Store) BeginSignUp(ctx context.Context, provider, providerAccountID, userID string) (string, error) {
	if !isText(userID) {
		return "", errText
	}
	r, err := s.records.create(ctx, keyOfSignUp(provider, providerAccountID), owner{User: userID}, s.records.now().Add(signUpAge))
	if err != nil && !errors.Is(err, storage.ErrConflict) {
		return "", err
	}
	begun, err := decode[owner](&r)
	return begun.User, err
}

// EndSignUp implements [storage.SignUpAdapter]. An unknown sign-up is no error.
func (s *Store) EndSignUp(ctx context.Context, provider, providerAccountID string) error {
	return s.records.remove(ctx, Record{Key: keyOfSignUp(provider, providerAccountID)})
}
