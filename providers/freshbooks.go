package providers

import "github.com/latchkeyhq/latchkey"

// FreshBooks signs in with a FreshBooks account. Its profile is a
// [profile.FreshBooks].
//
// Callback URLs need https. Tokens live for twelve hours; a refresh token works
// once. FreshBooks does not say whether the e-mail was proven. See
// https://www.freshbooks.com/api/authentication.
func FreshBooks(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "freshbooks",
		Name:          "FreshBooks",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://auth.freshbooks.com/service/auth/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.freshbooks.com/auth/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.freshbooks.com/auth/api/v1/users/me"},
		Scopes:        []string{"user:profile:read"}, // FreshBooks refuses openid
		Identify:      fields{subject: "response.id", name: "response.first_name+response.last_name", email: "response.email", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#0075dd"},
	})
}
