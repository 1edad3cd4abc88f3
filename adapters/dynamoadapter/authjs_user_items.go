package dynamoadapter

import (
	"context"
	"strings"

	"github.com/latchkeyhq/latchkey/adapters/kvstore"
	"github.com/latchkeyhq/latchkey/storage"
)

// userItems finds users that Auth.js has made, and tells users of one id apart.
type userItems struct {
	*sharedItems
	store *kvstore.Store
}

// wantFree returns ErrConflict for an e-mail address that the index has for another
// user. Claims decide about addresses that the index does not know yet.
func (s *userItems) wantFree(ctx context.Context, email, id string) error {
	u, err := s.byIndex(ctx, email)
	if err == nil && u.ID != id {
		return storage.ErrConflict
	}
	return ignore(err, storage.ErrNotFound)
}

// byIndex returns the user that the index has with an e-mail address, as Auth.js
// has made it. It returns ErrNotFound if there is none, or if the user has
// another address by now.
func (s *userItems) byIndex(ctx context.Context, email string) (storage.User, error) {
	if email == "" || !isKey(ofUser+email) {
		return storage.User{}, storage.ErrNotFound
	}
	keys, err := s.index(ctx, ofUser+email, ofUser+email)
	if err != nil {
		return storage.User{}, err
	}
	for _, key := range keys {
		u, err := s.store.GetUser(ctx, strings.TrimPrefix(textOf(key[s.db.pk]), ofUser))
		if err == nil && u.Email == email {
			return u, nil
		}
		if err := ignore(err, storage.ErrNotFound); err != nil {
			return storage.User{}, err
		}
	}
	return storage.User{}, storage.ErrNotFound
}

// asUser returns the user of an item that was read with a session, or ErrNotFound
// for nil. It reads the user again if the item says that the user is being made
// or deleted.
func (s *userItems) asUser(ctx context.Context, id string, in item) (storage.User, error) {
	if in == nil {
		return storage.User{}, storage.ErrNotFound
	}
	if detailsOf(in)["state"] != nil {
		return s.store.GetUser(ctx, id)
	}
	return storage.User{
		ID: id, Name: textOf(in["name"]), Email: textOf(in["email"]), EmailVerified: timeOf(in["emailVerified"]), Image: textOf(in["image"]),
		Extra: extraOf(in, fieldsOfUser, s.layout.keys()),
	}, nil
}

// birthOf returns a text that is chosen when a user is created. It distinguishes a user
// from a deleted one that had the same id. It returns ErrNotFound if no user has the id.
func (s *userItems) birthOf(ctx context.Context, id string) (string, error) {
	if idOf(id) != id {
		return "", storage.ErrNotFound
	}
	in, err := s.get(ctx, s.userAt(id))
	if err != nil {
		return "", err
	}
	if details := detailsOf(in); in != nil && details["state"] == nil {
		return birthIn(details), nil
	}
	if _, err := s.store.GetUser(ctx, id); err != nil {
		return "", err
	}
	if in, err = s.get(ctx, s.userAt(id)); err != nil {
		return "", err
	}
	return birthIn(detailsOf(in)), nil
}

// birthIn returns the text of birthOf that the details of a user hold, or bornElsewhere if
// another program has created the user.
func birthIn(details map[string]any) string {
	if born, is := details["born"].(string); is {
		return born
	}
	return bornElsewhere
}

// idOf returns the id itself if it is plain, as all ids of Auth.js are, and otherwise
// a UUID that is made of it.
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
