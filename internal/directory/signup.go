package directory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// Sign-ins by password, and the users that are created with one.

// NewPassword is the password of a user that a sign-in creates.
type NewPassword struct {
	Handle string // of the sign-up that is completed; empty: the address is not proven
	Hash   string

	Invited bool // the user has to be invited
}

// SignUp is a sign-up that waits for the proof of its address.
type SignUp struct {
	Email       string            `json:"-"`
	Hash        string            `json:"hash"` // of the password
	Fields      map[string]string `json:"fields,omitempty"`
	CallbackURL string            `json:"callbackUrl,omitempty"`
	Mark        string            `json:"-"` // what the browser that signed up keeps
	Code        string            `json:"-"` // the handle of the mail's code, which it keeps too
}

// signUpLife is how long a sign-up waits.
const signUpLife = time.Hour

// NewSignUp stores a sign-up for an hour, and returns the handle for its link and its
// expiry. It sets in.Mark. It creates no user and sends no mail.
func (d Passwords) NewSignUp(ctx context.Context, in *SignUp) (handle string, expires time.Time, err error) {
	handle, err = d.Waiting(d.Store).Create(ctx, challenge.Draft{Purpose: challenge.SignUp, Identifier: in.Email, Life: signUpLife, Data: in})
	in.Mark = d.Box.ID(challenge.SignUp, handle)
	return handle, d.Now().Add(signUpLife), err
}

// LookAtSignUp returns the sign-up of a link, without using the link up. It returns
// ErrVerification if the link was used or has expired.
func (d Passwords) LookAtSignUp(ctx context.Context, handle string) (*SignUp, error) {
	row, err := d.Waiting(d.Store).Get(ctx, challenge.SignUp, handle)
	if err != nil {
		return nil, voidIf(err)
	}
	in := &SignUp{Email: row.Identifier, Mark: row.ID}
	return in, row.Read(in)
}

// resolveByPassword makes owner the user of a sign-in with the right password, as
// recognise does. It returns an error that is ErrEnded if owner is nil: the user was
// deleted meanwhile.
func (d Passwords) resolveByPassword(ctx context.Context, s *Store, signIn *SignIn, owner *storage.User) error {
	if owner == nil {
		return signIn.ended() // deleted meanwhile
	}
	if err := d.recognise(ctx, s, signIn, *owner); err != nil {
		return err
	}
	return d.awaitProof(ctx, s, signIn, owner)
}

// signUp creates signIn.User with a password. It returns ErrAddressTaken if owner, the
// user with the address, is not nil, and errChanged if the link is void or a needed
// invitation is missing. It adds the events UserCreated and PasswordSet.
func (d Passwords) signUp(ctx context.Context, q *Outbox, s *Store, signIn *SignIn, owner *storage.User) error {
	switch {
	case owner != nil:
		return ErrAddressTaken
	case signIn.NewPassword.Invited && signIn.Invitation == nil:
		return errChanged
	}
	if handle := signIn.NewPassword.Handle; handle != "" {
		row, err := d.Waiting(s).Take(ctx, challenge.SignUp, handle)
		if err != nil {
			return voidIf(err)
		}
		if row.Identifier != signIn.User.Email {
			return errChanged
		}
	}
	if signIn.ProvesEmail {
		signIn.User.EmailVerified = d.Now().UTC()
	}
	if err := d.createUser(ctx, q, s, signIn); err != nil {
		return err
	}
	now := d.Now().UTC()
	q.Add(event.Event{Type: event.PasswordSet, UserID: signIn.User.ID}, nil)
	return s.Passwords().Set(ctx, storage.PasswordHash{UserID: signIn.User.ID, Hash: signIn.NewPassword.Hash, Created: now, Changed: now}, "")
}

// countProofs returns how many passwords and second factors a user has, where the
// library keeps any.
func (d Passwords) countProofs(ctx context.Context, s *Store, userID string) (n int, err error) {
	if d.Box == nil {
		return 0, nil
	}
	if s.Has(AbilityFactors) {
		factors, err := s.Factors().List(ctx, userID)
		if err != nil {
			return 0, err
		}
		n = len(factors)
	}
	if !d.Directory.Passwords {
		return n, nil
	}
	stored, err := guarded.Optional(s.Passwords().Get(ctx, userID))
	if stored != nil {
		n++
	}
	return n, err
}

// detachProofs removes the password, second factors and known browsers of a user, and the
// challenges that dropProofs deletes, where the library keeps any. The second factors
// stay if second, which the user has shown with the proof of the address, is a code of an
// app or a recovery code: the user that proves the address has them. It adds the
// event FactorRemoved for each factor that goes.
func (d Passwords) detachProofs(ctx context.Context, q *Outbox, s *Store, userID string, second *Second) error {
	if d.Box == nil {
		return nil
	}
	if d.Directory.Passwords {
		if err := failure.Ignoring(s.Passwords().Delete(ctx, userID), storage.ErrNotFound); err != nil {
			return err
		}
	}
	if second == nil || second.App == nil && second.Recovery == "" {
		if err := d.removeFactorsSince(ctx, q, s, userID, time.Time{}); err != nil {
			return err
		}
	}
	return d.dropProofs(ctx, s, userID)
}

// offerPause is how long a user who was offered a passkey is not offered one again.
const offerPause = 30 * 24 * time.Hour

// OfferPasskey reports whether a user that has signed in with the password is to be offered a
// passkey: the user has none, and was offered none in the last 30 days. If so, it stores that
// a passkey is offered now. Of concurrent calls for a user one returns true. It returns false
// if the application has opened no session. It also does so if the browser is remembered in
// place of a second factor, because the user would have to prove the second factor first.
func (d Passwords) OfferPasskey(ctx context.Context, signIn *SignIn) (bool, error) {
	if signIn.IsRefused || slices.Contains(signIn.AMR, factor.Browser) {
		return false, nil
	}
	userID := signIn.User.ID
	rows := d.Waiting(d.Store)
	if _, err := rows.Get(ctx, challenge.Offer, userID); !errors.Is(err, storage.ErrNotFound) {
		return false, err
	}
	keys, err := d.Store.ListAuthenticators(ctx, userID)
	if err != nil || len(keys) > 0 {
		return false, err
	}
	if err := rows.End(ctx, challenge.Offer, userID); err != nil { // that has expired
		return false, err
	}
	_, err = rows.Create(ctx, challenge.Draft{Purpose: challenge.Offer, Handle: userID, UserID: userID, Life: offerPause})
	return err == nil, failure.Ignoring(err, storage.ErrConflict)
}

// Begun returns the instant from which a sign-in counts, or zero before its user is
// known.
func (signIn *SignIn) Begun() time.Time { return signIn.begun }

// IsVoid reports whether err is the ErrVerification of this package for a link that was
// used, or whose account has changed since.
func IsVoid(err error) bool { return errors.Is(err, errChanged) }
