package memoryadapter

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// Passwords implements [storage.PasswordAdapter].
func (a *Adapter) Passwords() storage.PasswordStore { return passwords{a} }

// passwords is the store of passwords of an adapter.
type passwords struct{ a *Adapter }

// Get implements [storage.PasswordStore].
func (s passwords) Get(ctx context.Context, userID string) (p storage.PasswordHash, err error) {
	err = s.a.withData(ctx, func(d *data) (err error) {
		p, err = find(d.passwords, userID)
		return err
	})
	return p, err
}

// Set implements [storage.PasswordStore]. An unknown user is ErrNotFound.
func (s passwords) Set(ctx context.Context, p storage.PasswordHash, was string) error {
	return s.a.withData(ctx, func(d *data) error {
		if _, known := d.users[p.UserID]; !known {
			return storage.ErrNotFound
		}
		old, has := d.passwords[p.UserID]
		if old.Hash != was {
			return storage.ErrConflict
		}
		p.Created, p.Changed = utc(p.Created), utc(p.Changed)
		if has {
			p.Created = old.Created
		}
		put(d, d.passwords, p.UserID, p)
		return nil
	})
}

// Fail implements [storage.PasswordStore].
func (s passwords) Fail(ctx context.Context, userID string) (failures int, err error) {
	err = s.a.withData(ctx, func(d *data) error {
		p, err := find(d.passwords, userID)
		if err != nil {
			return err
		}
		p.Failures++
		put(d, d.passwords, userID, p)
		failures = p.Failures
		return nil
	})
	return failures, err
}

// Delete implements [storage.PasswordStore].
func (s passwords) Delete(ctx context.Context, userID string) error {
	return s.a.withData(ctx, func(d *data) error {
		_, err := take(d, d.passwords, userID)
		return err
	})
}
