package kvstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"

	"github.com/latchkeyhq/latchkey"
)

// claim makes the e-mail address of's own. ErrConflict: it is another's, who is
// whole by then.
//
// One's own claim is written anew, so that whoever was about to replace it, since
// it did not count when they looked, loses.
func (s *Store) claim(ctx context.Context, email string, of owner) error {
	seen := Record{Key: keyOfEmail(email)}
	for try := 0; ; try++ {
		_, err := s.write(ctx, seen, of, never)
		if !errors.Is(err, latchkey.ErrConflict) {
			return err
		}
		if seen, err = s.look(ctx, seen.Key); err != nil {
			return err
		}
		if seen.isAlive() && !isClaimOf(&seen, of) {
			if err := s.isFree(ctx, &seen, email); err != nil {
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

// isFree is ErrConflict for a claim that counts.
func (s *Store) isFree(ctx context.Context, claim *Record, email string) error {
	by, err := decode[owner](claim)
	if err != nil {
		return err
	}
	p, err := s.lookUser(ctx, by.User)
	switch {
	case errors.Is(err, latchkey.ErrNotFound), err == nil && (p.Born != by.Born || !p.names(email)):
		return nil
	case err != nil:
		return err
	}
	if p.State == stateNew {
		if err := s.makeWhole(ctx, p); err != nil && !errors.Is(err, latchkey.ErrConflict) {
			return err
		}
	}
	return latchkey.ErrConflict
}

// release frees an e-mail address that its user has no more. One that is left
// over does not count, so this may fail.
func (s *Store) release(ctx context.Context, email string, of owner) {
	if email == "" {
		return
	}
	claim, err := s.look(ctx, keyOfEmail(email)) // before the user: who claims it anew from now on is not harmed
	if err != nil || !isClaimOf(&claim, of) {
		return
	}
	p, err := s.lookUser(ctx, of.User)
	if err == nil && p.Born == of.Born && p.names(email) || err != nil && !errors.Is(err, latchkey.ErrNotFound) {
		return
	}
	_ = s.remove(ctx, claim)
}

// DeleteUser implements [latchkey.UserDeletionAdapter]. From its first step on the
// user is nobody; one that is interrupted afterwards is finished by the next.
func (s *Store) DeleteUser(ctx context.Context, id string) (latchkey.User, error) {
	for try := 0; ; try++ {
		p, err := s.person(ctx, id)
		if errors.Is(err, latchkey.ErrNotFound) { // another try may have removed them, and not have heard that it is safe
			return latchkey.User{}, cmp.Or(s.remove(ctx, Record{Key: keyOfUser(id), Version: rand.Text()}), err)
		}
		if err != nil {
			return latchkey.User{}, err
		}
		if p.State != stateGone {
			p.State = stateGone
			p.seen, err = s.rewrite(ctx, p.seen, p.userValue, never)
		}
		if err == nil {
			return p.orNobody(s.finishDeletion(ctx, p))
		}
		if !errors.Is(err, latchkey.ErrConflict) {
			return latchkey.User{}, err
		}
		if err := pause(ctx, try); err != nil {
			return latchkey.User{}, err
		}
	}
}

// finishDeletion removes what belonged to who is gone, and then their record.
func (s *Store) finishDeletion(ctx context.Context, p person) error {
	left := math.MaxInt
	for some, err := range s.pages(ctx, p.ID, "") {
		if err != nil {
			return err
		}
		err := together(append(some.alive, some.ended...), func(r Record) error {
			_, err := s.takeSeenOwned(ctx, r, p.isTheirs)
			return orAbsent(err)
		})
		if err != nil {
			return err
		}
		left = s.tidy(ctx, p.ID, some.dead, left)
	}
	s.release(ctx, p.Email, p.owner())
	if p.Next != nil {
		s.release(ctx, p.Next.Email, p.owner())
	}
	return s.remove(ctx, p.seen)
}

// isTheirs is ErrNotFound for what belongs to somebody else, or to a later user
// of the same id. Sessions do not say whose of them they are.
func (p *person) isTheirs(r *Record) error {
	of, err := decode[owner](r)
	if err == nil && (of.User != p.ID || of.Born != "" && of.Born != p.Born) {
		err = latchkey.ErrNotFound
	}
	return err
}
