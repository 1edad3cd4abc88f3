package directory

import (
	"context"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/storage"
)

// The undo of a change of address, by the link in the mailbox of the former one.

// LookAtUndo returns the address that a link gives back, without using the link up. It
// returns ErrVerification if the link was used or has expired.
func (d Passwords) LookAtUndo(ctx context.Context, handle string) (back string, err error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.Moved, handle)
	if err != nil {
		return "", voidIf(err)
	}
	_, err = d.undoData(row)
	return row.Identifier, err
}

// FormerAddresses returns the e-mail addresses that a user had before the changes that can
// be undone now, but not the present one.
func FormerAddresses(ctx context.Context, d *Directory, u *storage.User) (former []string, err error) {
	if !d.MovesAddresses {
		return nil, nil
	}
	rows, err := d.Waiting(d.Store).List(ctx, challenge.Moved, u.ID, "")
	for _, row := range rows {
		_, void := Passwords{d}.undoData(row)
		if void == nil && row.Identifier != u.Email && !slices.Contains(former, row.Identifier) {
			former = append(former, row.Identifier)
		}
	}
	return former, err
}

// undoData decodes the row of a link that undoes a move. It returns errChanged if the
// link is older than undoLife, or if its data cannot be read.
func (d Passwords) undoData(row *challenge.Row) (data moveData, err error) {
	if err := row.Read(&data); err != nil || !d.Now().Before(row.Created.Add(undoLife)) {
		return data, errChanged
	}
	return data, nil
}

// UndoMove gives a user the former address back, by a link that works once. It ends all
// sessions of the user and removes the password. It also removes the accounts, passkeys,
// second factors and recovery codes that were added since the change was asked for. If
// several changes from this address can be undone, the first of them counts. UndoMove
// takes the address from a user that has not proven it or was created after the change
// was asked for. It returns ErrAddressTaken if any other user has the address by now; that
// user keeps it. It returns ErrVerification if the link is void. It adds the event
// EmailReverted, and undoes the move even if the audit log does not take that. taken is the
// address that the user had. For 30 days [Factors.BeginLost] refuses the user.
func (d Passwords) UndoMove(ctx context.Context, q *Outbox, handle string) (u storage.User, taken string, err error) {
	err = q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error {
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
	first, err := d.firstMove(ctx, s, row)
	if err != nil {
		return u, "", err
	}
	if err := d.endMovesSince(ctx, s, u.ID, first.Created); err != nil {
		return u, "", err
	}
	if _, err := d.Waiting(s).Create(ctx, challenge.Draft{Purpose: challenge.Recover, UserID: u.ID, Life: movedLife}); err != nil {
		return u, "", err
	}
	if err := d.removeSince(ctx, q, s, &u, first); err != nil {
		return u, "", err
	}
	if _, err := d.endAll(ctx, q, s, u.ID, ""); err != nil {
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

// firstMove returns the earliest change from the same address as row whose link works, or
// row. A thief who links an account and then asks for another change must not keep the
// account.
func (d Passwords) firstMove(ctx context.Context, s *Store, row *challenge.Row) (*challenge.Row, error) {
	first := row
	moves, err := d.Waiting(s).List(ctx, challenge.Moved, row.UserID, row.Identifier)
	for _, m := range moves {
		if _, void := d.undoData(m); void == nil && m.Created.Before(first.Created) {
			first = m
		}
	}
	return first, err
}

// accountMarks returns hashes that name accounts.
func accountMarks(accounts []storage.Account) []string {
	marks := make([]string, len(accounts))
	for i := range accounts {
		marks[i] = accountMark(&accounts[i])
	}
	return marks
}

// accountMark returns the hash that names an account.
func accountMark(a *storage.Account) string {
	return secret.Hash(a.Provider + "\x00" + a.ProviderAccountID)
}

// removeSince removes the password of a user, and the accounts, passkeys and second
// factors that were added since a change of address was asked for. It adds the event
// AccountUnlinked for each account, and FactorRemoved for each factor.
func (d Passwords) removeSince(ctx context.Context, q *Outbox, s *Store, u *storage.User, move *challenge.Row) error {
	data, err := d.undoData(move)
	if err != nil {
		return err
	}
	if s.Has(AbilityPasswords) {
		if err := failure.Ignoring(s.Passwords().Delete(ctx, u.ID), storage.ErrNotFound); err != nil {
			return err
		}
	}
	accounts, keys, err := d.WaysIn(ctx, s, u.ID)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		isNew := !slices.Contains(data.Accounts, accountMark(&a)) || slices.ContainsFunc(keys, func(k storage.Authenticator) bool {
			return IsKeyOf(&k, &a) && !k.Created.Before(move.Created)
		})
		if !isNew {
			continue
		}
		if err := dropAccount(ctx, d.Directory, s, &a); err != nil {
			return err
		}
		letGo(d.Directory, q, a)
		q.addAccount(event.AccountUnlinked, &event.AccountPayload{User: *u, Account: withoutTokens(d.Directory, a)})
	}
	return d.removeFactorsSince(ctx, q, s, u.ID, move.Created)
}

// removeFactorsSince removes the second factors of a user that were added at or after
// since, and adds the event FactorRemoved for each. It removes the recovery codes if they
// were made since, or if it has removed the last factor. A zero since removes all. It
// does nothing if the store keeps no factors.
func (d Passwords) removeFactorsSince(ctx context.Context, q *Outbox, s *Store, userID string, since time.Time) error {
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
		q.Add(event.Event{Type: event.FactorRemoved, UserID: userID}, nil)
		left--
	}
	made, err := d.Waiting(s).Get(ctx, challenge.Recodes, userID)
	if failure.Ignoring(err, storage.ErrNotFound) != nil {
		return err
	}
	isNew := err == nil && !made.Created.Before(since)
	if !isNew && !since.IsZero() && (len(factors) == 0 || left > 0) {
		return nil
	}
	return s.Factors().ReplaceRecoveryCodes(ctx, userID, nil)
}
