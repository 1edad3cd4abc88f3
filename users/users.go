// Package users has what an application can do with users, their accounts and
// their sessions without a request. latchkey.Auth.Users returns a [Users].
package users

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/internal/veil"
	"github.com/latchkeyhq/latchkey/storage"
)

// Users reads and changes users, their accounts, passkeys and sessions: for settings
// pages, administration and nightly jobs. It sets no cookie. It asks for no permission:
// the caller checks who may do what. On a site with tenants the context names the
// tenant: see latchkey.ContextWithTenant. It is safe for concurrent use.
//
// Every method needs latchkey.Config.Adapter. The methods do not repeat these errors:
//
//   - latchkey.ErrMissingAdapter: there is no Adapter.
//   - latchkey.ErrMissingAdapterMethods: the Adapter is not an interface that the method
//     needs. Where the method says so, the error is errors.ErrUnsupported as well.
//     latchkey.SessionConfig.Store stands in for a [storage.SessionListAdapter].
//   - latchkey.ErrInvalidConfig: a field of the configuration that the method needs is not
//     set.
//   - latchkey.ErrAdapter: the store failed.
//   - latchkey.ErrAudit: latchkey.Audit.Required is set, and the change cannot be recorded.
//     It was not made; an end of sessions is made all the same.
//   - An error that is none of these: the user id is empty.
//
// A user, account, passkey, factor, browser or session that does not exist, or belongs
// to another user, is latchkey.ErrNotFound. Methods that return a list return an empty
// list for an unknown user.
//
// A method mails the user only where its comment says so. The notices of the account page,
// such as that an app was added or recovery codes were made, are then the caller's.
//
// A method that ends all sessions of a user also voids links, sign-ins under way, and known
// and remembered browsers. "Except the one of ctx" spares the stored session of the
// request that ctx belongs to: the context of a request behind a guard, or behind
// latchkey.Auth.LoadSession if the handler has called latchkey.SessionFrom before.
type Users struct {
	veil.Hidden // prints and encodes as "[redacted]"

	backend Backend
}

// Backend is not for applications: package latchkey implements it. It opens the directory
// that the calls of [Users] work on.
type Backend interface {
	// Open returns the directory of the tenant that ctx names. A site without an
	// Adapter is ErrMissingAdapter.
	Open(ctx context.Context) (*directory.Work, error)
	// Passwords returns what passwords need. With mails, a site whose URL is not known
	// is ErrInvalidConfig.
	Passwords(ctx context.Context, mails bool) (*Keeper, error)
	// SignInLink mails a user a link that signs the user in. It needs an Email provider.
	SignInLink(ctx context.Context, u *storage.User, redirectTo string) error
	// Moves returns what changes of addresses need. A site without them, and one whose URL
	// is not known, is ErrInvalidConfig.
	Moves(ctx context.Context) (*Keeper, error)
	// Mails reports which mails the site can send without a request: sign-in links, and
	// mails about passwords.
	Mails(ctx context.Context) (links, resets bool)
	// Inviter returns what invitations need. A site without them is ErrInvalidConfig.
	Inviter(ctx context.Context) (*Inviter, error)
	// Vault returns what keeps the tokens of the tenant that ctx names. The caller has
	// asked for the abilities that it needs.
	Vault(ctx context.Context) (*vault.Vault, error)
}

// New returns the users of the site that b opens. It is not for applications, which call
// latchkey.Auth.Users.
func New(b Backend) *Users { return &Users{backend: b} }

// AccountRef names one account of one user.
type AccountRef struct {
	UserID   string
	Provider string // the provider's id, such as "github"
	// ProviderAccountID is the user's id at that provider. In AccessToken, ProviderClient
	// and RevokeTokens an empty one stands for the user's only account there. In Unlink it
	// names no account: the error is ErrNotFound.
	ProviderAccountID string
}

var (
	errNoUserID      = errors.New("latchkey: the user id is empty; Session.UserID has the id of the signed-in user")
	errNothingToKeep = errors.New("latchkey: the id of the session to keep is empty; Users.EndSessions ends all of them")
)

// ErrAmbiguousAccount reports that a user has several accounts at a provider, and the
// call named none of them.
var ErrAmbiguousAccount = fault.ErrAmbiguousAccount

// open opens the directory for work on a user. It returns errNoUserID for an empty
// userID, and ErrMissingAdapterMethods, with operation in its text, if the Adapter
// lacks one of the abilities in needs. It does not look whether the user exists.
func (u *Users) open(ctx context.Context, userID, operation string, needs ...directory.Ability) (*directory.Work, error) {
	if userID == "" {
		return nil, errNoUserID
	}
	w, err := u.backend.Open(ctx)
	if err != nil {
		return nil, err
	}
	for _, what := range needs {
		if err := w.Store.Require(operation, what); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Get returns the user with the id userID.
func (u *Users) Get(ctx context.Context, userID string) (storage.User, error) {
	w, err := u.open(ctx, userID, "Users.Get")
	if err != nil {
		return storage.User{}, err
	}
	return w.Store.User(ctx, userID)
}

// Accounts lists the provider accounts of a user. They have no access, refresh and ID
// token if the Adapter is a [storage.TokenAdapter]: call AccessToken. It needs an Adapter
// that is a [storage.AccountAdapter].
func (u *Users) Accounts(ctx context.Context, userID string) ([]storage.Account, error) {
	w, err := u.open(ctx, userID, "Users.Accounts", directory.AbilityAccountLists)
	if err != nil {
		return nil, err
	}
	list, err := w.Store.ListAccounts(ctx, userID)
	return directory.WithoutTokens(w.Directory, list), err
}

// Unlink removes an account from its user. The account of a passkey goes together with
// the passkey. Unlink returns ErrLastAccount if the user could not sign in any more
// without the account. It ends the stored sessions of the user that this account or
// another one of the same provider has opened, except the one of ctx: see [Users]. JWT
// sessions, and stored ones without a known provider, go on: call EndSessions to end
// them. Unlink also revokes the tokens of the account at the provider, in the
// background, unless KeepAtProvider of latchkey.Config.Tokens is set. It needs an
// Adapter that is a [storage.AccountAdapter].
func (u *Users) Unlink(ctx context.Context, account AccountRef) error {
	w, err := u.open(ctx, account.UserID, "Users.Unlink", directory.AbilityAccountLists)
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return w.Unlink(ctx, w.Events, account.UserID, account.Provider, account.ProviderAccountID, w.SessionID)
}

// Passkeys lists the passkeys with which a user can sign in. It needs an Adapter that
// is a [storage.AuthenticatorAdapter].
func (u *Users) Passkeys(ctx context.Context, userID string) ([]storage.Authenticator, error) {
	w, err := u.open(ctx, userID, "Users.Passkeys", directory.AbilityAuthenticators)
	if err != nil {
		return nil, err
	}
	return w.Passkeys(ctx, userID)
}

// RenamePasskey names a passkey of a user. It keeps the first 64 visible
// characters of name; an empty name removes the name. It needs an Adapter that is
// a [storage.AuthenticatorAdapter].
func (u *Users) RenamePasskey(ctx context.Context, userID string, credentialID []byte, name string) error {
	w, err := u.open(ctx, userID, "Users.RenamePasskey", directory.AbilityAuthenticators)
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return w.RenamePasskey(ctx, w.Events, userID, credentialID, name)
}

// RemovePasskey removes a passkey from a user, together with its account. It returns
// ErrLastAccount if the user could not sign in any more without the passkey. It ends
// sessions as Unlink does: all that a passkey of the user has opened, except the one of
// ctx. It needs an Adapter that is a [storage.AuthenticatorAdapter] and a
// [storage.AccountAdapter].
func (u *Users) RemovePasskey(ctx context.Context, userID string, credentialID []byte) error {
	w, err := u.open(ctx, userID, "Users.RemovePasskey", directory.AbilityAuthenticators, directory.AbilityAccountLists)
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return w.RemovePasskey(ctx, w.Events, userID, credentialID, w.SessionID)
}

// Sessions lists the stored sessions of a user: their devices. The order is that of the
// Adapter, and Token is empty. A session that has expired may still be listed: look at
// Expires. It needs an Adapter that is a [storage.SessionListAdapter].
func (u *Users) Sessions(ctx context.Context, userID string) ([]storage.StoredSession, error) {
	w, err := u.open(ctx, userID, "Users.Sessions", directory.AbilitySessionLists)
	if err != nil {
		return nil, err
	}
	return w.Store.ListSessions(ctx, userID)
}

// EndSession signs a user out on one device, named by [storage.StoredSession].ID.
// It needs an Adapter that is a [storage.SessionListAdapter].
func (u *Users) EndSession(ctx context.Context, userID, sessionID string) error {
	w, err := u.open(ctx, userID, "Users.EndSession")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return w.EndSession(ctx, w.Events, userID, sessionID)
}

// EndSessions signs a user out everywhere: it ends all sessions of the user, and every
// sign-in that is under way. A password that was just checked, a link that was sent and
// a flow at a provider from before are void. The browsers of the user are known and
// remembered no more, and a change of the address with Recover (see [EmailChange]) is
// stopped. An unknown user is no error.
//
// Because the clocks of several processes differ, a sign-in that begins at another
// process within the next 15 seconds may be refused, and the user has to try again. JWT
// sessions need latchkey.SessionConfig.Revocations, or an Adapter that is a
// [storage.RevocationStore]; without both EndSessions returns ErrUnsupportedStrategy.
// Stored sessions need an Adapter that is a [storage.SessionListAdapter].
func (u *Users) EndSessions(ctx context.Context, userID string) error {
	return u.endAllBut(ctx, userID, "")
}

// EndOtherSessions does what EndSessions does, but spares the stored session with the
// [storage.StoredSession].ID keep, such as latchkey.Session.ID of the request. An empty
// keep is an error, and one that names no session of the user spares none. With
// JWTSessions all sessions end whatever keep is, that of the caller included. It needs
// what EndSessions needs.
func (u *Users) EndOtherSessions(ctx context.Context, userID, keep string) error {
	if userID != "" && keep == "" {
		return errNothingToKeep
	}
	return u.endAllBut(ctx, userID, keep)
}

// endAllBut does what EndSessions does, except for the stored session with the id keep.
// An empty keep spares none.
func (u *Users) endAllBut(ctx context.Context, userID, keep string) error {
	w, err := u.open(ctx, userID, "Users.EndSessions")
	if err != nil {
		return err
	}
	if err := w.CanEndSessions("Users.EndSessions"); err != nil {
		return err
	}
	defer w.Tell(ctx)
	return w.EndSessions(ctx, w.Events, userID, keep)
}

// Delete removes a user with all that the Adapter keeps by the user's id, and revokes
// provider tokens as Unlink does. It returns ErrSessionsNotEnded if the user is
// deleted, but sessions may go on until they expire. JWT sessions go on if there is
// neither a latchkey.SessionConfig.Revocations nor an Adapter that is a
// [storage.RevocationStore]. If another error stands beside it, that store failed: call
// Delete again. Delete needs an Adapter that is a [storage.UserDeletionAdapter]. See
// Erase for requests to erase personal data.
func (u *Users) Delete(ctx context.Context, userID string) error {
	w, err := u.open(ctx, userID, "Users.Delete")
	if err != nil {
		return err
	}
	defer w.Tell(ctx)
	return w.DeleteUser(ctx, w.Events, userID)
}
