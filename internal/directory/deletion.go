package directory

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// The deletion of a user, and the erasure of what is kept beside.

// DeleteUser removes a user with everything that belongs to them, in one transaction if the
// store has transactions, and adds the event UserDeleted. Afterwards it ends the sessions in a
// store apart. It returns ErrNotFound for an unknown user, and ErrMissingAdapterMethods if the
// adapter cannot delete users. It returns ErrSessionsNotEnded if JWT sessions go on:
// the user is deleted all the same. Without transactions, or with a store apart, it also ends
// the sessions of an unknown user, because an earlier try may have been interrupted. Tokens of
// the user's accounts are revoked later: see [Outbox.TakeGone].
func (d *Directory) DeleteUser(ctx context.Context, q *Outbox, id string) error {
	return deleteUser(ctx, d, q, id, nil)
}

// deleteUser does the work of DeleteUser. It calls first, unless that is nil, in the same
// transaction before the deletion. An error of first stops the deletion.
func deleteUser(ctx context.Context, d *Directory, q *Outbox, id string, first func(context.Context, *Store) error) error {
	if err := d.Store.Require("deleting a user", AbilityDeletion); err != nil {
		return err
	}
	var u storage.User
	deleted := false
	var accounts []storage.Account
	var revoked error
	err := q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) (err error) {
		deleted, revoked = false, nil // a store may call this again
		if first != nil {
			if err := first(ctx, s); err != nil {
				return err
			}
		}
		if d.Tokens != nil {
			if accounts, err = s.ListAccounts(ctx, id); err != nil {
				return err
			}
		}
		u, err = s.deleteUser(ctx, id)
		deleted = err == nil
		if err != nil && (s.Tx != nil || !errors.Is(err, storage.ErrNotFound)) {
			return err
		}
		revoked = voidUser(context.WithoutCancel(ctx), d, s, id) // after the deletion, so that it voids every sign-in until then
		if deleted && revoked == nil {
			q.Foretell(event.Event{Type: event.UserDeleted, UserID: id})
		}
		return errors.Join(err, revoked)
	})
	if deleted && (err == nil || d.Store.Tx == nil) {
		letGo(d, q, accounts...)
		q.addUser(event.UserDeleted, u)
	} else if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	if errors.Is(err, storage.ErrNotFound) {
		err = besideMissing(storage.ErrNotFound, revoked)
	}
	return endDeleted(context.WithoutCancel(ctx), d, id, deleted, err)
}

// endDeleted returns the error of DeleteUser. If sessions are in a store apart, it first ends
// those of the user. deleted says whether this call has deleted the user, and err is what
// failed. ErrSessionsNotEnded says that the user is deleted but sessions go on.
func endDeleted(ctx context.Context, d *Directory, userID string, deleted bool, err error) error {
	switch {
	case d.Store.Apart != nil:
		return besideMissing(err, d.Store.deleteSessions(ctx, userID, ""))
	case !deleted:
		return err
	case err != nil:
		return errors.Join(fault.ErrSessionsNotEnded, err)
	case d.EndlessTokens:
		return fault.ErrSessionsNotEnded
	}
	return nil
}

// voidUser voids the sessions and challenges of a user who is gone.
func voidUser(ctx context.Context, d *Directory, s *Store, userID string) error {
	_, err := d.Revocations.revokeUser(ctx, s, userID)
	if d.Box != nil && err == nil {
		_, err = s.Challenges().Delete(ctx, userID)
	}
	return err
}

// besideMissing joins err and other. It leaves ErrNotFound out if there is another error,
// so that a caller who repeats a deletion knows by ErrNotFound that all is done.
func besideMissing(err, other error) error {
	switch {
	case other == nil:
		return err // as it is: callers look whether an error stands alone
	case errors.Is(err, storage.ErrNotFound):
		return other
	}
	return errors.Join(err, other)
}

// Erase deletes a user as DeleteUser does, and what is kept of the user elsewhere:
// challenges by id and by address, and what is personal in the audit log. It adds the event
// UserErased. Its errors are those of DeleteUser and, after the deletion, those of the audit
// log. A repeated call finishes what was interrupted. If the user is gone by then, it erases
// the rest, and returns ErrNotFound if all went well.
func Erase(ctx context.Context, d *Directory, q *Outbox, userID string) error {
	if err := d.Store.Require("Users.Erase", AbilityDeletion); err != nil {
		return err
	}
	u, err := guarded.Optional(d.Store.User(ctx, userID))
	if err != nil {
		return err
	}
	challenges := func(ctx context.Context, s *Store) error { return eraseChallenges(ctx, d, s, userID, u) }
	if u == nil { // an interrupted call may have left them
		if err := challenges(ctx, d.Store); err != nil {
			return err
		}
	}
	err = deleteUser(ctx, d, q, userID, challenges)
	q.unnameGone()
	erased := err == nil || u != nil && !errors.Is(err, storage.ErrNotFound) && isGone(ctx, d, userID)
	if q.Audit == nil {
		if erased {
			q.Add(event.Event{Type: event.UserErased, UserID: userID}, nil)
		}
		return err
	}
	if erased || u == nil || errors.Is(err, storage.ErrNotFound) {
		err = besideMissing(err, q.eraseRecords(ctx, d.Store, userID, erased))
	}
	return err
}

// isGone reports whether a user is not stored any more. It returns false if the store
// fails.
func isGone(ctx context.Context, d *Directory, userID string) bool {
	_, err := d.Store.User(ctx, userID)
	return errors.Is(err, storage.ErrNotFound)
}

// eraseChallenges deletes the challenges about a user: by id in every tenant, and by
// address in the site or tenant of d. u is nil if the user is gone: its address is not
// known then. It returns nil if the store keeps no challenges.
func eraseChallenges(ctx context.Context, d *Directory, s *Store, userID string, u *storage.User) error {
	if s.challenges == nil {
		return nil
	}
	store := s.Challenges()
	if _, err := store.Delete(ctx, userID); err != nil {
		return failure.Ignoring(err, errors.ErrUnsupported)
	}
	if u == nil || u.Email == "" {
		return nil
	}
	return eraseByAddress(ctx, store, storage.ChallengeQuery{Tenant: d.Tenant, Identifier: u.Email})
}

// eraseByAddress deletes all challenges that q names. It lists them again until none is
// left, because a store may list some of them at a time.
func eraseByAddress(ctx context.Context, store storage.ChallengeStore, q storage.ChallengeQuery) error {
	for {
		about, err := store.List(ctx, q)
		taken := 0
		for _, c := range about {
			switch _, err := store.Take(ctx, c.ID); {
			case err == nil:
				taken++
			case !errors.Is(err, storage.ErrNotFound):
				return err
			}
		}
		if err != nil || taken == 0 {
			return err
		}
	}
}
