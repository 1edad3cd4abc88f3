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

// wantFree returns ErrConflict if the index has the e-mail address for a user with
// another id than the given one. The index may be late: claims decide about addresses
// that it does not know yet.
func (s *userItems) wantFree(ctx context.Context, email, id string) error {
	u, err := s.byIndex(ctx, email)
	if err == nil && u.ID != id {
		return storage.ErrConflict
	}
	return ignore(err, storage.ErrNotFound)
}

// byIndex returns the user that the index has with an e-mail address, such as one that
// Auth.js has made. It returns ErrNotFound if there is none, or if the user has another
// address by now.
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

// asUser returns the user of an item that was read with a session. It returns
// ErrNotFound if the item is nil. It reads the user again if the item says that the user
// is being made or deleted.
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

// birthOf returns the birth of the user with the id: a text that is chosen when a user
// is created, and that distinguishes the user from a deleted one with the same id. It is
// bornElsewhere for a user that Auth.js has made. birthOf returns ErrNotFound if no user
// has the id.
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

// birthIn returns the birth that the details of a user hold, or bornElsewhere if there
// is none, since Auth.js has made the user.
func birthIn(details map[string]any) string {
	if born, is := details["born"].(string); is {
		return born
	}
	return bornElsewhere
}

// idOf returns the id itself if it is plain, as all ids of Auth.js are: 1 to 64 letters,
// digits, "-" and "_". For any other id it returns a UUID that is made of the id, always
// the same.
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
