package providers

import "github.com/latchkeyhq/latchkey"

// Kick signs in with a Kick account. Its profile is a [profile.Kick].
//
// Make an application in the developer settings of an account, with a redirect URL
// that ends in /callback/kick. PKCE is needed. Kick does not say whether the e-mail
// was proven. Tokens live for two hours and have a refresh token.
//
// See https://docs.kick.com/getting-started/generating-tokens-oauth2-flow (read on 24
// November 2026).
func Kick(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "kick",
		Name:          "Kick",
		Authorization: latchkey.Endpoint{URL: "https://id.kick.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://id.kick.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.kick.com/public/v1/users"},
		ClientAuth:    latchkey.ClientSecretPost,
		Checks:        []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Scopes:        []string{"user:read"},
		Identify:      fields{subject: "data.0.user_id", name: "data.0.name", email: "data.0.email", image: "data.0.profile_picture"}.identify,
		Style:         latchkey.Style{Color: "#53fc18"},
	})
}
