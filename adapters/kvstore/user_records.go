package kvstore

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkeyhq/latchkey/storage"
)

// userRecords takes users through their states: new (the e-mail address is not claimed
// yet), whole (complete) and gone (being deleted). A user and a claim to an e-mail
// address are two records, and each step writes one of them. So a call may find a user
// at any step; it completes that step, or treats the user as absent.
// docs/internals/kvstore.md has the states.
type userRecords struct {
	records  *records
	owned    *ownedRecords
	follower Follower // nil: a record and its user are two round trips
}

// look reads a user as stored, in whatever state. If no record is alive under the id, it
// returns ErrNotFound, and the result has the mark or the absent record that was read.
func (s *userRecords) look(ctx context.Context, id string) (storedUser, error) {
	r, err := s.records.look(ctx, keyOfUser(id))
	if err != nil {
		return storedUser{}, err
	}
	return asUser(r, id)
}

var errOther = errors.New("kvstore: the record of a user is another's")

// asUser returns the user in a record. For a mark or an absent record it returns
// ErrNotFound and a user that has only the record. It returns errOther if the user in
// the record has another id than the given one.
func asUser(r Record, id string) (u storedUser, err error) {
	u.seen = r
	if !r.isAlive() {
		return u, storage.ErrNotFound
	}
	u.userValue, err = decode[userValue](&r)
	if err == nil && u.ID != id {
		err = errOther
	}
	return u, err
}

// resolve returns the user of the id, whole or gone. If the user is new and the store
// has the user's claim to the e-mail address, resolve first completes the user. For any
// other new user, and if there is none, it returns ErrNotFound and the record that it read.
func (s *userRecords) resolve(ctx context.Context, id string) (u storedUser, err error) {
	for try := 0; ; try++ {
		if u, err = s.look(ctx, id); err != nil || u.State != stateNew {
			return u, err
		}
		claim, err := s.records.look(ctx, keyOfEmail(u.Email))
		if err != nil {
			return u, err
		}
		if !isClaimOf(&claim, u.owner()) {
			return u, storage.ErrNotFound
		}
		if err = s.makeWhole(ctx, u); err != nil && !errors.Is(err, storage.ErrConflict) {
			return u, err
		}
		if err := pause(ctx, try); err != nil {
			return u, err
		}
	}
}

// find returns the whole user of the id. It first completes a new user that has the claim to
// the e-mail address. For another new user, a gone one or none it returns ErrNotFound.
func (s *userRecords) find(ctx context.Context, id string) (storedUser, error) {
	u, err := s.resolve(ctx, id)
	if err == nil && u.State == stateGone {
		err = storage.ErrNotFound
	}
	return u, err
}

// findOwner returns the user that an account or passkey belongs to. It returns
// ErrNotFound if that user was deleted, even if another user has the id now.
func (s *userRecords) findOwner(ctx context.Context, of owner) (storedUser, error) {
	u, err := s.find(ctx, of.User)
	if err == nil && u.Born != of.Born {
		err = storage.ErrNotFound
	}
	return u, err
}

// isAbandoned reports whether a live record of an account or passkey belongs to no user
// any more, as after an interrupted deletion.
func (s *userRecords) isAbandoned(ctx context.Context, r *Record) (bool, error) {
	of, err := decode[owner](r)
	if err != nil {
		return false, err
	}
	_, err = s.findOwner(ctx, of)
	return errors.Is(err, storage.ErrNotFound), orAbsent(err)
}

// list returns the live records of a user that are of a kind, without what is left of a
// former user of the same id. It returns none if there is no such user. It also prunes
// up to 20 entries without a live record.
func (s *userRecords) list(ctx context.Context, id string, kind Kind) ([]Record, error) {
	found, err := s.owned.list(ctx, id, kind)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	u, err := s.find(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return slices.DeleteFunc(found, func(r Record) bool { return u.owns(&r) != nil }), err
}

// ownedValue is the value of a record that belongs to a user.
type ownedValue interface {
	value
	of() string // the user
}

// findWithUser reads a live record and the whole user that its value names. It returns
// ErrNotFound if either is missing. It compares only the id of the user: for an account
// or passkey the caller must also compare the Born of v and u.
func findWithUser[V ownedValue](ctx context.Context, s *userRecords, k Key) (r Record, v V, u storedUser, err error) {
	var found []Record
	if s.follower != nil {
		found, err = s.follower.GetWithUser(ctx, k)
	} else {
		found, err = s.records.conn.Get(ctx, k)
	}
	if err != nil {
		return r, v, u, err
	}
	i := slices.IndexFunc(found, func(r Record) bool { return r.Key == k })
	if i < 0 || !found[i].isAlive() {
		return r, v, u, storage.ErrNotFound
	}
	if v, err = decode[V](&found[i]); err != nil {
		return r, v, u, err
	}
	for _, other := range found {
		if other.Key == keyOfUser(v.of()) {
			if u, err = asUser(other, v.of()); err == nil && u.State == stateWhole {
				return found[i], v, u, nil
			}
		}
	}
	u, err = s.find(ctx, v.of())
	return found[i], v, u, err
}
