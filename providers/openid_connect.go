package providers

import "github.com/latchkeyhq/latchkey"

// OpenIDConnect signs in with any OpenID Provider that has a discovery document.
// Its profile is a [profile.OpenID].
//
// Issuer, or AUTH_OPENID_CONNECT_ISSUER, is what the discovery document names as
// its issuer. The redirect URI to register ends in /callback/openid-connect. A
// site that has several such providers gives each an ID and a Name of its own.
//
// An e-mail is verified if the provider says so in email_verified.
//
// See https://openid.net/specs/openid-connect-core-1_0.html.
func OpenIDConnect(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "openid-connect",
		Name:  "OpenID Connect",
		OIDC:  true,
		Style: latchkey.Style{Color: "#f78c40", Mark: markOpenIDConnect},
	})
}
