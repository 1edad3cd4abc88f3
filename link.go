package latchkey

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/vault"
)

// LinkOptions says how [Auth.Link] goes on. Scopes are wanted beside those of the provider's
// configuration and those that the user has granted to the account, or to the only one there.
type LinkOptions struct {
	SignInOptions

	// ProviderAccountID names the account that the user has to come back with, as in
	// [Account]. With another account the callback fails with ErrOAuthAccountNotLinked. Set it
	// when a linked account needs more scopes. Empty: any account that is not another user's.
	ProviderAccountID string
}

// Link sends the signed-in user to a provider, to link an account there or to grant it
// more scopes. It answers the request as [Auth.SignIn] does, under the same rules against
// forms of other sites.
//
// Linking creates no user and signs no other user in. If the session has ended when the
// browser comes back, the callback fails with ErrAccessDenied. If the account is another
// user's, the callback fails with ErrOAuthAccountNotLinked. If the user refuses a scope,
// the browser comes back all the same: [Auth.AccessToken] says what is missing.
//
// On a site with [AccountPage].Enabled, or Hardened, a new account is linked only if the user
// has signed in or proven their identity within [Factors].Recent. On any site, a new account
// of a user with a second factor takes a proof of that factor within Recent. More scopes take
// no proof. Link sends the user to the provider in any case. If the proof is too old, the
// callback links nothing and asks for another. [Auth.RequireRecent] in front asks before.
//
// Link returns ErrNoSession if no user is signed in, or if the Adapter does not have the
// user any more. Without Config.Adapter it returns ErrMissingAdapter, and for an id that
// is not that of an [OAuth] provider ErrInvalidProvider. Other errors are those of
// [Auth.SignIn]. With an error it writes nothing to w.
func (a *Auth) Link(w http.ResponseWriter, r *http.Request, provider string, o LinkOptions) error {
	res, err := a.Core().Link(r.Context(), requestHead(r), provider, o)
	return sendTo(w, res, err)
}

// LinkURL does what [Auth.Link] does, without the redirect: it sets the cookies on w and
// returns the URL that the browser has to open.
func (a *Auth) LinkURL(w http.ResponseWriter, r *http.Request, provider string, o LinkOptions) (string, error) {
	res, err := a.Core().Link(r.Context(), requestHead(r), provider, o)
	return urlFor(w, res, err)
}

// Link does what [Auth.Link] does, and returns the response, with its cookies, for the
// caller to send. The URL that the browser has to open is Response.Redirect.
func (c *Core) Link(ctx context.Context, r *Request, provider string, o LinkOptions) (*Response, error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return nil, err
	}
	if o.Scopes, err = scopesToAsk(ctx, x.setup, &x.visit, provider, &o); err != nil {
		if errors.Is(err, ErrNoSession) {
			return nil, err
		}
		return nil, fail(ctx, x, err)
	}
	failed, res, err := startSignIn(connecting(ctx, browser.Connect{Account: o.ProviderAccountID}), c, x, provider, o.SignInOptions)
	if err != nil {
		return nil, fail(ctx, failed, err)
	}
	return res, nil
}

// scopesToAsk returns the scopes to ask for when an account is linked: those of the
// provider, those that the user has granted before, and those of o, each once. It returns
// nil if there are none, and for a provider with a [Protocol]. If o names no account, the
// granted scopes count only if the user has one account there. It returns
// ErrInvalidProvider, ErrMissingAdapter or ErrNoSession as [Auth.Link] does.
func scopesToAsk(ctx context.Context, s *setup, v *visit, provider string, o *LinkOptions) ([]string, error) {
	p, ok := s.providers[provider].(*oauthProvider)
	switch {
	case !ok:
		return nil, failure.Wrap(ErrInvalidProvider, &failure.Mistake{Err: errors.New("Link needs the id of an OAuth provider")})
	case s.store == nil:
		return nil, failure.Wrap(ErrMissingAdapter, errors.New("Link needs an Adapter that keeps accounts: set Config.Adapter"))
	}
	here, err := s.sessions.current(ctx, v)
	switch {
	case err != nil:
		return nil, err
	case here == nil:
		return nil, ErrNoSession
	case p.isForeign():
		return nil, nil
	}
	var granted []string
	if s.vault != nil {
		row, err := s.vault.Find(ctx, vault.Ref{UserID: here.user.ID, Provider: provider, AccountID: o.ProviderAccountID})
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrAmbiguousAccount) {
			return nil, err
		}
		granted = vault.Scopes(row.Tokens.Scope)
	}
	var all []string
	for _, scope := range slices.Concat(configuredScopes(p.wire(s)), granted, o.Scopes) {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all, nil
}

// configuredScopes returns the scopes that each sign-in with a provider asks for.
func configuredScopes(c oauth.Config) (all []string) {
	for _, scope := range c.Scopes {
		all = append(all, vault.Scopes(scope)...)
	}
	if c.Scopes == nil {
		all = []string{"openid", "profile", "email"}
	}
	return all
}
