package memoryadapter

import (
	"cmp"
	"context"
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// LinkAccount implements [storage.Adapter]. An unknown user is ErrNotFound.
func (a *Adapter) LinkAccount(ctx context.Context, account storage.Account) error {
	return a.withData(ctx, func(d *data) error {
		key := pair{account.Provider, account.ProviderAccountID}
		if _, taken := d.accounts[key]; taken {
			return storage.ErrConflict
		}
		if _, known := d.users[account.UserID]; !known {
			return storage.ErrNotFound
		}
		account, err := copyAccount(account)
		if err != nil {
			return err
		}
		put(d, d.accounts, key, account)
		return nil
	})
}

// GetAccount implements [storage.AccountAdapter].
func (a *Adapter) GetAccount(ctx context.Context, provider, providerAccountID string) (account storage.Account, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.accounts[pair{provider, providerAccountID}]
		if !known {
			return storage.ErrNotFound
		}
		account, err = copyAccount(found)
		return err
	})
	return account, err
}

// ListAccounts implements [storage.AccountAdapter]. It orders the accounts by provider,
// and then by the account's id at the provider.
func (a *Adapter) ListAccounts(ctx context.Context, userID string) (list []storage.Account, err error) {
	err = a.withData(ctx, func(d *data) error {
		for _, found := range d.accounts {
			if found.UserID != userID {
				continue
			}
			account, err := copyAccount(found)
			if err != nil {
				return err
			}
			list = append(list, account)
		}
		slices.SortFunc(list, byAccountKey)
		return nil
	})
	return list, err
}

// EachAccount implements [storage.AccountWalker]. It hands over the accounts as they are
// when it is called, in the order of provider and id.
func (a *Adapter) EachAccount(ctx context.Context, f func(storage.Account) error) error {
	var list []storage.Account
	err := a.withData(ctx, func(d *data) error {
		for _, found := range d.accounts {
			account, err := copyAccount(found)
			if err != nil {
				return err
			}
			list = append(list, account)
		}
		return nil
	})
	slices.SortFunc(list, byAccountKey)
	for _, account := range list {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = f(account)
		}
	}
	return err
}

// UnlinkAccount implements [storage.AccountAdapter].
func (a *Adapter) UnlinkAccount(ctx context.Context, provider, providerAccountID string) (account storage.Account, err error) {
	err = a.withData(ctx, func(d *data) error {
		stored, err := take(d, d.accounts, pair{provider, providerAccountID})
		if err != nil {
			return err
		}
		account, err = copyAccount(stored) // the caller may change it, and a rollback restores the stored one
		return err
	})
	return account, err
}

// BeginSignUp implements [storage.SignUpAdapter]. A record stays until EndSignUp.
func (a *Adapter) BeginSignUp(ctx context.Context, provider, providerAccountID, userID string) (id string, err error) {
	err = a.withData(ctx, func(d *data) error {
		key := pair{provider, providerAccountID}
		if begun, is := d.signUps[key]; is {
			id = begun
			return nil
		}
		put(d, d.signUps, key, userID)
		id = userID
		return nil
	})
	return id, err
}

// EndSignUp implements [storage.SignUpAdapter]. Without a record it returns ErrNotFound.
func (a *Adapter) EndSignUp(ctx context.Context, provider, providerAccountID string) error {
	return a.withData(ctx, func(d *data) error {
		_, err := take(d, d.signUps, pair{provider, providerAccountID})
		return err
	})
}

// take removes m[k] and returns it, or returns ErrNotFound. m is a map of d. A
// rollback restores it.
func take[K comparable, V any](d *data, m map[K]V, k K) (V, error) {
	v, known := m[k]
	if !known {
		return v, storage.ErrNotFound
	}
	remove(d, m, k)
	return v, nil
}

// byAccountKey compares accounts by provider, and then by the account's id at the
// provider.
func byAccountKey(a, b storage.Account) int {
	return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
}
