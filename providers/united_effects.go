package providers

import (
	"maps"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// UnitedEffects signs in with an auth group of United Effects. Its profile is a
// [profile.OpenID].
//
// Issuer, or AUTH_UNITED_EFFECTS_ISSUER, is
// https://auth.unitedeffects.com/{auth group id}. The redirect URI of the client
// ends in /callback/united-effects. There is no name and no picture, by design.
// Whether an e-mail is verified is unknown unless email_verified says so.
//
// See https://docs.unitedeffects.com/integrations/nextauthjs.
func UnitedEffects(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:           "united-effects",
		Name:         "United Effects",
		OIDC:         true,
		Derive:       deriveUnitedEffects,
		Scopes:       []string{"openid", "email", "profile"},
		FetchProfile: idTokenOnly, // no user has the name that profile promises
		Style:        latchkey.Style{Color: "#1e4b7a"},
	})
}

// deriveUnitedEffects adds the parameter resource to the authorization request, which
// asks for tokens that are for the issuer itself.
func deriveUnitedEffects(p *latchkey.OAuth) error {
	params := url.Values{"resource": {p.Issuer}}
	maps.Copy(params, p.Authorization.Params)
	p.Authorization.Params = params
	return nil
}
