package providers

import "github.com/latchkeyhq/latchkey"

// Logto signs in with a tenant of Logto, in the cloud or one's own. Its profile
// is a [profile.Logto].
//
// Issuer, or AUTH_LOGTO_ISSUER, is the endpoint of the tenant with /oidc, such
// as https://acme.logto.app/oidc. The application in the console is a
// traditional web one; its redirect URIs end in /callback/logto.
//
// The scope offline_access brings a refresh token if the parameter prompt is
// consent as well. Logto says in email_verified whether an e-mail is verified.
//
// See https://docs.logto.io/integrate-logto/third-party-applications.
func Logto(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "logto",
		Name:     "Logto",
		OIDC:     true,
		Scopes:   []string{"offline_access", "openid", "email", "profile"},
		Checks:   []latchkey.Check{latchkey.CheckPKCE},
		Identify: fields{subject: "sub", name: "name|username", email: "email", image: "picture"}.identify,
		Style:    latchkey.Style{Color: "#7958ff"},
	})
}
