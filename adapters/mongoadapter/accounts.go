package mongoadapter

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/latchkeyhq/latchkey/storage"
)

// accountDoc is the document of an account. Auth.js has the fields up to token_type too;
// those after it are of this package.
type accountDoc struct {
	ID           bson.ObjectID `bson:"_id"`
	UserID       bson.ObjectID `bson:"userId"`
	Type         string        `bson:"type"`
	Provider     string        `bson:"provider"`
	AccountID    string        `bson:"providerAccountId"`
	AccessToken  string        `bson:"access_token,omitempty"`
	RefreshToken string        `bson:"refresh_token,omitempty"`
	IDToken      string        `bson:"id_token,omitempty"`
	ExpiresAt    any           `bson:"expires_at,omitempty"` // seconds, in whatever kind of number a program had
	Scope        string        `bson:"scope,omitempty"`
	SessionState string        `bson:"session_state,omitempty"`
	TokenType    string        `bson:"token_type,omitempty"`
	Email        string        `bson:"email,omitempty"`
	EmailVouched bool          `bson:"emailVouched,omitempty"`
	Details      []bson.M      `bson:"authorization_details,omitempty"`
	TokenExtra   bson.M        `bson:"tokenExtra,omitempty"`
	Extra        bson.M        `bson:",inline"`
}

// accountFields are the names that a member of [storage.Account].Extra cannot have.
var accountFields = []string{
	"_id", "id", "userId", "type", "provider", "providerAccountId", "access_token", "refresh_token", "id_token", "expires_at",
	"scope", "session_state", "token_type", "email", "emailVouched", "authorization_details", "tokenExtra",
}

// UnmarshalBSON decodes a document, each field by its exact name. All other members go to
// Extra, even one whose name differs from that of a field in case alone.
func (d *accountDoc) UnmarshalBSON(doc []byte) error {
	type plain accountDoc // without this method
	strays, err := exactly(doc, accountFields, (*plain)(d))
	beside(&d.Extra, strays)
	return err
}

// newAccountDoc returns the document of an account, with a new id. It returns errText or
// errValue for an account that cannot be stored.
func newAccountDoc(a storage.Account) (d accountDoc, err error) {
	t := &a.Tokens
	if !storable(a.Provider, a.ProviderAccountID, string(a.Type), a.Email, t.AccessToken, t.RefreshToken, t.IDToken, t.Scope, t.SessionState, t.TokenType) {
		return d, errText
	}
	d = accountDoc{
		ID: bson.NewObjectID(), UserID: objectID(a.UserID), Type: string(a.Type), Provider: a.Provider, AccountID: a.ProviderAccountID,
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, IDToken: t.IDToken,
		Scope: t.Scope, SessionState: t.SessionState, TokenType: t.TokenType, Email: a.Email, EmailVouched: a.EmailVouched,
	}
	if !t.ExpiresAt.IsZero() {
		d.ExpiresAt = t.ExpiresAt.Unix()
	}
	for _, detail := range t.AuthorizationDetails {
		fields, err := toFields(detail)
		if err != nil {
			return d, err
		}
		d.Details = append(d.Details, fields)
	}
	if d.TokenExtra, err = toFields(t.Extra); err != nil {
		return d, err
	}
	d.Extra, err = toFields(a.Extra, accountFields...)
	return d, err
}

// account returns the account of the document.
func (d *accountDoc) account() storage.Account {
	a := storage.Account{
		ID: d.ID.Hex(), UserID: d.UserID.Hex(), Type: storage.ProviderType(d.Type), Provider: d.Provider, ProviderAccountID: d.AccountID,
		Tokens: storage.Tokens{
			AccessToken: d.AccessToken, RefreshToken: d.RefreshToken, IDToken: d.IDToken,
			Scope: d.Scope, SessionState: d.SessionState, TokenType: d.TokenType, Extra: fromFields(d.TokenExtra),
		},
		Email: d.Email, EmailVouched: d.EmailVouched, Extra: fromFields(d.Extra),
	}
	if at := seconds(d.ExpiresAt); at != 0 {
		a.Tokens.ExpiresAt = time.Unix(at, 0).UTC()
	}
	for _, detail := range d.Details {
		a.Tokens.AuthorizationDetails = append(a.Tokens.AuthorizationDetails, fromFields(detail))
	}
	return a
}

// seconds returns an int32, int64 or float64 as an integer, and 0 for anything else.
func seconds(n any) int64 {
	switch n := n.(type) {
	case int32:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// accountKey returns the filter for the document of an account.
func accountKey(provider, providerAccountID string) bson.D {
	return bson.D{{Key: "provider", Value: provider}, {Key: "providerAccountId", Value: providerAccountID}}
}

// LinkAccount implements [storage.Adapter]. An unknown user is ErrNotFound.
func (a *Adapter) LinkAccount(ctx context.Context, account storage.Account) error {
	d, err := newAccountDoc(account)
	if _, is := parseID(account.UserID); err == nil && !is {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = a.users.add(ctx, a.accounts, d.ID, d.UserID, accountKey(d.Provider, d.AccountID), d)
	}
	return fail(ctx, "link account", err)
}

// GetAccount implements [storage.AccountAdapter].
func (a *Adapter) GetAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	d, err := a.findAccount(ctx, provider, providerAccountID)
	if err != nil {
		return storage.Account{}, fail(ctx, "get account", err)
	}
	return d.account(), nil
}

// findAccount returns the document of an account. It returns ErrNotFound if there
// is none, or if its user was deleted.
func (a *Adapter) findAccount(ctx context.Context, provider, providerAccountID string) (d accountDoc, err error) {
	if !storable(provider, providerAccountID) {
		return d, storage.ErrNotFound
	}
	if err := find(ctx, a.accounts, accountKey(provider, providerAccountID), &d); err != nil {
		return d, err
	}
	return d, a.users.checkExists(ctx, d.UserID)
}

// ListAccounts implements [storage.AccountAdapter]. It orders the accounts by provider,
// and then by the account's id at the provider.
func (a *Adapter) ListAccounts(ctx context.Context, userID string) (list []storage.Account, err error) {
	found, err := ownedBy[accountDoc](ctx, a.accounts, userID)
	for _, d := range found {
		list = append(list, d.account())
	}
	slices.SortFunc(list, func(a, b storage.Account) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	return list, fail(ctx, "list accounts", err)
}

// UnlinkAccount implements [storage.AccountAdapter].
func (a *Adapter) UnlinkAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	if !storable(provider, providerAccountID) {
		return storage.Account{}, fail(ctx, "unlink account", storage.ErrNotFound)
	}
	var d accountDoc
	if err := a.accounts.remove(ctx, accountKey(provider, providerAccountID), &d); err != nil {
		return storage.Account{}, fail(ctx, "unlink account", err)
	}
	return d.account(), nil
}
