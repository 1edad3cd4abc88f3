package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// The address of a user who cannot sign in, because the mailbox is lost. Staff asks for
// another one. Both mailboxes are told at once and half-way. After a delay the link in the
// new one moves the address, unless the user signs in, or the link in the former one stops
// it.

const (
	regainDelay = 72 * time.Hour // the shortest
	regainLife  = 24 * time.Hour // of the link, when it works
)

// ErrRegainUnproven reports that the address of a user was never proven, so that no mailbox
// can have been lost.
var ErrRegainUnproven = errors.New("the user has never proven the present e-mail address: create a user for the new one")

// ErrRegainRefused reports that the address of a user has changed within 30 days, or that
// a change was asked for.
var ErrRegainRefused = errors.New("the e-mail address of this user was to change within the last 30 days")

var errEarly = failure.Wrap(fault.ErrVerification, &failure.Mistake{Err: failure.Of(fault.LinkUsed, errors.New("the link to a new address does not work yet"))})

// Regain is a change of address that staff has asked for. It is the sealed part of its
// row, whose handle is Stop.
type Regain struct {
	Link   string    `json:"link"` // the secret of the link that moves the address
	From   string    `json:"from"` // the address at the time
	To     string    `json:"to"`
	Issued time.Time `json:"issued"`
	Half   time.Time `json:"half"`  // when both mailboxes are reminded
	Ready  time.Time `json:"ready"` // when the link begins to work

	UserID string `json:"-"` // set by the functions that return one
	tries  int    // as UserID: how often both mailboxes were told
}

// Stop returns the secret of the link that stops the change. Link does not follow from
// it.
func (r *Regain) Stop() string { return secret.Hash("stop " + r.Link) }

// mailsDue returns how often both mailboxes should have been told.
func (r *Regain) mailsDue(now time.Time) int {
	if now.Before(r.Half) {
		return 1
	}
	return 2
}

// readRegain decodes the row of a change.
func readRegain(row *challenge.Row) (r Regain, err error) {
	err = row.Read(&r)
	r.UserID, r.tries = row.UserID, row.Tries
	return r, err
}

// AskToRegain stores a change of the address of a user who cannot sign in. It replaces an
// earlier one. delay is at least 72 hours; less is taken for that. It returns
// ErrRegainRefused within 30 days of another change, ErrRegainUnproven, ErrConflict for an address that is a
// user's, and ErrNotFound for a user without an address.
func AskToRegain(ctx context.Context, d *Directory, q *Outbox, userID, to string, delay time.Duration) (r Regain, err error) {
	delay = max(delay, regainDelay)
	err = q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, err := s.LockUser(ctx, userID)
		if err == nil && u.Email == "" {
			err = storage.ErrNotFound
		}
		if err == nil {
			err = mayRegain(ctx, d, s, &u, to)
		}
		if err != nil {
			return err
		}
		if _, err := s.Challenges().Delete(ctx, u.ID, string(challenge.Regain)); err != nil {
			return err
		}
		now := d.Now()
		r = Regain{
			Link: challenge.NewHandle(), From: u.Email, To: to, Issued: d.Revocations.IssueTime(u.ID, now),
			Half: now.Add(delay / 2), Ready: now.Add(delay), UserID: u.ID,
		}
		_, err = d.Waiting(s).Create(ctx, challenge.Draft{Purpose: challenge.Regain, Handle: r.Stop(), UserID: u.ID, Identifier: to, Data: r, Life: delay + regainLife})
		q.Add(event.Event{Type: event.EmailAsked, UserID: u.ID}, nil)
		return err
	})
	return r, err
}

// mayRegain returns an error if the address of a user cannot be replaced by another now.
func mayRegain(ctx context.Context, d *Directory, s *Store, u *storage.User, to string) error {
	other, err := guarded.Optional(s.UserByEmail(ctx, to))
	if err != nil {
		return err
	}
	if other != nil {
		return storage.ErrConflict
	}
	isProven, err := isAddressProven(ctx, d, s, u)
	if err == nil && !isProven { // what is attached to it may be another person's
		err = ErrRegainUnproven
	}
	if err != nil {
		return err
	}
	moved, err := hasMoved(ctx, d, s, u.ID)
	if err == nil && moved {
		err = ErrRegainRefused
	}
	return err
}

// hasMoved reports whether the address of a user has changed within 30 days, or was to
// change.
func hasMoved(ctx context.Context, d *Directory, s *Store, userID string) (bool, error) {
	for _, purpose := range []challenge.Purpose{challenge.Moved, challenge.Recover} {
		moves, err := d.Waiting(s).List(ctx, purpose, userID, "")
		if err != nil || len(moves) > 0 {
			return true, err
		}
	}
	return false, nil
}

// endStaffWork ends what staff may do, or has begun, for a user who has not signed in: see
// claim and endRegain.
func endStaffWork(ctx context.Context, d *Directory, q *Outbox, s *Store, signIn *SignIn) error {
	if err := claim(ctx, s, &signIn.User); err != nil {
		return err
	}
	return endRegain(ctx, d, q, s, signIn)
}

// endRegain ends a change that is under way, because its user signs in, or proves who they
// are in a session.
func endRegain(ctx context.Context, d *Directory, q *Outbox, s *Store, signIn *SignIn) error {
	if !d.MovesAddresses || s.challenges == nil || signIn.IsNew {
		return nil
	}
	n, err := s.Challenges().Delete(ctx, signIn.User.ID, string(challenge.Regain))
	if n > 0 {
		q.Add(event.Event{Type: event.EmailStopped, UserID: signIn.User.ID}, nil)
	}
	return failure.Ignoring(err, errors.ErrUnsupported) // a layout without the table
}

// DueRegains returns the changes whose mailboxes are to be told now. [TellRegain] tells
// them once. A change of which they were never told is void.
func DueRegains(ctx context.Context, d *Directory) (due []Regain, err error) {
	if !d.MovesAddresses {
		return nil, nil
	}
	rows, err := d.Waiting(d.Store).List(ctx, challenge.Regain, "", "")
	now := d.Now()
	for _, row := range rows {
		r, bad := readRegain(row)
		if bad != nil || r.tries == 0 || r.tries >= r.mailsDue(now) {
			continue
		}
		if _, void := checkRegain(ctx, d, d.Store, &r); void == nil {
			due = append(due, r)
		} else if !errors.Is(void, errChanged) {
			err = errors.Join(err, void)
		}
	}
	return due, err
}

// TellRegain calls send, which mails both mailboxes of a change what is due now. See
// tellDue.
func TellRegain(ctx context.Context, d *Directory, r *Regain, send func(context.Context) error) error {
	return tellDue(ctx, d, challenge.Regain, r.Stop(), r.mailsDue(d.Now()), send)
}

// LookAtStop returns the change that a link stops, without stopping it. It returns an
// ErrVerification for a link that is void.
func LookAtStop(ctx context.Context, d *Directory, stop string) (Regain, error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Regain, stop)
	if err != nil {
		return Regain{}, voidIf(err)
	}
	return readRegain(row)
}

// StopRegain stops the change that a link names. It returns an ErrVerification for a link
// that is void.
func StopRegain(ctx context.Context, d *Directory, q *Outbox, stop string) error {
	return q.together(ctx, d.Store, stopRegain(d, q, stop))
}

// WithdrawRegain stops a change of which a mailbox could not be told, whatever becomes of
// its record.
func WithdrawRegain(ctx context.Context, d *Directory, q *Outbox, r *Regain) error {
	err := q.InTxAnyway(ctx, d.Store, stopRegain(d, q, r.Stop()))
	return errors.Join(err, d.Waiting(d.Store).End(ctx, challenge.Due, pauseOf(challenge.Regain, r.Stop())))
}

// stopRegain returns a function that stops the change that a link names.
func stopRegain(d *Directory, q *Outbox, stop string) func(context.Context, *Store) error {
	return func(ctx context.Context, s *Store) error {
		row, err := d.Waiting(s).Take(ctx, challenge.Regain, stop)
		if err == nil {
			q.Add(event.Event{Type: event.EmailStopped, UserID: row.UserID}, nil)
		}
		return voidIf(err)
	}
}

// LookAtRegain returns the change that a link makes, without making it. It returns an
// ErrVerification for a link that is void, or does not work yet, and ErrAccessDenied for a
// suspended user.
func LookAtRegain(ctx context.Context, d *Directory, link string) (Regain, error) {
	r, err := LookAtStop(ctx, d, (&Regain{Link: link}).Stop())
	if err == nil {
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

// mayMove does what checkRegain does, and returns an error too if the change is not due, a
// mailbox was not reminded, or the user is suspended.
func mayMove(ctx context.Context, d *Directory, s *Store, r *Regain) (storage.User, error) {
	u, err := checkRegain(ctx, d, s, r)
	switch {
	case err != nil:
		return u, err
	case d.Now().Before(r.Ready), r.tries < r.mailsDue(d.Now()):
		return u, errEarly
	}
	return u, refuse(d, &Assertion{}, u.Suspension)
}

// MoveRegained makes the change of a link. It ends the sessions, the links and the known
// browsers of the user, and keeps password, accounts and second factors: the user signs in
// with those. The link works once. The errors are those of [LookAtRegain], and
// ErrAddressTaken. The owner of the former address can undo the change, with the handle in
// the result, if that was proven.
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

// takeRegain locks the user of a link, and uses the link up.
func takeRegain(ctx context.Context, d *Directory, s *Store, link string) (r Regain, err error) {
	stop := (&Regain{Link: link}).Stop()
	row, err := d.Waiting(s).Get(ctx, challenge.Regain, stop)
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
	_, err = d.Waiting(s).Take(ctx, challenge.Regain, stop) // a sign-in may have ended it
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
	if m.Undo, err = newUndo(ctx, d, s, &u, r.To); err != nil {
		return m, err
	}
	if err := p.recordMove(ctx, s, &u, r.To); err != nil {
		return m, err
	}
	if _, err := p.giveAddress(ctx, q, s, &u, r.To); err != nil {
		return m, err
	}
	if _, err := d.endAll(ctx, s, u.ID, ""); err != nil {
		return m, err
	}
	q.Add(event.Event{Type: event.EmailChanged, UserID: u.ID}, nil)
	return m, p.dropProofs(ctx, s, u.ID)
}
