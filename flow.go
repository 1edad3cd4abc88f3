package latchkey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/jwt"
)

// What ties a callback to the sign-in that began it is made here, and looked at
// when somebody comes back. pending.go keeps it meanwhile.

// saltState seals the state parameter, in the words of Auth.js.
const saltState = "encodedState"

// stateParam is the state to send along. Where it is no check of its own it is
// derived from the value that is one, so that no cookie has to hold it: servers
// that demand a state have one, and two sign-ins under way can be told apart.
func (f *flow) stateParam() string {
	if key := cmp.Or(f.verifier, f.nonce); f.state == "" && key != "" {
		return derivedState(key)
	}
	return f.state
}

// held are the checks that the flow has a value for.
func (f *flow) held() (checks []Check) {
	for c, value := range map[Check]string{CheckPKCE: f.verifier, CheckState: f.state, CheckNonce: f.nonce} {
		if value != "" {
			checks = append(checks, c)
		}
	}
	slices.Sort(checks)
	return checks
}

// isNamedBy: an answer with this state belongs to the flow.
func (f *flow) isNamedBy(state string) bool {
	return state != "" && secret.Equal(f.stateParam(), state)
}

// derivedState hashes a check value under a label, so that it is neither the
// value nor its PKCE challenge.
func derivedState(value string) string {
	sum := sha256.Sum256([]byte("latchkey state\x00" + value))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// newFlow makes the values for the checks. origin is the callback URL that a
// redirect proxy has to know; empty: there is none between.
func (p *oauthProvider) newFlow(x *exchange, checks []Check, origin string) (*flow, error) {
	now := x.setup.now()
	f := &flow{
		id: secret.RandomHex(8), provider: p.ID, expires: now.Add(checkMaxAge).Unix(),
		begun: begun{CallbackURL: x.callbackURL, CrossSite: p.postsCrossSite()},
	}
	for _, c := range checks {
		switch c {
		case CheckPKCE:
			f.verifier = oauth.NewVerifier()
		case CheckNonce:
			f.nonce = oauth.NewVerifier()
		case CheckState:
			claims := jwt.Claims{"random": oauth.NewVerifier()}
			if origin != "" {
				claims["origin"] = origin
			}
			var err error
			if f.state, err = x.setup.stateCodec.SealClaims(claims, now, checkMaxAge); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// stateOrigin reads where a state wants to be sent on to; empty: nowhere.
func (s *setup) stateOrigin(state string) (string, error) {
	claims, err := s.stateCodec.OpenClaims(state, s.now(), checkMaxAge)
	if err != nil {
		return "", err
	}
	if claims.String("random") == "" {
		return "", jwt.ErrInvalid
	}
	return claims.String("origin"), nil
}

// errCheck: the callback does not belong to a sign-in that this browser began.
func errCheck(p *oauthProvider, text string) error {
	return failure.WrapFor(ErrInvalidCheck, p.ID, errors.New(text))
}

const spentText = "this sign-in was completed before"

// complete: the browser has kept every value that is to be checked.
func (p *oauthProvider) complete(f *flow, checks []Check) error {
	for _, c := range checks {
		if *f.value(c) == "" {
			return errCheck(p, "the "+string(c)+" cookie is missing, or belongs to another sign-in")
		}
	}
	return nil
}

// spend makes sure that a flow completes at most one callback, and takes
// it out of the browser's cookies. It says whether this was its first use.
func (p *oauthProvider) spend(ctx context.Context, x *exchange, f *flow) (unused bool, err error) {
	now := x.setup.now()
	key := cmp.Or(f.state, f.verifier, f.nonce)
	if key == "" {
		return true, nil
	}
	unused, err = x.setup.replay.Use(ctx, x.setup.trust.clientAddr(x.request), p.ID+"\x00"+key, now.Add(checkMaxAge+time.Minute))
	if err != nil {
		return false, err
	}
	return unused, x.cookies.forget(f, now)
}
