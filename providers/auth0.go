package providers

import "github.com/latchkeyhq/latchkey"

// Auth0 signs in with a user of an Auth0 tenant. Its profile is a
// [profile.Auth0].
//
// Issuer is https://{tenant domain}/, with the slash at its end. If Issuer is empty,
// AUTH_AUTH0_ISSUER is used. Whether an e-mail is proven is for the tenant and its
// connections to say: the claim email_verified counts.
//
// The scope offline_access brings a refresh token; its rotation is a setting of
// the application; /oauth/revoke ends it. Signing out at Auth0 is its
// end_session_endpoint, where the tenant enables it, else /v2/logout. See
// https://auth0.com/docs/authenticate/login/oidc-conformant-authentication.
func Auth0(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:    "auth0",
		Name:  "Auth0",
		OIDC:  true,
		Style: latchkey.Style{Color: "#EB5424", Mark: markAuth0},
	})
}
