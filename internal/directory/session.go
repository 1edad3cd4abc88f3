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

// errSessionGone: what was begun in a session must not be finished without it.
var ErrSessionGone = failure.Wrap(fault.ErrInvalidCheck, errors.New("the session that this sign-in was begun in has ended, or is another one"))

// holdSession makes sure that the session which this was begun in is alive, and
// keeps others from ending it before the transaction ends: who wants to, waits,
// and then finds the session that took its place. Without transactions,
// and with sessions in a Session.Store, of which no transaction knows, it is
// looked for once more when everything is written.
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

// findFormer is ErrNotFound if the session that this was begun in has ended.
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

// goneIf is errSessionGone for one error, and every other as it is.
func goneIf(err, gone error) error {
	if errors.Is(err, gone) {
		return ErrSessionGone
	}
	return err
}

// endFormer ends the session that the request came with, or that this was begun
// in. ErrNotFound: it has ended already.
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

// storeSession stores a fresh session and ends the one that the request came
// with, whoever's it was: a token never survives a sign-in.
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

// endReplaced ends the session that the request came with, if it was one.
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

// yieldSessionToProof takes the session back that was opened while somebody
// proved the e-mail address of its user, whom it may have been opened for by a
// way in that went with that. Where a transaction has the session too, one of
// the two has waited. ErrConflict: it was taken back.
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

// undoLink takes back what no transaction undoes, where the session that a
// sign-in was begun in ended meanwhile, or cannot be ended.
func (d *Directory) undoLink(ctx context.Context, s *Store, who *SignIn, why error) error {
	err := takeBack(ctx, s, who)
	if who.Account.UserID != "" && s.AccountLists != nil {
		_, unlinked := s.unlinkAccount(ctx, who.Account.Provider, who.Account.ProviderAccountID)
		err = errors.Join(err, failure.Ignoring(unlinked, storage.ErrNotFound), deletePasskeyOf(ctx, s, &who.Account))
	}
	return errors.Join(goneIf(why, storage.ErrNotFound), err)
}

// signInTime is auth_time of the token that a sign-in opens. One that was begun
// in a session is as old as the look at that session: whoever ends the user's
// sessions afterwards ends this one. One that only linked an account is as old
// as the session it was linked in (ASVS 7.5.1).
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
