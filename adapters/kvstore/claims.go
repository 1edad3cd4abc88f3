package kvstore

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/storage"
)

// claim writes the record that gives an e-mail address, which is not empty, to a user.
// The record of the user must name the address already: otherwise the claim does not
// count. claim returns ErrConflict if the address is another user's; if that user was
// new, claim has completed the user.
//
// If the user has the claim already, it is written anew, under another version. A
// concurrent call that has read the former version, and was about to replace it because
// it did not count then, gets ErrConflict.
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

// isClaimOf reports whether a claim is alive and gives its e-mail address to this user.
func isClaimOf(r *Record, of owner) bool {
	if !r.isAlive() {
		return false
	}
	by, err := decode[owner](r)
	return err == nil && by == of
}

// checkFree returns nil if a claim to an e-mail address does not count, and ErrConflict
// if it does. Before ErrConflict it completes the user of the claim, if that user is
// new. The claim must be alive.
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

// reclaim writes the claim to a user's e-mail address anew if the store has no record of
// it. A server that is short of memory may have evicted the claim, and the next sign-up
// with the address would make a second user of it. reclaim ignores errors. If the user
// changes the address at the same time, the claim does not count, and does no harm.
func (s *userRecords) reclaim(ctx context.Context, u storedUser) {
	if u.Email == "" {
		return
	}
	claim, err := s.records.look(ctx, keyOfEmail(u.Email))
	if err == nil && claim.Version == "" {
		_, _ = s.records.write(ctx, claim, u.owner(), never)
	}
}

// release removes a user's claim to an e-mail address that the user no longer has. It
// does nothing if the address is empty, if the claim is another user's, or if the user
// still has the address or is about to have it. It ignores errors: a claim that stays
// does not count.
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
