package dynamoadapter

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// LinkAccount implements [storage.Adapter]. An unknown user is ErrNotFound. An account of a
// deleted user counts as free. After a failure of DynamoDB the account may be linked.
func (a *authJS) LinkAccount(ctx context.Context, account storage.Account) error {
	born, err := a.users.birthOf(ctx, account.UserID)
	if err != nil {
		return err
	}
	provider, id := account.Provider, account.ProviderAccountID
	in, err := a.accounts.item(account, born)
	if err != nil {
		return err
	}
	switch _, err := a.accounts.find(ctx, provider, id); {
	case err == nil:
		return storage.ErrConflict
	case !errors.Is(err, storage.ErrNotFound):
		return err
	}
	if err := a.accounts.begin(ctx, in, born); err != nil {
		return err
	}
	if err := a.accounts.claim(ctx, provider, id, holder{account.UserID, born}); err != nil {
		a.accounts.withdraw(ctx, in)
		return err
	}
	if err := a.accounts.publish(ctx, in); err != nil {
		return err
	}
	now, err := a.users.birthOf(ctx, account.UserID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && now != born { // deleted meanwhile
		a.accounts.withdraw(ctx, in)
		return storage.ErrNotFound
	}
	return err
}

// GetUserByAccount implements [storage.Adapter]. It finds accounts that Auth.js has
// linked, too, and finishes a LinkAccount that was interrupted.
func (a *authJS) GetUserByAccount(ctx context.Context, provider, providerAccountID string) (storage.User, error) {
	in, err := a.accounts.find(ctx, provider, providerAccountID)
	if err != nil {
		return storage.User{}, err
	}
	return a.GetUser(ctx, textOf(in["userId"]))
}

// GetAccount implements [storage.AccountAdapter]. It finds accounts that Auth.js has
// linked, too, and finishes a LinkAccount that was interrupted.
func (a *authJS) GetAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	in, err := a.accounts.find(ctx, provider, providerAccountID)
	if err != nil {
		return storage.Account{}, err
	}
	return a.accounts.asAccount(in), nil
}

// ListAccounts implements [storage.AccountAdapter]. It lists accounts that Auth.js has
// linked, too, and orders them by sort key.
func (a *authJS) ListAccounts(ctx context.Context, userID string) (list []storage.Account, err error) {
	born, err := a.users.birthOf(ctx, userID)
	if err != nil {
		return nil, ignore(err, storage.ErrNotFound)
	}
	found, err := a.items.db.partition(ctx, ofUser+userID, ofAccount)
	if err != nil {
		return nil, err
	}
	for _, in := range found {
		if !isBorn(in, born) {
			continue
		}
		if is, err := a.accounts.isLinked(ctx, in); err != nil {
			return nil, err
		} else if is {
			list = append(list, a.accounts.asAccount(in))
		}
	}
	return list, nil
}

// UnlinkAccount implements [storage.AccountAdapter]. If the account is changed between
// its read and its removal, as by SwapTokens, it reads it again,
// and returns errBusy after mostTries tries.
func (a *authJS) UnlinkAccount(ctx context.Context, provider, providerAccountID string) (storage.Account, error) {
	for range mostTries {
		in, err := a.accounts.find(ctx, provider, providerAccountID)
		if err != nil {
			return storage.Account{}, err
		}
		in, err = a.items.remove(ctx, in)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return storage.Account{}, err
		}
		account := a.accounts.asAccount(in)
		a.accounts.conn.forget(ctx, noteOfAccount(provider, providerAccountID), account.UserID, in)
		return account, nil
	}
	return storage.Account{}, errBusy
}
