package providers

import "github.com/latchkeyhq/latchkey"

// Authentik signs in with a user of an authentik server. Its profile is a
// [profile.Authentik].
//
// Issuer is {server}/application/o/{slug of the application}/, with the slash at its
// end as authentik has it. If Issuer is empty, AUTH_AUTHENTIK_ISSUER is used. The claim
// email_verified counts. Servers before 2025.10 set it for every user, unless the operator
// changes their e-mail scope mapping. See
// https://docs.goauthentik.io/docs/add-secure-apps/providers/oauth2/.
func Authentik(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "authentik",
		Name:  "Authentik",
		OIDC:  true,
		Style: latchkey.Style{Color: "#fd4b2d", Mark: markAuthentik},
	})
}
