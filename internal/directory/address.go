package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// The change of a user's address: it moves when the new one is proven, in a session
// of the user, and the owner of the former one can undo that.

// ErrAddressTaken reports an address that another user has.
var ErrAddressTaken = errors.New("the e-mail address belongs to another user")

const (
	moveLife  = time.Hour           // of a link to the new address
	undoLife  = 72 * time.Hour      // of the link to the former address
	movedLife = 30 * 24 * time.Hour // of the record of a move
)

// moveData is the sealed part of the row of a new address.
type moveData struct {
	From   string    `json:"from"` // the address at the time
	Issued time.Time `json:"issued"`

	// Accounts are hashes of the accounts that the user had when the change was asked for. Only
	// the row of an undo has them, and From of that row is the new address.
	Accounts []string `json:"accounts,omitempty"`
}

// AddressMove is a change of address that was asked for.
type AddressMove struct {
	UserID  string
	To      string
	Handle  string // of the link to the new address
	Undo    string // handle of the link to the former address; empty: that was never proven
	Expires time.Time
	Until   time.Time // the end of the link to the former address
}

// AskToMove stores the links of a change of address that a user has asked for, and adds
// the event EmailAsked. One link, m.Handle, moves the address to to. The other, m.Undo,
// undoes that, and is made only if the present address is proven. AskToMove does not
// check to, sends no mail and changes no address.
func (d Passwords) AskToMove(ctx context.Context, q *Outbox, u *storage.User, to string) (m AddressMove, err error) {
	err = q.together(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if m, err = d.newMove(ctx, s, u, to); err == nil {
			q.Add(event.Event{Type: event.EmailAsked, UserID: u.ID}, nil)
		}
		return err
	})
	return m, err
}

// NewMove stores the links that AskToMove stores, and adds no event. to may be the
// present address of u: the link then proves that address.
func (d Passwords) NewMove(ctx context.Context, u *storage.User, to string) (AddressMove, error) {
	return d.newMove(ctx, d.Store, u, to)
}

// newMove does the work of NewMove in the transaction of s.
func (d Passwords) newMove(ctx context.Context, s *Store, u *storage.User, to string) (m AddressMove, err error) {
	now := d.Now()
	issued := d.Revocations.IssueTime(u.ID, now)
	rows := d.Waiting(s)
	m = AddressMove{UserID: u.ID, To: to, Expires: now.Add(moveLife), Until: now.Add(undoLife)}
	m.Handle, err = rows.Create(ctx, challenge.Draft{
		Purpose: challenge.Email, UserID: u.ID, Identifier: to, Life: moveLife, Data: moveData{From: u.Email, Issued: issued},
	})
	if err == nil {
		m.Undo, err = newUndo(ctx, d.Directory, s, u, to, challenge.NewHandle())
	}
	return m, err
}

// newUndo stores the link that undoes a change of the address of u to the address to,
// under the given handle. It returns handle, or "" if the present address of u is not
// proven: then it stores nothing.
func newUndo(ctx context.Context, d *Directory, s *Store, u *storage.User, to, handle string) (string, error) {
	isProven, err := isAddressProven(ctx, d, s, u)
	if err != nil || !isProven {
		return "", err
	}
	accounts, err := s.ListAccounts(ctx, u.ID)
	if err != nil {
		return "", err
	}
	return d.Waiting(s).Create(ctx, challenge.Draft{
		Purpose: challenge.Moved, Handle: handle, UserID: u.ID, Identifier: u.Email, Life: movedLife, Data: moveData{From: to, Issued: d.Now(), Accounts: accountMarks(accounts)},
	})
}

// IsAddressProven reports whether the user has shown that the e-mail address is theirs,
// or an account of the user vouches for it. It returns false for a user without an
// address.
func IsAddressProven(ctx context.Context, d *Directory, u *storage.User) (bool, error) {
	return isAddressProven(ctx, d, d.Store, u)
}

// isAddressProven does the work of IsAddressProven. s may be bound to a transaction.
func isAddressProven(ctx context.Context, d *Directory, s *Store, u *storage.User) (bool, error) {
	if u.Email == "" || !u.EmailVerified.IsZero() {
		return u.Email != "", nil
	}
	accounts, err := s.ListAccounts(ctx, u.ID)
	for i := range accounts {
		if d.vouched(&accounts[i], u.Email) {
			return true, nil
		}
	}
	return false, err
}

// LookAtMove returns the new address that a link confirms, without using the link up. It
// returns ErrVerification if the link was used or has expired, or if it is not a link of
// u. It also does so if the address of u has changed or the sessions of u were ended
// since the link was made.
func (d Passwords) LookAtMove(ctx context.Context, handle string, u *storage.User) (to string, err error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Email, handle)
	if err == nil {
		err = d.checkMove(ctx, d.Store, row, u)
	}
	if err != nil {
		return "", voidIf(err)
	}
	return row.Identifier, nil
}

// checkMove returns errChanged unless row is about u, was made for the address that u has
// now, and was made after the sessions of u were last ended. Any other error is that of
// the store.
func (d Passwords) checkMove(ctx context.Context, s *Store, row *challenge.Row, u *storage.User) error {
	var data moveData
	if err := row.Read(&data); err != nil || row.UserID != u.ID || data.From != u.Email {
		return errChanged
	}
	return d.isLater(ctx, s, u.ID, data.Issued)
}

// MoveAddress changes the address of the user c.UserID to the one that the link with a
// handle was sent to, and marks it as proven. It works in one transaction if the store
// has transactions. It ends the sessions, links and known browsers of the user, except the
// session c.Keep, which c.Renew gives a new token. The password stays. c.Hash, c.Was, c.Reset,
// c.Second and c.Event are ignored. MoveAddress returns ErrVerification for a link that
// LookAtMove refuses, ErrNotFound if the user is gone, and ErrAddressTaken if another user has
// the address by now. It adds the events UserUpdated and EmailChanged.
func (d Passwords) MoveAddress(ctx context.Context, q *Outbox, handle string, c PasswordChange) (u storage.User, err error) {
	err = q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, err = d.moveAddress(ctx, q, s, handle, &c)
		return err
	})
	if errors.Is(err, storage.ErrConflict) {
		err = ErrAddressTaken
	}
	return u, err
}

// moveAddress does the work of MoveAddress in the transaction of s.
func (d Passwords) moveAddress(ctx context.Context, q *Outbox, s *Store, handle string, c *PasswordChange) (storage.User, error) {
	u, err := s.LockUser(ctx, c.UserID)
	if err != nil {
		return u, err
	}
	row, err := d.Waiting(s).Take(ctx, challenge.Email, handle)
	if err == nil {
		err = d.checkMove(ctx, s, row, &u)
	}
	if err != nil {
		return u, voidIf(err)
	}
	if err := d.recordMove(ctx, s, &u, row.Identifier); err != nil {
		return u, err
	}
	if u, err = d.giveAddress(ctx, q, s, &u, row.Identifier); err != nil {
		return u, err
	}
	ended, err := d.endAll(ctx, q, s, u.ID, c.Keep)
	if err == nil {
		err = d.dropProofs(ctx, s, u.ID)
	}
	if err == nil {
		err = renewKept(ctx, d.Directory, s, u.ID, c.Keep, c.Renew, after(ended))
	}
	q.Add(event.Event{Type: event.EmailChanged, UserID: u.ID}, nil)
	return u, err
}

// recordMove records that the address of a user changes, so that [Factors.BeginLost]
// refuses the user for 30 days. The row of a link to the former address says the same: if
// there is one, recordMove stores nothing. A user whose address was never proven has no
// such link. If the address does not change, recordMove does nothing.
func (d Passwords) recordMove(ctx context.Context, s *Store, u *storage.User, to string) error {
	if u.Email == to {
		return nil
	}
	rows := d.Waiting(s)
	moves, err := rows.List(ctx, challenge.Moved, u.ID, "")
	if err == nil && len(moves) == 0 {
		_, err = rows.Create(ctx, challenge.Draft{Purpose: challenge.Recover, UserID: u.ID, Life: movedLife})
	}
	return err
}

// giveAddress sets the address of a user to one that a link has proven, marks it as
// proven, and returns the user as stored. It adds the event UserUpdated. It returns
// ErrAddressTaken if another user has the address.
func (d Passwords) giveAddress(ctx context.Context, q *Outbox, s *Store, u *storage.User, email string) (storage.User, error) {
	other, err := guarded.Optional(s.UserByEmail(ctx, email))
	if err != nil {
		return *u, err
	}
	if other != nil && other.ID != u.ID {
		return *u, ErrAddressTaken
	}
	now := d.Now().UTC()
	changed, err := s.updateUser(ctx, u.ID, storage.UserChange{Email: &email, EmailVerified: &now})
	if err == nil {
		q.addUser(event.UserUpdated, changed)
	}
	return changed, err
}

// freeAddress takes the address move.Identifier away from the user that has it, if that
// user has not proven it or was created after the move was asked for. That user then has no
// address and no sessions, and freeAddress adds the event UserUpdated. It does nothing if the
// user has the id keep, or has proven the address and is older than the move. The caller has
// checked the link of the move, so the client can read the mailbox of the address.
func (d Passwords) freeAddress(ctx context.Context, q *Outbox, s *Store, keep string, move *challenge.Row) error {
	found, err := guarded.Optional(s.UserByEmail(ctx, move.Identifier))
	if err != nil || found == nil || found.ID == keep {
		return err
	}
	other, err := s.LockUser(ctx, found.ID)
	if err != nil {
		return err
	}
	isProven, err := isAddressProven(ctx, d.Directory, s, &other)
	if err != nil || isProven && other.Created.Before(move.Created) || !hasEmail(move.Identifier)(other) { // a zero time is of unknown age
		return err
	}
	changed, err := s.updateUser(ctx, other.ID, storage.UserChange{Email: new(""), EmailVerified: new(time.Time{})})
	if err != nil {
		return err
	}
	q.addUser(event.UserUpdated, changed)
	if _, err := d.endAll(ctx, q, s, other.ID, ""); err != nil {
		return err
	}
	return d.dropProofs(ctx, s, other.ID)
}
