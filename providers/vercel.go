package providers

import "github.com/latchkeyhq/latchkey"

// Vercel signs in with a Vercel account. Its profile is a [profile.Standard].
//
// Make an app in the settings of a team, with an authorization callback URL that ends
// in /callback/vercel, and switch the scopes on there. PKCE is needed. Vercel does not
// say whether the e-mail was proven. The scope offline_access brings a refresh token.
//
// See https://vercel.com/docs/sign-in-with-vercel/authorization-server-api (of 18
// December 2025).
func Vercel(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "vercel",
		Name:   "Vercel",
		OIDC:   true,
		Issuer: "https://vercel.com",
		Checks: []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Style:  latchkey.Style{Color: "#000000"},
	})
}
