package directory

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// The link in the new mailbox of a user who has lost the former one.

// LookAtRegain returns the change that a link makes, without making it. It returns
// ErrVerification for a link that is void or does not work yet, and a Suspended for a
// suspended user.
func LookAtRegain(ctx context.Context, d *Directory, link string) (r Regain, err error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Regain, link)
	if err != nil {
		return r, voidIf(err)
	}
	if r, err = readRegain(row); err == nil {
		_, err = mayMove(ctx, d, d.Store, &r)
	}
	return r, err
}

// checkRegain returns the user of a change, or errChanged if the user is gone, has
// another address by now, or all sessions of the user were ended since.
func checkRegain(ctx context.Context, d *Directory, s *Store, r *Regain) (storage.User, error) {
	u, err := s.User(ctx, r.UserID)
	if err == nil && u.Email != r.From {
		err = errChanged
	}
	if err == nil {
		err = Passwords{d}.isLater(ctx, s, u.ID, r.Issued)
	}
	return u, voidIf(err)
}

// mayMove returns the user of a change that can be made now. It returns errEarly if the
// change is not due yet, or if the mailboxes were not reminded a day ago. It
// returns errChanged if the link has expired, and a Suspended if the user is suspended.
// Other errors are those of checkRegain.
func mayMove(ctx context.Context, d *Directory, s *Store, r *Regain) (storage.User, error) {
	u, err := checkRegain(ctx, d, s, r)
	if err != nil {
		return u, err
	}
	now := d.Now()
	if now.Before(r.Ready) || r.tries < r.mailsDue(now) {
		return u, errEarly
	}
	from, err := worksFrom(ctx, d, s, r)
	switch {
	case err != nil:
		return u, err
	case now.Before(from):
		return u, errEarly
	case !now.Before(from.Add(regainLife)):
		return u, errChanged
	}
	return u, refuse(d, &Assertion{}, u.Suspension)
}

// UndoOf returns the handle of the link that undoes a change. It is made from stop, the
// secret of the link that stops the change: when it is too late to stop, that link leads
// to the undo.
func UndoOf(stop string) string { return secret.Hash("undo " + stop) }

// MoveRegained makes the change of a link, which works once, and returns the former
// address in from. It ends the sessions, the links and the known browsers of the user,
// and keeps password, accounts and second factors: the user signs in with those. Its
// errors are those of [LookAtRegain], and ErrAddressTaken if another user has the address
// by now. If the former address was proven, its owner can undo the change with the handle
// m.Undo. MoveRegained adds the events UserUpdated and EmailChanged.
func MoveRegained(ctx context.Context, d *Directory, q *Outbox, link string) (m AddressMove, from string, err error) {
	err = q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		r, err := takeRegain(ctx, d, s, link)
		if err != nil {
			return err
		}
		m, err = moveRegained(ctx, d, q, s, r)
		from = r.From
		return err
	})
	if errors.Is(err, storage.ErrConflict) {
		err = ErrAddressTaken
	}
	return m, from, err
}

// takeRegain locks the user of a link, uses the link up and returns its change. Its
// errors are those of mayMove; the link then stays.
func takeRegain(ctx context.Context, d *Directory, s *Store, link string) (r Regain, err error) {
	row, err := d.Waiting(s).Get(ctx, challenge.Regain, link)
	if err != nil {
		return r, voidIf(err)
	}
	if _, err := s.LockUser(ctx, row.UserID); err != nil {
		return r, voidIf(err)
	}
	if r, err = readRegain(row); err != nil {
		return r, err
	}
	if _, err := mayMove(ctx, d, s, &r); err != nil { // before the link is used up
		return r, err
	}
	_, err = d.Waiting(s).Take(ctx, challenge.Regain, link) // a sign-in may have ended it
	return r, voidIf(err)
}

// moveRegained does the work of MoveRegained with a link that was used up.
func moveRegained(ctx context.Context, d *Directory, q *Outbox, s *Store, r Regain) (m AddressMove, err error) {
	p := Passwords{d}
	u, err := s.User(ctx, r.UserID)
	if err != nil {
		return m, err
	}
	m = AddressMove{UserID: u.ID, To: r.To, Until: d.Now().Add(undoLife)}
	if m.Undo, err = newUndo(ctx, d, s, &u, r.To, UndoOf(r.Stop)); err != nil {
		return m, err
	}
	if err := p.recordMove(ctx, s, &u, r.To); err != nil {
		return m, err
	}
	if err := d.Waiting(s).End(ctx, challenge.Keep, r.Stop); err != nil {
		return m, err
	}
	if _, err := p.giveAddress(ctx, q, s, &u, r.To); err != nil {
		return m, err
	}
	if _, err := d.endAll(ctx, q, s, u.ID, ""); err != nil {
		return m, err
	}
	q.Add(event.Event{Type: event.EmailChanged, UserID: u.ID}, nil)
	return m, p.dropProofs(ctx, s, u.ID)
}
