package providers

import "github.com/latchkeyhq/latchkey"

// Okta signs in with an organization of Okta. Its profile is a [profile.Okta].
//
// Issuer, or AUTH_OKTA_ISSUER, is an authorization server of the organization,
// such as https://acme.okta.com/oauth2/default, or https://acme.okta.com. The
// application is a web one with OpenID Connect; its sign-in redirect URIs end in
// /callback/okta.
//
// Okta says in email_verified whether an e-mail is verified; administrators can set
// both. The scope offline_access brings a refresh token; the authorization server's
// policies set its life and rotation. There are endpoints for revocation and for
// signing out.
//
// See https://developer.okta.com/docs/guides/implement-grant-type/authcode/main/.
func Okta(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "okta",
		Name:   "Okta",
		OIDC:   true,
		Checks: []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Style:  latchkey.Style{Color: "#000", Mark: markOkta},
	})
}
