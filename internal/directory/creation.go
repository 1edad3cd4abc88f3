package directory

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

// createUser creates the user of a sign-in.
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
	if err := d.yieldToProof(ctx, s, &signIn.User, &row); err != nil {
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
