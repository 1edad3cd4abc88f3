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
// renews it if necessary. It does for the user of the request what Users.AccessToken
// does, which documents the errors. Without a session it returns ErrNoSession. It reads
// the session, and so may set a cookie: call it before writing the body.
//
// With [TokenConfig].Cookie the tokens are in a cookie, which a renewal sets anew. The
// error is then ErrReconnect for a browser without tokens of the provider, ErrRefresh
// for a token that needs a renewal after the response has begun, and ErrMissingAdapter for
// a request with a bearer token. AccessToken notices that
// the response has begun behind [Auth.Middleware], [Auth.LoadSession] and the guards, and
// by a w with a method Written() bool.
//
// In a session in which an administrator acts as the user the error is ErrAccessDenied.
func (a *Auth) AccessToken(w http.ResponseWriter, r *http.Request, provider string, o TokenOptions) (Tokens, error) {
	session, err := a.ReadSession(w, r)
	if err != nil {
		return Tokens{}, err
	}
	s, err := a.setupFor(r.Context(), requestHead(r))
	if err != nil || s.jar == nil {
		return accessToken(r.Context(), s, session, provider, o, err)
	}
	state, _ := a.stateOf(w, r)
	writer, _ := w.(interface{ Written() bool })
	t, cookies, err := tokenInJar(r.Context(), s, requestHead(r), session, provider, o, state.late.Begun() || writer != nil && writer.Written())
	state.setCookies(cookies)
	return t, err
}

// AccessToken does what [Auth.AccessToken] does, and returns the cookies for the
// response, also with an error. In a context of [Core.Attach] or [Core.LoadSession] it
// returns none: they are in [Core.Renewal], or in the header given to Core.LoadSession.
func (c *Core) AccessToken(ctx context.Context, r *Request, provider string, o TokenOptions) (Tokens, []*http.Cookie, error) {
	session, cookies, err := c.ReadSession(ctx, r)
	if err != nil {
		return Tokens{}, cookies, err
	}
	s, err := c.auth.setupFor(ctx, r)
	if err != nil || s.jar == nil {
		t, err := accessToken(ctx, s, session, provider, o, err)
		return t, cookies, err
	}
	state := remembered(ctx, c, r)
	if state == nil || state.auth == nil {
		t, renewed, err := tokenInJar(ctx, s, r, session, provider, o, false)
		return t, append(cookies, renewed...), err
	}
	t, renewed, err := tokenInJar(ctx, s, r, session, provider, o, state.late.Begun())
	state.setCookies(renewed)
	return t, cookies, err
}

// accessToken returns an access token of the user of a session, or directory.ErrActing if
// an administrator acts as the user. fault is why the configuration cannot be used; nil:
// it can.
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
	if s.directory.EndlessTokens { // a suspension ends no session
		if err := directory.CheckSuspension(ctx, s.directory, s.store, session.UserID); err != nil {
			return Tokens{}, failure.Public(err)
		}
	}
	return s.vault.AccessToken(ctx, vault.Ref{UserID: session.UserID, Provider: provider}, vault.Options{Scopes: o.Scopes, Rejected: o.Rejected, MinLife: o.MinLife})
}

// tokenInJar returns an access token that the browser of a request keeps, and the cookies
// for the response. With begun the response has begun, so nothing is renewed. A request
// with a bearer token has no such cookies and gets the error of hasVault.
func tokenInJar(ctx context.Context, s *setup, r *Request, session *Session, provider string, o TokenOptions, begun bool) (Tokens, []*http.Cookie, error) {
	if session.Via == ViaBearer {
		return Tokens{}, nil, hasVault(s)
	}
	x, err := readingExchange(s, r)
	if err != nil {
		return Tokens{}, nil, failure.Public(err)
	}
	of := jarSession{}
	if t, ok := s.sessions.(*tokenStrategy); ok { // by the token itself: Callbacks.Session may have changed the session
		token := x.credential.Token()
		if claims, err := t.decode(ctx, token.Text, token.Spec); err == nil {
			of = jarSessionOf(claims)
		}
	}
	t, err := s.jar.AccessToken(ctx, &x.cookies, of, provider, vault.Options{Scopes: o.Scopes, Rejected: o.Rejected, MinLife: o.MinLife, ReadOnly: begun})
	return t, x.cookies.Out, err
}

// setCookies adds cookies to the response, which no shared cache may keep then.
func (s *requestState) setCookies(cookies []*http.Cookie) {
	if len(cookies) == 0 {
		return
	}
	s.inResponse(func(h http.Header) {
		decideCookies(h, cookies)
		if h.Get("Cache-Control") == "" {
			h["Cache-Control"] = []string{"private"}
		}
	})
}
