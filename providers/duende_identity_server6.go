package providers

import "github.com/latchkeyhq/latchkey"

// DuendeIdentityServer6 signs in with a user of a Duende IdentityServer. Its
// profile is a [profile.Standard].
//
// Issuer is the URL of the server, such as https://demo.duendesoftware.com. If Issuer
// is empty, AUTH_DUENDE_IDENTITY_SERVER6_ISSUER is used. Its clients put the claims
// into ID tokens with AlwaysIncludeUserClaimsInIdToken; without that the userinfo
// endpoint is asked. Whether e-mails are proven is for the server's operator to say.
// See https://docs.duendesoftware.com/identityserver/.
func DuendeIdentityServer6(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "duende-identity-server6",
		Name:  "Duende IdentityServer6",
		OIDC:  true,
		Style: latchkey.Style{Color: "#173967"},
	})
}
