package redisadapter

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// userKeys reads users, and plans which user has an e-mail address.
type userKeys struct{ keys *keyspace }

// find returns the user of the id. It returns ErrNotFound for an unknown user; the
// result then has the value of the user's key, or nil.
func (s *userKeys) find(ctx context.Context, id string) (foundUser, error) {
	text, err := s.keys.text(ctx, s.keys.at(ofUser, id))
	if err != nil {
		return foundUser{}, err
	}
	return asUser(text, id)
}

// want makes a plan depend on the record of a user. It returns ErrNotFound if there is
// no such user.
func (s *userKeys) want(ctx context.Context, p *plan, id string) error {
	u, err := s.find(ctx, id)
	p.want(s.keys.at(ofUser, id), u.text)
	return err
}

// wantFree makes a plan depend on a key that may be written. That is a key without a
// value, one whose value is no JSON object, or one whose record names no user that
// exists. It returns ErrConflict for any other key.
func (s *userKeys) wantFree(ctx context.Context, p *plan, key string) error {
	text, err := s.keys.text(ctx, key)
	if err != nil {
		return err
	}
	p.want(key, text)
	var of struct {
		UserID string `json:"userId"`
	}
	if !decodeObject(text, &of) {
		return nil
	}
	owner, err := s.find(ctx, of.UserID)
	if err == nil {
		return storage.ErrConflict
	}
	p.want(s.keys.at(ofUser, of.UserID), owner.text)
	return ignoreMissing(err)
}

// claimEmail plans to give an e-mail address to a user. It does nothing for the empty
// address. It returns ErrConflict if another user has the address. A key that leads to a
// user with another address by now counts as free: Auth.js does not remove such keys.
func (s *userKeys) claimEmail(ctx context.Context, p *plan, email, id string) error {
	if email == "" {
		return nil
	}
	key := s.keys.at(ofEmail, email)
	claim, err := s.keys.text(ctx, key)
	if err != nil {
		return err
	}
	if owner := reference(claim); owner != "" && owner != id {
		u, err := s.find(ctx, owner)
		if err == nil && s.haveOneKey(u.Email, email) {
			return storage.ErrConflict
		}
		if err := ignoreMissing(err); err != nil {
			return err
		}
		p.want(s.keys.at(ofUser, owner), u.text)
	}
	p.want(key, claim)
	p.set(key, id)
	return nil
}

// haveOneKey reports whether two e-mail addresses have the same key. With
// unstorage, "/ada@example.com" and "ada@example.com" do.
func (s *userKeys) haveOneKey(email, other string) bool {
	return email == other || email != "" && other != "" && s.keys.at(ofEmail, email) == s.keys.at(ofEmail, other)
}

// releaseEmail plans to remove the key of a user's e-mail address, if it leads to
// that user.
func (s *userKeys) releaseEmail(ctx context.Context, p *plan, u storage.User) error {
	if u.Email == "" {
		return nil
	}
	key := s.keys.at(ofEmail, u.Email)
	claim, err := s.keys.text(ctx, key)
	if err == nil && reference(claim) == u.ID {
		p.want(key, claim)
		p.Delete = append(p.Delete, key)
	}
	return err
}
