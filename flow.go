package latchkey

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/jwt"
)

// What ties a callback to the sign-in that began it is made and checked here.
// Package browser keeps it meanwhile.

// saltState seals the state parameter, in the words of Auth.js.
const saltState = "encodedState"

// newFlow returns a flow with new random values for the checks. callbackURL is the page
// to go to after the sign-in. origin is the callback URL that a redirect proxy sends the
// answer on to, or "" without a proxy; the state carries it.
func (p *oauthProvider) newFlow(callbackURL string, checks []Check, origin string) (*browser.Flow, error) {
	now := p.setup.now()
	f := &browser.Flow{
		ID: p.setup.mark.newID(), Provider: p.ID, Expires: now.Add(browser.CheckMaxAge).Unix(),
		FlowOrigin: browser.FlowOrigin{CallbackURL: callbackURL, CrossSite: p.postsCrossSite(), Begun: now.UnixMilli()},
	}
	for _, c := range checks {
		switch c {
		case CheckPKCE:
			f.Verifier = oauth.NewVerifier()
		case CheckNonce:
			f.Nonce = oauth.NewVerifier()
		case CheckState:
			claims := jwt.Claims{"random": oauth.NewVerifier()}
			if origin != "" {
				claims["origin"] = origin
			}
			var err error
			if f.State, err = p.setup.stateCodec.SealClaims(claims, now, browser.CheckMaxAge); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// stateOrigin opens a sealed state. It returns the callback URL to which a redirect proxy
// sends the answer on, or "" if the state names none. It returns an error if this site
// did not seal the state, or if the state has expired.
func (s *setup) stateOrigin(state string) (string, error) {
	claims, err := s.stateCodec.OpenClaims(state, s.now(), browser.CheckMaxAge)
	if err != nil {
		return "", err
	}
	if claims.String("random") == "" {
		return "", jwt.ErrInvalid
	}
	return claims.String("origin"), nil
}

// errCheck returns an ErrInvalidCheck with detail d, for a callback that belongs to no
// sign-in of this browser.
func errCheck(p *oauthProvider, d fault.Detail, text string) error {
	return failure.WrapFor(ErrInvalidCheck, p.ID, failure.Of(d, errors.New(text)))
}

// Texts of a second answer: to a flow that was completed, and to one that was answered,
// whatever came of it.
const (
	spentText = "this sign-in was completed before"
	shownText = "this sign-in was answered before: it begins anew, also if the first answer failed"
)

// compare returns ErrInvalidCheck unless f has a value for each check that was sent, and
// redirect URI and mode as in a. A flow of Auth.js needs values for the configured checks only.
func (p *oauthProvider) compare(f *browser.Flow, a browser.Answer, configured []Check) error {
	demanded := make([]browser.Check, len(configured))
	for i, c := range configured {
		demanded[i] = browser.Check(c)
	}
	if err := f.Mismatch(a, demanded); err != nil {
		return failure.WrapFor(ErrInvalidCheck, p.ID, err)
	}
	return nil
}

// noteAnswer records that an answer has named the flow by its state, and reports whether
// it was the first. It knows the answers to this process alone, and may forget some. So true
// is no proof: spend decides then. It returns true for a flow in which no check has a value.
func noteAnswer(ctx context.Context, p *oauthProvider, v *visit, f *browser.Flow) bool {
	if f.Key() == "" {
		return true
	}
	return p.setup.replay.MarkSeen(ctx, p.setup.trust.clientAddr(v.request), "sign-in at "+p.ID, f.Key(), v.now().Add(spentMaxAge))
}

// spentMaxAge is how long a flow is remembered: longer than any of its cookies
// lives.
const spentMaxAge = browser.CheckMaxAge + time.Minute

// landingOf returns where the browser goes after a flow: the callback URL of the flow or,
// if a full cookie has left no room for it, callbackURL. The caller passes x.callbackURL
// of this request, which takeCallbackURL has checked.
func landingOf(f *browser.Flow, callbackURL string) string {
	return cmp.Or(f.CallbackURL, callbackURL)
}

// spend makes sure that a flow completes at most one callback, and takes it out
// of the browser's cookies. It returns an ErrInvalidCheck for a flow that was spent
// before. Unlike noteAnswer it asks Limits.Replay, which instances can share, and returns
// its error. It does nothing for a flow in which no check has a value.
func (p *oauthProvider) spend(ctx context.Context, v *visit, f *browser.Flow) error {
	if f.Key() == "" {
		return nil
	}
	now := v.now()
	unused, err := p.setup.replay.Use(ctx, p.setup.trust.clientAddr(v.request), "sign-in at "+p.ID, f.Key(), now.Add(spentMaxAge))
	switch {
	case err != nil:
		return err
	case !unused:
		return errCheck(p, fault.FlowReplayed, spentText)
	}
	return v.cookies.End(f, now)
}

// currentChecks returns the checks of a sign-in that begins now. A callback uses them for
// a flow of Auth.js, and for a state that names no flow. They are p.Checks, with state and,
// at an OpenID Provider, nonce added where they lack them. Nothing is added with exactChecks,
// if p.Checks is empty, or if p.Checks has PKCE and the metadata of the provider says that it
// supports S256. It returns an error if it needs that metadata and cannot have it.
func (p *oauthProvider) currentChecks(ctx context.Context) ([]Check, error) {
	if len(p.Checks) == 0 || p.exactChecks {
		return p.Checks, nil
	}
	checks := p.Checks
	needed := []Check{CheckState}
	if p.OIDC {
		needed = append(needed, CheckNonce)
	}
	if slices.Contains(checks, CheckState) && (!p.OIDC || slices.Contains(checks, CheckNonce)) {
		return checks, nil
	}
	if slices.Contains(checks, CheckPKCE) {
		if safe, err := p.client.SupportsS256(ctx); safe || err != nil {
			return checks, err
		}
	}
	checks = slices.Clone(checks)
	for _, c := range needed {
		if !slices.Contains(checks, c) {
			checks = append(checks, c)
		}
	}
	return checks, nil
}
