package latchkey

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/internal/redact"
)

// store is the adapter as the library uses it: every call has a deadline, every
// failure is an AdapterError that says which operation failed, and an adapter
// that panics, or answers nothing without an error, has failed.
type store struct {
	adapter Adapter
	timeout time.Duration
	abilities
}

func newStore(a Adapter, timeout time.Duration) *store {
	return &store{a, timeout, abilitiesOf(a)}
}

// call is the one way to the adapter: it bounds, contains and names every
// operation. ErrNotFound and ErrConflict pass as they are.
func call[T any](ctx context.Context, s *store, operation string, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	result, err := containResult(func() (T, error) { return f(ctx) })
	switch {
	case err == nil, errors.Is(err, ErrNotFound), errors.Is(err, ErrConflict):
		return result, err
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Type == ErrAdapter {
		return result, err
	}
	return result, ErrAdapter.wrap(&redactedError{operation + ": " + redact.URLs(err.Error()), err})
}

// callErr is call for operations without a result.
func callErr(ctx context.Context, s *store, operation string, f func(context.Context) error) error {
	_, err := call(ctx, s, operation, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// requireID refuses a user without an id, which no store has.
func requireID(u User, err error) (User, error) {
	if err == nil && u.ID == "" {
		return u, ErrAdapter.wrap(errors.New("the adapter returned a user without an id"))
	}
	return u, err
}

// optional turns ErrNotFound into a nil record.
func optional[T any](record T, err error) (*T, error) {
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &record, nil
}

// orNothing: a table that is not there holds nothing.
func orNothing[T any](list []T, err error) ([]T, error) {
	return list, ignoring(err, errors.ErrUnsupported)
}

func (s *store) createUser(ctx context.Context, u User) (User, error) {
	return requireID(call(ctx, s, "CreateUser", func(ctx context.Context) (User, error) { return s.adapter.CreateUser(ctx, u) }))
}

func (s *store) user(ctx context.Context, id string) (User, error) {
	return requireID(call(ctx, s, "GetUser", func(ctx context.Context) (User, error) { return s.adapter.GetUser(ctx, id) }))
}

func (s *store) userByEmail(ctx context.Context, email string) (User, error) {
	if email == "" {
		return User{}, ErrNotFound
	}
	return requireID(call(ctx, s, "GetUserByEmail", func(ctx context.Context) (User, error) { return s.adapter.GetUserByEmail(ctx, email) }))
}

func (s *store) userByAccount(ctx context.Context, a *Account) (User, error) {
	return requireID(call(ctx, s, "GetUserByAccount", func(ctx context.Context) (User, error) {
		return s.adapter.GetUserByAccount(ctx, a.Provider, a.ProviderAccountID)
	}))
}

func (s *store) updateUser(ctx context.Context, id string, c UserChange) (User, error) {
	return requireID(call(ctx, s, "UpdateUser", func(ctx context.Context) (User, error) { return s.adapter.UpdateUser(ctx, id, c) }))
}

// lockUser is user, and whoever locks the same one in another transaction waits
// until this one ends. Without transactions nobody waits.
func (s *store) lockUser(ctx context.Context, id string) (User, error) {
	if s.tx == nil {
		return s.user(ctx, id)
	}
	return s.updateUser(ctx, id, UserChange{})
}

func (s *store) linkAccount(ctx context.Context, a Account) error {
	return callErr(ctx, s, "LinkAccount", func(ctx context.Context) error { return s.adapter.LinkAccount(ctx, a) })
}

// errNoTx: a transaction that reports success and has done nothing.
var errNoTx = ErrAdapter.wrap(errors.New("InTx has not called its function"))

// inTx runs f in one transaction where the store has them, which has as long as
// one call: calls in it must use the context that f is given. A failure of f
// undoes everything and is returned as it is.
func (s *store) inTx(ctx context.Context, f func(context.Context, *store) error) error {
	if s.tx == nil {
		return f(ctx, s)
	}
	inner := errNoTx
	err := callErr(ctx, s, "InTx", func(ctx context.Context) error {
		return s.tx.InTx(ctx, func(a Adapter) error {
			inner = f(ctx, newStore(a, s.timeout))
			return inner
		})
	})
	if err == nil || (inner != nil && inner != errNoTx) {
		return inner
	}
	return err
}

// What follows needs an ability. Lists of what a store lacks are empty; nothing
// else may be called without has.

// sessionAndUser is a stored session and whose it is.
type sessionAndUser struct {
	row  StoredSession
	user User
}

func (s *store) session(ctx context.Context, token string) (sessionAndUser, error) {
	found, err := call(ctx, s, "GetSessionAndUser", func(ctx context.Context) (f sessionAndUser, err error) {
		f.row, f.user, err = s.sessionRows.GetSessionAndUser(ctx, token)
		return f, err
	})
	if err == nil && (found.user.ID == "" || found.row.UserID != found.user.ID || found.row.Expires.IsZero()) {
		return found, ErrAdapter.wrap(errors.New("GetSessionAndUser returned a session that belongs to nobody"))
	}
	return found, err
}

func (s *store) createSession(ctx context.Context, row StoredSession) error {
	return callErr(ctx, s, "CreateSession", func(ctx context.Context) error { return s.sessionRows.CreateSession(ctx, row) })
}

func (s *store) extendSession(ctx context.Context, token string, expires time.Time) error {
	return callErr(ctx, s, "UpdateSession", func(ctx context.Context) error { return s.sessionRows.UpdateSession(ctx, token, expires) })
}

func (s *store) deleteSession(ctx context.Context, token string) (StoredSession, error) {
	return call(ctx, s, "DeleteSession", func(ctx context.Context) (StoredSession, error) { return s.sessionRows.DeleteSession(ctx, token) })
}

func (s *store) listSessions(ctx context.Context, userID string) ([]StoredSession, error) {
	if s.sessionLists == nil {
		return nil, nil
	}
	return orNothing(call(ctx, s, "ListSessions", func(ctx context.Context) ([]StoredSession, error) {
		return s.sessionLists.ListSessions(ctx, userID)
	}))
}

func (s *store) deleteSessionByID(ctx context.Context, userID, id string) error {
	return callErr(ctx, s, "DeleteSessionByID", func(ctx context.Context) error {
		return s.sessionLists.DeleteSessionByID(ctx, userID, id)
	})
}

// deleteSessions ends all sessions of a user but keep.
func (s *store) deleteSessions(ctx context.Context, userID, keep string) error {
	if s.sessionLists == nil {
		return nil
	}
	return ignoring(callErr(ctx, s, "DeleteSessions", func(ctx context.Context) error {
		_, err := s.sessionLists.DeleteSessions(ctx, userID, keep)
		return err
	}), errors.ErrUnsupported)
}

func (s *store) createVerificationToken(ctx context.Context, t VerificationToken) error {
	return callErr(ctx, s, "CreateVerificationToken", func(ctx context.Context) error {
		return s.verification.CreateVerificationToken(ctx, t)
	})
}

func (s *store) useVerificationToken(ctx context.Context, identifier, token string) (VerificationToken, error) {
	return call(ctx, s, "UseVerificationToken", func(ctx context.Context) (VerificationToken, error) {
		return s.verification.UseVerificationToken(ctx, identifier, token)
	})
}

func (s *store) listAccounts(ctx context.Context, userID string) ([]Account, error) {
	if s.accountLists == nil {
		return nil, nil
	}
	return orNothing(call(ctx, s, "ListAccounts", func(ctx context.Context) ([]Account, error) {
		return s.accountLists.ListAccounts(ctx, userID)
	}))
}

func (s *store) unlinkAccount(ctx context.Context, provider, id string) (Account, error) {
	return call(ctx, s, "UnlinkAccount", func(ctx context.Context) (Account, error) {
		return s.accountLists.UnlinkAccount(ctx, provider, id)
	})
}

func (s *store) listAuthenticators(ctx context.Context, userID string) ([]Authenticator, error) {
	if s.authenticators == nil {
		return nil, nil
	}
	return orNothing(call(ctx, s, "ListAuthenticators", func(ctx context.Context) ([]Authenticator, error) {
		return s.authenticators.ListAuthenticators(ctx, userID)
	}))
}

func (s *store) deleteAuthenticator(ctx context.Context, id []byte) error {
	return callErr(ctx, s, "DeleteAuthenticator", func(ctx context.Context) error {
		return s.authenticators.DeleteAuthenticator(ctx, id)
	})
}

func (s *store) deleteUser(ctx context.Context, id string) (User, error) {
	return call(ctx, s, "DeleteUser", func(ctx context.Context) (User, error) { return s.deletion.DeleteUser(ctx, id) })
}

func (s *store) beginSignUp(ctx context.Context, a *Account, userID string) (string, error) {
	return call(ctx, s, "BeginSignUp", func(ctx context.Context) (string, error) {
		return s.signUps.BeginSignUp(ctx, a.Provider, a.ProviderAccountID, userID)
	})
}

// endSignUp forgets that a sign-up of this account was under way.
func (s *store) endSignUp(ctx context.Context, a *Account) error {
	return ignoring(callErr(ctx, s, "EndSignUp", func(ctx context.Context) error {
		return s.signUps.EndSignUp(ctx, a.Provider, a.ProviderAccountID)
	}), ErrNotFound)
}

func (s *store) sweep(ctx context.Context, before time.Time) (int, error) {
	return call(ctx, s, "Sweep", func(ctx context.Context) (int, error) { return s.sweeper.Sweep(ctx, before) })
}

// remembersSignUps: without transactions, a sign-up that is cut short can be
// finished by the same account.
func (s *store) remembersSignUps() bool { return s.signUps != nil && s.tx == nil }

// require is an error that names who misses an ability, or nil.
func (s *store) require(who string, a ability) error {
	if s.has(a) {
		return nil
	}
	return ErrMissingAdapterMethods.wrap(fmt.Errorf("%s needs an Adapter that is a %s; %T is not", who, a, s.adapter))
}
