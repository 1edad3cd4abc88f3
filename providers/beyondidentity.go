package providers

import "github.com/latchkeyhq/latchkey"

// BeyondIdentity signs in with a passkey of Beyond Identity. Its profile is a
// [profile.Standard], and preferred_username becomes a member of the user's Extra.
//
// Issuer is the one that the application's page shows:
// https://auth-{region}.beyondidentity.com/v1/tenants/{tenant}/realms/{realm}/applications/{application}.
// If Issuer is empty, AUTH_BEYONDIDENTITY_ISSUER is used. Whether e-mails are proven
// is for the tenant to say. See https://developer.beyondidentity.com.
func BeyondIdentity(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "beyondidentity",
		Name:     "Beyond Identity",
		OIDC:     true,
		Identify: identifyBeyondIdentity,
		Style:    latchkey.Style{Color: "#5077c5"},
	})
}

// identifyBeyondIdentity returns the person, with preferred_username in Extra.
func identifyBeyondIdentity(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: g.Profile}
	return m.identity(latchkey.Identity{
		Subject:      m.id("sub"),
		Name:         m.text("name"),
		Email:        m.text("email"),
		Extra:        map[string]any{"preferred_username": m.text("preferred_username")},
		WithoutImage: true,
	})
}
