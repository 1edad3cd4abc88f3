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

	// Accounts are hashes of the accounts that the user had when the change was asked
	// for. They are kept for the undo, with the address that was asked for in From.
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

// AskToMove stores a change of address that a user asked for, and adds the event of it.
func (d Passwords) AskToMove(ctx context.Context, q *Outbox, u *storage.User, to string) (m AddressMove, err error) {
	err = q.together(ctx, d.Store, func(ctx context.Context, s *Store) error {
		if m, err = d.newMove(ctx, s, u, to); err == nil {
			q.Add(event.Event{Type: event.EmailAsked, UserID: u.ID}, nil)
		}
		return err
	})
	return m, err
}

// NewMove stores a link that proves the address of a user, or another one, without an
// event. It sends no mail.
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

// newUndo stores the link with a handle that undoes a change of address, and returns the
// handle. It returns "" for a user whose address was never proven.
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
// or an account of the user vouches for it.
func IsAddressProven(ctx context.Context, d *Directory, u *storage.User) (bool, error) {
	return isAddressProven(ctx, d, d.Store, u)
}

// isAddressProven does what IsAddressProven does, in a store that may be bound to a
// transaction.
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

// LookAtMove returns the new address that a link confirms, without using it up. It
// returns ErrVerification for a link that is void, or of another user or session.
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

// checkMove returns errChanged unless row is about u, from the address that u has now,
// and was made after the sessions of u were last ended. Any other error is that of the
// store.
func (d Passwords) checkMove(ctx context.Context, s *Store, row *challenge.Row, u *storage.User) error {
	var data moveData
	if err := row.Read(&data); err != nil || row.UserID != u.ID || data.From != u.Email {
		return errChanged
	}
	return d.isLater(ctx, s, u.ID, data.Issued)
}

// MoveAddress makes the address that a link was sent to the user's, in one
// transaction if the store has transactions. It ends what the user proved before, as
// [Passwords.SetPassword] does. It returns ErrAddressTaken if another user has the
// address by now.
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

// recordMove stores that the address of a user changes, unless a link to the former
// address says so. A user without a proven address has no such link, because no mailbox
// could be told. For 30 days [Factors.BeginLost] refuses the user.
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

// giveAddress gives a user an address that a link has proven, and returns the user as
// stored. It returns ErrAddressTaken if another user has it.
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

// freeAddress takes the address of a move from a user that has not proven it, or that
// came after the move was asked for, and ends the sessions of that user. It does nothing
// if the user called keep has the address. The mailbox has shown the link of the move.
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
