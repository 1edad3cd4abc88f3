package users

import (
	"context"
	"net/http"
	"time"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/internal/veil"
	"github.com/latchkeyhq/latchkey/storage"
)

// TokenOptions say what a caller needs of an access token. The zero value asks for a
// token that lasts five seconds, if there is one.
type TokenOptions struct {
	_           [0]func() // not comparable; literals name their fields
	veil.Hidden           // prints and encodes as "[redacted]"; literals leave it out

	Scopes   []string // that the token must have; a missing scope is ErrScopeMissing
	Rejected string   // an access token that an API has refused: do not return this one
	// MinLife is how long the token should last. 0 or less: 5 s, or less if it cannot be
	// renewed for now. A stored token that ends sooner is renewed, and is ErrReconnect
	// without a refresh token. A new token is returned however long it lasts: a MinLife
	// above the provider's lifetime renews at every call.
	MinLife time.Duration
}

// AccessToken returns a usable access token of an account and renews it if necessary.
// An empty ProviderAccountID stands for the only account of the user at the provider;
// if there are several, the error is ErrAmbiguousAccount. RefreshToken and IDToken of
// the result are empty. Callers in one process share one request to the provider. Several
// processes share it if the Adapter is a [storage.LeaseStore], as those of Latchkey are,
// or latchkey.Runtime.Leases is set.
//
// A user without an account at the provider is ErrNotFound, and a suspended user
// ErrAccessDenied.
//
// ErrReconnect means that the account has no usable tokens: send the user through
// latchkey.Auth.Link, or let the user sign in with the provider again. ErrScopeMissing
// names scopes that were not granted. ErrRefresh is a passing failure: its cause is a
// latchkey.TokenError with RetryAfter. ErrTokenKey means that a key is missing in
// latchkey.Config.Tokens.
//
// AccessToken needs an Adapter that is a [storage.TokenAdapter] and a
// [storage.AccountAdapter]. A provider that is not configured, or is no OAuth provider,
// is ErrInvalidProvider.
func (u *Users) AccessToken(ctx context.Context, of AccountRef, o TokenOptions) (storage.Tokens, error) {
	v, err := u.vault(ctx, of, "Users.AccessToken")
	if err != nil {
		return storage.Tokens{}, err
	}
	return v.AccessToken(ctx, vault.Ref{UserID: of.UserID, Provider: of.Provider, AccountID: of.ProviderAccountID},
		vault.Options{Scopes: o.Scopes, Rejected: o.Rejected, MinLife: o.MinLife})
}

// ProviderClient returns a client that sends requests to the API of a provider with the
// account's access token, over https only, or over http to loopback hosts. If the API
// refuses a token with status 401, the client renews it and repeats the request once, if
// the body can be sent again. If there is no newer token, the request returns that
// response, and no error. After a redirect to another host, or from https to http,
// requests carry no token. The client keeps a token for a minute at most. If AccessToken
// fails before the first try, its error is the error of the request.
//
// The client uses only the values of ctx, such as the tenant: when ctx ends, no request
// ends. Each request has a context of its own. It ignores o.Rejected. The client is safe
// for concurrent use, may be kept, and needs no closing.
//
// ProviderClient finds the configuration once, when it is called. If that fails, as on a
// site of latchkey.NewTenants while Tenants.Config fails, every request of the client
// returns that error: make another client.
func (u *Users) ProviderClient(ctx context.Context, of AccountRef, o TokenOptions) *http.Client {
	t := &vault.Transport{Base: http.DefaultTransport, Now: time.Now}
	v, fault := u.backend.Vault(ctx)
	if fault == nil {
		t.Base, t.Now = v.HTTP, v.Now
	}
	t.Token = func(asked context.Context, rejected string) (storage.Tokens, error) {
		if fault != nil {
			return storage.Tokens{}, fault
		}
		if _, err := u.vault(within{asked, ctx}, of, "Users.ProviderClient"); err != nil {
			return storage.Tokens{}, err
		}
		return v.AccessToken(asked, vault.Ref{UserID: of.UserID, Provider: of.Provider, AccountID: of.ProviderAccountID},
			vault.Options{Scopes: o.Scopes, Rejected: rejected, MinLife: o.MinLife})
	}
	return &http.Client{Transport: t}
}

// within is the context of a request that a client sends, with the values of the context
// that the client was made in: these name the tenant.
type within struct {
	context.Context
	made context.Context
}

// Value returns a value of the context in which the client was made.
func (c within) Value(key any) any { return c.made.Value(key) }

// RevokeTokens forgets the tokens of an account and revokes them at the provider, in
// the background; if KeepAtProvider of latchkey.Config.Tokens is set, it only forgets
// them. The account and its sessions stay, and a sign-in under way stores no tokens.
// RevokeTokens returns ErrAmbiguousAccount as AccessToken does, or ErrRefresh if other
// calls kept changing the tokens: try again. An account without tokens is no error. If
// the provider is not configured any more, or cannot revoke tokens, RevokeTokens only
// forgets them. It needs the Adapter that AccessToken needs.
func (u *Users) RevokeTokens(ctx context.Context, of AccountRef) error {
	w, err := u.open(ctx, of.UserID, "Users.RevokeTokens", directory.AbilityAccountLists, directory.AbilityTokens)
	if err != nil {
		return err
	}
	v, err := u.backend.Vault(ctx)
	if err != nil {
		return err
	}
	row, err := v.Find(ctx, vault.Ref{UserID: of.UserID, Provider: of.Provider, AccountID: of.ProviderAccountID})
	if err != nil {
		return err
	}
	// These are two writes, since the first may be to a store apart. A call that ends between
	// them returns an error, and only stops sign-ins under way from storing their tokens. A
	// repeated call does the rest.
	if err := w.Revocations.ForgetTokens(ctx, nil, row.Provider, row.ProviderAccountID); err != nil {
		return err
	}
	return v.Revoke(ctx, row)
}

// vault opens the vault for work on an account. It returns ErrMissingAdapterMethods
// without the abilities for accounts and tokens, and ErrAccessDenied for a suspended
// user. It does not look whether the user or the account exists. operation names the
// caller in errors.
func (u *Users) vault(ctx context.Context, of AccountRef, operation string) (*vault.Vault, error) {
	w, err := u.open(ctx, of.UserID, operation, directory.AbilityAccountLists, directory.AbilityTokens)
	if err == nil {
		err = directory.CheckSuspension(ctx, w.Directory, w.Store, of.UserID)
	}
	if err != nil {
		return nil, err
	}
	return u.backend.Vault(ctx)
}
