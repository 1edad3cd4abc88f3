package providers

import "github.com/latchkeyhq/latchkey"

// Dribbble signs in with a Dribbble account. Its profile is a [profile.Dribbble].
//
// Tokens do not expire. There is no e-mail in most answers, and Dribbble does not
// say whether one was proven. See https://developer.dribbble.com/v2/oauth/.
func Dribbble(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "dribbble",
		Name:          "Dribbble",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://dribbble.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://dribbble.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.dribbble.com/v2/user"},
		Scopes:        []string{"public"},
		Identify:      fields{subject: "id", name: "name", email: "email", image: "avatar_url"}.identify,
		Style:         latchkey.Style{Color: "#ea4c89", Mark: markDribbble},
	})
}
