package providers

import "github.com/latchkeyhq/latchkey"

// OneLogin signs in with an account of OneLogin. Its profile is a
// [profile.OpenID].
//
// Issuer, or AUTH_ONELOGIN_ISSUER, ends in /oidc/2, such as
// https://acme.onelogin.com/oidc/2. The application is an OpenID Connect one of
// the type Web; its redirect URIs end in /callback/onelogin. Whether an e-mail
// is verified is unknown: administrators enter it.
//
// See https://developers.onelogin.com/openid-connect.
func OneLogin(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "onelogin",
		Name:  "OneLogin",
		OIDC:  true,
		Style: latchkey.Style{Color: "#1c1f2a"},
	})
}
