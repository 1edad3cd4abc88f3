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
	"github.com/latchkeyhq/latchkey/storage"
)

// The address of a user who cannot sign in, because the mailbox is lost. Staff asks for
// another one. Both mailboxes are told at once and half-way. After a delay the link in the
// new one moves the address, unless the user signs in, or the link in the former one stops
// it.

const (
	regainDelay = 72 * time.Hour // the shortest
	regainLife  = 24 * time.Hour // of the link, when it works

	// regainNotice is the shortest time from the reminder to the change. After this long
	// beyond the delay no reminder is sent any more.
	regainNotice = 24 * time.Hour
)

// ErrRegainUnproven reports that the address of a user was never proven, so that no mailbox
// can have been lost.
var ErrRegainUnproven = errors.New("the user has never proven the present e-mail address: create a user for the new one")

// ErrRegainRefused reports that the address of a user has changed within 30 days, or that
// a change was asked for.
var ErrRegainRefused = errors.New("the e-mail address of this user was to change within the last 30 days")

var errEarly = failure.Wrap(fault.ErrVerification, &failure.Mistake{Err: failure.Of(fault.LinkUsed, errors.New("the link to a new address does not work yet"))})

// ErrRegainPending reports that the same change is under way.
var ErrRegainPending = errors.New("a change to this e-mail address is under way")

// Regain is a change of address that staff has asked for. It is the sealed part of its
// row, whose handle is Link. The row of the purpose challenge.Keep whose handle is Stop
// stops whatever change of the user is under way.
type Regain struct {
	Link   string    `json:"link"` // the secret of the link that moves the address
	Stop   string    `json:"stop"` // the secret of the link that stops the change
	From   string    `json:"from"` // the address at the time
	To     string    `json:"to"`
	Issued time.Time `json:"issued"`
	Half   time.Time `json:"half"`  // when both mailboxes are reminded
	Ready  time.Time `json:"ready"` // when the link begins to work

	UserID string    `json:"-"` // set by the functions that return one
	asked  time.Time // as UserID
	tries  int       // as UserID: how often both mailboxes were told
}

// mailsDue returns how often each of the mailboxes should have been told by now: once,
// and from half-way on twice.
func (r *Regain) mailsDue(now time.Time) int {
	if now.Before(r.Half) {
		return 1
	}
	return 2
}

// readRegain decodes the row of a change, and sets the fields that come from the row.
func readRegain(row *challenge.Row) (r Regain, err error) {
	err = row.Read(&r)
	r.UserID, r.asked, r.tries = row.UserID, row.Created, row.Tries
	return r, err
}

// AskToRegain stores a change of the address of a user who cannot sign in, which staff
// has asked for. It changes no address and sends no mail. It replaces a change to any
// other address: the link that stops that one stops the new one as well. A delay
// of less than 72 hours counts as 72 hours. AskToRegain returns ErrRegainPending if a
// change to the same address is under way, and ErrRegainRefused within 30 days of another
// change. It returns ErrConflict for an address that is a user's. For a user who never
// proved the present address it returns ErrRegainUnproven, and for an unknown user, or
// one without an address, ErrNotFound. It adds the event EmailAsked.
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
		stop, err := replaceRegain(ctx, d, s, u.ID, to)
		if err != nil {
			return err
		}
		now := d.Now()
		r = Regain{
			Link: challenge.NewHandle(), Stop: stop, From: u.Email, To: to, Issued: d.Revocations.IssueTime(u.ID, now),
			Half: now.Add(delay / 2), Ready: now.Add(delay), UserID: u.ID,
		}
		q.Add(event.Event{Type: event.EmailAsked, UserID: u.ID}, nil)
		return storeRegain(ctx, d, s, &r, delay+2*regainNotice+regainLife)
	})
	return r, err
}

// replaceRegain deletes the changes of a user that are under way. It returns the secret of
// the link that stops the next one: that of the former one, or a new secret. It deletes
// nothing and returns ErrRegainPending if a change to the same address is under way.
func replaceRegain(ctx context.Context, d *Directory, s *Store, userID, to string) (stop string, err error) {
	all, err := regainsOf(ctx, d, s, userID)
	if err != nil {
		return "", err
	}
	stop = challenge.NewHandle()
	for i := range all {
		goesOn, err := isUnderWay(ctx, d, s, &all[i])
		if err != nil {
			return "", err
		}
		if all[i].To == to && goesOn {
			return "", ErrRegainPending
		}
		stop = all[i].Stop
	}
	_, err = s.Challenges().Delete(ctx, userID, string(challenge.Regain))
	return stop, err
}

// regainsOf returns the changes of a user that are not void, or with an empty userID
// those of the tenant. If the check of one fails, it returns the rest beside the error.
func regainsOf(ctx context.Context, d *Directory, s *Store, userID string) (all []Regain, err error) {
	rows, err := d.Waiting(s).List(ctx, challenge.Regain, userID, "")
	for _, row := range rows {
		r, bad := readRegain(row)
		if bad != nil {
			continue
		}
		if _, void := checkRegain(ctx, d, s, &r); void == nil {
			all = append(all, r)
		} else if !errors.Is(void, errChanged) {
			err = errors.Join(err, void)
		}
	}
	return all, err
}

// ReplacementFor returns the address that staff has asked for in place of a user's, and
// that a link will set after a delay. It returns "" if no change is under way.
func ReplacementFor(ctx context.Context, d *Directory, userID string) (to string, err error) {
	all, err := regainsOf(ctx, d, d.Store, userID)
	for i := range all {
		goesOn, failed := isUnderWay(ctx, d, d.Store, &all[i])
		if err = errors.Join(err, failed); goesOn {
			to = all[i].To
		}
	}
	return to, err
}

// isUnderWay reports whether a change can still happen: its link is not too old, and both
// mailboxes were told or may be being told now. If a process has crashed before it
// told them, the change is not under way. Nor is it if no reminder left in time.
func isUnderWay(ctx context.Context, d *Directory, s *Store, r *Regain) (bool, error) {
	now := d.Now()
	if r.tries == 0 {
		return now.Before(r.asked.Add(dueLease)), nil
	}
	from, err := worksFrom(ctx, d, s, r)
	if errors.Is(err, errEarly) { // the reminder may still leave: see DueRegains
		return now.Before(r.Ready.Add(regainNotice)), nil
	}
	return err == nil && now.Before(from.Add(regainLife)), err
}

// worksFrom returns the time from which the link of a change works: a day after the
// reminder at the earliest. It returns errEarly if no reminder has left.
func worksFrom(ctx context.Context, d *Directory, s *Store, r *Regain) (from time.Time, err error) {
	row, err := d.Waiting(s).Get(ctx, challenge.Due, fromOf(r.Link))
	if err == nil {
		err = row.Read(&from)
	}
	if errors.Is(err, storage.ErrNotFound) {
		err = errEarly
	}
	return from, err
}

// storeRegain stores a change, and the link that stops it.
func storeRegain(ctx context.Context, d *Directory, s *Store, r *Regain, life time.Duration) error {
	rows := d.Waiting(s)
	if err := rows.End(ctx, challenge.Keep, r.Stop); err != nil { // of the change that this one replaces
		return err
	}
	_, err := rows.Create(ctx, challenge.Draft{Purpose: challenge.Keep, Handle: r.Stop, UserID: r.UserID, Identifier: r.From, Life: life})
	if err == nil {
		_, err = rows.Create(ctx, challenge.Draft{Purpose: challenge.Regain, Handle: r.Link, UserID: r.UserID, Identifier: r.To, Data: r, Life: life})
	}
	return err
}

// mayRegain returns nil if staff may ask now for a change of the address of u to the
// address to. Otherwise it returns ErrConflict, ErrRegainUnproven or ErrRegainRefused, as
// AskToRegain does.
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

// hasMoved reports whether, within 30 days, the address of a user has changed or a proven
// address was to change.
func hasMoved(ctx context.Context, d *Directory, s *Store, userID string) (bool, error) {
	for _, purpose := range []challenge.Purpose{challenge.Moved, challenge.Recover} {
		moves, err := d.Waiting(s).List(ctx, purpose, userID, "")
		if err != nil || len(moves) > 0 {
			return true, err
		}
	}
	return false, nil
}

// DueRegains returns the changes of the tenant whose mailboxes are to be reminded now.
// [TellRegain] reminds them once. It leaves out those that are void, and those whose
// mailboxes were never told.
func DueRegains(ctx context.Context, d *Directory) (due []Regain, err error) {
	if !d.MovesAddresses {
		return nil, nil
	}
	all, err := regainsOf(ctx, d, d.Store, "")
	now := d.Now()
	for i := range all {
		if r := &all[i]; r.tries > 0 && r.tries < r.mailsDue(now) && now.Before(r.Ready.Add(regainNotice)) {
			due = append(due, *r)
		}
	}
	return due, err
}

// TellRegain calls send, which mails both mailboxes of a change what is due now, as
// tellDue does. from is when the link begins to work: a day after the reminder at the
// earliest. TellRegain stores that time with the reminder.
func TellRegain(ctx context.Context, d *Directory, r *Regain, send func(ctx context.Context, from time.Time) error) error {
	now, from := d.Now(), r.Ready
	isReminder := !now.Before(r.Half)
	if late := now.Add(regainNotice); isReminder && late.After(from) {
		from = late
	}
	return tellDue(ctx, d, challenge.Regain, r.Link, r.mailsDue(now), func(ctx context.Context) error {
		err := send(ctx, from)
		if err != nil || !isReminder {
			return err
		}
		life := r.Ready.Add(2*regainNotice + regainLife).Sub(now)
		_, err = d.Waiting(d.Store).Create(ctx, challenge.Draft{Purpose: challenge.Due, Handle: fromOf(r.Link), Data: from, Life: life})
		return failure.Ignoring(err, storage.ErrConflict)
	})
}

// fromOf returns the handle of the row that holds the time from which a link works.
// TellRegain stores that row with the reminder.
func fromOf(link string) string { return string(challenge.Regain) + " from " + link }

// RecordUnheard adds the event EmailUnheard: the former mailbox of a change does not
// exist. It returns ErrAudit if the audit log is required and does not take the event.
func RecordUnheard(ctx context.Context, d *Directory, q *Outbox, r *Regain) error {
	return q.together(ctx, d.Store, func(context.Context, *Store) error {
		q.Add(event.Event{Type: event.EmailUnheard, UserID: r.UserID}, nil)
		return nil
	})
}
