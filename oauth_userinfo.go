package latchkey

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/redact"
)

// What the scopes promise of a person and the ID token lacks. A provider may
// give it at its userinfo endpoint alone (OpenID Connect Core 1.0, section
// 5.4).

// promised are the claims that people are made of here, by the scope that asks
// for them.
var promised = []struct{ scope, claim string }{{"profile", "name"}, {"email", "email"}}

// lacking returns the claims that the scopes promise and the profile lacks.
func lacking(scopes []string, profile Claims) (claims []string) {
	for _, p := range promised {
		if slices.Contains(scopes, p.scope) && profile[p.claim] == nil {
			claims = append(claims, p.claim)
		}
	}
	return claims
}

// completeProfile asks the userinfo endpoint for what an ID token lacks, and writes it
// into g.Profile. If the endpoint is missing or fails, or its answer names no subject
// the sign-in goes on without it and the operator is told. An answer
// about another subject ends the sign-in with oauth.ErrOtherSubject.
func (p *oauthProvider) completeProfile(ctx context.Context, about journal.Subject, g *Grant) error {
	missing := lacking(p.grantedScopes(g.Tokens), g.Profile)
	if len(missing) == 0 {
		return nil
	}
	m, err := p.client.Discover(ctx)
	if err == nil && m.UserInfoEndpoint == "" {
		p.hint(ctx, "the ID tokens of this provider lack what its scopes promise, and it has no userinfo endpoint", missing)
		return nil
	}
	var more Claims
	if err == nil {
		more, err = p.client.UserInfo(ctx, g.Tokens.AccessToken, g.Profile.String("sub"))
	}
	switch {
	case errors.Is(err, oauth.ErrOtherSubject):
		return err
	case err != nil:
		p.setup.log.Warn(ctx, "the ID token lacks what its scopes promise, and the userinfo endpoint could not be asked", "provider", p.ID,
			"missing", strings.Join(missing, " "), "error", redact.Text(err.Error(), about.Secrets(), journal.LongestText))
		return nil
	}
	g.Profile = merged(g.Profile, more)
	p.hint(ctx, "the ID tokens of this provider lack what its scopes promise, so that its userinfo endpoint is asked at each sign-in; "+
		"ProfileFromUserInfo takes all of the profile from there", missing)
	return nil
}

// grantedScopes returns the scopes that the provider says it granted, else
// those asked for.
func (p *oauthProvider) grantedScopes(t Tokens) []string {
	return strings.Fields(cmp.Or(t.Scope, p.client.Scope()))
}

// merged returns the profile with the members that userinfo adds to it. A member of the
// ID token wins, unless it is null. email_verified comes from the answer that has the
// e-mail address, because no answer vouches for an address of the other.
func merged(profile, more Claims) Claims {
	both := Claims{}
	maps.Copy(both, more)
	if profile["email"] != nil {
		delete(both, "email_verified")
	}
	for name, value := range profile {
		if name == "email_verified" && profile["email"] == nil {
			continue
		}
		if _, said := both[name]; !said || value != nil {
			both[name] = value
		}
	}
	return both
}

// hint logs a warning for the operator, once in the life of the provider.
func (p *oauthProvider) hint(ctx context.Context, text string, missing []string) {
	if p.hinted.CompareAndSwap(false, true) {
		p.setup.log.Warn(ctx, text, "provider", p.ID, "missing", strings.Join(missing, " "))
	}
}
