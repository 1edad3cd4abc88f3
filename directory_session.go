package latchkey

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/storage"
)

// The session that a sign-in opens, and the one that it was begun in.

// errSessionGone: what was begun in a session must not be finished without it.
var errSessionGone = failure.Wrap(ErrInvalidCheck, errors.New("the session that this sign-in was begun in has ended, or is another one"))

// holdSession makes sure that the session which this was begun in is alive, and
// keeps others from ending it before the transaction ends: who wants to, waits,
// and then finds the session that took its place. Without transactions,
// and with sessions in a Session.Store, of which no transaction knows, it is
// looked for once more when everything is written.
func (d *directory) holdSession(ctx context.Context, s *store, who *signInResult, here *User, plan *sessionPlan) error {
	if here == nil || who.begunIn == nil {
		return nil
	}
	if _, err := s.lockUser(ctx, here.ID); err != nil {
		return goneIf(err, ErrNotFound)
	}
	who.held = d.now()
	switch {
	case plan == nil:
		return goneIf(d.revocations.checkIn(ctx, s, originOfMark(*who.begunIn)), errNoToken)
	case d.store.isTogether():
		return goneIf(d.endFormer(ctx, s, who, plan), ErrNotFound)
	case d.store.apart != nil:
		return goneIf(d.findFormer(ctx, s, who, plan), ErrNotFound)
	}
	return nil
}

// findFormer is ErrNotFound if the session that this was begun in has ended.
func (d *directory) findFormer(ctx context.Context, s *store, who *signInResult, plan *sessionPlan) error {
	if plan.former != "" {
		_, err := s.session(ctx, plan.former)
		return err
	}
	rows, err := s.listSessions(ctx, who.begunIn.UserID)
	if err == nil && !slices.ContainsFunc(rows, func(row storage.StoredSession) bool { return row.ID == who.begunIn.SessionID }) {
		err = ErrNotFound
	}
	return err
}

// goneIf is errSessionGone for one error, and every other as it is.
func goneIf(err, gone error) error {
	if errors.Is(err, gone) {
		return errSessionGone
	}
	return err
}

// endFormer ends the session that the request came with, or that this was begun
// in. ErrNotFound: it has ended already.
func (d *directory) endFormer(ctx context.Context, s *store, who *signInResult, plan *sessionPlan) error {
	if plan.former != "" {
		_, err := s.deleteSession(ctx, plan.former)
		return err
	}
	if len(s.sessionListers()) == 0 || strings.HasPrefix(who.begunIn.SessionID, sessionref.HashPrefix) {
		return ErrNotFound
	}
	return s.deleteSessionByID(ctx, who.begunIn.UserID, who.begunIn.SessionID)
}

// storeSession stores a fresh session and ends the one that the request came
// with, whoever's it was: a token never survives a sign-in.
func (d *directory) storeSession(ctx context.Context, s *store, who *signInResult, plan *sessionPlan) error {
	if plan == nil {
		return nil
	}
	who.session = plan.row
	who.session.UserID, who.session.Provider = who.user.ID, who.account.Provider
	if who.isLink && !who.joined.IsZero() {
		who.session.Created = who.joined.UTC()
	}
	if who.isNew && d.store.apart != nil { // of somebody who had the id before, whose end was not told here
		if err := s.deleteSessions(ctx, who.user.ID, ""); err != nil {
			return err
		}
	}
	err := s.createSession(ctx, who.session)
	switch {
	case d.store.isTogether():
		if err == nil && who.held.IsZero() {
			err = d.endReplaced(ctx, s, plan)
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
		if err := d.endReplaced(ctx, s, plan); err != nil {
			return errors.Join(err, d.takeBack(ctx, s, who))
		}
	}
	return d.yieldSessionToProof(ctx, s, who)
}

// endReplaced ends the session that the request came with, if it was one.
func (d *directory) endReplaced(ctx context.Context, s *store, plan *sessionPlan) error {
	if plan.former == "" {
		return nil
	}
	_, err := s.deleteSession(ctx, plan.former)
	return failure.Ignoring(err, ErrNotFound)
}

// takeBack deletes the session of a sign-in that fails after all.
func (d *directory) takeBack(ctx context.Context, s *store, who *signInResult) error {
	_, err := s.deleteSession(ctx, who.session.Token)
	return failure.Ignoring(err, ErrNotFound)
}

// yieldSessionToProof takes the session back that was opened while somebody
// proved the e-mail address of its user, whom it may have been opened for by a
// way in that went with that. Where a transaction has the session too, one of
// the two has waited. ErrConflict: it was taken back.
func (d *directory) yieldSessionToProof(ctx context.Context, s *store, who *signInResult) error {
	if d.store.isTogether() || !d.provesEmails || who.user.Email == "" || !who.user.EmailVerified.IsZero() {
		return nil
	}
	var now User
	err := s.inTx(ctx, func(ctx context.Context, s *store) (err error) { // who is proving it right now is waited for
		now, err = s.lockUser(ctx, who.user.ID)
		return err
	})
	if err != nil || now.EmailVerified.IsZero() || d.vouched(&who.account, now.Email) {
		return err
	}
	return errors.Join(ErrConflict, d.takeBack(ctx, s, who))
}

// undoLink takes back what no transaction undoes, where the session that a
// sign-in was begun in ended meanwhile, or cannot be ended.
func (d *directory) undoLink(ctx context.Context, s *store, who *signInResult, why error) error {
	err := d.takeBack(ctx, s, who)
	if who.account.UserID != "" && s.accountLists != nil {
		_, unlinked := s.unlinkAccount(ctx, who.account.Provider, who.account.ProviderAccountID)
		err = errors.Join(err, failure.Ignoring(unlinked, ErrNotFound), deletePasskeyOf(ctx, s, &who.account))
	}
	return errors.Join(goneIf(why, ErrNotFound), err)
}

// signInTime is auth_time of the token that a sign-in opens. One that was begun
// in a session is as old as the look at that session: whoever ends the user's
// sessions afterwards ends this one. One that only linked an account is as old
// as the session it was linked in (ASVS 7.5.1).
func (who *signInResult) signInTime(now time.Time) json.Number {
	began := who.begun
	fill.Default(&began, now)
	at := signInTime(began, who.revokedAt)
	if !who.held.IsZero() && who.revokedAt.IsZero() {
		at = jwtclaims.UnixSeconds(time.UnixMilli(max(who.held.UnixMilli(), who.begunIn.Since)))
	}
	if who.isLink && !who.joined.IsZero() {
		at = jwtclaims.UnixSeconds(who.joined)
	}
	signedIn, _ := authTime(Claims{jwtclaims.AuthTime: at})
	who.since = signedIn.UnixMilli()
	return at
}
