package directory

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/storage"
)

// These methods change a user outside of a sign-in.

// Unlink removes an account from a user, and ends the stored sessions that accounts of
// its provider have opened, except the one with the id keep. It returns ErrLastAccount
// for the last sign-in method, and ErrNotFound if the user has no such account. It checks
// and acts in one transaction if the store has transactions. If a concurrent call changed
// the same rows, it tries once more. It adds the event AccountUnlinked. The tokens of the
// account are revoked later: see [Outbox.TakeGone].
func (d *Directory) Unlink(ctx context.Context, q *Outbox, userID, provider, id, keep string) error {
	err := d.tryUnlink(ctx, q, userID, provider, id, keep)
	if errors.Is(err, storage.ErrConflict) {
		err = d.tryUnlink(ctx, q, userID, provider, id, keep)
	}
	return err
}

// tryUnlink runs one transaction of Unlink.
func (d *Directory) tryUnlink(ctx context.Context, q *Outbox, userID, provider, id, keep string) error {
	return q.InTx(ctx, d.Store, func(ctx context.Context, s *Store) error {
		u, err := s.LockUser(ctx, userID)
		if err != nil {
			return err
		}
		gone, err := d.takeAccount(ctx, s, &u, provider, id)
		if err != nil {
			return err
		}
		if err := endOpenedBy(ctx, d, s, userID, provider, keep); err != nil {
			return err
		}
		if d.Tokens != nil {
			if err := d.Revocations.ForgetTokens(ctx, s, provider, id); err != nil {
				return err
			}
		}
		letGo(d, q, gone)
		q.addAccount(event.AccountUnlinked, &event.AccountPayload{User: u, Account: withoutTokens(d, gone)})
		if !d.Store.remembersSignUps() {
			return nil
		}
		return s.endSignUp(ctx, &gone)
	})
}

// endOpenedBy ends the stored sessions of a user that accounts of the provider have
// opened, except the one with the id keep. Sessions go on if the store does not know
// their provider.
func endOpenedBy(ctx context.Context, d *Directory, s *Store, userID, provider, keep string) error {
	if !d.StoredSessions {
		return nil
	}
	rows, err := s.ListSessions(ctx, userID)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Provider != provider || row.ID == keep {
			continue
		}
		if err := failure.Ignoring(s.deleteSessionByID(ctx, userID, row.ID), storage.ErrNotFound); err != nil {
			return err
		}
	}
	return nil
}

// takeAccount removes an account, with its passkey, and returns it. It returns
// ErrNotFound if u has no such account, and ErrLastAccount if u could not sign in
// without it. Without transactions, concurrent calls may have removed the other
// sign-in methods meanwhile: takeAccount then links the account again, and returns
// ErrLastAccount too.
func (d *Directory) takeAccount(ctx context.Context, s *Store, u *storage.User, provider, id string) (gone storage.Account, err error) {
	accounts, keys, err := d.WaysIn(ctx, s, u.ID)
	if err != nil {
		return gone, err
	}
	i := slices.IndexFunc(accounts, func(a storage.Account) bool { return a.Provider == provider && a.ProviderAccountID == id })
	if i < 0 {
		return gone, storage.ErrNotFound
	}
	if !d.CanLose(u, accounts, keys, i) {
		return gone, fault.ErrLastAccount
	}
	gone, err = s.unlinkAccount(ctx, provider, id)
	if err == nil && s.Tx == nil {
		err = d.bringBackLast(ctx, s, u, &gone)
	}
	if err == nil {
		err = deletePasskeyOf(ctx, s, &gone)
	}
	return gone, err
}

// bringBackLast links an account again, and returns ErrLastAccount, if it turned out to
// be the last sign-in method of u. It does not if the e-mail address was proven since u
// was read: the proof has ended all earlier sign-in methods.
func (d *Directory) bringBackLast(ctx context.Context, s *Store, u *storage.User, gone *storage.Account) error {
	now, err := s.User(ctx, gone.UserID)
	if err != nil {
		return failure.Ignoring(err, storage.ErrNotFound)
	}
	accounts, keys, err := d.WaysIn(ctx, s, now.ID)
	proven := u.EmailVerified.IsZero() && !now.EmailVerified.IsZero()
	if err == nil && (proven || d.CanLose(&now, accounts, keys, -1)) {
		return nil
	}
	if err == nil {
		err = fault.ErrLastAccount
	}
	linked := s.linkAccount(ctx, *gone)
	if linked == nil {
		linked = d.unlinkIfProven(ctx, s, u, gone)
	}
	return errors.Join(err, linked)
}

// WaysIn returns the accounts and passkeys of a user.
func (d *Directory) WaysIn(ctx context.Context, s *Store, userID string) ([]storage.Account, []storage.Authenticator, error) {
	accounts, err := s.ListAccounts(ctx, userID)
	if err != nil {
		return nil, nil, err
	}
	keys, err := s.ListAuthenticators(ctx, userID)
	return accounts, keys, err
}

// CanLose reports whether a user can sign in without accounts[i]. With an i of -1, it
// reports whether the user can sign in at all. A user can sign in with another account of
// a configured provider; for a passkey, keys must have the passkey too. A user with a
// proven e-mail address can also sign in if the site has magic links, or passwords: a
// link to that address sets a new one.
func (d *Directory) CanLose(u *storage.User, accounts []storage.Account, keys []storage.Authenticator, i int) bool {
	if u.Email != "" && !u.EmailVerified.IsZero() && (d.Passwords || d.Offers(storage.TypeEmail)) {
		return true
	}
	for j, a := range accounts {
		if _, ok := d.Providers[a.Provider]; !ok || j == i {
			continue
		}
		if a.Type != storage.TypeWebAuthn || slices.ContainsFunc(keys, func(k storage.Authenticator) bool { return IsKeyOf(&k, &a) }) {
			return true
		}
	}
	return false
}

// Offers reports whether a provider of the kind is configured.
func (d *Directory) Offers(kind storage.ProviderType) bool {
	for _, p := range d.Providers {
		if p.Type == kind {
			return true
		}
	}
	return false
}

// endAll ends every session of the user except the stored one with the id keep, every
// sign-in under way, and a change of address that staff has asked for. It returns
// the instant before which everything of the user is void; zero: there are no
// revocations. It adds an event only for that change of address.
func (d *Directory) endAll(ctx context.Context, q *Outbox, s *Store, userID, keep string) (time.Time, error) {
	at, err := d.Revocations.revokeUser(ctx, s, userID) // first, for confirmSession
	if err == nil {
		err = s.deleteSessions(ctx, userID, keep)
	}
	if err == nil {
		err = endRegain(ctx, d, q, s, &SignIn{User: storage.User{ID: userID}})
	}
	return at, err
}

// CanEndSessions returns nil if the sessions of a user can be ended. Otherwise it returns
// ErrUnsupportedStrategy for JWT sessions without revocations, or
// ErrMissingAdapterMethods. operation is the name of the call in the latter.
func (d *Directory) CanEndSessions(operation string) error {
	switch {
	case d.EndlessTokens:
		return failure.Wrap(fault.ErrUnsupportedStrategy, errors.New("JWT sessions cannot be ended from here without Session.Revocations"))
	case d.StoredSessions:
		return d.Store.Require(operation, AbilitySessionLists)
	}
	return nil
}

// EndSessions ends every session of the user except the stored one with the id keep; an
// empty keep ends all. What a sign-in was begun with before is void, too: a link,
// a password that was just checked, a flow at a provider. The user need not be stored.
// EndSessions adds the event SessionsEnded, and ends the sessions even if the audit log does
// not take that. The caller has called CanEndSessions.
func (d *Directory) EndSessions(ctx context.Context, q *Outbox, userID, keep string) error {
	return q.InTxAnyway(ctx, d.Store, func(ctx context.Context, s *Store) error {
		err := endSessions(ctx, d, q, s, userID, keep)
		if err == nil {
			q.Add(event.Event{Type: event.SessionsEnded, UserID: userID}, nil)
		}
		return err
	})
}

// endSessions ends the sessions of a user, except the one with the id keep, after it has
// locked the user. The user need not be stored.
func endSessions(ctx context.Context, d *Directory, q *Outbox, s *Store, userID, keep string) error {
	if _, err := s.LockUser(ctx, userID); failure.Ignoring(err, storage.ErrNotFound) != nil {
		return err
	}
	_, err := d.endAll(ctx, q, s, userID, keep)
	return err
}

// EndSession ends one stored session of a user, and adds the event SessionsEnded with its
// id. It returns ErrNotFound if the user has no such session, and
// ErrMissingAdapterMethods if no store can list sessions.
func (d *Directory) EndSession(ctx context.Context, q *Outbox, userID, sessionID string) error {
	if err := d.Store.Require("ending a session", AbilitySessionLists); err != nil {
		return err
	}
	end := func(ctx context.Context, s *Store) error {
		err := s.deleteSessionByID(ctx, userID, sessionID)
		if err == nil {
			q.Add(event.Event{Type: event.SessionsEnded, UserID: userID, SessionID: sessionID}, nil)
		}
		return err
	}
	if !q.recordsIn(d.Store) {
		return end(ctx, d.Store)
	}
	return q.InTxAnyway(ctx, d.Store, end)
}

// unlinkIfProven unlinks the account that the caller has just linked to u, if a concurrent
// sign-in has proven the e-mail address of u meanwhile. It then returns ErrConflict: the
// proof may have looked before the account was there. It does nothing with transactions,
// where one of the two waits, nor if the account vouches for the address. The end of the
// client's connection does not stop it.
func (d *Directory) unlinkIfProven(ctx context.Context, s *Store, u *storage.User, linked *storage.Account) error {
	if d.Store.Tx != nil || s.AccountLists == nil || u.Email == "" || !u.EmailVerified.IsZero() {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	now, err := s.User(ctx, u.ID)
	if err != nil {
		return failure.Ignoring(err, storage.ErrNotFound)
	}
	if now.EmailVerified.IsZero() || d.vouched(linked, now.Email) {
		return nil
	}
	if err := dropAccount(ctx, d, s, linked); err != nil {
		return err
	}
	return storage.ErrConflict
}

// dropAccount unlinks an account together with its passkey and the record of its sign-up,
// so that nothing of it leads to its user again. It returns nil if the account is gone.
func dropAccount(ctx context.Context, d *Directory, s *Store, a *storage.Account) error {
	if d.Store.remembersSignUps() {
		if err := s.endSignUp(ctx, a); err != nil {
			return err
		}
	}
	if _, err := s.unlinkAccount(ctx, a.Provider, a.ProviderAccountID); failure.Ignoring(err, storage.ErrNotFound) != nil {
		return err
	}
	return deletePasskeyOf(ctx, s, a)
}

// vouched reports whether the account came with this e-mail address and its provider vouched
// for it then. It is false if the store does not keep that, or if the provider ProvesNoEmail.
func (d *Directory) vouched(a *storage.Account, email string) bool {
	p, configured := d.Providers[a.Provider]
	return a.EmailVouched && a.Email == email && !(configured && p.ProvesNoEmail)
}

// IsKeyOf reports whether a is the account of passkey k.
func IsKeyOf(k *storage.Authenticator, a *storage.Account) bool {
	return a.Type == storage.TypeWebAuthn && a.ProviderAccountID == k.ProviderAccountID
}

// deletePasskeyOf removes the passkey that an account stands for, if it stands for one.
func deletePasskeyOf(ctx context.Context, s *Store, a *storage.Account) error {
	if a.Type != storage.TypeWebAuthn || s.authenticators == nil {
		return nil
	}
	id, err := base64.StdEncoding.DecodeString(a.ProviderAccountID)
	if err != nil {
		return nil // no such passkey can be stored
	}
	return failure.Ignoring(failure.Ignoring(s.deleteAuthenticator(ctx, id), storage.ErrNotFound), errors.ErrUnsupported)
}
