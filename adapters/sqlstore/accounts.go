package sqlstore

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// accountRow is where a row of accounts is read to.
type accountRow struct {
	account                    latchkey.Account
	id                         string
	expires                    int64 // in seconds
	details, tokenExtra, extra string
}

func (r *accountRow) dest() []any {
	a, t := &r.account, &r.account.Tokens
	return []any{
		&r.id, &a.UserID, (*string)(&a.Type), &a.Provider, &a.ProviderAccountID, &t.RefreshToken, &t.AccessToken, &r.expires,
		&t.IDToken, &t.Scope, &t.SessionState, &t.TokenType, &r.details, &r.tokenExtra, &r.extra,
		&a.Email, &a.EmailVouched,
	}
}

func (r *accountRow) read() (a latchkey.Account, err error) {
	a = r.account
	a.ID = r.id
	if r.expires != 0 {
		a.Tokens.ExpiresAt = time.Unix(r.expires, 0).UTC()
	}
	if err := fromJSON(r.details, &a.Tokens.AuthorizationDetails); err != nil {
		return a, err
	}
	if err := fromJSON(r.tokenExtra, &a.Tokens.Extra); err != nil {
		return a, err
	}
	return a, fromJSON(r.extra, &a.Extra)
}

// LinkAccount implements [latchkey.Adapter]. An unknown user is ErrNotFound.
func (s *Store) LinkAccount(ctx context.Context, a latchkey.Account) error {
	row, err := accountValues(a)
	if err == nil && !s.findableID(a.UserID) {
		err = latchkey.ErrNotFound
	}
	if err != nil {
		return fail(ctx, "link account", err)
	}
	row[0] = s.newID("")
	err = s.claim(ctx, func(s *Store) error { return s.add(ctx, s.q.insertAccount, row...) },
		claimed("accounts", a.Provider, a.ProviderAccountID), s.q.account, a.Provider, a.ProviderAccountID)
	return fail(ctx, "link account", err)
}

// accountValues is the row of an account, but for its id.
func accountValues(a latchkey.Account) ([]any, error) {
	details, err := toJSON(a.Tokens.AuthorizationDetails)
	if err != nil {
		return nil, err
	}
	tokenExtra, err := toJSON(a.Tokens.Extra)
	if err != nil {
		return nil, err
	}
	extra, err := toJSON(a.Extra)
	if err != nil {
		return nil, err
	}
	var expires any
	if !a.Tokens.ExpiresAt.IsZero() {
		expires = a.Tokens.ExpiresAt.Unix()
	}
	t := a.Tokens
	return []any{
		nil, a.UserID, string(a.Type), a.Provider, a.ProviderAccountID, null(t.RefreshToken), null(t.AccessToken), expires,
		null(t.IDToken), null(t.Scope), null(t.SessionState), null(t.TokenType), details, tokenExtra, extra,
		null(a.Email), null(a.EmailVouched),
	}, nil
}

// GetAccount implements [latchkey.AccountAdapter].
func (s *Store) GetAccount(ctx context.Context, provider, providerAccountID string) (latchkey.Account, error) {
	var row accountRow
	if err := s.find(ctx, s.q.account, []string{provider, providerAccountID}, s.into("accounts", row.dest())...); err != nil {
		return latchkey.Account{}, fail(ctx, "get account", err)
	}
	a, err := row.read()
	return a, fail(ctx, "get account", err)
}

// ListAccounts implements [latchkey.AccountAdapter]. They are in the order
// of provider and id.
func (s *Store) ListAccounts(ctx context.Context, userID string) (list []latchkey.Account, err error) {
	err = s.each(ctx, s.q.accountsOf, userID, func(scan func(...any) error) error {
		var row accountRow
		if err := scan(s.into("accounts", row.dest())...); err != nil {
			return err
		}
		a, err := row.read()
		list = append(list, a)
		return err
	})
	return list, fail(ctx, "list accounts", err)
}

// each reads all rows of a user; an id that nobody can have has none.
func (s *Store) each(ctx context.Context, statement, userID string, row func(scan func(...any) error) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.findableID(userID) {
		return nil
	}
	err := s.byID(ctx, func(s *Store) error { return s.conn.Each(ctx, statement, []any{userID}, row) })
	if errors.Is(err, latchkey.ErrNotFound) {
		return nil
	}
	return err
}

// UnlinkAccount implements [latchkey.AccountAdapter].
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) (latchkey.Account, error) {
	var row accountRow
	err := ctx.Err()
	if err == nil && !findable(provider, providerAccountID) {
		err = latchkey.ErrNotFound
	}
	if err == nil {
		err = s.take(ctx, "accounts", s.q.account, s.q.deleteAccount, []any{provider, providerAccountID}, s.into("accounts", row.dest())...)
	}
	if err != nil {
		return latchkey.Account{}, fail(ctx, "unlink account", err)
	}
	a, err := row.read()
	return a, fail(ctx, "unlink account", err)
}
