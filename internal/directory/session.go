package directory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// The session that a sign-in opens, and the one that it was begun in.

// ErrSessionGone reports that the session in which a sign-in was begun has
// ended. The sign-in must not be completed without it.
var ErrSessionGone = failure.Wrap(fault.ErrInvalidCheck, errors.New("the session that this sign-in was begun in has ended, or is another one"))

// holdSession checks that the session in which the sign-in was begun is alive,
// and keeps a concurrent call from ending it before the transaction ends: such
// a call waits and then finds the session that took its place. Without
// transactions, and with sessions in a Session.Store, which takes part in none,
// the session is checked once more after everything is written.
func (d *Directory) holdSession(ctx context.Context, s *Store, who *SignIn, here *storage.User, plan *SessionPlan) error {
	if here == nil || who.BegunIn == nil {
		return nil
	}
	if _, err := s.LockUser(ctx, here.ID); err != nil {
		return goneIf(err, storage.ErrNotFound)
	}
	who.held = d.Now()
	switch {
	case plan == nil:
		return goneIf(d.Revocations.checkIn(ctx, s, originOfMark(*who.BegunIn)), ErrNoToken)
	case d.Store.SessionsInTx():
		return goneIf(d.endFormer(ctx, s, who, plan), storage.ErrNotFound)
	case d.Store.Apart != nil:
		return goneIf(d.findFormer(ctx, s, who, plan), storage.ErrNotFound)
	}
	return nil
}

// findFormer returns ErrNotFound if the session in which the sign-in was begun
// has ended.
func (d *Directory) findFormer(ctx context.Context, s *Store, who *SignIn, plan *SessionPlan) error {
	if plan.Former != "" {
		_, err := s.Session(ctx, plan.Former)
		return err
	}
	rows, err := s.ListSessions(ctx, who.BegunIn.UserID)
	if err == nil && !slices.ContainsFunc(rows, func(row storage.StoredSession) bool { return row.ID == who.BegunIn.SessionID }) {
		err = storage.ErrNotFound
	}
	return err
}

// goneIf returns ErrSessionGone if err is gone, and err otherwise.
func goneIf(err, gone error) error {
	if errors.Is(err, gone) {
		return ErrSessionGone
	}
	return err
}

// endFormer ends the session that the request came with, or in which the
// sign-in was begun. It returns ErrNotFound if that session has ended already.
func (d *Directory) endFormer(ctx context.Context, s *Store, who *SignIn, plan *SessionPlan) error {
	if plan.Former != "" {
		_, err := s.DeleteSession(ctx, plan.Former)
		return err
	}
	if len(s.SessionListers()) == 0 || strings.HasPrefix(who.BegunIn.SessionID, sessionref.HashPrefix) {
		return storage.ErrNotFound
	}
	return s.deleteSessionByID(ctx, who.BegunIn.UserID, who.BegunIn.SessionID)
}

// storeSession stores a new session and ends the one that the request came
// with, whoever it belonged to: a token never survives a sign-in.
func (d *Directory) storeSession(ctx context.Context, s *Store, who *SignIn, plan *SessionPlan) error {
	if plan == nil {
		return nil
	}
	who.Session = plan.Row
	who.Session.UserID, who.Session.Provider = who.User.ID, who.Account.Provider
	if who.IsLink && !who.Joined.IsZero() {
		who.Session.Created = who.Joined.UTC()
	}
	if who.IsNew && d.Store.Apart != nil { // of somebody who had the id before, whose end was not told here
		if err := s.deleteSessions(ctx, who.User.ID, ""); err != nil {
			return err
		}
	}
	err := s.CreateSession(ctx, who.Session)
	switch {
	case d.Store.SessionsInTx():
		if err == nil && who.held.IsZero() {
			err = endReplaced(ctx, s, plan)
		}
		return err
	case !who.held.IsZero():
		if err == nil {
			err = d.endFormer(ctx, s, who, plan)
		}
		if err != nil {
			return d.undoLink(ctx, s, who, err)
		}
	case err != nil:
		return err
	default:
		if err := endReplaced(ctx, s, plan); err != nil {
			return errors.Join(err, takeBack(ctx, s, who))
		}
	}
	return d.yieldSessionToProof(ctx, s, who)
}

// endReplaced ends the session that the request came with, if it came with one.
func endReplaced(ctx context.Context, s *Store, plan *SessionPlan) error {
	if plan.Former == "" {
		return nil
	}
	_, err := s.DeleteSession(ctx, plan.Former)
	return failure.Ignoring(err, storage.ErrNotFound)
}

// takeBack deletes the session of a sign-in that fails after all.
func takeBack(ctx context.Context, s *Store, who *SignIn) error {
	_, err := s.DeleteSession(ctx, who.Session.Token)
	return failure.Ignoring(err, storage.ErrNotFound)
}

// yieldSessionToProof deletes the new session if the e-mail address of its user
// was proven meanwhile: the session may have been opened by a sign-in method
// that the proof has removed. If sessions take part in the transaction, one of
// the two has waited. It returns ErrConflict if it deleted the session.
func (d *Directory) yieldSessionToProof(ctx context.Context, s *Store, who *SignIn) error {
	if d.Store.SessionsInTx() || !d.ProvesEmails || who.User.Email == "" || !who.User.EmailVerified.IsZero() {
		return nil
	}
	var now storage.User
	err := s.InTx(ctx, func(ctx context.Context, s *Store) (err error) { // who is proving it right now is waited for
		now, err = s.LockUser(ctx, who.User.ID)
		return err
	})
	if err != nil || now.EmailVerified.IsZero() || d.vouched(&who.Account, now.Email) {
		return err
	}
	return errors.Join(storage.ErrConflict, takeBack(ctx, s, who))
}

// undoLink takes back what no transaction undoes, if the session in which the
// sign-in was begun ended meanwhile or cannot be ended.
func (d *Directory) undoLink(ctx context.Context, s *Store, who *SignIn, why error) error {
	err := takeBack(ctx, s, who)
	if who.Account.UserID != "" && s.AccountLists != nil {
		_, unlinked := s.unlinkAccount(ctx, who.Account.Provider, who.Account.ProviderAccountID)
		err = errors.Join(err, failure.Ignoring(unlinked, storage.ErrNotFound), deletePasskeyOf(ctx, s, &who.Account))
	}
	return errors.Join(goneIf(why, storage.ErrNotFound), err)
}

// SignInTime returns auth_time for the token that a sign-in opens. A sign-in
// that was begun in a session counts from the check of that session, so that a
// later end of the user's sessions ends this one. A sign-in that only linked an
// account counts from the sign-in of its session (ASVS 7.5.1).
func (who *SignIn) SignInTime(now time.Time) json.Number {
	began := who.begun
	fill.Default(&began, now)
	at := signInTime(began, who.revokedAt)
	if !who.held.IsZero() && who.revokedAt.IsZero() {
		at = jwtclaims.UnixSeconds(time.UnixMilli(max(who.held.UnixMilli(), who.BegunIn.Since)))
	}
	if who.IsLink && !who.Joined.IsZero() {
		at = jwtclaims.UnixSeconds(who.Joined)
	}
	signedIn, _ := AuthTime(jwt.Claims{jwtclaims.AuthTime: at})
	who.Since = signedIn.UnixMilli()
	return at
}
