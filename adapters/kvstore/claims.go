package kvstore

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// claim gives the e-mail address to a user. ErrConflict: another user has it, complete by then.
//
// The user's own claim is written anew. A call that was about to replace that claim,
// because it did not count when the call read it, then loses.
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

func isClaimOf(r *Record, of owner) bool {
	if !r.isAlive() {
		return false
	}
	by, err := decode[owner](r)
	return err == nil && by == of
}

// checkFree returns ErrConflict for a claim that counts, and completes its user.
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

// reclaim gives a user an e-mail address without a claim. A server that is short of
// memory may have evicted the claim, and the next sign-up with the address would make a
// second user of it. A claim that no longer counts when it is written does no harm, so
// reclaim may fail.
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
