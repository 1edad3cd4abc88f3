package storagetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest/storagetest"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestAdapterAcceptsOtherEngines proves that the suite asks of no engine what
// the contract leaves open.
func TestAdapterAcceptsOtherEngines(t *testing.T) {
	for name, open := range map[string]func() storage.Adapter{
		"that remove what has expired":         func() storage.Adapter { return &expiring{memory()} },
		"that end a transaction at a conflict": func() storage.Adapter { return &aborting{memory()} },
		"that want a transaction run again":    func() storage.Adapter { return &serializing{memory()} },
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.TestAdapter(t, func(*testing.T) storage.Adapter { return open() })
		})
	}
}

// TestAdapterExcept leaves out what a store has no columns for.
func TestAdapterExcept(t *testing.T) {
	storagetest.TestAdapter(t, func(*testing.T) storage.Adapter { return &tenantless{memory()} },
		"SessionAdapter/how a session was opened survives",
		"SessionAdapter/a renewal keeps how the session was opened")
}

// expiring finds nothing that has expired.
type expiring struct{ *memoryadapter.Adapter }

func (a *expiring) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	s, u, err := a.Adapter.GetSessionAndUser(ctx, token)
	if err == nil && s.Expires.Before(time.Now()) {
		return storage.StoredSession{}, storage.User{}, storage.ErrNotFound
	}
	return s, u, err
}

func (a *expiring) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	t, err := a.Adapter.UseVerificationToken(ctx, identifier, token)
	if err == nil && t.Expires.Before(time.Now()) {
		return storage.VerificationToken{}, storage.ErrNotFound
	}
	return t, err
}

var errAborted = errors.New("the transaction is aborted")

// aborting refuses every change that follows a conflict in a transaction, and
// the transaction itself.
type aborting struct{ *memoryadapter.Adapter }

func (a *aborting) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return a.Adapter.InTx(ctx, func(tx storage.Adapter) error {
		inside := &abortable{Adapter: tx.(*memoryadapter.Adapter)}
		if err := f(inside); err != nil || !inside.aborted {
			return err
		}
		return errAborted
	})
}

var errSerialization = errors.New("the transaction could not be serialized")

// serializing commits no transaction at its first run.
type serializing struct{ *memoryadapter.Adapter }

func (a *serializing) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	err := a.Adapter.InTx(ctx, func(tx storage.Adapter) error {
		if err := f(tx); err != nil {
			return err
		}
		return errSerialization
	})
	if !errors.Is(err, errSerialization) {
		return err
	}
	return a.Adapter.InTx(ctx, f)
}

type abortable struct {
	*memoryadapter.Adapter
	aborted bool
}

// after calls f unless there was a conflict, and remembers the next one.
func (a *abortable) after(f func() error) error {
	if a.aborted {
		return errAborted
	}
	err := f()
	a.aborted = errors.Is(err, storage.ErrConflict)
	return err
}

func (a *abortable) CreateUser(ctx context.Context, u storage.User) (out storage.User, err error) {
	err = a.after(func() (err error) { out, err = a.Adapter.CreateUser(ctx, u); return err })
	return out, err
}

func (a *abortable) UpdateUser(ctx context.Context, id string, c storage.UserChange) (out storage.User, err error) {
	err = a.after(func() (err error) { out, err = a.Adapter.UpdateUser(ctx, id, c); return err })
	return out, err
}

func (a *abortable) LinkAccount(ctx context.Context, account storage.Account) error {
	return a.after(func() error { return a.Adapter.LinkAccount(ctx, account) })
}

// What follows are stores that lose fields, for TestAdapterNotices.

type tenantless struct{ *memoryadapter.Adapter }

func (a *tenantless) CreateSession(ctx context.Context, s storage.StoredSession) error {
	s.Tenant = ""
	return a.Adapter.CreateSession(ctx, s)
}

type purposeless struct{ *memoryadapter.Adapter }

func (a *purposeless) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	t.Purpose = ""
	return a.Adapter.CreateVerificationToken(ctx, t)
}

type unvouched struct{ *memoryadapter.Adapter }

func (a *unvouched) LinkAccount(ctx context.Context, account storage.Account) error {
	account.Email, account.EmailVouched = "", false
	return a.Adapter.LinkAccount(ctx, account)
}

type dateless struct{ *memoryadapter.Adapter }

func (a *dateless) CreateAuthenticator(ctx context.Context, k storage.Authenticator) error {
	k.Created, k.Used = time.Time{}, time.Time{}
	return a.Adapter.CreateAuthenticator(ctx, k)
}

// sharing hands out the slice that it was given.
type sharing struct {
	*memoryadapter.Adapter
	amr []string
}

func (a *sharing) CreateSession(ctx context.Context, s storage.StoredSession) error {
	a.amr = s.AMR
	return a.Adapter.CreateSession(ctx, s)
}

func (a *sharing) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	s, u, err := a.Adapter.GetSessionAndUser(ctx, token)
	s.AMR = a.amr
	return s, u, err
}

// halving ends a transaction at a conflict and keeps what was done before.
type halving struct{ *memoryadapter.Adapter }

func (a *halving) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	aborted := false
	err := a.Adapter.InTx(ctx, func(tx storage.Adapter) error {
		inside := &abortable{Adapter: tx.(*memoryadapter.Adapter)}
		err := f(inside)
		if aborted = inside.aborted; aborted {
			return nil
		}
		return err
	})
	if err == nil && aborted {
		return errAborted
	}
	return err
}

// unlocked has transactions that do not wait for each other.
type unlocked struct {
	*memoryadapter.Adapter
	bound bool
}

func (a *unlocked) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(&unlocked{a.Adapter, true})
}

func (a *unlocked) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	u, err := a.Adapter.UpdateUser(ctx, id, c)
	if a.bound {
		time.Sleep(time.Millisecond) // where the other one reads too
	}
	return u, err
}
