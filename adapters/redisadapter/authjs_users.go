package redisadapter

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// userObject is the record of a user.
type userObject struct {
	ID            string  `json:"id"`
	Name          *string `json:"name"`
	Email         *string `json:"email"`
	EmailVerified iso     `json:"emailVerified"`
	Image         *string `json:"image"`
}

// foundUser is a user, with the value of its key.
type foundUser struct {
	storage.User
	text *string
}

// asUser returns the user in text, the value of a key. It returns ErrNotFound if text is
// nil, or if it is any other record: keys of other records begin like those of users.
// The result has text in each case.
func asUser(text *string, id string) (foundUser, error) {
	var o userObject
	if id == "" || !decodeObject(text, &o) || o.ID != id {
		return foundUser{text: text}, storage.ErrNotFound
	}
	return foundUser{storage.User{
		ID: id, Name: orEmpty(o.Name), Email: orEmpty(o.Email), EmailVerified: o.EmailVerified.Time, Image: orEmpty(o.Image),
		Extra: extraOf(text, o),
	}, text}, nil
}

// userText returns the record of a user as Auth.js writes it. over is the record that it
// replaces, or nil; members of over that this package does not know are kept. It returns
// errNoUTF8 or errMember for a user that cannot be written.
func userText(over *string, u storage.User) (string, error) {
	if !areUTF8(u.ID, u.Name, u.Email, u.Image) {
		return "", errNoUTF8
	}
	return encodeObject(over, userObject{u.ID, orNull(u.Name), orNull(u.Email), iso{u.EmailVerified}, orNull(u.Image)}, u.Extra)
}

// ignoreMissing returns nil for ErrNotFound, and any other error as it is.
func ignoreMissing(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// CreateUser implements [storage.Adapter]. It replaces an empty ID by a random UUID. A
// taken ID is ErrConflict.
func (a *authJS) CreateUser(ctx context.Context, u storage.User) (storage.User, error) {
	if u.ID == "" {
		u.ID = newUUID()
	}
	text, err := userText(nil, u)
	if err != nil {
		return storage.User{}, err
	}
	key := a.keys.at(ofUser, u.ID)
	err = a.keys.change(ctx, func(p *plan) error {
		taken, err := a.keys.text(ctx, key)
		if err == nil && taken != nil {
			err = storage.ErrConflict
		}
		if err != nil {
			return err
		}
		p.want(key, nil)
		p.set(key, text)
		return a.users.claimEmail(ctx, p, u.Email, u.ID)
	})
	if err != nil {
		return storage.User{}, err
	}
	stored, err := asUser(&text, u.ID)
	return stored.User, err
}

// GetUser implements [storage.Adapter].
func (a *authJS) GetUser(ctx context.Context, id string) (storage.User, error) {
	u, err := a.users.find(ctx, id)
	return u.User, err
}

// GetUserByEmail implements [storage.Adapter].
func (a *authJS) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	claim, err := a.keys.text(ctx, a.keys.at(ofEmail, email))
	if err != nil {
		return storage.User{}, err
	}
	u, err := a.users.find(ctx, reference(claim))
	if err == nil && (email == "" || u.Email != email) {
		return storage.User{}, storage.ErrNotFound
	}
	return u.User, err
}

// UpdateUser implements [storage.Adapter]. It ignores Provisioned.
func (a *authJS) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	var after foundUser
	err := a.keys.change(ctx, func(p *plan) error {
		before, err := a.users.find(ctx, id)
		if err != nil {
			return err
		}
		u := before.User
		setIf(&u.Name, c.Name)
		setIf(&u.Email, c.Email)
		setIf(&u.EmailVerified, c.EmailVerified)
		setIf(&u.Image, c.Image)
		text, err := userText(before.text, u)
		if err != nil {
			return err
		}
		p.want(a.keys.at(ofUser, id), before.text)
		p.set(a.keys.at(ofUser, id), text)
		if after, err = asUser(&text, id); err != nil || u.Email == before.Email {
			return err
		}
		if !a.users.haveOneKey(u.Email, before.Email) {
			if err := a.users.releaseEmail(ctx, p, before.User); err != nil {
				return err
			}
		}
		return a.users.claimEmail(ctx, p, u.Email, id)
	})
	return after.User, err
}

// setIf copies *to into field, unless to is nil.
func setIf[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

// DeleteUser implements [storage.UserDeletionAdapter]. It removes the accounts and
// sessions that Latchkey has written, the account and the session that Auth.js has
// written last, and all passkeys. Other accounts and sessions that Auth.js has written
// stay, and lead to no user.
func (a *authJS) DeleteUser(ctx context.Context, id string) (storage.User, error) {
	var removed storage.User
	err := a.keys.end(ctx, func(p *plan) error {
		u, err := a.users.find(ctx, id)
		if err != nil {
			return err
		}
		removed = u.User
		p.want(a.keys.at(ofUser, id), u.text)
		p.Delete = append(p.Delete, a.keys.at(ofUser, id))
		if err := a.users.releaseEmail(ctx, p, u.User); err != nil {
			return err
		}
		for _, part := range []string{ofAccount, ofSession} {
			all, listed, err := a.owned.list(ctx, id, part)
			if err != nil {
				return err
			}
			for _, one := range all {
				p.Delete = append(p.Delete, one.key)
			}
			if part == ofAccount {
				p.Owns = append(p.Owns, [2]any{a.keys.at(ownedBy, id), append([]string{}, listed...)})
			}
		}
		if err := a.passkeys.removeAll(ctx, p, id); err != nil {
			return err
		}
		p.Delete = append(p.Delete, a.keys.at(ownedBy, id), a.keys.at(lastAccountOf, id), a.keys.at(lastSessionOf, id))
		return nil
	})
	if err != nil {
		return storage.User{}, err
	}
	return removed, nil
}
