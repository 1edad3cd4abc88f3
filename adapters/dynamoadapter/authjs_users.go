package dynamoadapter

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateUser implements [storage.Adapter]. It replaces an empty ID by a random UUID, and
// an ID that is not plain by the one that idOf returns. An e-mail address of a user that
// Auth.js has made is ErrConflict, too.
func (a *authJS) CreateUser(ctx context.Context, u storage.User) (storage.User, error) {
	if u.ID == "" {
		u.ID = newUUID()
	} else {
		u.ID = idOf(u.ID)
	}
	if err := a.users.wantFree(ctx, u.Email, u.ID); err != nil {
		return storage.User{}, err
	}
	return a.Store.CreateUser(ctx, u)
}

// GetUserByEmail implements [storage.Adapter]. It finds users that Auth.js has made by
// the index, which may be late.
func (a *authJS) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	u, err := a.Store.GetUserByEmail(ctx, email)
	if errors.Is(err, storage.ErrNotFound) {
		return a.users.byIndex(ctx, email)
	}
	return u, err
}

// UpdateUser implements [storage.Adapter]. An e-mail address of a user that Auth.js has
// made is ErrConflict, too.
func (a *authJS) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	if c.Email != nil && *c.Email != "" {
		if _, err := a.GetUser(ctx, id); err != nil {
			return storage.User{}, err
		}
		if err := a.users.wantFree(ctx, *c.Email, id); err != nil {
			return storage.User{}, err
		}
	}
	return a.Store.UpdateUser(ctx, id, c)
}

// BeginSignUp implements [storage.SignUpAdapter]. It records idOf(userID) in place of
// userID.
func (a *authJS) BeginSignUp(ctx context.Context, provider, providerAccountID, userID string) (string, error) {
	return a.Store.BeginSignUp(ctx, provider, providerAccountID, idOf(userID))
}
