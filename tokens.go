package latchkey

import (
	"context"
	"net/http"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/users"
)

// TokenOptions say what a caller needs of an access token: Scopes, Rejected and
// MinLife. Its fields are documented in package users.
type TokenOptions = users.TokenOptions

// ErrAmbiguousAccount reports that a user has several accounts at a provider, and the
// call named none of them.
var ErrAmbiguousAccount = users.ErrAmbiguousAccount

// AccessToken returns a usable access token of the signed-in user at a provider and
// renews it if necessary: Users.AccessToken, which documents the errors, for the user of
// the request. Without a session it returns ErrNoSession. It reads the session, and so
// may set a cookie: call it before writing the body.
func (a *Auth) AccessToken(w http.ResponseWriter, r *http.Request, provider string, o TokenOptions) (Tokens, error) {
	session, err := a.ReadSession(w, r)
	if err != nil {
		return Tokens{}, err
	}
	s, err := a.setupFor(r.Context(), requestHead(r))
	return accessToken(r.Context(), s, session, provider, o, err)
}

// AccessToken does what [Auth.AccessToken] does. The cookies belong into the response.
func (c *Core) AccessToken(ctx context.Context, r *Request, provider string, o TokenOptions) (Tokens, []*http.Cookie, error) {
	session, cookies, err := c.ReadSession(ctx, r)
	if err != nil {
		return Tokens{}, cookies, err
	}
	s, err := c.auth.setupFor(ctx, r)
	t, err := accessToken(ctx, s, session, provider, o, err)
	return t, cookies, err
}

// accessToken returns an access token of the user of a session. fault is why the
// configuration cannot be used; nil: it can.
func accessToken(ctx context.Context, s *setup, session *Session, provider string, o TokenOptions, fault error) (Tokens, error) {
	if fault != nil {
		return Tokens{}, failure.Public(fault)
	}
	if session.Actor != nil {
		return Tokens{}, failure.Public(directory.ErrActing)
	}
	if err := hasVault(s); err != nil {
		return Tokens{}, err
	}
	return s.vault.AccessToken(ctx, vault.Ref{UserID: session.UserID, Provider: provider}, vault.Options{Scopes: o.Scopes, Rejected: o.Rejected, MinLife: o.MinLife})
}
