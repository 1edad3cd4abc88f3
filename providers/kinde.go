package providers

import "github.com/latchkeyhq/latchkey"

// Kinde signs in with a user of a Kinde business. Its profile is a [profile.Kinde].
//
// Issuer is https://{business}.kinde.com or the custom domain. If Issuer is empty,
// AUTH_KINDE_ISSUER is used. The claim email_verified says whether the e-mail was
// proven. See
// https://docs.kinde.com/developer-tools/about/using-kinde-without-an-sdk/.
func Kinde(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "kinde",
		Name:   "Kinde",
		OIDC:   true,
		Checks: []latchkey.Check{latchkey.CheckState, latchkey.CheckPKCE},
		Style:  latchkey.Style{Color: "#0f0f0f"},
	})
}
