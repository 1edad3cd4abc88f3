package providers

import "github.com/latchkeyhq/latchkey"

// Uber signs in with an Uber account. Its profile is a [profile.Uber].
//
// Make an application at https://developer.uber.com/dashboard with a redirect URI
// that ends in /callback/uber. Uber has to approve the scope profile before others
// than the developers can sign in. Whether an e-mail is verified is unknown.
//
// See https://developer.uber.com/docs/riders/guides/authentication/introduction.
func Uber(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "uber",
		Name:          "Uber",
		Authorization: latchkey.Endpoint{URL: "https://auth.uber.com/oauth/v2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://auth.uber.com/oauth/v2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.uber.com/v1.2/me"},
		ClientAuth:    latchkey.ClientSecretPost,
		Scopes:        []string{"profile"},
		Identify:      fields{subject: "uuid", name: "first_name+last_name", email: "email", image: "picture"}.identify,
		Style:         latchkey.Style{Color: "#000", Mark: markUber},
	})
}
