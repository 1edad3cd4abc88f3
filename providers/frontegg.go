package providers

import (
	"cmp"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Frontegg signs in with a user of a Frontegg application. Its profile is a
// [profile.Frontegg].
//
// Issuer is https://{subdomain}.frontegg.com. If Issuer is empty,
// AUTH_FRONTEGG_ISSUER is used. The claim email_verified says whether the e-mail was
// proven. See https://developers.frontegg.com/ciam/guides/authentication/.
func Frontegg(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "frontegg",
		Name:     "Frontegg",
		OIDC:     true,
		Derive:   deriveFrontegg,
		Identify: fields{subject: "sub", name: "name", email: "email", image: "picture|profilePictureUrl"}.identify,
		Style:    latchkey.Style{Color: "#36373c"},
	})
}

// deriveFrontegg sets the endpoints and the key set by the issuer, because the discovery
// document is in another place.
func deriveFrontegg(p *latchkey.OAuth) error {
	if p.Issuer != "" {
		p.JWKS = cmp.Or(p.JWKS, strings.TrimRight(p.Issuer, "/")+"/.well-known/jwks.json")
	}
	return below("/oauth/authorize", "/oauth/token", "/identity/resources/users/v2/me")(p)
}
