package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/storage"
)

// Store is the adapter as the library uses it. Every call has a deadline. Every
// failure is an AdapterError that names the operation. An adapter that panics,
// or returns nothing without an error, has failed.
type Store struct {
	adapter storage.Adapter
	bounds  *guarded.Bounds
	abilities

	Apart        *SessionsApart // nil: the adapter keeps the sessions
	SessionCache *SessionCache  // nil: sessions are read every time

	late *[]lateCall // what waits for the commit of a transaction; nil: nothing has to
}

// lateCall is a call of the store of sessions apart, after a transaction.
type lateCall func(context.Context, *Store) error

// NewStore returns the store of an adapter. bounds limit its calls.
func NewStore(a storage.Adapter, bounds *guarded.Bounds) *Store {
	return &Store{adapter: a, bounds: bounds, abilities: abilitiesOf(a)}
}

// isUser returns a function that reports whether a user has the id, which is not empty.
func isUser(id string) func(storage.User) bool {
	return func(u storage.User) bool { return id != "" && u.ID == id }
}

// hasEmail returns a function that reports whether a user has the e-mail address. Some
// stores find ASCII letters in any case, so it compares them without case.
func hasEmail(email string) func(storage.User) bool {
	return func(u storage.User) bool {
		return u.ID != "" && (u.Email == email || mailbox.EqualASCII(u.Email, email))
	}
}

func (s *Store) createUser(ctx context.Context, u storage.User) (storage.User, error) {
	return guarded.CallFor(ctx, s.bounds, "CreateUser", hasEmail(u.Email), func(ctx context.Context) (storage.User, error) {
		return s.adapter.CreateUser(ctx, u)
	})
}

// User returns the user with the id, or ErrNotFound.
func (s *Store) User(ctx context.Context, id string) (storage.User, error) {
	return guarded.CallFor(ctx, s.bounds, "GetUser", isUser(id), func(ctx context.Context) (storage.User, error) { return s.adapter.GetUser(ctx, id) })
}

// UserByEmail returns the user with the e-mail address, or ErrNotFound. The empty
// address is ErrNotFound.
func (s *Store) UserByEmail(ctx context.Context, email string) (storage.User, error) {
	if email == "" {
		return storage.User{}, storage.ErrNotFound
	}
	return guarded.CallFor(ctx, s.bounds, "GetUserByEmail", hasEmail(email), func(ctx context.Context) (storage.User, error) { return s.adapter.GetUserByEmail(ctx, email) })
}

func (s *Store) userByAccount(ctx context.Context, a *storage.Account) (storage.User, error) {
	return guarded.CallFor(ctx, s.bounds, "GetUserByAccount", func(u storage.User) bool { return u.ID != "" }, func(ctx context.Context) (storage.User, error) {
		return s.adapter.GetUserByAccount(ctx, a.Provider, a.ProviderAccountID)
	})
}

// checkOwner returns nil if an account is that of owner, or if the store cannot tell. It
// returns ErrConflict if it was unlinked, and an AdapterError if it is another user's.
func (s *Store) checkOwner(ctx context.Context, a *storage.Account, owner *storage.User) error {
	_, err := s.ownedAccount(ctx, a, owner)
	return err
}

// ownedAccount returns the account as it is stored. If the store cannot tell, it returns
// a itself. It returns ErrConflict if the account was unlinked since, and an AdapterError
// if it belongs to another user than owner.
func (s *Store) ownedAccount(ctx context.Context, a *storage.Account, owner *storage.User) (storage.Account, error) {
	if s.AccountLists == nil {
		return *a, nil
	}
	row, err := guarded.CallFor(ctx, s.bounds, "GetAccount", func(found storage.Account) bool { return isAccount(&found, a) && found.UserID == owner.ID },
		func(ctx context.Context) (storage.Account, error) {
			return s.AccountLists.GetAccount(ctx, a.Provider, a.ProviderAccountID)
		})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return row, storage.ErrConflict
	case errors.Is(err, errors.ErrUnsupported):
		return *a, nil
	}
	return row, err
}

func isAccount(a, b *storage.Account) bool {
	return a.Provider == b.Provider && a.ProviderAccountID == b.ProviderAccountID
}

// updateUser changes fields of a user, drops the user from the session cache, and returns
// the user as stored, or ErrNotFound. An empty change only reads and, in a transaction,
// locks.
func (s *Store) updateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	if c != (storage.UserChange{}) {
		defer s.SessionCache.dropUser(id)()
	}
	return guarded.CallFor(ctx, s.bounds, "UpdateUser", isUser(id), func(ctx context.Context) (storage.User, error) { return s.adapter.UpdateUser(ctx, id, c) })
}

// LockUser returns a user, or ErrNotFound. If s is bound to a transaction, a concurrent
// transaction that locks the same user waits until this one ends. Without transactions
// LockUser locks nothing.
func (s *Store) LockUser(ctx context.Context, id string) (storage.User, error) {
	if s.Tx == nil {
		return s.User(ctx, id)
	}
	return s.updateUser(ctx, id, storage.UserChange{})
}

func (s *Store) linkAccount(ctx context.Context, a storage.Account) error {
	return guarded.Do(ctx, s.bounds, "LinkAccount", func(ctx context.Context) error { return s.adapter.LinkAccount(ctx, a) })
}

// errNoTx reports a transaction that has succeeded without doing anything.
var errNoTx = failure.Wrap(fault.ErrAdapter, failure.Of(fault.StoreAnswer, errors.New("InTx has not called its function")))

// InTx runs f in one transaction if the store has transactions, and otherwise without. The
// transaction has the time of one call: calls in f must use the context that f is given. An
// error of f rolls everything back and is returned as it is. A committedError comes from
// afterCommit, and undoes nothing. The adapter may call f again. So f changes other things
// only by afterCommit, or by calls that may be repeated, such as the end of a session.
func (s *Store) InTx(ctx context.Context, f func(context.Context, *Store) error) error {
	if s.Tx == nil {
		return f(ctx, s)
	}
	inner := errNoTx
	changed := s.SessionCache.within()
	var late []lateCall
	err := guarded.Do(ctx, s.bounds, "InTx", func(ctx context.Context) error {
		return s.Tx.InTx(ctx, func(a storage.Adapter) error {
			bound := NewStore(a, s.bounds)
			bound.Apart, bound.SessionCache, late = s.Apart, changed, nil
			if s.Apart != nil {
				bound.late = &late
			}
			inner = f(ctx, bound)
			return inner
		})
	})
	changed.end()
	if err == nil && inner == nil {
		return callLate(ctx, s, late)
	}
	if err == nil || (inner != nil && inner != errNoTx) {
		return inner
	}
	return err
}

// afterCommit calls f with a store that is bound to no transaction, after the one that s
// is bound to is committed. It calls f at once if sessions take part in the transaction,
// or if there is none. A transaction that is rolled back drops f. An error of f undoes
// nothing.
func afterCommit(ctx context.Context, s *Store, f lateCall) error {
	if s.late == nil {
		return f(ctx, s)
	}
	*s.late = append(*s.late, f)
	return nil
}

// callLate makes the calls that waited for a commit, and stops at the first error. That
// error is a committedError. The end of the client's connection does not stop the calls.
func callLate(ctx context.Context, s *Store, calls []lateCall) error {
	for _, f := range calls {
		if err := f(context.WithoutCancel(ctx), s); err != nil {
			return &committedError{err}
		}
	}
	return nil
}

// committedError reports a call that failed after the commit of its transaction.
type committedError struct{ err error }

func (e *committedError) Error() string { return e.err.Error() }
func (e *committedError) Unwrap() error { return e.err }

// isRolledBack reports whether a transaction that returned err has changed nothing.
func isRolledBack(s *Store, err error) bool {
	_, isCommitted := errors.AsType[*committedError](err)
	return err != nil && s.Tx != nil && !isCommitted
}

// The methods below need an ability. A list of what the store lacks is empty. The
// caller of any other method has asked Has before.

// CreateVerificationToken stores the token of a magic link.
func (s *Store) CreateVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	return guarded.Do(ctx, s.bounds, "CreateVerificationToken", func(ctx context.Context) error {
		return s.verification.CreateVerificationToken(ctx, t)
	})
}

// UseVerificationToken returns the token of a magic link and deletes it in one
// atomic step. It returns ErrNotFound for an unknown token.
func (s *Store) UseVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	return guarded.CallFor(ctx, s.bounds, "UseVerificationToken", func(t storage.VerificationToken) bool { return t.Identifier == identifier && t.Token == token },
		func(ctx context.Context) (storage.VerificationToken, error) {
			return s.verification.UseVerificationToken(ctx, identifier, token)
		})
}

// ListAccounts returns the accounts of a user, or none if the adapter cannot list them.
func (s *Store) ListAccounts(ctx context.Context, userID string) ([]storage.Account, error) {
	if s.AccountLists == nil {
		return nil, nil
	}
	return guarded.CallForList(ctx, s.bounds, "ListAccounts", func(a storage.Account) bool { return a.UserID == userID },
		func(ctx context.Context) ([]storage.Account, error) { return s.AccountLists.ListAccounts(ctx, userID) })
}

// unlinkAccount deletes an account and returns it, or ErrNotFound. The adapter lists
// accounts.
func (s *Store) unlinkAccount(ctx context.Context, provider, id string) (storage.Account, error) {
	return guarded.CallFor(ctx, s.bounds, "UnlinkAccount", func(a storage.Account) bool { return a.Provider == provider && a.ProviderAccountID == id },
		func(ctx context.Context) (storage.Account, error) {
			return s.AccountLists.UnlinkAccount(ctx, provider, id)
		})
}

// ListAuthenticators returns the passkeys of a user, including any without an account. It
// returns none if the adapter keeps no passkeys.
func (s *Store) ListAuthenticators(ctx context.Context, userID string) ([]storage.Authenticator, error) {
	if s.authenticators == nil {
		return nil, nil
	}
	return guarded.CallForList(ctx, s.bounds, "ListAuthenticators", func(k storage.Authenticator) bool { return k.UserID == userID },
		func(ctx context.Context) ([]storage.Authenticator, error) {
			return s.authenticators.ListAuthenticators(ctx, userID)
		})
}

// hasCredential returns a function that reports whether a passkey has the credential id.
func hasCredential(id []byte) func(storage.Authenticator) bool {
	return func(k storage.Authenticator) bool { return bytes.Equal(k.CredentialID, id) && k.UserID != "" }
}

// Authenticator returns the passkey with the credential id, or ErrNotFound.
func (s *Store) Authenticator(ctx context.Context, id []byte) (storage.Authenticator, error) {
	return guarded.CallFor(ctx, s.bounds, "GetAuthenticator", hasCredential(id), func(ctx context.Context) (storage.Authenticator, error) {
		return s.authenticators.GetAuthenticator(ctx, id)
	})
}

func (s *Store) createAuthenticator(ctx context.Context, k storage.Authenticator) error {
	return guarded.Do(ctx, s.bounds, "CreateAuthenticator", func(ctx context.Context) error { return s.authenticators.CreateAuthenticator(ctx, k) })
}

// RaiseCounter raises the signature counter of a passkey and returns the passkey.
// It returns ErrConflict if the stored counter is not lower, unless both are zero.
func (s *Store) RaiseCounter(ctx context.Context, id []byte, to uint32) (storage.Authenticator, error) {
	return guarded.CallFor(ctx, s.bounds, "UpdateAuthenticatorCounter", hasCredential(id), func(ctx context.Context) (storage.Authenticator, error) {
		return s.authenticators.UpdateAuthenticatorCounter(ctx, id, to)
	})
}

// UpdateAuthenticator makes the changes c to the passkey with the credential id and
// returns the passkey as stored, or ErrNotFound.
func (s *Store) UpdateAuthenticator(ctx context.Context, id []byte, c storage.AuthenticatorChange) (storage.Authenticator, error) {
	return guarded.CallFor(ctx, s.bounds, "UpdateAuthenticator", hasCredential(id), func(ctx context.Context) (storage.Authenticator, error) {
		return s.authenticators.UpdateAuthenticator(ctx, id, c)
	})
}

func (s *Store) deleteAuthenticator(ctx context.Context, id []byte) error {
	return guarded.Do(ctx, s.bounds, "DeleteAuthenticator", func(ctx context.Context) error {
		return s.authenticators.DeleteAuthenticator(ctx, id)
	})
}

func (s *Store) deleteUser(ctx context.Context, id string) (storage.User, error) {
	defer s.SessionCache.dropUser(id)()
	return guarded.CallFor(ctx, s.bounds, "DeleteUser", isUser(id), func(ctx context.Context) (storage.User, error) { return s.deletion.DeleteUser(ctx, id) })
}

// beginSignUp returns the user id on record for the sign-up of an account. If there is
// none, it records and returns userID.
func (s *Store) beginSignUp(ctx context.Context, a *storage.Account, userID string) (string, error) {
	return guarded.CallFor(ctx, s.bounds, "BeginSignUp", func(id string) bool { return id != "" },
		func(ctx context.Context) (string, error) {
			return s.SignUps.BeginSignUp(ctx, a.Provider, a.ProviderAccountID, userID)
		})
}

// endSignUp deletes the record of a sign-up of this account.
func (s *Store) endSignUp(ctx context.Context, a *storage.Account) error {
	return failure.Ignoring(guarded.Do(ctx, s.bounds, "EndSignUp", func(ctx context.Context) error {
		return s.SignUps.EndSignUp(ctx, a.Provider, a.ProviderAccountID)
	}), storage.ErrNotFound)
}

// SessionsInTx reports whether sessions take part in the adapter's
// transactions.
func (s *Store) SessionsInTx() bool { return s.Tx != nil && s.Apart == nil }

// remembersSignUps reports whether an interrupted sign-up can be finished by
// the same account. Stores with transactions need no record.
func (s *Store) remembersSignUps() bool { return s.SignUps != nil && s.Tx == nil }

// Require returns ErrMissingAdapterMethods, with the feature and the ability, if the
// adapter lacks the ability. For sessions and their lists a store apart counts as well.
func (s *Store) Require(feature string, a Ability) error {
	if s.Has(a) || s.Apart != nil && (a == AbilitySessions || a == AbilitySessionLists) {
		return nil
	}
	return failure.Wrap(fault.ErrMissingAdapterMethods, fmt.Errorf("%s needs an Adapter that is a %s; %T is not", feature, a, s.adapter))
}
