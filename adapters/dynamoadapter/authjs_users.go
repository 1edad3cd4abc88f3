package dynamoadapter

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// idOf is the id itself if it is plain, as all of Auth.js are, and one that is
// made of it otherwise.
func idOf(id string) string {
	isPlain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
	}
	if id != "" && len(id) <= 64 && strings.IndexFunc(id, func(c rune) bool { return !isPlain(c) }) < 0 {
		return id
	}
	sum := hashOf(id)
	return uuid([16]byte(sum[:16]))
}

// CreateUser implements [latchkey.Adapter]. An id that is not made of up to 64
// letters, digits, "-" and "_" is replaced.
func (a *authJS) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	if u.ID == "" {
		u.ID = newUUID()
	} else {
		u.ID = idOf(u.ID)
	}
	if err := a.wantFree(ctx, u.Email, u.ID); err != nil {
		return latchkey.User{}, err
	}
	return a.Store.CreateUser(ctx, u)
}

// wantFree is ErrConflict for an e-mail address that the index has for somebody
// else. What it does not know yet is decided by claims.
func (a *authJS) wantFree(ctx context.Context, email, id string) error {
	u, err := a.byIndex(ctx, email)
	if err == nil && u.ID != id {
		return latchkey.ErrConflict
	}
	return ignore(err, latchkey.ErrNotFound)
}

// byIndex finds by e-mail address whom Auth.js has made.
func (a *authJS) byIndex(ctx context.Context, email string) (latchkey.User, error) {
	if email == "" || !isKey(ofUser+email) {
		return latchkey.User{}, latchkey.ErrNotFound
	}
	keys, err := a.index(ctx, ofUser+email, ofUser+email)
	if err != nil {
		return latchkey.User{}, err
	}
	for _, key := range keys {
		u, err := a.GetUser(ctx, strings.TrimPrefix(textOf(key[a.db.pk]), ofUser))
		if err == nil && u.Email == email {
			return u, nil
		}
		if err := ignore(err, latchkey.ErrNotFound); err != nil {
			return latchkey.User{}, err
		}
	}
	return latchkey.User{}, latchkey.ErrNotFound
}

// GetUserByEmail implements [latchkey.Adapter].
func (a *authJS) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	u, err := a.Store.GetUserByEmail(ctx, email)
	if errors.Is(err, latchkey.ErrNotFound) {
		return a.byIndex(ctx, email)
	}
	return u, err
}

// UpdateUser implements [latchkey.Adapter].
func (a *authJS) UpdateUser(ctx context.Context, id string, c latchkey.UserChange) (latchkey.User, error) {
	if c.Email != nil && *c.Email != "" {
		if _, err := a.GetUser(ctx, id); err != nil {
			return latchkey.User{}, err
		}
		if err := a.wantFree(ctx, *c.Email, id); err != nil {
			return latchkey.User{}, err
		}
	}
	return a.Store.UpdateUser(ctx, id, c)
}

// BeginSignUp implements [latchkey.SignUpAdapter].
func (a *authJS) BeginSignUp(ctx context.Context, provider, providerAccountID, userID string) (string, error) {
	return a.Store.BeginSignUp(ctx, provider, providerAccountID, idOf(userID))
}

// birthOf tells two users of one id apart, of whom the first was deleted.
// ErrNotFound: nobody has the id.
func (a *authJS) birthOf(ctx context.Context, id string) (string, error) {
	if idOf(id) != id {
		return "", latchkey.ErrNotFound
	}
	in, err := a.one(ctx, a.userAt(id))
	if err != nil {
		return "", err
	}
	if details := detailsOf(in); in != nil && details["state"] == nil {
		return birthIn(details), nil
	}
	if _, err := a.GetUser(ctx, id); err != nil {
		return "", err
	}
	if in, err = a.one(ctx, a.userAt(id)); err != nil {
		return "", err
	}
	return birthIn(detailsOf(in)), nil
}

func birthIn(details map[string]any) string {
	if born, is := details["born"].(string); is {
		return born
	}
	return bornElsewhere
}
