package latchkey

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/storage"
)

// What is done to a user outside of a sign-in.

// unlink takes an account away from a user, unless it is their last way in. It
// checks and acts in one transaction where the store has them. When somebody
// else changed the same rows, what they did is looked at once more.
func (d *directory) unlink(ctx context.Context, q *Outbox, userID, provider, id string) error {
	err := d.tryUnlink(ctx, q, userID, provider, id)
	if errors.Is(err, ErrConflict) {
		err = d.tryUnlink(ctx, q, userID, provider, id)
	}
	return err
}

func (d *directory) tryUnlink(ctx context.Context, q *Outbox, userID, provider, id string) error {
	begun := q.mark()
	err := d.store.inTx(ctx, func(ctx context.Context, s *store) error {
		q.rewind(begun)
		u, err := s.lockUser(ctx, userID)
		if err != nil {
			return err
		}
		gone, err := d.takeAccount(ctx, s, &u, provider, id)
		if err != nil {
			return err
		}
		q.addAccount(event.AccountUnlinked, &LinkAccountEvent{User: u, Account: gone})
		if !d.store.remembersSignUps() {
			return nil
		}
		return s.endSignUp(ctx, &gone)
	})
	if err != nil && d.store.tx != nil {
		q.rewind(begun) // rolled back: it did not happen
	}
	return err
}

// takeAccount removes an account that its user can lose. Without
// transactions others may have taken the other ways in at the same time: then
// it comes back.
func (d *directory) takeAccount(ctx context.Context, s *store, u *User, provider, id string) (gone Account, err error) {
	accounts, keys, err := d.waysIn(ctx, s, u.ID)
	if err != nil {
		return gone, err
	}
	i := slices.IndexFunc(accounts, func(a Account) bool { return a.Provider == provider && a.ProviderAccountID == id })
	if i < 0 {
		return gone, ErrNotFound
	}
	if !d.canLose(u, accounts, keys, i) {
		return gone, ErrLastAccount
	}
	gone, err = s.unlinkAccount(ctx, provider, id)
	if err == nil && s.tx == nil {
		err = d.bringBackLast(ctx, s, u, &gone)
	}
	if err == nil {
		err = deletePasskeyOf(ctx, s, &gone)
	}
	return gone, err
}

// bringBackLast links an account again that turned out to be the last way in of
// u, unless the e-mail address was proven since u was read: that has ended all
// ways in of the time before.
func (d *directory) bringBackLast(ctx context.Context, s *store, u *User, gone *Account) error {
	now, err := s.user(ctx, gone.UserID)
	if err != nil {
		return failure.Ignoring(err, ErrNotFound)
	}
	accounts, keys, err := d.waysIn(ctx, s, now.ID)
	proven := u.EmailVerified.IsZero() && !now.EmailVerified.IsZero()
	if err == nil && (proven || d.canLose(&now, accounts, keys, -1)) {
		return nil
	}
	if err == nil {
		err = ErrLastAccount
	}
	linked := s.linkAccount(ctx, *gone)
	if linked == nil {
		linked = d.yieldToProof(ctx, s, u, gone)
	}
	return errors.Join(err, linked)
}

// waysIn are the accounts and passkeys of a user.
func (d *directory) waysIn(ctx context.Context, s *store, userID string) ([]Account, []storage.Authenticator, error) {
	accounts, err := s.listAccounts(ctx, userID)
	if err != nil {
		return nil, nil, err
	}
	keys, err := s.listAuthenticators(ctx, userID)
	return accounts, keys, err
}

// canLose tells whether a user has a way in without the i-th of their accounts
// (-1: with all of them):
// another account of a provider that is still configured, which for a passkey
// takes the passkey too, or a link to a proven e-mail address.
func (d *directory) canLose(u *User, accounts []Account, keys []storage.Authenticator, i int) bool {
	if u.Email != "" && !u.EmailVerified.IsZero() && d.offers(TypeEmail) {
		return true
	}
	for j, a := range accounts {
		if _, ok := d.providers[a.Provider]; !ok || j == i {
			continue
		}
		if a.Type != TypeWebAuthn || slices.ContainsFunc(keys, func(k storage.Authenticator) bool { return isKeyOf(&k, &a) }) {
			return true
		}
	}
	return false
}

// offers tells whether a provider of the kind is configured.
func (d *directory) offers(kind ProviderType) bool {
	for _, p := range d.providers {
		if p.Type == kind {
			return true
		}
	}
	return false
}

// endSessions ends every session of the user but the stored one called keep. It
// says from when on tokens are void; zero: there are no revocations.
func (d *directory) endSessions(ctx context.Context, s *store, userID, keep string) (time.Time, error) {
	if err := s.deleteSessions(ctx, userID, keep); err != nil {
		return time.Time{}, err
	}
	return d.revocations.revokeUser(ctx, s, userID)
}

// endSessionsOf is endSessions on its own: a sign-in that was begun in one of
// the sessions and is being completed ends before it, and its session too.
func (d *directory) endSessionsOf(ctx context.Context, userID, keep string) error {
	return d.store.inTx(ctx, func(ctx context.Context, s *store) error {
		if _, err := s.lockUser(ctx, userID); failure.Ignoring(err, ErrNotFound) != nil {
			return err
		}
		_, err := d.endSessions(ctx, s, userID, keep)
		return err
	})
}

// deleteUser removes a user with everything that is theirs, in one transaction
// where the store has them. JWT sessions that it cannot end are
// ErrSessionsNotEnded: the user is gone all the same. Without
// transactions their sessions end even if the user is gone already: an earlier
// try may have been cut short before that.
func (d *directory) deleteUser(ctx context.Context, q *Outbox, id string) error {
	if err := d.store.require("deleting a user", abilityDeletion); err != nil {
		return err
	}
	var u User
	deleted := false
	err := d.store.inTx(ctx, func(ctx context.Context, s *store) (err error) {
		u, err = s.deleteUser(ctx, id)
		deleted = err == nil
		if err != nil && (s.tx != nil || !errors.Is(err, ErrNotFound)) {
			return err
		}
		_, revoked := d.revocations.revokeUser(context.WithoutCancel(ctx), s, id) // after the deletion: of the sign-ins until then
		return errors.Join(err, revoked)
	})
	if deleted && (err == nil || d.store.tx == nil) {
		q.addUser(event.UserDeleted, u)
	} else if !errors.Is(err, ErrNotFound) {
		return err
	}
	if d.store.apart != nil {
		return errors.Join(err, d.store.deleteSessions(context.WithoutCancel(ctx), id, "")) // nobody's by now, deleted or not
	}
	if !deleted {
		return err
	}
	if err != nil || d.endlessTokens {
		err = errors.Join(ErrSessionsNotEnded, err)
	}
	return err
}

// endSession ends one stored session of a user.
func (d *directory) endSession(ctx context.Context, userID, sessionID string) error {
	if err := d.store.require("ending a session", abilitySessionLists); err != nil {
		return err
	}
	return d.store.deleteSessionByID(ctx, userID, sessionID)
}

// yieldToProof takes an account back that was linked to u while somebody proved
// the e-mail address: they may have looked before it was there. With
// transactions one of the two has waited. A client that hangs up does not keep
// its account. ErrConflict: it was taken back.
func (d *directory) yieldToProof(ctx context.Context, s *store, u *User, linked *Account) error {
	if d.store.tx != nil || s.accountLists == nil || u.Email == "" || !u.EmailVerified.IsZero() {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	now, err := s.user(ctx, u.ID)
	if err != nil {
		return failure.Ignoring(err, ErrNotFound)
	}
	if now.EmailVerified.IsZero() || d.vouched(linked, now.Email) {
		return nil
	}
	if err := d.dropAccount(ctx, s, linked); err != nil {
		return err
	}
	return ErrConflict
}

// dropAccount unlinks an account together with what is remembered of how it
// signed up, so that nothing of it leads to its user again.
func (d *directory) dropAccount(ctx context.Context, s *store, a *Account) error {
	if d.store.remembersSignUps() {
		if err := s.endSignUp(ctx, a); err != nil {
			return err
		}
	}
	if _, err := s.unlinkAccount(ctx, a.Provider, a.ProviderAccountID); failure.Ignoring(err, ErrNotFound) != nil {
		return err
	}
	return deletePasskeyOf(ctx, s, a)
}

// vouched: the account came with this e-mail address, and its provider vouched
// for that then. A store that does not keep it says no.
func (d *directory) vouched(a *Account, email string) bool {
	p, configured := d.providers[a.Provider]
	return a.EmailVouched && a.Email == email && !(configured && p.ProvesNoEmail)
}

func isKeyOf(k *storage.Authenticator, a *Account) bool {
	return a.Type == TypeWebAuthn && a.ProviderAccountID == k.ProviderAccountID
}

// deletePasskeyOf removes the passkey that an account stands for.
func deletePasskeyOf(ctx context.Context, s *store, a *Account) error {
	if a.Type != TypeWebAuthn || s.authenticators == nil {
		return nil
	}
	id, err := base64.StdEncoding.DecodeString(a.ProviderAccountID)
	if err != nil {
		return nil // no such passkey can be stored
	}
	return failure.Ignoring(failure.Ignoring(s.deleteAuthenticator(ctx, id), ErrNotFound), errors.ErrUnsupported)
}
