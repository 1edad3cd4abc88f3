package directory

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
)

// What stops the change of an address that staff has asked for: the link in the former
// mailbox, a sign-in, and a mail that could not be sent.

// endStaffWork ends what administrators may do before the first sign-in of a user: it
// clears Provisioned of signIn.User. It also ends a change of address that an
// administrator has asked for, as endRegain does.
func endStaffWork(ctx context.Context, d *Directory, q *Outbox, s *Store, signIn *SignIn) error {
	if err := claim(ctx, s, &signIn.User); err != nil {
		return err
	}
	return endRegain(ctx, d, q, s, signIn)
}

// endRegain ends the change of address that staff has asked for and that is under way,
// because its user signs in, or proves who they are in a session. It does nothing for a
// new user, or on a site without such changes.
func endRegain(ctx context.Context, d *Directory, q *Outbox, s *Store, signIn *SignIn) error {
	if !d.MovesAddresses || s.challenges == nil || signIn.IsNew {
		return nil
	}
	_, err := dropRegain(ctx, d, q, s, signIn.User.ID)
	return failure.Ignoring(err, errors.ErrUnsupported) // a layout without the table
}

// dropRegain deletes the changes of address of a user that staff has asked for, with the
// links that stop them, and adds the event EmailStopped. It reports whether there was
// one.
func dropRegain(ctx context.Context, d *Directory, q *Outbox, s *Store, userID string) (bool, error) {
	rows, err := d.Waiting(s).List(ctx, challenge.Regain, userID, "") // those that have expired are none
	if err != nil || len(rows) == 0 {
		return false, err
	}
	_, err = s.Challenges().Delete(ctx, userID, string(challenge.Regain), string(challenge.Keep))
	if err == nil {
		q.Add(event.Event{Type: event.EmailStopped, UserID: userID}, nil)
	}
	return true, err
}

// LookAtStop returns the address that the user keeps if the link is used to stop a
// change. It does not use the link up. It returns ErrVerification if the link was used or
// has expired.
func LookAtStop(ctx context.Context, d *Directory, stop string) (kept string, err error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Keep, stop)
	if err != nil {
		return "", voidIf(err)
	}
	return row.Identifier, nil
}

// StopRegain stops the change of address that is under way for the user of a link. That
// may be another change than the mail with the link was about. It returns
// ErrVerification if the link is void or no change is under way. It adds the event
// EmailStopped, and stops the change even if the audit log does not take that.
func StopRegain(ctx context.Context, d *Directory, q *Outbox, stop string) error {
	return q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error {
		row, err := d.Waiting(s).Get(ctx, challenge.Keep, stop)
		if err == nil {
			_, err = s.LockUser(ctx, row.UserID)
		}
		if err != nil {
			return voidIf(err)
		}
		was, err := dropRegain(ctx, d, q, s, row.UserID)
		if err == nil && !was {
			err = errChanged
		}
		return err
	})
}

// KeepAddress stops the change of address that staff has asked for, because its user
// wants that in a session. It adds the event EmailStopped, or does nothing if no change
// is under way. It returns ErrNotFound for an unknown user.
func KeepAddress(ctx context.Context, d *Directory, q *Outbox, userID string) error {
	return q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, userID); err != nil {
			return err
		}
		_, err := dropRegain(ctx, d, q, s, userID)
		return err
	})
}

// WithdrawRegain stops a change of which a mailbox could not be told, even if the audit
// log does not take the event EmailStopped. If the change is gone or was replaced, it
// stops nothing and returns ErrVerification.
func WithdrawRegain(ctx context.Context, d *Directory, q *Outbox, r *Regain) error {
	err := q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if _, err := s.LockUser(ctx, r.UserID); err != nil {
			return err
		}
		if _, err := d.Waiting(s).Get(ctx, challenge.Regain, r.Link); err != nil {
			return voidIf(err)
		}
		_, err := dropRegain(ctx, d, q, s, r.UserID)
		return err
	})
	return errors.Join(err, d.Waiting(d.Store).End(ctx, challenge.Due, pauseOf(challenge.Regain, r.Link)))
}
