package kvstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"

	"github.com/latchkeyhq/latchkey/storage"
)

// begin writes a new user and returns the record. It writes over a user that was begun
// under the same id and never completed. If a deleted user still has the id, it first
// finishes that deletion. If a whole user has the id, it returns ErrConflict.
func (s *userRecords) begin(ctx context.Context, v userValue) (Record, error) {
	seen := Record{Key: keyOfUser(v.ID)}
	for try := 0; ; try++ {
		written, err := s.records.write(ctx, seen, v, never)
		if !errors.Is(err, storage.ErrConflict) {
			return written, err
		}
		former, err := s.resolve(ctx, v.ID)
		switch {
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return written, err
		case former.State == stateGone:
			if err := s.finishDeletion(ctx, former); err != nil {
				return written, err
			}
			former.seen = Record{Key: seen.Key}
		case err == nil:
			return written, storage.ErrConflict
		}
		seen = former.seen
		if err := pause(ctx, try); err != nil {
			return written, err
		}
	}
}

// complete claims the e-mail address of a new user, which is not empty, and makes the
// user whole. It returns nil if another call has completed the user meanwhile. If the
// address is another user's, it removes the new user, which never existed for other
// calls, and returns ErrConflict.
func (s *userRecords) complete(ctx context.Context, u storedUser) error {
	switch err := s.claim(ctx, u.Email, u.owner()); {
	case errors.Is(err, storage.ErrConflict):
		_ = s.records.remove(ctx, u.seen) // a record that stays is no user
		return err
	case err != nil:
		return err
	}
	err := s.makeWhole(ctx, u)
	if !errors.Is(err, storage.ErrConflict) {
		return err
	}
	if now, err := s.resolve(ctx, u.ID); err == nil && now.Born == u.Born {
		return nil // another call has completed it
	}
	return err
}

// makeWhole writes a new user as whole, which is the last step of its creation. The
// claim to the user's e-mail address must be stored before; any call that finds both may
// then take this step. It returns ErrConflict if the record of the user has changed
// since it was read.
func (s *userRecords) makeWhole(ctx context.Context, u storedUser) error {
	u.State = stateWhole
	_, err := s.records.rewrite(ctx, u.seen, u.userValue, never)
	return err
}

// errChanged reports that another call has changed the user meanwhile.
var errChanged = errors.New("kvstore: the user has changed")

// orChanged returns errChanged for ErrConflict, and any other error as it is.
func orChanged(err error) error {
	if errors.Is(err, storage.ErrConflict) {
		return errChanged
	}
	return err
}

// change tries once to change a user, and returns the changed user. to.Email is the
// address that the user has afterwards: the present one if it stays, or "" to remove it.
// A new address is announced, claimed and then taken; the old one is released last.
//
// change returns ErrConflict if the address is another user's. It returns errChanged if
// the stored user has changed since u was read, or if change had to complete an earlier
// change first. The caller then reads the user and tries again. After another error, a
// later call may complete the announced change.
func (s *userRecords) change(ctx context.Context, u storedUser, to nextValue) (userValue, error) {
	after := u.with(to)
	if u.Next != nil { // a change that was interrupted comes first
		if err := orChanged(s.completeChange(ctx, u)); err != nil {
			return after, err
		}
		return after, errChanged
	}
	if to.Email == u.Email || to.Email == "" {
		_, err := s.records.rewrite(ctx, u.seen, after, never)
		if err == nil && to.Email != u.Email {
			s.release(ctx, u.Email, u.owner())
		}
		return after, orChanged(err)
	}
	u.Next = &to
	var err error
	if u.seen, err = s.records.rewrite(ctx, u.seen, u.userValue, never); err != nil {
		return after, orChanged(err)
	}
	return after, s.completeChange(ctx, u)
}

// completeChange completes the announced change u.Next, which is not nil. If the e-mail
// address is another user's it takes the announcement back and returns ErrConflict. It
// returns errChanged if another call has changed the user meanwhile.
func (s *userRecords) completeChange(ctx context.Context, u storedUser) error {
	claimed := s.claim(ctx, u.Next.Email, u.owner())
	after := u.userValue
	switch {
	case claimed == nil:
		after = u.with(*u.Next)
	case errors.Is(claimed, storage.ErrConflict):
		after.Next = nil
	default:
		return claimed
	}
	if _, err := s.records.rewrite(ctx, u.seen, after, never); err != nil {
		return orChanged(err)
	}
	if claimed == nil && u.Email != after.Email {
		s.release(ctx, u.Email, u.owner())
	}
	return claimed
}

// delete marks a user as gone, and then removes what the user owned and the record of
// the user. It returns the user, or ErrNotFound if there is none. From the first step on
// the user does not exist for other calls. A deletion that is interrupted afterwards is
// finished by the next delete, which then returns the user, or by the next begin with
// the id.
func (s *userRecords) delete(ctx context.Context, id string) (storedUser, error) {
	for try := 0; ; try++ {
		u, err := s.resolve(ctx, id)
		if errors.Is(err, storage.ErrNotFound) { // the random Version removes nothing: the call waits until an earlier removal is stored for good
			return u, cmp.Or(s.records.remove(ctx, Record{Key: keyOfUser(id), Version: rand.Text()}), err)
		}
		if err != nil {
			return u, err
		}
		if u.State != stateGone {
			u.State = stateGone
			u.seen, err = s.records.rewrite(ctx, u.seen, u.userValue, never)
		}
		if err == nil {
			return u, s.finishDeletion(ctx, u)
		}
		if !errors.Is(err, storage.ErrConflict) {
			return u, err
		}
		if err := pause(ctx, try); err != nil {
			return u, err
		}
	}
}

// finishDeletion removes the records of a user that is marked as gone, the claims to the
// user's e-mail addresses, and then the record of the user. It returns the first error;
// a later call goes on.
func (s *userRecords) finishDeletion(ctx context.Context, u storedUser) error {
	left := math.MaxInt
	for some, err := range s.owned.pages(ctx, u.ID, "") {
		if err != nil {
			return err
		}
		err := parallel(append(some.alive, some.ended...), func(r Record) error {
			_, err := s.owned.takeSeen(ctx, r, u.owns)
			return orAbsent(err)
		})
		if err != nil {
			return err
		}
		left = s.owned.tidy(ctx, u.ID, some.dead, left)
	}
	s.release(ctx, u.Email, u.owner())
	if u.Next != nil {
		s.release(ctx, u.Next.Email, u.owner())
	}
	return s.records.remove(ctx, u.seen)
}
