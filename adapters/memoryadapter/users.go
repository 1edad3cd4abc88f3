package memoryadapter

import (
	"cmp"
	"context"
	"crypto/rand"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateUser implements [storage.Adapter]. It replaces an empty ID by a random one. A
// taken ID is ErrConflict.
func (a *Adapter) CreateUser(ctx context.Context, u storage.User) (out storage.User, err error) {
	err = a.withData(ctx, func(d *data) error {
		u, err := copyUser(u)
		if err != nil {
			return err
		}
		u.ID = cmp.Or(u.ID, rand.Text())
		if _, taken := d.users[u.ID]; taken {
			return storage.ErrConflict
		}
		if err := d.claimEmail(u.ID, u.Email); err != nil {
			return err
		}
		put(d, d.users, u.ID, u)
		out, err = copyUser(u)
		return err
	})
	return out, err
}

// GetUser implements [storage.Adapter].
func (a *Adapter) GetUser(ctx context.Context, id string) (storage.User, error) {
	return a.findUser(ctx, func(*data) string { return id })
}

// GetUserByEmail implements [storage.Adapter].
func (a *Adapter) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	return a.findUser(ctx, func(d *data) string { return d.emails[email] })
}

// GetUserByAccount implements [storage.Adapter].
func (a *Adapter) GetUserByAccount(ctx context.Context, provider, providerAccountID string) (storage.User, error) {
	return a.findUser(ctx, func(d *data) string { return d.accounts[pair{provider, providerAccountID}].UserID })
}

// findUser waits for the turn and calls idOf, which returns the id of a user. It returns
// that user with the suspension there is, or ErrNotFound.
func (a *Adapter) findUser(ctx context.Context, idOf func(*data) string) (u storage.User, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.users[idOf(d)]
		if !known {
			return storage.ErrNotFound
		}
		u, err = d.person(found)
		return err
	})
	return u, err
}

// UpdateUser implements [storage.Adapter].
func (a *Adapter) UpdateUser(ctx context.Context, id string, c storage.UserChange) (out storage.User, err error) {
	err = a.withData(ctx, func(d *data) error {
		u, known := d.users[id]
		if !known {
			return storage.ErrNotFound
		}
		if c.Email != nil && *c.Email != u.Email {
			if err := d.claimEmail(id, *c.Email); err != nil {
				return err
			}
			if u.Email != "" {
				remove(d, d.emails, u.Email)
			}
		}
		u = changed(u, c)
		put(d, d.users, id, u)
		out, err = copyUser(u)
		return err
	})
	return out, err
}

// DeleteUser implements [storage.UserDeletionAdapter].
func (a *Adapter) DeleteUser(ctx context.Context, id string) (u storage.User, err error) {
	err = a.withData(ctx, func(d *data) error {
		found, known := d.users[id]
		if !known {
			return storage.ErrNotFound
		}
		if u, err = copyUser(found); err != nil { // a rollback would bring back the one that was stored
			return err
		}
		remove(d, d.users, id)
		if u.Email != "" {
			remove(d, d.emails, u.Email)
		}
		removeIf(d, d.accounts, func(_ pair, a storage.Account) bool { return a.UserID == id })
		removeIf(d, d.sessions, func(_ string, s storage.StoredSession) bool { return s.UserID == id })
		removeIf(d, d.authenticators, func(_ string, k storage.Authenticator) bool { return k.UserID == id })
		removeIf(d, d.factors, func(_ string, f storage.Factor) bool { return f.UserID == id })
		removeIf(d, d.recoveryCodes, func(code pair, _ struct{}) bool { return code[0] == id })
		removeIf(d, d.challenges, func(_ string, c storage.Challenge) bool { return c.UserID == id })
		removeIf(d, d.browsers, func(_ pair, b storage.Browser) bool { return b.UserID == id })
		removeIf(d, d.passwords, func(user string, _ storage.PasswordHash) bool { return user == id })
		removeIf(d, d.suspensions, func(userID string, _ storage.Suspension) bool { return userID == id })
		removeIf(d, d.activities, func(_ string, v storage.Activity) bool { return v.UserID == id })
		return nil
	})
	return u, err
}

// claimEmail gives an e-mail address to a user. It returns ErrConflict if the address is
// taken, even by this user. It does nothing if the address is empty. It leaves the
// user's former address alone.
func (d *data) claimEmail(id, email string) error {
	if email == "" {
		return nil
	}
	if _, taken := d.emails[email]; taken {
		return storage.ErrConflict
	}
	put(d, d.emails, email, id)
	return nil
}

// changed returns u with the changes of c. It leaves the e-mail index alone.
func changed(u storage.User, c storage.UserChange) storage.User {
	set(&u.Name, c.Name)
	set(&u.Email, c.Email)
	set(&u.EmailVerified, c.EmailVerified)
	set(&u.Image, c.Image)
	set(&u.Provisioned, c.Provisioned)
	u.EmailVerified, u.Provisioned = utc(u.EmailVerified), utc(u.Provisioned)
	return u
}

// set copies *to into field, unless to is nil.
func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}
