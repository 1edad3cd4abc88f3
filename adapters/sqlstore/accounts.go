package sqlstore

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/storage"
)

// accountRow is what a row of accounts is read into.
type accountRow struct {
	account                    storage.Account
	id                         string
	expires                    int64 // in seconds
	details, tokenExtra, extra string
}

// dest returns a destination in r for each column of accounts, in the order of package
// model. The caller passes the list to database.into.
func (r *accountRow) dest() []any {
	a, t := &r.account, &r.account.Tokens
	return []any{
		&r.id, &a.UserID, (*string)(&a.Type), &a.Provider, &a.ProviderAccountID, &t.RefreshToken, &t.AccessToken, &r.expires,
		&t.IDToken, &t.Scope, &t.SessionState, &t.TokenType, &r.details, &r.tokenExtra, &r.extra,
		&a.Email, &a.EmailVouched,
	}
}

// read returns the account of the row. It returns errJSON if a column for JSON has other text.
// An empty or null column is no error. Beside an error the account is incomplete.
func (r *accountRow) read() (a storage.Account, err error) {
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

// LinkAccount implements [storage.Adapter]. It returns ErrConflict if the pair of provider and
// account is taken. It returns ErrNotFound for an unknown user if the schema has a foreign
// key, as ours does. It ignores a.ID: the account gets another id.
func (s *Store) LinkAccount(ctx context.Context, a storage.Account) error {
	row, err := accountValues(a)
	if err == nil && !s.db.findableID(a.UserID) {
		err = storage.ErrNotFound
	}
	if err != nil {
		return fail(ctx, "link account", err)
	}
	row[0] = s.db.layout.newID("")
	err = s.db.claim(ctx, func(db *database) error { return db.add(ctx, db.q.insertAccount, row...) },
		claimed("accounts", a.Provider, a.ProviderAccountID), s.db.q.account, a.Provider, a.ProviderAccountID)
	return fail(ctx, "link account", err)
}

// accountValues returns a value of a for each column of accounts, in the order of package
// model, with nil in place of the id. It returns errJSON if AuthorizationDetails,
// Tokens.Extra or Extra cannot be encoded.
func accountValues(a storage.Account) ([]any, error) {
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

// GetAccount implements [storage.AccountAdapter]. It returns ErrNotFound for an unknown
// account.
func (s *Store) GetAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	var row accountRow
	if err := s.db.find(ctx, s.db.q.account, []string{provider, providerAccountID}, s.db.into("accounts", row.dest())...); err != nil {
		return storage.Account{}, fail(ctx, "get account", err)
	}
	a, err := row.read()
	return a, fail(ctx, "get account", err)
}

// ListAccounts implements [storage.AccountAdapter]. It orders the accounts by Provider and
// ProviderAccountID, and returns none for an unknown user.
func (s *Store) ListAccounts(ctx context.Context, userID string) (list []storage.Account, err error) {
	err = s.db.each(ctx, s.db.q.accountsOf, userID, func(scan func(...any) error) error {
		var row accountRow
		if err := scan(s.db.into("accounts", row.dest())...); err != nil {
			return err
		}
		a, err := row.read()
		list = append(list, a)
		return err
	})
	return list, fail(ctx, "list accounts", err)
}

// accountPage is how many accounts are read at once.
const accountPage = 100

// EachAccount implements [storage.AccountWalker]. It reads 100 accounts at a time, in the
// order of the unique key. Without that key, as in tables of other programs, each page
// makes the database look at every row.
func (s *Store) EachAccount(ctx context.Context, f func(storage.Account) error) error {
	var last storage.Account
	for {
		page, err := s.db.accountsFrom(ctx, last.Provider, last.ProviderAccountID)
		if err != nil {
			return fail(ctx, "each account", err)
		}
		for _, a := range page {
			if a.Provider == last.Provider && a.ProviderAccountID == last.ProviderAccountID {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(a); err != nil {
				return err
			}
		}
		if len(page) < accountPage {
			return nil
		}
		last = page[len(page)-1]
	}
}

// accountsFrom returns at most accountPage accounts, in order, from the key of provider and id
// on. It includes the account of that key: a collation may take other keys for the same.
func (db *database) accountsFrom(ctx context.Context, provider, id string) (page []storage.Account, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = db.conn.Each(ctx, db.q.accountsFrom, []any{provider, provider, id}, func(scan func(...any) error) error {
		var row accountRow
		if err := scan(db.into("accounts", row.dest())...); err != nil {
			return err
		}
		a, err := row.read()
		page = append(page, a)
		return err
	})
	return page, err
}

// UnlinkAccount implements [storage.AccountAdapter]. It returns the account as removed, or
// ErrNotFound. If JSON of the account is unreadable, it returns an error after the removal.
func (s *Store) UnlinkAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	var row accountRow
	err := ctx.Err()
	if err == nil && !findable(provider, providerAccountID) {
		err = storage.ErrNotFound
	}
	if err == nil {
		err = s.db.take(ctx, "accounts", s.db.q.account, s.db.q.deleteAccount, []any{provider, providerAccountID}, s.db.into("accounts", row.dest())...)
	}
	if err != nil {
		return storage.Account{}, fail(ctx, "unlink account", err)
	}
	a, err := row.read()
	return a, fail(ctx, "unlink account", err)
}
