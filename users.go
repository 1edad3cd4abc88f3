package latchkey

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/storage"
)

// Users is what the application can do with users, their accounts and their
// sessions, without a request: settings pages, administration, nightly jobs.
// Get one from [Auth.Users]. It sets no cookie. Under [NewTenants] the context
// names the tenant; see [ContextWithTenant]. It is safe for concurrent use.
//
// Every method needs an Adapter, and refuses an empty id. [Session].UserID has
// the id of whoever is signed in.
type Users struct {
	hidden

	auth *Auth
}

// Users returns what the application can do with users, their accounts and
// their sessions, without a request.
func (a *Auth) Users() *Users { return &Users{auth: a} }

var errNoUserID = errors.New("latchkey: the user id is empty; Session.UserID has the id of whoever is signed in")

// open finds the directory for work on a user, and a queue for what happens.
func (u *Users) open(ctx context.Context, userID string) (*setup, *Outbox, error) {
	if userID == "" {
		return nil, nil, errNoUserID
	}
	s, err := u.auth.setupWithStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	q := &Outbox{Hears: (*listeners)(&s.config.Events)}
	if s.config.Events.Observe != nil {
		q.Base = &Event{Time: s.now().UTC(), Tenant: s.tenant, By: event.Actor{Kind: event.ActorSystem}}
	}
	return s, q, nil
}

// Get returns the user, or ErrNotFound.
func (u *Users) Get(ctx context.Context, userID string) (User, error) {
	s, _, err := u.open(ctx, userID)
	if err != nil {
		return User{}, err
	}
	return s.store.user(ctx, userID)
}

// Accounts lists the provider accounts of a user. It needs an Adapter that is
// an [storage.AccountAdapter].
func (u *Users) Accounts(ctx context.Context, userID string) ([]Account, error) {
	s, _, err := u.open(ctx, userID)
	if err != nil {
		return nil, err
	}
	if err := s.store.require("Users.Accounts", abilityAccountLists); err != nil {
		return nil, err
	}
	return s.store.listAccounts(ctx, userID)
}

// AccountRef names one account of one user.
type AccountRef struct {
	UserID            string
	Provider          string // the provider's id, such as "github"
	ProviderAccountID string // the user's id at that provider
}

// Unlink takes an account away from its user. It returns ErrNotFound if the user
// has no such account, and ErrLastAccount if the user could not sign in any more
// without it. It needs an Adapter that is an [storage.AccountAdapter].
func (u *Users) Unlink(ctx context.Context, account AccountRef) error {
	s, q, err := u.open(ctx, account.UserID)
	if err != nil {
		return err
	}
	if err := s.store.require("Users.Unlink", abilityAccountLists); err != nil {
		return err
	}
	err = s.directory.unlink(ctx, q, account.UserID, account.Provider, account.ProviderAccountID)
	s.tell(ctx, q, journal.NoSubject{})
	return err
}

// Passkeys lists the passkeys of a user. It needs an Adapter that is an
// [storage.AuthenticatorAdapter].
func (u *Users) Passkeys(ctx context.Context, userID string) ([]storage.Authenticator, error) {
	s, _, err := u.open(ctx, userID)
	if err != nil {
		return nil, err
	}
	if err := s.store.require("Users.Passkeys", abilityAuthenticators); err != nil {
		return nil, err
	}
	return s.directory.passkeys(ctx, s.store, userID)
}

// RenamePasskey names a passkey of a user. Of the name 64 characters are kept,
// and none that do not show; empty: it has no name. A passkey of somebody else is
// ErrNotFound. It needs an Adapter that is an [storage.AuthenticatorAdapter].
func (u *Users) RenamePasskey(ctx context.Context, userID string, credentialID []byte, name string) error {
	s, _, err := u.open(ctx, userID)
	if err != nil {
		return err
	}
	if err := s.store.require("Users.RenamePasskey", abilityAuthenticators); err != nil {
		return err
	}
	return s.directory.renamePasskey(ctx, userID, credentialID, name)
}

// RemovePasskey takes a passkey away from a user, together with its account. One
// of somebody else is ErrNotFound; the last way to sign in is ErrLastAccount. It
// needs an Adapter that is an [storage.AuthenticatorAdapter] and an [storage.AccountAdapter].
func (u *Users) RemovePasskey(ctx context.Context, userID string, credentialID []byte) error {
	s, q, err := u.open(ctx, userID)
	if err != nil {
		return err
	}
	for _, what := range []ability{abilityAuthenticators, abilityAccountLists} {
		if err := s.store.require("Users.RemovePasskey", what); err != nil {
			return err
		}
	}
	err = s.directory.removePasskey(ctx, q, userID, credentialID)
	s.tell(ctx, q, journal.NoSubject{})
	return err
}

// Sessions lists the stored sessions of a user: their devices. It needs an
// Adapter that is a [storage.SessionListAdapter].
func (u *Users) Sessions(ctx context.Context, userID string) ([]storage.StoredSession, error) {
	s, _, err := u.open(ctx, userID)
	if err != nil {
		return nil, err
	}
	if err := s.store.require("Users.Sessions", abilitySessionLists); err != nil {
		return nil, err
	}
	return s.store.listSessions(ctx, userID)
}

// EndSession signs a user out on one device, named by [storage.StoredSession].ID. It
// needs an Adapter that is a [storage.SessionListAdapter].
func (u *Users) EndSession(ctx context.Context, userID, sessionID string) error {
	s, _, err := u.open(ctx, userID)
	if err != nil {
		return err
	}
	return s.directory.endSession(ctx, userID, sessionID)
}

// EndSessions signs a user out everywhere: it ends all sessions of the user, in
// this request's browser too. Where nothing remembers that a JWT session has ended
// (see [SessionConfig].Revocations) it returns ErrUnsupportedStrategy. Stored
// sessions need an Adapter that is a [storage.SessionListAdapter].
func (u *Users) EndSessions(ctx context.Context, userID string) error {
	return u.endAllBut(ctx, userID, "")
}

// EndOtherSessions signs a user out everywhere but in the stored session whose
// [storage.StoredSession].ID is keep, such as the [Session].ID of the request. An empty
// keep is an error. JWT sessions cannot be spared: all of them end. It needs what
// EndSessions needs.
func (u *Users) EndOtherSessions(ctx context.Context, userID, keep string) error {
	switch {
	case userID == "":
		return errNoUserID
	case keep == "":
		return errNothingToKeep
	}
	return u.endAllBut(ctx, userID, keep)
}

var errNothingToKeep = errors.New("latchkey: the id of the session to keep is empty; Users.EndSessions ends all of them")

// endAllBut ends the sessions of a user but keep; empty: all.
func (u *Users) endAllBut(ctx context.Context, userID, keep string) error {
	s, _, err := u.open(ctx, userID)
	if err != nil {
		return err
	}
	switch {
	case s.config.Session.Strategy != DatabaseSessions && s.revocations == nil:
		return failure.Wrap(ErrUnsupportedStrategy, errors.New("JWT sessions cannot be ended from here without Session.Revocations"))
	case s.config.Session.Strategy == DatabaseSessions:
		if err := s.store.require("Users.EndSessions", abilitySessionLists); err != nil {
			return err
		}
	}
	return s.directory.endSessionsOf(ctx, userID, keep)
}

// Delete removes a user with their accounts and sessions. It needs an Adapter
// that is a [storage.UserDeletionAdapter]. ErrSessionsNotEnded: the user is deleted, but
// their JWT sessions go on until they expire, for want of
// [SessionConfig].Revocations.
func (u *Users) Delete(ctx context.Context, userID string) error {
	s, q, err := u.open(ctx, userID)
	if err != nil {
		return err
	}
	err = s.directory.deleteUser(ctx, q, userID)
	s.tell(ctx, q, journal.NoSubject{})
	return err
}
