package kvstore

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// CreateUser implements [storage.Adapter]. It replaces an empty ID by a random one. A
// taken ID is ErrConflict.
func (s *Store) CreateUser(ctx context.Context, u storage.User) (storage.User, error) {
	if u.ID == "" {
		u.ID = rand.Text()
	}
	extra, err := open(u.Extra)
	if err == nil && !isText(u.ID, u.Name, u.Email, u.Image) {
		err = errText
	}
	if err != nil {
		return storage.User{}, err
	}
	stored := storedUser{userValue: userValue{
		ID: u.ID, Born: rand.Text(), Name: u.Name, Email: u.Email, Verified: stampOf(u.EmailVerified), Image: u.Image, Extra: extra,
	}}
	if u.Email != "" {
		stored.State = stateNew
	}
	if stored.seen, err = s.users.begin(ctx, stored.userValue); err == nil && stored.State == stateNew {
		err = s.users.complete(ctx, stored)
	}
	return stored.orZero(err)
}

// GetUser implements [storage.Adapter].
func (s *Store) GetUser(ctx context.Context, id string) (storage.User, error) {
	u, err := s.users.find(ctx, id)
	return u.orZero(err)
}

// GetUserByEmail implements [storage.Adapter]. It completes a change to this address
// that was interrupted.
func (s *Store) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	for try := 0; ; try++ {
		claim, err := s.records.find(ctx, keyOfEmail(email))
		if err != nil {
			return storage.User{}, err
		}
		of, err := decode[owner](&claim)
		if err != nil {
			return storage.User{}, err
		}
		u, err := s.users.findOwner(ctx, of)
		if err != nil || u.Email == email {
			return u.orZero(err)
		}
		if !u.names(email) {
			return storage.User{}, storage.ErrNotFound
		}
		if err := orChanged(s.users.completeChange(ctx, u)); err != nil && !errors.Is(err, errChanged) {
			return storage.User{}, err
		}
		if err := pause(ctx, try); err != nil {
			return storage.User{}, err
		}
	}
}

// UpdateUser implements [storage.Adapter]. It ignores Provisioned, and writes nothing if
// c names no field.
func (s *Store) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	if c == (storage.UserChange{}) {
		return s.GetUser(ctx, id)
	}
	to, err := asNext(c)
	if err != nil {
		return storage.User{}, err
	}
	for try := 0; ; try++ {
		u, err := s.users.find(ctx, id)
		if err != nil || try > 0 && u.Settled == to.ID { // another call has completed the change
			return u.orZero(err)
		}
		if c.Email == nil {
			to.Email = u.Email
		}
		after, err := s.users.change(ctx, u, to)
		if err == nil {
			return after.user()
		}
		if !errors.Is(err, errChanged) {
			return storage.User{}, err
		}
		if err := pause(ctx, try); err != nil {
			return storage.User{}, err
		}
	}
}

// asNext returns a change with a new id, by which a later try knows that it was made.
// The Email of the result is "" if c does not change the address; the caller sets it
// then. asNext returns errText for a text that is not UTF-8.
func asNext(c storage.UserChange) (n nextValue, err error) {
	for _, text := range []*string{c.Name, c.Email, c.Image} {
		if text != nil && !isText(*text) {
			return n, errText
		}
	}
	n.ID, n.Name, n.Image = rand.Text(), c.Name, c.Image
	set(&n.Email, c.Email)
	if c.EmailVerified != nil {
		at := stampOf(*c.EmailVerified)
		n.Verified = &at
	}
	return n, nil
}

// DeleteUser implements [storage.UserDeletionAdapter]. From its first step on the user
// does not exist for other calls. A deletion that is interrupted afterwards is finished
// by the next DeleteUser, which returns the user, or by a CreateUser with the same id.
func (s *Store) DeleteUser(ctx context.Context, id string) (storage.User, error) {
	u, err := s.users.delete(ctx, id)
	return u.orZero(err)
}
