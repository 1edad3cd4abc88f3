package providers

import "github.com/latchkeyhq/latchkey"

// WordPress signs in with a WordPress.com account. Its profile is a
// [profile.WordPress].
//
// Make an application at https://developer.wordpress.com/apps/ with a redirect
// URL that ends in /callback/wordpress. WordPress.com says in email_verified
// whether an e-mail is verified. Tokens do not end.
//
// See https://developer.wordpress.com/docs/wpcc/.
func WordPress(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "wordpress",
		Name:          "WordPress.com",
		Authorization: latchkey.Endpoint{URL: "https://public-api.wordpress.com/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://public-api.wordpress.com/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://public-api.wordpress.com/rest/v1/me"},
		ClientAuth:    latchkey.ClientSecretPost, // all that is documented
		Scopes:        []string{"auth"},
		Identify:      fields{subject: "ID", name: "display_name", email: "email", image: "avatar_URL"}.identify,
		Style:         latchkey.Style{Color: "#3858e9", Mark: markWordPress},
	})
}
