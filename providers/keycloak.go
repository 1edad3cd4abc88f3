package providers

import "github.com/latchkeyhq/latchkey"

// Keycloak signs in with a user of a Keycloak realm. Its profile is a
// [profile.Keycloak].
//
// Issuer is {server}/realms/{realm}. If Issuer is empty, AUTH_KEYCLOAK_ISSUER is
// used. Whether e-mails are proven is for the realm to say: the claim email_verified
// counts.
//
// A refresh token always comes and lives as long as the person's session, or longer
// with the scope offline_access; the revocation endpoint, which removes the consent
// too, and the end_session_endpoint are in the discovery document. See
// https://www.keycloak.org/securing-apps/oidc-layers.
func Keycloak(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "keycloak",
		Name:  "Keycloak",
		OIDC:  true,
		Style: latchkey.Style{Color: "#428bca"},
	})
}
