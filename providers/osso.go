package providers

import "github.com/latchkeyhq/latchkey"

// Osso signs in by SAML through a server of Osso, which its open-source edition lets
// a site run itself. Its profile is a [profile.OpenID].
//
// Issuer, or AUTH_OSSO_ISSUER, is the URL of the server. The redirect URI of the
// OAuth client there ends in /callback/osso. Send the parameter domain or email
// to say which customer's identity provider to ask.
//
// Whether an e-mail is verified is unknown: each customer's identity provider can state
// any e-mail.
//
// See https://github.com/enterprise-oss/osso.
func Osso(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "osso",
		Name:   "Osso",
		Derive: below("/oauth/authorize", "/oauth/token", "/oauth/me"),
		Style:  latchkey.Style{Color: "#1890ff"},
	})
}
