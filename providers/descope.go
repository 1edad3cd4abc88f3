package providers

import (
	"cmp"

	"github.com/latchkeyhq/latchkey"
)

// Descope signs in with a user of a Descope project. Its profile is a
// [profile.Standard].
//
// The client id is the id of the project, the secret an access key. Issuer follows
// from the client id; AUTH_DESCOPE_ISSUER or the field is for custom domains. The
// claim email_verified says whether the e-mail was proven. See
// https://docs.descope.com/getting-started/oidc-endpoints.
func Descope(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "descope",
		Name:   "Descope",
		OIDC:   true,
		Derive: deriveDescope,
		Checks: []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Style:  latchkey.Style{Color: "#1C1C23"},
	})
}

// deriveDescope sets the issuer of the project that the client id names, unless one is
// set.
func deriveDescope(p *latchkey.OAuth) error {
	p.Issuer = cmp.Or(p.Issuer, "https://api.descope.com/"+p.ClientID)
	return nil
}
