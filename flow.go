package latchkey

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/jwt"
)

// flow is one sign-in under way: the values its callback has to bring. Where
// they are kept meanwhile is the business of pending.go.
type flow struct {
	id                     string // joins what three cookies hold of it; empty: made by Auth.js
	verifier, state, nonce string
	userID                 string // who was signed in when it began; empty: nobody, or the session cookie says
	callbackURL            string // where this browser goes in the end; empty: the callback cookie says
}

// saltState seals the state parameter, in the words of Auth.js.
const saltState = "encodedState"

func (f *flow) value(c Check) *string {
	switch c {
	case CheckPKCE:
		return &f.verifier
	case CheckState:
		return &f.state
	}
	return &f.nonce
}

// stateParam is the state to send along. Where it is no check of its own it is
// derived from the value that is one, so that no cookie has to hold it: servers
// that demand a state have one, and two sign-ins under way can be told apart.
func (f *flow) stateParam() string {
	if key := firstOf(f.verifier, f.nonce); f.state == "" && key != "" {
		return derivedState(key)
	}
	return f.state
}

// derivedState hashes a check value under a label, so that it is neither the
// value nor its PKCE challenge.
func derivedState(value string) string {
	sum := sha256.Sum256([]byte("latchkey state\x00" + value))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// newFlow makes the values for the checks. origin is the callback URL that a
// redirect proxy has to know; empty: there is none between.
func (s *setup) newFlow(checks []Check, origin string) (*flow, error) {
	f := &flow{id: randomHex(8)}
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
			if f.state, err = s.stateCodec.SealClaims(claims, s.now(), checkMaxAge); err != nil {
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

// beginFlow hands the flow to the browser, beside those begun shortly before.
func (p *oauthProvider) beginFlow(x *exchange, f *flow, checks []Check) error {
	now := x.setup.now()
	for _, c := range checks {
		newest := pendingCheck{
			ID: f.id, Value: *f.value(c), Provider: p.ID, Expires: now.Add(checkMaxAge).Unix(), CallbackURL: x.callbackURL, UserID: f.userID,
		}
		earlier := x.cookies.pending(c, now)
		if len(earlier) >= mostFlows {
			earlier = earlier[:mostFlows-1]
		}
		if c == CheckState {
			earlier = nil // a second attempt replaces the first, as in Auth.js
		}
		if err := x.cookies.writeChecks(c, append([]pendingCheck{newest}, earlier...), p.postsCrossSite(), now); err != nil {
			return err
		}
	}
	return nil
}

// errCheck: the callback does not belong to a sign-in that this browser began.
func errCheck(p *oauthProvider, text string) error {
	return ErrInvalidCheck.wrapFor(p.ID, errors.New(text))
}

// findState finds the sign-in that a callback's state belongs to.
func (p *oauthProvider) findState(x *exchange, f *flow, checks []Check, state string) error {
	held := x.cookies.pending(CheckState, x.setup.now())
	is := func(h pendingCheck) bool { return equalText(h.Value, state) }
	if slices.Contains(checks, CheckState) {
		return p.find(x, f, CheckState, held, is)
	}
	if state != "" && slices.ContainsFunc(held, is) {
		return p.find(x, f, CheckState, held, is) // the provider had not said yet that it supports S256
	}
	return nil
}

// findRest finds the other values of the same sign-in: the one that the state
// names, or else the newest at this provider. Auth.js begins some sign-ins
// without a state; and where it is no check, a state that matches nothing is
// ignored.
func (p *oauthProvider) findRest(x *exchange, f *flow, checks []Check, state string) error {
	known := f.state != ""
	named := func(h pendingCheck) bool { return h.Provider == p.ID && equalText(derivedState(h.Value), state) }
	for _, c := range []Check{CheckPKCE, CheckNonce} {
		if !slices.Contains(checks, c) {
			continue
		}
		held := x.cookies.pending(c, x.setup.now())
		is := func(pendingCheck) bool { return true }
		switch {
		case known:
			is = f.hasPart
		case slices.ContainsFunc(held, named):
			is = named
		}
		if err := p.find(x, f, c, held, is); err != nil {
			return err
		}
		known = true
	}
	return nil
}

// hasPart tells the values that were made for the same sign-in.
func (f *flow) hasPart(h pendingCheck) bool { return h.ID == f.id }

func (p *oauthProvider) find(x *exchange, f *flow, c Check, held []pendingCheck, is func(pendingCheck) bool) error {
	i := slices.IndexFunc(held, func(h pendingCheck) bool { return h.Provider == p.ID && h.Value != "" && is(h) })
	if i < 0 {
		return errCheck(p, "the "+string(c)+" cookie is missing, or belongs to another sign-in")
	}
	f.id, *f.value(c), f.userID = held[i].ID, held[i].Value, held[i].UserID
	if _, remembered := x.cookies.jar.Get(x.cookies.specs.callbackURL.name()); i > 0 || !remembered {
		// Another tab has a newer one, or the cookie stayed away because the
		// provider posts from its own site.
		f.callbackURL = held[i].CallbackURL
	}
	return nil
}

// consumeFlow makes sure that a flow completes at most one callback,
// and takes it out of the browser's cookies.
func (p *oauthProvider) consumeFlow(ctx context.Context, x *exchange, f *flow, checks []Check) error {
	now := x.setup.now()
	if key := firstOf(f.state, f.verifier, f.nonce); key != "" {
		unused, err := containResult(func() (bool, error) {
			return x.setup.replay.Use(ctx, hashText(p.ID+"\x00"+key), now.Add(checkMaxAge+time.Minute))
		})
		if err != nil {
			return err
		}
		if !unused {
			return errCheck(p, "this sign-in was completed before")
		}
	}
	for _, c := range []Check{CheckPKCE, CheckState, CheckNonce} {
		if *f.value(c) == "" {
			continue
		}
		if err := x.cookies.removeFlow(c, f.id, p.postsCrossSite(), now); err != nil {
			return err
		}
	}
	return nil
}
