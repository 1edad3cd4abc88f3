package directory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jwtclaims"
	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/storage"
)

// The session that a sign-in opens, and the one that it was begun in.

// ErrSessionGone reports that the session in which a sign-in was begun has
// ended. The sign-in must not be completed without it.
var ErrSessionGone = failure.Wrap(fault.ErrInvalidCheck, errSessionGone)

var errSessionGone = failure.Of(fault.FlowSession, errors.New("the session that this sign-in was begun in has ended, or is another one"))

// SessionGone returns the error to report if the session in which the sign-in was begun
// has ended, or is not that of the request. It is ErrAccessDenied for a sign-in that
// connects an account, and ErrSessionGone for any other. SessionGone checks nothing.
func (in *Assertion) SessionGone() error {
	if in.Connects {
		return failure.WrapFor(fault.ErrAccessDenied, in.Account.Provider, errSessionGone)
	}
	return ErrSessionGone
}

// checkConnect returns an error if a sign-in that connects an account would end in
// another account than the one that is meant, or in another user than the one that began
// it. owner is the user of the account, and current the signed-in user; nil: none. For
// any other sign-in it returns nil.
func checkConnect(in *Assertion, owner, current *storage.User) error {
	switch {
	case !in.Connects:
		return nil
	case current == nil:
		return in.SessionGone()
	case in.Wanted != "" && in.Wanted != in.Account.ProviderAccountID:
		return failure.WrapFor(notLinkedType(in), in.Account.Provider, failure.Of(fault.AccountOther, errors.New("the user came back with another account than the one to connect")))
	case owner != nil && owner.ID != current.ID:
		return notLinked(in)
	}
	return nil
}

// claimSession makes sure that the session in which the sign-in was begun is alive. It
// locks its user and sets heldOf. It returns ErrSessionGone if it finds that the session
// has ended. It does nothing if current is nil, or if BegunIn is nil because the session
// was not recorded.
//
//   - With a nil plan it looks for the session among the revocations.
//   - If sessions take part in the transaction, it ends the session at once. A concurrent
//     call waits, and then finds the session that takes its place.
//   - In a store of its own, beside the Adapter, it only looks for the session.
//   - Without transactions it does not look.
//
// In the last two cases storeSession ends the session after everything is written. If the
// session is gone by then, storeSession deletes the new session and unlinks the account.
func (d *Directory) claimSession(ctx context.Context, s *Store, signIn *SignIn, current *storage.User, plan *SessionPlan) error {
	if current == nil || signIn.BegunIn == nil {
		return nil
	}
	if _, err := signIn.lock(ctx, s, current.ID); err != nil {
		return goneIf(err, storage.ErrNotFound)
	}
	signIn.heldOf = current.ID
	switch {
	case plan == nil:
		return goneIf(d.Revocations.checkIn(ctx, s, originOfRef(*signIn.BegunIn)), ErrNoToken)
	case d.Store.SessionsInTx():
		return goneIf(d.endClaimed(ctx, s, signIn, plan), storage.ErrNotFound)
	case d.Store.Apart != nil:
		return goneIf(d.checkClaimed(ctx, s, signIn, plan), storage.ErrNotFound)
	}
	return nil
}

// isHeld reports whether the sign-in ends in the user whose session claimSession has
// claimed. Then nothing can have ended that user's sessions. The session of another user
// says nothing about that.
func (signIn *SignIn) isHeld() bool { return signIn.heldOf != "" && signIn.heldOf == signIn.User.ID }

// checkClaimed returns ErrNotFound if the session in which the sign-in was begun
// has ended.
func (d *Directory) checkClaimed(ctx context.Context, s *Store, signIn *SignIn, plan *SessionPlan) error {
	if plan.Former != "" {
		_, err := s.Session(ctx, plan.Former)
		return err
	}
	rows, err := s.ListSessions(ctx, signIn.BegunIn.UserID)
	if err == nil && !slices.ContainsFunc(rows, func(row storage.StoredSession) bool { return row.ID == signIn.BegunIn.SessionID }) {
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

// endClaimed ends the session that the request came with. If the request came with none,
// it ends the session in which the sign-in was begun. It returns ErrNotFound if that
// session has ended already, or if the store cannot end it by its id.
func (d *Directory) endClaimed(ctx context.Context, s *Store, signIn *SignIn, plan *SessionPlan) error {
	if plan.Former != "" {
		_, err := s.DeleteSession(ctx, plan.Former)
		return err
	}
	if len(s.SessionListers()) == 0 || strings.HasPrefix(signIn.BegunIn.SessionID, sessionref.HashPrefix) {
		return storage.ErrNotFound
	}
	return s.deleteSessionByID(ctx, signIn.BegunIn.UserID, signIn.BegunIn.SessionID)
}

// storeSession stores the session that plan describes, and ends the one that the request
// came with, even if that belonged to another user: a token never survives a sign-in
// . With a nil plan it does nothing. If sessions take no part in the transaction,
// it also confirms the new session as confirmSession does. If it then cannot end the old
// session, it deletes the new one, and undoes the link of a sign-in that was begun in the
// old one.
func (d *Directory) storeSession(ctx context.Context, s *Store, signIn *SignIn, plan *SessionPlan) error {
	if plan == nil {
		return nil
	}
	signIn.Session = plan.Row
	signIn.Session.UserID, signIn.Session.Provider = signIn.User.ID, signIn.Account.Provider
	if signIn.IsLink && !signIn.Joined.IsZero() {
		signIn.Session.Created = signIn.Joined.UTC()
	}
	if err := nameSession(d, signIn); err != nil {
		return err
	}
	if d.Factors != nil {
		p := signIn.Proof()
		signIn.Session.Proved, signIn.Session.AMR, signIn.Session.ACR = p.At.UTC(), p.AMR, p.ACR
	}
	if signIn.IsNew && d.Store.Apart != nil { // an earlier user may have had the id, and Latchkey may not have deleted that user
		if err := s.deleteSessions(ctx, signIn.User.ID, ""); err != nil {
			return err
		}
	}
	err := s.CreateSession(ctx, signIn.Session)
	switch {
	case d.Store.SessionsInTx():
		if err == nil && !signIn.isHeld() {
			err = endBrought(ctx, s, plan)
		}
		return err
	case err != nil && signIn.isHeld():
		return d.undoLink(ctx, s, signIn, err)
	case err != nil:
		return err
	}
	if err := d.confirmSession(ctx, s, signIn); err != nil {
		return err
	}
	return endPrevious(ctx, d, s, signIn, plan)
}

// endPrevious ends the session that a new one, stored outside of any transaction, replaces.
// If it cannot, it deletes the new one. Nothing that can fail follows it.
func endPrevious(ctx context.Context, d *Directory, s *Store, signIn *SignIn, plan *SessionPlan) error {
	if signIn.isHeld() {
		if err := d.endClaimed(ctx, s, signIn, plan); err != nil {
			return d.undoLink(ctx, s, signIn, err)
		}
		return nil
	}
	if err := endBrought(ctx, s, plan); err != nil {
		return errors.Join(err, undoSession(ctx, s, signIn))
	}
	return nil
}

// endBrought ends the session that the request came with, if it came with one of the
// same tenant. It returns nil if that session is gone.
func endBrought(ctx context.Context, s *Store, plan *SessionPlan) error {
	if plan.Former == "" {
		return nil
	}
	if plan.Row.Tenant != "" {
		found, err := s.Session(ctx, plan.Former)
		if err != nil || found.Row.Tenant != plan.Row.Tenant {
			return failure.Ignoring(err, storage.ErrNotFound)
		}
	}
	_, err := s.DeleteSession(ctx, plan.Former)
	return failure.Ignoring(err, storage.ErrNotFound)
}

// undoSession deletes the session of a sign-in that fails after all. It returns nil if
// that session is gone.
func undoSession(ctx context.Context, s *Store, signIn *SignIn) error {
	_, err := s.DeleteSession(ctx, signIn.Session.Token)
	return failure.Ignoring(err, storage.ErrNotFound)
}

// undoLink deletes the session that a sign-in has stored without a transaction and, if
// linkAccount has set Account.UserID, unlinks the account. It does so because the session
// in which the sign-in was begun has ended meanwhile, or cannot be ended. It returns
// reason, with ErrSessionGone in place of ErrNotFound, joined with errors of its own.
func (d *Directory) undoLink(ctx context.Context, s *Store, signIn *SignIn, reason error) error {
	err := undoSession(ctx, s, signIn)
	if signIn.Account.UserID != "" && s.AccountLists != nil {
		_, unlinked := s.unlinkAccount(ctx, signIn.Account.Provider, signIn.Account.ProviderAccountID)
		err = errors.Join(err, failure.Ignoring(unlinked, storage.ErrNotFound), deletePasskeyOf(ctx, s, &signIn.Account))
	}
	return errors.Join(goneIf(reason, storage.ErrNotFound), err)
}

// StampAuthTime returns auth_time for the token that a sign-in opens: the time from which
// the sign-in counts, so that a later end of the user's sessions voids the token. The
// caller has committed the sign-in, or has called Revocations.Accept, which sets that
// time. A sign-in that only linked an account counts from the sign-in of its session
// (ASVS 7.5.1). StampAuthTime also writes the time into Since.
func (signIn *SignIn) StampAuthTime() json.Number {
	at := signIn.begun
	if signIn.IsLink && !signIn.Joined.IsZero() {
		at = signIn.Joined
	}
	signIn.Since = at.UnixMilli()
	return jwtclaims.UnixSeconds(at)
}
