package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
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

// NewMove stores a change of address that a user asked for, with a link to the new
// address and, if the former address was proven, one to that. It sends no mail.
func (d Passwords) NewMove(ctx context.Context, u *storage.User, to string) (m AddressMove, err error) {
	isProven, err := IsAddressProven(ctx, d.Directory, u)
	if err != nil {
		return m, err
	}
	now := d.Now()
	issued := d.Revocations.IssueTime(u.ID, now)
	rows := d.Waiting(d.Store)
	m = AddressMove{UserID: u.ID, To: to, Expires: now.Add(moveLife), Until: now.Add(undoLife)}
	m.Handle, err = rows.Create(ctx, challenge.Draft{
		Purpose: challenge.Email, UserID: u.ID, Identifier: to, Life: moveLife, Data: moveData{u.Email, issued},
	})
	if err == nil && isProven {
		m.Undo, err = rows.Create(ctx, challenge.Draft{
			Purpose: challenge.Moved, UserID: u.ID, Identifier: u.Email, Life: movedLife, Data: moveData{From: to, Issued: now},
		})
	}
	return m, err
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

// checkMove returns an error unless row is about u, from the address that u has, and was
// made after the sessions of u were last ended.
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
	if u, err = d.giveAddress(ctx, q, s, &u, row.Identifier); err != nil {
		return u, err
	}
	ended, err := d.endAll(ctx, s, u.ID, c.Keep)
	if err == nil {
		err = d.dropProofs(ctx, s, u.ID)
	}
	if err == nil {
		err = renewKept(ctx, d.Directory, s, u.ID, c.Keep, c.Renew, after(ended))
	}
	q.Add(event.Event{Type: event.EmailChanged, UserID: u.ID}, nil)
	return u, err
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
	if _, err := d.endAll(ctx, s, other.ID, ""); err != nil {
		return err
	}
	return d.dropProofs(ctx, s, other.ID)
}

// LookAtUndo returns the address that a link gives back, without using it up. It returns
// ErrVerification for a link that is void.
func (d Passwords) LookAtUndo(ctx context.Context, handle string) (back string, err error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Moved, handle)
	if err != nil {
		return "", voidIf(err)
	}
	_, err = d.undoData(row)
	return row.Identifier, err
}

// undoData decodes the row of a link that undoes a move. It returns errChanged if the
// link is older than undoLife.
func (d Passwords) undoData(row *challenge.Row) (data moveData, err error) {
	if err := row.Read(&data); err != nil || !d.Now().Before(row.Created.Add(undoLife)) {
		return data, errChanged
	}
	return data, nil
}

// UndoMove gives a user the former address back and ends everything of the user:
// sessions, the password, and what has been added since the change was asked for,
// passkeys and second factors. It takes the address from a user that has not proven it or
// came after that. It returns ErrAddressTaken if any other user has the address by now;
// that user keeps it. The link works once. taken is the address that the user had. For 30
// days [Factors.BeginLost] refuses the user.
func (d Passwords) UndoMove(ctx context.Context, q *Outbox, handle string) (u storage.User, taken string, err error) {
	err = q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, taken, err = d.undoMove(ctx, q, s, handle)
		return err
	})
	return u, taken, err
}

// undoMove does the work of UndoMove in the transaction of s.
func (d Passwords) undoMove(ctx context.Context, q *Outbox, s *Store, handle string) (u storage.User, taken string, err error) {
	row, err := d.Waiting(s).Take(ctx, challenge.Moved, handle)
	if err != nil {
		return u, "", voidIf(err)
	}
	if _, err := d.undoData(row); err != nil {
		return u, "", err
	}
	u, err = s.LockUser(ctx, row.UserID)
	if err != nil {
		return u, "", voidIf(err)
	}
	taken = u.Email
	if err := d.freeAddress(ctx, q, s, u.ID, row); err != nil {
		return u, "", err
	}
	if u, err = d.giveAddress(ctx, q, s, &u, row.Identifier); err != nil {
		return u, "", err
	}
	if err := d.endMovesSince(ctx, s, u.ID, row.Created); err != nil {
		return u, "", err
	}
	if _, err := d.Waiting(s).Create(ctx, challenge.Draft{Purpose: challenge.Recover, UserID: u.ID, Life: movedLife}); err != nil {
		return u, "", err
	}
	if err := d.removeSince(ctx, s, u.ID, row.Created); err != nil {
		return u, "", err
	}
	if _, err := d.endAll(ctx, s, u.ID, ""); err != nil {
		return u, "", err
	}
	q.Add(event.Event{Type: event.EmailReverted, UserID: u.ID}, nil)
	return u, taken, d.dropProofs(ctx, s, u.ID)
}

// endMovesSince ends the links to former addresses of a user that were made at or after
// an instant. After a second change, one of them leads to an address of a thief.
func (d Passwords) endMovesSince(ctx context.Context, s *Store, userID string, since time.Time) error {
	rows := d.Waiting(s)
	moves, err := rows.List(ctx, challenge.Moved, userID, "")
	for _, row := range moves {
		if err == nil && !row.Created.Before(since) {
			err = rows.EndRow(ctx, row)
		}
	}
	return err
}

// removeSince removes the password of a user, and the passkeys and second factors
// that were added at or after an instant.
func (d Passwords) removeSince(ctx context.Context, s *Store, userID string, since time.Time) error {
	if s.Has(AbilityPasswords) {
		if err := failure.Ignoring(s.Passwords().Delete(ctx, userID), storage.ErrNotFound); err != nil {
			return err
		}
	}
	accounts, keys, err := d.WaysIn(ctx, s, userID)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		for _, k := range keys {
			if IsKeyOf(&k, &a) && !k.Created.Before(since) {
				if err := dropAccount(ctx, d.Directory, s, &a); err != nil {
					return err
				}
			}
		}
	}
	return d.removeFactorsSince(ctx, s, userID, since)
}

// removeFactorsSince removes the second factors of a user that were added at or
// after an instant, and the recovery codes with the last one. It does nothing if the
// store keeps none.
func (d Passwords) removeFactorsSince(ctx context.Context, s *Store, userID string, since time.Time) error {
	if !s.Has(AbilityFactors) {
		return nil
	}
	factors, err := s.Factors().List(ctx, userID)
	if err != nil {
		return err
	}
	left := len(factors)
	for _, f := range factors {
		if f.Created.Before(since) {
			continue
		}
		if _, err := s.Factors().Delete(ctx, userID, f.ID); failure.Ignoring(err, storage.ErrNotFound) != nil {
			return err
		}
		left--
	}
	if len(factors) == 0 || left > 0 {
		return nil
	}
	return s.Factors().ReplaceRecoveryCodes(ctx, userID, nil)
}
