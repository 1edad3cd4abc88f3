package kvstore

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// claim writes the record that gives the e-mail address to a user. It returns
// ErrConflict if the address is another user's; that user is complete by then.
//
// The user's own claim is written anew. A call that was about to replace that
// claim, because it did not count when the call read it, then loses.
func (s *userRecords) claim(ctx context.Context, email string, of owner) error {
	seen := Record{Key: keyOfEmail(email)}
	for try := 0; ; try++ {
		_, err := s.records.write(ctx, seen, of, never)
		if !errors.Is(err, storage.ErrConflict) {
			return err
		}
		if seen, err = s.records.look(ctx, seen.Key); err != nil {
			return err
		}
		if seen.isAlive() && !isClaimOf(&seen, of) {
			if err := s.checkFree(ctx, &seen, email); err != nil {
				return err
			}
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// isClaimOf reports whether a record is alive and gives an e-mail address to this
// user.
func isClaimOf(r *Record, of owner) bool {
	if !r.isAlive() {
		return false
	}
	by, err := decode[owner](r)
	return err == nil && by == of
}

// checkFree returns nil if a claim to an e-mail address does not count. For one
// that counts it completes the user, if the user is new, and returns ErrConflict.
func (s *userRecords) checkFree(ctx context.Context, claim *Record, email string) error {
	by, err := decode[owner](claim)
	if err != nil {
		return err
	}
	u, err := s.look(ctx, by.User)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && (u.Born != by.Born || !u.names(email)):
		return nil
	case err != nil:
		return err
	}
	if u.State == stateNew {
		if err := s.makeWhole(ctx, u); err != nil && !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return storage.ErrConflict
}

// reclaim writes the claim to a user's e-mail address anew if there is none. A
// server that is short of memory may have evicted the claim, and the next sign-up
// with the address would make a second user of it. A claim that no longer counts
// when it is written does no harm, so reclaim may fail.
func (s *userRecords) reclaim(ctx context.Context, u storedUser) {
	if u.Email == "" {
		return
	}
	claim, err := s.records.look(ctx, keyOfEmail(u.Email))
	if err == nil && claim.Version == "" {
		_, _ = s.records.write(ctx, claim, u.owner(), never)
	}
}

// release removes the claim to an e-mail address that its user has no more. A claim
// that stays does not count, so release may fail.
func (s *userRecords) release(ctx context.Context, email string, of owner) {
	if email == "" {
		return
	}
	claim, err := s.records.look(ctx, keyOfEmail(email)) // before the user: a claim that is written anew from now on is not harmed
	if err != nil || !isClaimOf(&claim, of) {
		return
	}
	u, err := s.look(ctx, of.User)
	if err == nil && u.Born == of.Born && u.names(email) || err != nil && !errors.Is(err, storage.ErrNotFound) {
		return
	}
	_ = s.records.remove(ctx, claim)
}
