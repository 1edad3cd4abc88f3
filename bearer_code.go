package latchkey

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

// How an app gets a session of its own: the system browser, in which a user is signed
// in, gives it a code, and the app changes the code for a token (RFC 8252; RFC 7636). Both
// ends are handlers of the application's, which knows its apps.

const bearerCodeLife = time.Minute

var (
	errNoBearer = failure.Wrap(ErrInvalidConfig, failure.Of(fault.BearerOff, errors.New("set Session.Bearer to give session tokens to apps")))
	errBadCode  = failure.Wrap(ErrInvalidCheck, failure.Of(fault.BearerCode, errors.New("the code for an app is wrong, too old or used, or has another verifier")))
)

// BearerCode does what [Auth.BearerCode] does, without net/http.
func (c *Core) BearerCode(ctx context.Context, r *Request, challenge string) (string, error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return "", err
	}
	if err := bearerCodeFault(x, challenge); err != nil {
		return "", fail(ctx, x, err)
	}
	if x.credential.Bearer != nil { // a token that was stolen would make others
		return "", ErrNoSession
	}
	found, err := x.readSession(x.setup.in(ctx), nil)
	if err != nil {
		return "", err
	}
	if found.session.Actor != nil {
		return "", fail(ctx, x, directory.ErrActing)
	}
	if found.session.Via != ViaCookie {
		return "", ErrNoSession
	}
	return x.setup.bearerCodes.SealClaims(Claims{"token": x.credential.Token().Text, "challenge": challenge}, x.now(), bearerCodeLife)
}

// bearerCodeFault returns nil if x may ask for a code. Otherwise it returns
// ErrInvalidConfig without Session.Bearer, ErrInvalidCheck for a malformed challenge, and
// ErrMissingCSRF for a post of another site.
func bearerCodeFault(x *exchange, challenge string) error {
	switch hash, err := base64.RawURLEncoding.DecodeString(challenge); {
	case !x.setup.config.Session.Bearer:
		return errNoBearer
	case err != nil || len(hash) != sha256.Size:
		return failure.Wrap(ErrInvalidCheck, failure.Of(fault.BearerCode, errors.New("want a code_challenge of the method S256")))
	}
	return refuseForeign(x, nil, x.request.Method == http.MethodGet || x.request.Method == http.MethodHead)
}

// BearerToken does what [Auth.BearerToken] does, without net/http.
func (c *Core) BearerToken(ctx context.Context, r *Request, code, verifier string) (token string, expires time.Time, err error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return "", time.Time{}, err
	}
	opened, err := openByCode(x.setup.in(ctx), x, code, verifier)
	if err != nil {
		return "", time.Time{}, fail(ctx, x, err)
	}
	tell(ctx, x)
	return opened.token, opened.expires, nil
}

// openByCode uses up a code and opens a session beside the one in which the code was made. It
// returns errBadCode for a void code, for a wrong verifier, which does not use up the code,
// and if that session has ended. Without Session.Bearer it returns errNoBearer.
func openByCode(ctx context.Context, x *exchange, code, verifier string) (openedSession, error) {
	if !x.setup.config.Session.Bearer {
		return openedSession{}, errNoBearer
	}
	now := x.now()
	claims, err := x.setup.bearerCodes.OpenClaims(code, now, bearerCodeLife)
	hash := sha256.Sum256([]byte(verifier))
	if err != nil || !secret.Equal(base64.RawURLEncoding.EncodeToString(hash[:]), claims.String("challenge")) {
		return openedSession{}, errBadCode
	}
	x.hide(code, verifier)
	first, err := x.setup.replay.Use(ctx, x.setup.trust.clientAddr(x.request), "bearer code", claims.String("jti"), now.Add(2*bearerCodeLife))
	if err != nil {
		return openedSession{}, err
	}
	if !first {
		return openedSession{}, errBadCode
	}
	return branchOf(ctx, x, claims.String("token"))
}

// branchOf opens a session beside the one that a cookie's token opens, and queues its
// event. It returns errBadCode if that session has ended, directory.ErrActing if an
// administrator acts in it, and ErrInvalidConfig if the new token does not fit into an
// Authorization header.
func branchOf(ctx context.Context, x *exchange, token string) (openedSession, error) {
	x.credential.Bearer = &browser.Bearer{Renews: true}
	opened, err := x.setup.sessions.branch(ctx, &x.visit, x.cookies.TokenOf(browser.CookieKind, token))
	switch {
	case err != nil:
		return opened, err
	case opened.token == "":
		return opened, errBadCode
	case !browser.IsToken68(opened.token):
		return openedSession{}, failure.Wrap(ErrInvalidConfig, failure.Of(fault.BearerToken, errors.New("the session token holds characters that an Authorization header cannot")))
	}
	x.setup.log.Info(ctx, x, "an app got a session")
	x.events.Add(Event{
		Type: event.SessionOpened, UserID: opened.userID, SessionID: opened.id, Provider: opened.provider,
		By: event.Actor{Kind: event.ActorUser, ID: opened.userID},
	}, nil)
	return opened, nil
}

// BearerCode returns a code that a native app or service of the application's own changes
// for a session token, with [Auth.BearerToken]. challenge comes from the app: the
// code_challenge, of the method S256, of a secret that the app keeps (RFC 7636, section
// 4.2). The code lives for a minute and works once. Send the browser with it to a
// redirect URI that you know to be the app's, and to no other. It needs
// [SessionConfig].Bearer.
//
// r must come from a browser in which a user is signed in: otherwise, and for a request
// with a bearer token, the error is ErrNoSession. If an administrator acts as the user,
// it is ErrAccessDenied. A request other than GET or HEAD that the browser marks as
// another site's, or a sibling host's, is ErrMissingCSRF, unless [Security].SkipCSRFCheck
// is set. A malformed challenge is ErrInvalidCheck. Without [SessionConfig].Bearer the
// error is ErrInvalidConfig. Other errors are ErrUntrustedHost and those of a store.
func (a *Auth) BearerCode(r *http.Request, challenge string) (string, error) {
	return a.Core().BearerCode(r.Context(), requestHead(r), challenge)
}

// BearerToken opens a session for the app that asks with r, and returns its token and expiry.
// Use moves the expiry of a stored session. For a JWT session the session route returns a new
// token. The session belongs to the user of the browser session in which code was made, and
// counts as old as the sign-in there. Afterwards signing out of one of them leaves the other
// alone. verifier is the secret that the code's challenge was made of (RFC 7636, section 4.1).
// The error is ErrInvalidCheck for a code that
//
//   - is wrong, or used already, at any process that shares [Limits].Replay
//   - is older than a minute
//   - was made for another verifier
//   - belongs to a session that has ended
//
// Without [SessionConfig].Bearer, and if the session token has characters that an
// Authorization header cannot hold, the error is ErrInvalidConfig. Other errors are
// ErrUntrustedHost and those of a store. Only a call with the right verifier uses the code up.
func (a *Auth) BearerToken(r *http.Request, code, verifier string) (token string, expires time.Time, err error) {
	return a.Core().BearerToken(r.Context(), requestHead(r), code, verifier)
}
