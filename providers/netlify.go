package providers

import "github.com/latchkeyhq/latchkey"

// Netlify signs in with a Netlify account. Its profile is a [profile.Netlify].
//
// Register an application at
// https://app.netlify.com/user/applications with a redirect URI that ends in
// /callback/netlify. Netlify has no scopes: a token can do whatever the person
// can. Whether an e-mail is verified is unknown.
//
// See https://docs.netlify.com/api/get-started/#authentication.
func Netlify(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "netlify",
		Name:          "Netlify",
		Authorization: latchkey.Endpoint{URL: "https://app.netlify.com/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.netlify.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.netlify.com/api/v1/user"},
		Scopes:        []string{},
		Identify:      fields{subject: "id", name: "full_name", email: "email", image: "avatar_url"}.identify,
		Style:         latchkey.Style{Color: "#32e6e2", Mark: markNetlify},
	})
}
