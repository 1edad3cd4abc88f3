package providers

import "github.com/latchkeyhq/latchkey"

// Box signs in with a Box account. Its profile is a [profile.Box].
//
// What the application may do is set in the developer console, so that no scope is
// asked for. The e-mail is the login, which Box does not say to be proven. Tokens
// live for an hour; a refresh token works once. See
// https://developer.box.com/guides/authentication/oauth2/.
func Box(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "box",
		Name:          "Box",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://account.box.com/api/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.box.com/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.box.com/2.0/users/me"},
		Scopes:        []string{},
		Identify:      fields{subject: "id", name: "name", email: "login", image: "avatar_url"}.identify,
		Style:         latchkey.Style{Color: "#0075C9", Mark: markBox},
	})
}
