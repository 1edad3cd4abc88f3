package providers

import "github.com/latchkeyhq/latchkey"

// FusionAuth signs in with a user of a FusionAuth server. Its profile is a
// [profile.FusionAuth].
//
// Issuer is the issuer of the tenant, which has to be a URL of FusionAuth itself. If
// Issuer is empty, AUTH_FUSIONAUTH_ISSUER is used. Where the server has several
// tenants, Authorization.Params names one: tenantId. The application has to sign ID
// tokens with RS256, which takes a key of its own: FusionAuth's default is HS256. The
// claim email_verified says whether the e-mail was proven. See
// https://fusionauth.io/docs/lifecycle/authenticate-users/oauth/.
func FusionAuth(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "fusionauth",
		Name:   "FusionAuth",
		OIDC:   true,
		Scopes: []string{"openid", "offline_access", "email", "profile"},
		Checks: []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Identify: fields{
			subject: "sub", name: "name|preferred_username||given_name+middle_name+family_name", email: "email", image: "picture",
		}.identify,
		Style: latchkey.Style{Color: "#f58320", Mark: markFusionAuth},
	})
}
