package providers

import "github.com/latchkeyhq/latchkey"

// Mattermost signs in with an account at a Mattermost server. Its profile is a
// [profile.Mattermost].
//
// Issuer, or AUTH_MATTERMOST_ISSUER, is the URL of the server. Register an OAuth
// 2.0 application there, under Integrations, with a callback URL that ends in
// /callback/mattermost; an administrator has to have switched that on.
//
// Mattermost says in email_verified whether an e-mail is verified.
//
// See https://developers.mattermost.com/integrate/apps/authentication/oauth2/.
func Mattermost(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "mattermost",
		Name:       "Mattermost",
		Derive:     below("/oauth/authorize", "/oauth/access_token", "/api/v4/users/me"),
		ClientAuth: latchkey.ClientSecretPost,
		Identify:   fields{subject: "id", name: "username||first_name+last_name", email: "email", noImage: true}.identify,
		Style:      latchkey.Style{Color: "#000", Mark: markMattermost},
	})
}
