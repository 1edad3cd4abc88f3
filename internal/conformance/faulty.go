package main

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// faulty is the memory adapter with the operations of ADAPTER_THROW broken.
type faulty struct{ *memoryadapter.Adapter }

func fail(operation string) error {
	if named("ADAPTER_THROW", operation) {
		return errors.New(operation + " is broken")
	}
	return nil
}

// InTx keeps the faults inside transactions too.
func (f faulty) InTx(ctx context.Context, do func(latchkey.Adapter) error) error {
	return f.Adapter.InTx(ctx, func(a latchkey.Adapter) error { return do(faultyTx{a.(full)}) })
}

// full is everything that the sign-in flow asks of a store.
type full interface {
	latchkey.Adapter
	latchkey.SessionAdapter
	latchkey.VerificationTokenAdapter
	latchkey.AccountAdapter
	latchkey.SessionListAdapter
	latchkey.AuthenticatorAdapter
	latchkey.RevocationStore
}

// faultyTx is faulty inside a transaction.
type faultyTx struct{ full }

// CreateAuthenticator keeps no user handle: the tables of Auth.js have no room
// for it, and the suite's authenticators do not say theirs.
func (f faulty) CreateAuthenticator(ctx context.Context, k latchkey.Authenticator) error {
	k.UserHandle = nil
	return f.Adapter.CreateAuthenticator(ctx, k)
}

// CreateAuthenticator does so inside of a transaction.
func (f faultyTx) CreateAuthenticator(ctx context.Context, k latchkey.Authenticator) error {
	k.UserHandle = nil
	return f.full.CreateAuthenticator(ctx, k)
}

func (f faulty) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	if err := fail("createUser"); err != nil {
		return latchkey.User{}, err
	}
	return f.Adapter.CreateUser(ctx, u)
}

func (f faulty) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	if err := fail("getUser"); err != nil {
		return latchkey.User{}, err
	}
	return f.Adapter.GetUser(ctx, id)
}

func (f faulty) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	if err := fail("getUserByEmail"); err != nil {
		return latchkey.User{}, err
	}
	return f.Adapter.GetUserByEmail(ctx, email)
}

func (f faulty) GetUserByAccount(ctx context.Context, provider, id string) (latchkey.User, error) {
	if err := fail("getUserByAccount"); err != nil {
		return latchkey.User{}, err
	}
	return f.Adapter.GetUserByAccount(ctx, provider, id)
}

func (f faulty) UpdateUser(ctx context.Context, id string, c latchkey.UserChange) (latchkey.User, error) {
	if err := fail("updateUser"); err != nil {
		return latchkey.User{}, err
	}
	return f.Adapter.UpdateUser(ctx, id, c)
}

func (f faulty) LinkAccount(ctx context.Context, account latchkey.Account) error {
	if err := fail("linkAccount"); err != nil {
		return err
	}
	return f.Adapter.LinkAccount(ctx, account)
}

func (f faulty) CreateSession(ctx context.Context, s latchkey.StoredSession) error {
	if err := fail("createSession"); err != nil {
		return err
	}
	return f.Adapter.CreateSession(ctx, s)
}

func (f faulty) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	if err := fail("updateSession"); err != nil {
		return err
	}
	return f.Adapter.UpdateSession(ctx, token, expires)
}

func (f faulty) DeleteSession(ctx context.Context, token string) (latchkey.StoredSession, error) {
	if err := fail("deleteSession"); err != nil {
		return latchkey.StoredSession{}, err
	}
	return f.Adapter.DeleteSession(ctx, token)
}

func (f faulty) CreateVerificationToken(ctx context.Context, t latchkey.VerificationToken) error {
	if err := fail("createVerificationToken"); err != nil {
		return err
	}
	return f.Adapter.CreateVerificationToken(ctx, t)
}

func (f faulty) UseVerificationToken(ctx context.Context, identifier, token string) (latchkey.VerificationToken, error) {
	if err := fail("useVerificationToken"); err != nil {
		return latchkey.VerificationToken{}, err
	}
	return f.Adapter.UseVerificationToken(ctx, identifier, token)
}

func (f faulty) GetSessionAndUser(ctx context.Context, token string) (latchkey.StoredSession, latchkey.User, error) {
	if err := fail("getSessionAndUser"); err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, err
	}
	return f.Adapter.GetSessionAndUser(ctx, token)
}

func (f faultyTx) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	if err := fail("createUser"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.CreateUser(ctx, u)
}

func (f faultyTx) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	if err := fail("getUser"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.GetUser(ctx, id)
}

func (f faultyTx) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	if err := fail("getUserByEmail"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.GetUserByEmail(ctx, email)
}

func (f faultyTx) GetUserByAccount(ctx context.Context, provider, id string) (latchkey.User, error) {
	if err := fail("getUserByAccount"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.GetUserByAccount(ctx, provider, id)
}

func (f faultyTx) UpdateUser(ctx context.Context, id string, c latchkey.UserChange) (latchkey.User, error) {
	if err := fail("updateUser"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.UpdateUser(ctx, id, c)
}

func (f faultyTx) LinkAccount(ctx context.Context, account latchkey.Account) error {
	if err := fail("linkAccount"); err != nil {
		return err
	}
	return f.full.LinkAccount(ctx, account)
}

func (f faultyTx) CreateSession(ctx context.Context, s latchkey.StoredSession) error {
	if err := fail("createSession"); err != nil {
		return err
	}
	return f.full.CreateSession(ctx, s)
}

func (f faultyTx) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	if err := fail("updateSession"); err != nil {
		return err
	}
	return f.full.UpdateSession(ctx, token, expires)
}

func (f faultyTx) DeleteSession(ctx context.Context, token string) (latchkey.StoredSession, error) {
	if err := fail("deleteSession"); err != nil {
		return latchkey.StoredSession{}, err
	}
	return f.full.DeleteSession(ctx, token)
}

func (f faultyTx) CreateVerificationToken(ctx context.Context, t latchkey.VerificationToken) error {
	if err := fail("createVerificationToken"); err != nil {
		return err
	}
	return f.full.CreateVerificationToken(ctx, t)
}

func (f faultyTx) UseVerificationToken(ctx context.Context, identifier, token string) (latchkey.VerificationToken, error) {
	if err := fail("useVerificationToken"); err != nil {
		return latchkey.VerificationToken{}, err
	}
	return f.full.UseVerificationToken(ctx, identifier, token)
}

func (f faultyTx) GetSessionAndUser(ctx context.Context, token string) (latchkey.StoredSession, latchkey.User, error) {
	if err := fail("getSessionAndUser"); err != nil {
		return latchkey.StoredSession{}, latchkey.User{}, err
	}
	return f.full.GetSessionAndUser(ctx, token)
}
