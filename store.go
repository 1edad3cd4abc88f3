package latchkey

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/storage"
)

// store is the adapter as the library uses it: every call has a deadline, every
// failure is an AdapterError that says which operation failed, and an adapter
// that panics, or answers nothing without an error, has failed.
type store struct {
	adapter storage.Adapter
	bounds  *guarded.Bounds
	abilities

	apart   *sessionsApart // nil: the adapter keeps the sessions
	beliefs *beliefs       // nil: it is asked every time
}

func newStore(a storage.Adapter, bounds *guarded.Bounds) *store {
	return &store{adapter: a, bounds: bounds, abilities: abilitiesOf(a)}
}

func isUser(id string) func(User) bool {
	return func(u User) bool { return id != "" && u.ID == id }
}

// hasEmail compares as stores may, some of which find ASCII in any case.
func hasEmail(email string) func(User) bool {
	return func(u User) bool { return u.ID != "" && (u.Email == email || mailbox.EqualASCII(u.Email, email)) }
}

func (s *store) createUser(ctx context.Context, u User) (User, error) {
	return guarded.CallFor(ctx, s.bounds, "CreateUser", hasEmail(u.Email), func(ctx context.Context) (User, error) {
		return s.adapter.CreateUser(ctx, u)
	})
}

func (s *store) user(ctx context.Context, id string) (User, error) {
	return guarded.CallFor(ctx, s.bounds, "GetUser", isUser(id), func(ctx context.Context) (User, error) { return s.adapter.GetUser(ctx, id) })
}

func (s *store) userByEmail(ctx context.Context, email string) (User, error) {
	if email == "" {
		return User{}, ErrNotFound
	}
	return guarded.CallFor(ctx, s.bounds, "GetUserByEmail", hasEmail(email), func(ctx context.Context) (User, error) { return s.adapter.GetUserByEmail(ctx, email) })
}

func (s *store) userByAccount(ctx context.Context, a *Account) (User, error) {
	return guarded.CallFor(ctx, s.bounds, "GetUserByAccount", func(u User) bool { return u.ID != "" }, func(ctx context.Context) (User, error) {
		return s.adapter.GetUserByAccount(ctx, a.Provider, a.ProviderAccountID)
	})
}

// ownedBy makes sure that an account belongs to a user, as far as the store can
// say: the answer to userByAccount names no account that could be compared.
// ErrConflict: it was unlinked since.
func (s *store) ownedBy(ctx context.Context, a *Account, owner *User) error {
	if s.accountLists == nil {
		return nil
	}
	_, err := guarded.CallFor(ctx, s.bounds, "GetAccount", func(found Account) bool { return isAccount(&found, a) && found.UserID == owner.ID },
		func(ctx context.Context) (Account, error) {
			return s.accountLists.GetAccount(ctx, a.Provider, a.ProviderAccountID)
		})
	if errors.Is(err, ErrNotFound) {
		return ErrConflict
	}
	return failure.Ignoring(err, errors.ErrUnsupported)
}

func isAccount(a, b *Account) bool {
	return a.Provider == b.Provider && a.ProviderAccountID == b.ProviderAccountID
}

func (s *store) updateUser(ctx context.Context, id string, c storage.UserChange) (User, error) {
	if c != (storage.UserChange{}) {
		defer s.beliefs.dropUser(id)()
	}
	return guarded.CallFor(ctx, s.bounds, "UpdateUser", isUser(id), func(ctx context.Context) (User, error) { return s.adapter.UpdateUser(ctx, id, c) })
}

// lockUser is user, and whoever locks the same one in another transaction waits
// until this one ends. Without transactions nobody waits.
func (s *store) lockUser(ctx context.Context, id string) (User, error) {
	if s.tx == nil {
		return s.user(ctx, id)
	}
	return s.updateUser(ctx, id, storage.UserChange{})
}

func (s *store) linkAccount(ctx context.Context, a Account) error {
	return guarded.Do(ctx, s.bounds, "LinkAccount", func(ctx context.Context) error { return s.adapter.LinkAccount(ctx, a) })
}

// errNoTx: a transaction that reports success and has done nothing.
var errNoTx = failure.Wrap(ErrAdapter, errors.New("InTx has not called its function"))

// inTx runs f in one transaction where the store has them, which has as long as
// one call: calls in it must use the context that f is given. A failure of f
// undoes everything and is returned as it is.
func (s *store) inTx(ctx context.Context, f func(context.Context, *store) error) error {
	if s.tx == nil {
		return f(ctx, s)
	}
	inner := errNoTx
	changed := s.beliefs.within()
	err := guarded.Do(ctx, s.bounds, "InTx", func(ctx context.Context) error {
		return s.tx.InTx(ctx, func(a storage.Adapter) error {
			bound := newStore(a, s.bounds)
			bound.apart, bound.beliefs = s.apart, changed
			inner = f(ctx, bound)
			return inner
		})
	})
	changed.end()
	if err == nil || (inner != nil && inner != errNoTx) {
		return inner
	}
	return err
}

// What follows needs an ability. Lists of what a store lacks are empty; nothing
// else may be called without has.

func (s *store) createVerificationToken(ctx context.Context, t storage.VerificationToken) error {
	return guarded.Do(ctx, s.bounds, "CreateVerificationToken", func(ctx context.Context) error {
		return s.verification.CreateVerificationToken(ctx, t)
	})
}

func (s *store) useVerificationToken(ctx context.Context, identifier, token string) (storage.VerificationToken, error) {
	return guarded.CallFor(ctx, s.bounds, "UseVerificationToken", func(t storage.VerificationToken) bool { return t.Identifier == identifier && t.Token == token },
		func(ctx context.Context) (storage.VerificationToken, error) {
			return s.verification.UseVerificationToken(ctx, identifier, token)
		})
}

func (s *store) listAccounts(ctx context.Context, userID string) ([]Account, error) {
	if s.accountLists == nil {
		return nil, nil
	}
	return guarded.CallForList(ctx, s.bounds, "ListAccounts", func(a Account) bool { return a.UserID == userID },
		func(ctx context.Context) ([]Account, error) { return s.accountLists.ListAccounts(ctx, userID) })
}

func (s *store) unlinkAccount(ctx context.Context, provider, id string) (Account, error) {
	return guarded.CallFor(ctx, s.bounds, "UnlinkAccount", func(a Account) bool { return a.Provider == provider && a.ProviderAccountID == id },
		func(ctx context.Context) (Account, error) { return s.accountLists.UnlinkAccount(ctx, provider, id) })
}

func (s *store) listAuthenticators(ctx context.Context, userID string) ([]storage.Authenticator, error) {
	if s.authenticators == nil {
		return nil, nil
	}
	return guarded.CallForList(ctx, s.bounds, "ListAuthenticators", func(k storage.Authenticator) bool { return k.UserID == userID },
		func(ctx context.Context) ([]storage.Authenticator, error) {
			return s.authenticators.ListAuthenticators(ctx, userID)
		})
}

func hasCredential(id []byte) func(storage.Authenticator) bool {
	return func(k storage.Authenticator) bool { return bytes.Equal(k.CredentialID, id) && k.UserID != "" }
}

func (s *store) authenticator(ctx context.Context, id []byte) (storage.Authenticator, error) {
	return guarded.CallFor(ctx, s.bounds, "GetAuthenticator", hasCredential(id), func(ctx context.Context) (storage.Authenticator, error) {
		return s.authenticators.GetAuthenticator(ctx, id)
	})
}

func (s *store) createAuthenticator(ctx context.Context, k storage.Authenticator) error {
	return guarded.Do(ctx, s.bounds, "CreateAuthenticator", func(ctx context.Context) error { return s.authenticators.CreateAuthenticator(ctx, k) })
}

func (s *store) raiseCounter(ctx context.Context, id []byte, to uint32) (storage.Authenticator, error) {
	return guarded.CallFor(ctx, s.bounds, "UpdateAuthenticatorCounter", hasCredential(id), func(ctx context.Context) (storage.Authenticator, error) {
		return s.authenticators.UpdateAuthenticatorCounter(ctx, id, to)
	})
}

func (s *store) updateAuthenticator(ctx context.Context, id []byte, c storage.AuthenticatorChange) (storage.Authenticator, error) {
	return guarded.CallFor(ctx, s.bounds, "UpdateAuthenticator", hasCredential(id), func(ctx context.Context) (storage.Authenticator, error) {
		return s.authenticators.UpdateAuthenticator(ctx, id, c)
	})
}

func (s *store) deleteAuthenticator(ctx context.Context, id []byte) error {
	return guarded.Do(ctx, s.bounds, "DeleteAuthenticator", func(ctx context.Context) error {
		return s.authenticators.DeleteAuthenticator(ctx, id)
	})
}

func (s *store) deleteUser(ctx context.Context, id string) (User, error) {
	defer s.beliefs.dropUser(id)()
	return guarded.CallFor(ctx, s.bounds, "DeleteUser", isUser(id), func(ctx context.Context) (User, error) { return s.deletion.DeleteUser(ctx, id) })
}

func (s *store) beginSignUp(ctx context.Context, a *Account, userID string) (string, error) {
	return guarded.CallFor(ctx, s.bounds, "BeginSignUp", func(id string) bool { return id != "" },
		func(ctx context.Context) (string, error) {
			return s.signUps.BeginSignUp(ctx, a.Provider, a.ProviderAccountID, userID)
		})
}

// endSignUp forgets that a sign-up of this account was under way.
func (s *store) endSignUp(ctx context.Context, a *Account) error {
	return failure.Ignoring(guarded.Do(ctx, s.bounds, "EndSignUp", func(ctx context.Context) error {
		return s.signUps.EndSignUp(ctx, a.Provider, a.ProviderAccountID)
	}), ErrNotFound)
}

// isTogether: what a transaction undoes are sessions too.
func (s *store) isTogether() bool { return s.tx != nil && s.apart == nil }

// remembersSignUps: without transactions, a sign-up that is cut short can be
// finished by the same account.
func (s *store) remembersSignUps() bool { return s.signUps != nil && s.tx == nil }

// require is an error that names who misses an ability, or nil.
func (s *store) require(who string, a ability) error {
	if s.has(a) || s.apart != nil && (a == abilitySessions || a == abilitySessionLists) {
		return nil
	}
	return failure.Wrap(ErrMissingAdapterMethods, fmt.Errorf("%s needs an Adapter that is a %s; %T is not", who, a, s.adapter))
}
