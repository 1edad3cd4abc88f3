package main

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// full is everything that the suite asks of a store, in a transaction or not.
type full interface {
	storage.Adapter
	storage.SessionAdapter
	storage.SessionStore
	storage.VerificationTokenAdapter
	storage.AccountAdapter
	storage.AuthenticatorAdapter
	storage.RevocationStore
}

// faulty is a store with the operations of ADAPTER_THROW broken, which remembers
// what to look for when the suite asks what it holds.
type faulty struct {
	full
	seen *seen
}

// withTx is a faulty store with transactions.
type withTx struct {
	faulty
	tx storage.TxAdapter
}

// InTx keeps the faults inside of transactions too.
func (f withTx) InTx(ctx context.Context, do func(storage.Adapter) error) error {
	return f.tx.InTx(ctx, func(a storage.Adapter) error { return do(faulty{a.(full), f.seen}) })
}

// withSignUps is a faulty store that has no transactions, and records sign-ups instead.
type withSignUps struct {
	faulty
	storage.SignUpAdapter
}

func fail(operation string) error {
	if named("ADAPTER_THROW", operation) {
		return errors.New(operation + " is broken")
	}
	return nil
}

// CreateAuthenticator keeps no user handle: the tables of Auth.js have no room
// for it, and the suite's authenticators do not say theirs.
func (f faulty) CreateAuthenticator(ctx context.Context, k storage.Authenticator) error {
	k.UserHandle = nil
	return f.full.CreateAuthenticator(ctx, k)
}

func (f faulty) CreateUser(ctx context.Context, u latchkey.User) (latchkey.User, error) {
	if err := fail("createUser"); err != nil {
		return latchkey.User{}, err
	}
	u, err := f.full.CreateUser(ctx, u)
	f.seen.user(u.ID)
	return u, err
}

func (f faulty) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	if err := fail("getUser"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.GetUser(ctx, id)
}

func (f faulty) GetUserByEmail(ctx context.Context, email string) (latchkey.User, error) {
	if err := fail("getUserByEmail"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.GetUserByEmail(ctx, email)
}

func (f faulty) GetUserByAccount(ctx context.Context, provider, id string) (latchkey.User, error) {
	if err := fail("getUserByAccount"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.GetUserByAccount(ctx, provider, id)
}

func (f faulty) UpdateUser(ctx context.Context, id string, c storage.UserChange) (latchkey.User, error) {
	if err := fail("updateUser"); err != nil {
		return latchkey.User{}, err
	}
	return f.full.UpdateUser(ctx, id, c)
}

func (f faulty) LinkAccount(ctx context.Context, account latchkey.Account) error {
	if err := fail("linkAccount"); err != nil {
		return err
	}
	return f.full.LinkAccount(ctx, account)
}

func (f faulty) CreateSession(ctx context.Context, s storage.StoredSession) error {
	if err := fail("createSession"); err != nil {
		return err
	}
	f.seen.session(s.Token)
	return f.full.CreateSession(ctx, s)
}

func (f faulty) UpdateSession(ctx context.Context, token string, expires time.Time) error {
	if err := fail("updateSession"); err != nil {
		return err
	}
	return f.full.UpdateSession(ctx, token, expires)
}

func (f faulty) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	if err := fail("deleteSession"); err != nil {
		return storage.StoredSession{}, err
	}
	return f.full.DeleteSession(ctx, token)
}

func (f faulty) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	if err := fail("createVerificationToken"); err != nil {
		return err
	}
	f.seen.link(t)
	return f.full.CreateVerificationToken(ctx, t)
}

func (f faulty) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	if err := fail("useVerificationToken"); err != nil {
		return storage.VerificationToken{}, err
	}
	f.seen.used(identifier, token)
	return f.full.UseVerificationToken(ctx, identifier, token)
}

func (f faulty) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	if err := fail("getSessionAndUser"); err != nil {
		return storage.StoredSession{}, latchkey.User{}, err
	}
	return f.full.GetSessionAndUser(ctx, token)
}

func (f faulty) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	if err := fail("getSessionAndUser"); err != nil {
		return storage.StoredSession{}, err
	}
	return f.full.GetSession(ctx, token)
}
