package directory

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

// createUser stores signIn.User, with a new ID unless it has one. It sets signIn.User to
// the user as stored, and IsNew. It returns an [OtherUser] if the application was asked,
// but not about this user, and ErrConflict if another user has the address. It adds the
// event UserCreated.
func (d *Directory) createUser(ctx context.Context, q *Outbox, s *Store, signIn *SignIn) error {
	if signIn.User.ID == "" {
		signIn.User.ID = secret.NewUserID()
	}
	if err := signIn.expect(true); err != nil {
		return err
	}
	signIn.User.Created = d.Now().UTC()
	signIn.User.Provisioned, signIn.User.Suspension = time.Time{}, nil
	u, err := s.createUser(ctx, signIn.User)
	if err != nil {
		return err
	}
	signIn.User, signIn.IsNew = u, true
	q.addUser(event.UserCreated, u)
	return nil
}

// linkAccount stores the account of a sign-in for signIn.User, with its tokens and its
// new passkey. It adds the event AccountLinked, and ends the record of an interrupted sign-up.
// It returns ErrConflict if another user has the account. It also does so, and unlinks the
// account again, if a concurrent sign-in has proven the e-mail address of the user.
func (d *Directory) linkAccount(ctx context.Context, q *Outbox, s *Store, signIn *SignIn) error {
	signIn.Account.UserID = signIn.User.ID
	row := signIn.Account
	var err error
	if row.Tokens, err = newTokens(ctx, d, s, signIn); err != nil {
		return err
	}
	if err := s.linkAccount(ctx, row); err != nil {
		return err
	}
	if signIn.Passkey != nil {
		key := *signIn.Passkey
		key.UserID = signIn.User.ID
		if err := s.createAuthenticator(ctx, key); err != nil {
			return err
		}
	}
	if err := d.unlinkIfProven(ctx, s, &signIn.User, &row); err != nil {
		return err
	}
	if d.Store.remembersSignUps() {
		if err := s.endSignUp(ctx, &signIn.Account); err != nil {
			return err
		}
	}
	e := event.AccountPayload{User: signIn.User, Account: signIn.Account, Profile: signIn.Profile, Identity: signIn.Person}
	e.Identity.ID = ""
	q.addAccount(event.AccountLinked, &e)
	return nil
}

// resolveVouched accepts signIn.User, whom the application names, as the user of a sign-in
// with a stored session, and clears Provisioned in the store. It returns a Suspended for a
// suspended user, and ErrEnded if the user's sessions were ended since the sign-in began. If
// the user is not stored, it returns ErrUnsupportedStrategy, because a stored session needs a
// stored user. Sign-ins with JWT sessions do not come here.
func (d *Directory) resolveVouched(ctx context.Context, s *Store, signIn *SignIn) error {
	known, err := guarded.Optional(s.User(ctx, signIn.User.ID))
	if err == nil && known != nil {
		signIn.wasProven = !known.EmailVerified.IsZero()
		if err := refuse(d, &signIn.Assertion, known.Suspension); err != nil {
			return err
		}
		if err := claim(ctx, s, known); err != nil {
			return err
		}
		return d.recognise(ctx, s, signIn, signIn.User)
	}
	if err == nil {
		err = failure.Wrap(fault.ErrUnsupportedStrategy, failure.Of(fault.UserMissing, errors.New("the adapter has no user with the id that Authorize returned: create one first (see docs/users.md), or set Session.Strategy to JWTSessions")))
	}
	return err
}
