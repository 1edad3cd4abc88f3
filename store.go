package latchkey

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// store is the adapter as the house uses it: every call has a deadline, every
// failure is an AdapterError that says which operation failed, and an adapter
// that panics, or answers nothing without an error, has failed.
type store struct {
	a     Adapter
	limit time.Duration
}

// ask makes one call. ErrNotFound and ErrConflict pass as they are.
func ask[T any](ctx context.Context, s *store, operation string, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	result, err := containResult(func() (T, error) { return f(ctx) })
	switch {
	case err == nil, errors.Is(err, ErrNotFound), errors.Is(err, ErrConflict):
		return result, err
	}
	if e, ok := errors.AsType[*Error](err); ok && e.Type == ErrAdapter {
		return result, err
	}
	return result, ErrAdapter.because(&blottedError{operation + ": " + withoutAddresses(err.Error()), err})
}

func do(ctx context.Context, s *store, operation string, f func(context.Context) error) error {
	_, err := ask(ctx, s, operation, func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) })
	return err
}

// real refuses a user without an id, which no store has.
func real(u User, err error) (User, error) {
	if err == nil && u.ID == "" {
		return u, ErrAdapter.because(errors.New("the adapter returned a user without an id"))
	}
	return u, err
}

func (s *store) createUser(ctx context.Context, u User) (User, error) {
	return real(ask(ctx, s, "CreateUser", func(ctx context.Context) (User, error) { return s.a.CreateUser(ctx, u) }))
}

func (s *store) user(ctx context.Context, id string) (User, error) {
	return real(ask(ctx, s, "GetUser", func(ctx context.Context) (User, error) { return s.a.GetUser(ctx, id) }))
}

func (s *store) userByEmail(ctx context.Context, email string) (User, error) {
	if email == "" {
		return User{}, ErrNotFound
	}
	return real(ask(ctx, s, "GetUserByEmail", func(ctx context.Context) (User, error) { return s.a.GetUserByEmail(ctx, email) }))
}

func (s *store) userByAccount(ctx context.Context, a *Account) (User, error) {
	return real(ask(ctx, s, "GetUserByAccount", func(ctx context.Context) (User, error) {
		return s.a.GetUserByAccount(ctx, a.Provider, a.ProviderAccountID)
	}))
}

func (s *store) updateUser(ctx context.Context, id string, c UserChange) (User, error) {
	return real(ask(ctx, s, "UpdateUser", func(ctx context.Context) (User, error) { return s.a.UpdateUser(ctx, id, c) }))
}

func (s *store) linkAccount(ctx context.Context, a Account) error {
	return do(ctx, s, "LinkAccount", func(ctx context.Context) error { return s.a.LinkAccount(ctx, a) })
}

// orNothing: a table that is not there holds nothing.
func orNothing[T any](list []T, err error) ([]T, error) {
	return list, ignoring(err, errors.ErrUnsupported)
}

// The abilities below were checked by New.

func (s *store) createSession(ctx context.Context, row StoredSession) error {
	return do(ctx, s, "CreateSession", func(ctx context.Context) error { return s.a.(SessionAdapter).CreateSession(ctx, row) })
}

// sessionAndUser is a stored session and whose it is.
type sessionAndUser struct {
	row  StoredSession
	user User
}

func (s *store) session(ctx context.Context, token string) (sessionAndUser, error) {
	found, err := ask(ctx, s, "GetSessionAndUser", func(ctx context.Context) (f sessionAndUser, err error) {
		f.row, f.user, err = s.a.(SessionAdapter).GetSessionAndUser(ctx, token)
		return f, err
	})
	if err == nil && (found.user.ID == "" || found.row.UserID != found.user.ID || found.row.Expires.IsZero()) {
		return found, ErrAdapter.because(errors.New("GetSessionAndUser returned a session that belongs to nobody"))
	}
	return found, err
}

func (s *store) extendSession(ctx context.Context, token string, expires time.Time) error {
	return do(ctx, s, "UpdateSession", func(ctx context.Context) error {
		return s.a.(SessionAdapter).UpdateSession(ctx, token, expires)
	})
}

func (s *store) deleteSession(ctx context.Context, token string) (StoredSession, error) {
	return ask(ctx, s, "DeleteSession", func(ctx context.Context) (StoredSession, error) {
		return s.a.(SessionAdapter).DeleteSession(ctx, token)
	})
}

func (s *store) createVerificationToken(ctx context.Context, t VerificationToken) error {
	return do(ctx, s, "CreateVerificationToken", func(ctx context.Context) error {
		return s.a.(VerificationTokenAdapter).CreateVerificationToken(ctx, t)
	})
}

func (s *store) useVerificationToken(ctx context.Context, identifier, token string) (VerificationToken, error) {
	return ask(ctx, s, "UseVerificationToken", func(ctx context.Context) (VerificationToken, error) {
		return s.a.(VerificationTokenAdapter).UseVerificationToken(ctx, identifier, token)
	})
}

func (s *store) accounts(ctx context.Context, userID string) ([]Account, error) {
	a, ok := s.a.(AccountAdapter)
	if !ok {
		return nil, nil
	}
	return orNothing(ask(ctx, s, "ListAccounts", func(ctx context.Context) ([]Account, error) { return a.ListAccounts(ctx, userID) }))
}

func (s *store) unlinkAccount(ctx context.Context, provider, id string) (Account, error) {
	return ask(ctx, s, "UnlinkAccount", func(ctx context.Context) (Account, error) {
		return s.a.(AccountAdapter).UnlinkAccount(ctx, provider, id)
	})
}

func (s *store) authenticators(ctx context.Context, userID string) ([]Authenticator, error) {
	a, ok := s.a.(AuthenticatorAdapter)
	if !ok {
		return nil, nil
	}
	return orNothing(ask(ctx, s, "ListAuthenticators", func(ctx context.Context) ([]Authenticator, error) {
		return a.ListAuthenticators(ctx, userID)
	}))
}

func (s *store) deleteAuthenticator(ctx context.Context, id []byte) error {
	return do(ctx, s, "DeleteAuthenticator", func(ctx context.Context) error {
		return s.a.(AuthenticatorAdapter).DeleteAuthenticator(ctx, id)
	})
}

func (s *store) sessions(ctx context.Context, userID string) ([]StoredSession, error) {
	a, ok := s.a.(SessionListAdapter)
	if !ok {
		return nil, nil
	}
	return orNothing(ask(ctx, s, "ListSessions", func(ctx context.Context) ([]StoredSession, error) { return a.ListSessions(ctx, userID) }))
}

func (s *store) deleteSessionByID(ctx context.Context, userID, id string) error {
	return do(ctx, s, "DeleteSessionByID", func(ctx context.Context) error {
		return s.a.(SessionListAdapter).DeleteSessionByID(ctx, userID, id)
	})
}

// deleteSessions ends all sessions of a user but keep; a store that cannot list them has none to end.
func (s *store) deleteSessions(ctx context.Context, userID, keep string) error {
	a, ok := s.a.(SessionListAdapter)
	if !ok {
		return nil
	}
	return ignoring(do(ctx, s, "DeleteSessions", func(ctx context.Context) error {
		_, err := a.DeleteSessions(ctx, userID, keep)
		return err
	}), errors.ErrUnsupported)
}

func (s *store) deleteUser(ctx context.Context, id string) (User, error) {
	a, ok := s.a.(UserDeletionAdapter)
	if !ok {
		return User{}, ErrMissingAdapterMethods.because(fmt.Errorf("deleting a user needs an Adapter that is a UserDeletionAdapter; %T is not", s.a))
	}
	return ask(ctx, s, "DeleteUser", func(ctx context.Context) (User, error) { return a.DeleteUser(ctx, id) })
}

// errNoTx: a transaction that reports success and has done nothing.
var errNoTx = ErrAdapter.because(errors.New("InTx has not called its function"))

// inTx runs f in one transaction where the store has them, which has as long as
// one call: calls in it must use the context that f is given. A failure of f
// undoes everything and is returned as it is.
func (s *store) inTx(ctx context.Context, f func(context.Context, *store) error) error {
	tx, ok := s.a.(TxAdapter)
	if !ok {
		return f(ctx, s)
	}
	inner := errNoTx
	err := do(ctx, s, "InTx", func(ctx context.Context) error {
		return tx.InTx(ctx, func(a Adapter) error {
			inner = f(ctx, &store{a, s.limit})
			return inner
		})
	})
	if err == nil || (inner != nil && inner != errNoTx) {
		return inner
	}
	return err
}

// found turns ErrNotFound into a nil record.
func found[T any](record T, err error) (*T, error) {
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &record, nil
}
