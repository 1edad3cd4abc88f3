package providers

import "github.com/latchkeyhq/latchkey"

// Asgardeo signs in with a user of an organization at WSO2 Asgardeo. Its profile
// is a [profile.Standard].
//
// Issuer is https://api.asgardeo.io/t/{organization}/oauth2/token. If Issuer is
// empty, AUTH_ASGARDEO_ISSUER is used. The claims have to be switched on for the
// application. Whether e-mails are proven is for the organization to say: the claim
// email_verified counts. See https://wso2.com/asgardeo/docs/.
func Asgardeo(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "asgardeo",
		Name:  "Asgardeo",
		OIDC:  true,
		Style: latchkey.Style{Color: "#000"},
	})
}
