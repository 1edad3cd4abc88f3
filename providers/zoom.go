package providers

import "github.com/latchkeyhq/latchkey"

// Zoom signs in with a Zoom account. Its profile is a [profile.Zoom].
//
// Make a general app at https://marketplace.zoom.us/develop/create with the scope
// user:read:user (user:read of older apps) and an OAuth redirect URL that ends in
// /callback/zoom. Until Zoom has reviewed it only people of its own account can
// sign in. The scopes are chosen there.
//
// Administrators of any account make its users, and verified is not documented to be
// more than their word, so no e-mail counts as proven. Refresh tokens are used
// once and live 90 days; a new authorization ends older tokens; they are revoked
// at /oauth/revoke.
//
// See https://developers.zoom.us/docs/integrations/oauth/.
func Zoom(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "zoom",
		Name:          "Zoom",
		Authorization: latchkey.Endpoint{URL: "https://zoom.us/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://zoom.us/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.zoom.us/v2/users/me"},
		Revocation:    latchkey.Endpoint{URL: "https://zoom.us/oauth/revoke"},
		Scopes:        []string{},
		Identify:      fields{subject: "id", name: "first_name+last_name", email: "email", image: "pic_url", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#0b5cff", Mark: markZoom},
	})
}
