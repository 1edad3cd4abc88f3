package providers

import "github.com/latchkeyhq/latchkey"

// PingID signs in with an environment of PingOne. Its profile is a
// [profile.PingID].
//
// Issuer, or AUTH_PING_ID_ISSUER, is that of the environment, such as
// https://auth.pingone.eu/{environment}/as. The application is an OIDC web one;
// its redirect URIs end in /callback/ping-id. PingOne says in email_verified whether
// an e-mail is verified; administrators enter both.
//
// See https://docs.pingidentity.com/pingone/applications/p1_add_app_oidc.html.
func PingID(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "ping-id",
		Name:  "Ping Identity",
		OIDC:  true,
		Style: latchkey.Style{Color: "#b3282d"},
	})
}
