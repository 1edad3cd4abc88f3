package providers

import "github.com/latchkeyhq/latchkey"

// ORCID signs in with an ORCID iD. Its profile is a [profile.Standard].
//
// Register for the public API at https://orcid.org/developer-tools with a redirect URI
// that ends in /callback/orcid. Researchers choose how much of their name is public,
// and there is no e-mail. Access tokens live for 20 years unless they are revoked.
//
// See https://github.com/ORCID/ORCID-Source/blob/main/orcid-web/ORCID_AUTH_WITH_OPENID_CONNECT.md
// (read on 23 November 2026).
func ORCID(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "orcid",
		Name:       "ORCID",
		OIDC:       true,
		Issuer:     "https://orcid.org",
		ClientAuth: latchkey.ClientSecretPost,
		Checks:     []latchkey.Check{latchkey.CheckState},
		Scopes:     []string{"openid"},
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#a6ce39"},
	})
}
