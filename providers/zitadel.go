package providers

import "github.com/latchkeyhq/latchkey"

// Zitadel signs in with an instance of ZITADEL, in the cloud or one's own. Its
// profile is a [profile.Zitadel].
//
// Issuer, or AUTH_ZITADEL_ISSUER, is the URL of the instance, such as
// https://acme.zitadel.cloud. The application in the console is a web one with
// the method CODE or BASIC; its redirect URIs end in /callback/zitadel. ZITADEL
// says in email_verified whether an e-mail is verified.
//
// See https://zitadel.com/docs/guides/integrate/login/oidc/login-users.
func Zitadel(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "zitadel",
		Name:  "ZITADEL",
		OIDC:  true,
		Style: latchkey.Style{Color: "#5469d4"},
	})
}
