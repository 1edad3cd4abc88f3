package latchkey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/secret"
)

// A sign-in with an ID token that a script of the site, such as Google One Tap, or a
// native app has got from the provider. There was no flow of ours: the nonce ties the
// token to this browser.

// idTokenMaxAge is how old an ID token may be that a client brings.
const idTokenMaxAge = 10 * time.Minute

// broughtIDToken returns the ID token that a post brings instead of a code. It returns ""
// if there is none, or the provider does not accept any.
func broughtIDToken(p *oauthProvider, x *exchange) string {
	if !p.AcceptIDToken || !x.isPost() || x.field("code") != "" || x.field("state") != "" {
		return ""
	}
	return cmp.Or(x.field("credential"), x.field("id_token"))
}

// receiveIDToken completes a sign-in with an ID token. taken is false for a request that
// brings none. The request must be vouched for like any form, and the nonce must be made
// of this browser's CSRF token. So neither a token that an attacker has got for their own
// account nor one that was stolen elsewhere signs this browser in.
func receiveIDToken(ctx context.Context, p *oauthProvider, x *exchange) (out outcome, taken bool, err error) {
	token := broughtIDToken(p, x)
	if token == "" {
		return outcome{}, false, nil
	}
	x.hide(token)
	in, err := assertedBy(ctx, p, x, token)
	return outcome{assertion: in}, true, err
}

// assertedBy verifies an ID token, marks it as used, and returns what it asserts. It
// returns ErrOAuthCallback for a token that is invalid or too old, ErrInvalidCheck for
// one that was used before, and the errors of nonceOf and assertionOf.
func assertedBy(ctx context.Context, p *oauthProvider, x *exchange, token string) (*directory.Assertion, error) {
	nonce, err := nonceOf(p, x)
	if err != nil {
		return nil, err
	}
	claims, err := p.client.VerifyIDToken(ctx, token, oauth.IDTokenCheck{Nonce: nonce, Clients: p.NativeClientIDs})
	if err != nil && !isOutage(err) { // the client has brought it
		err = failure.WrapFor(ErrOAuthCallback, p.ID, &failure.Mistake{Err: err})
	}
	if err != nil {
		return nil, err
	}
	issued, err := useOnce(ctx, p, &x.visit, token, claims)
	if err != nil {
		return nil, err
	}
	in, err := p.assertionOf(Grant{Profile: maps.Clone(claims), IDToken: claims})
	if err == nil {
		in.Issued = issued
	}
	return in, err
}

// nonceOf returns the nonce that the ID token must have: the SHA-256 hash of this
// browser's CSRF token, in hexadecimal. It returns ErrMissingCSRF if nothing vouches for
// the request, and ErrInvalidCheck if the g_csrf_token that Google's script posts is not
// that of its cookie.
func nonceOf(p *oauthProvider, x *exchange) (string, error) {
	token, hash := x.cookies.CSRF()
	if !x.csrfVerified || !x.setup.validCSRF(token, hash) {
		return "", noCSRF(x.request.Header, x.origin.Text)
	}
	if posted := x.field("g_csrf_token"); posted != "" && !hasGoogleCSRF(x.request, posted) {
		return "", errCheck(p, fault.CSRFMissing, "g_csrf_token is not the one of its cookie")
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:]), nil
}

// hasGoogleCSRF reports whether the request has one g_csrf_token cookie, with that
// value.
func hasGoogleCSRF(r *Request, value string) bool {
	found, err := http.ParseCookie(strings.Join(r.Header["Cookie"], "; "))
	if err != nil {
		return false
	}
	matched := false
	for _, c := range found {
		if c.Name == "g_csrf_token" {
			if matched || !secret.Equal(c.Value, value) {
				return false
			}
			matched = true
		}
	}
	return matched
}

// useOnce marks an ID token as used, and returns when it was issued, at the latest now.
// It returns ErrOAuthCallback if the token is older than idTokenMaxAge or has no iat, and
// ErrInvalidCheck if it was used before; the time then means nothing.
func useOnce(ctx context.Context, p *oauthProvider, v *visit, token string, claims Claims) (time.Time, error) {
	now := v.now()
	seconds, err := Value[int64](claims, "iat")
	if issued := time.Unix(seconds, 0); err != nil || now.Sub(issued) > idTokenMaxAge {
		return issued, failure.WrapFor(ErrOAuthCallback, p.ID, failure.Of(fault.IDTokenExpired, &failure.Mistake{Err: errors.New("the ID token is too old: ask the provider for another one")}))
	}
	signed := token[:strings.LastIndexByte(token, '.')] // without the signature, which base64 can spell in several ways
	first, err := p.setup.replay.Use(ctx, p.setup.trust.clientAddr(v.request), "ID token at "+p.ID, signed, now.Add(spentMaxAge))
	if err == nil && !first {
		err = errCheck(p, fault.FlowReplayed, spentText)
	}
	issued := time.Unix(seconds, 0)
	if issued.After(now) {
		issued = now
	}
	return issued, err
}
