package providers

import "github.com/latchkeyhq/latchkey"

// IdentityServer4 signs in with a user of an IdentityServer4, a product that is no
// longer made: [DuendeIdentityServer6] is its heir. Its profile is a
// [profile.Standard].
//
// Issuer is the URL of the server. If Issuer is empty, AUTH_IDENTITY_SERVER4_ISSUER
// is used. Whether e-mails are proven is for the server's operator to say. See
// https://identityserver4.readthedocs.io.
func IdentityServer4(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "identity-server4",
		Name:  "IdentityServer4",
		OIDC:  true,
		Style: latchkey.Style{Color: "#173967"},
	})
}
