package providers

import "github.com/latchkeyhq/latchkey"

// Heroku signs in with a Heroku account. Its profile is a [profile.Heroku].
//
// Heroku does not say whether the e-mail was proven: the profile's verified is about
// billing. Tokens live for eight hours and come with a refresh token. See
// https://devcenter.heroku.com/articles/oauth.
func Heroku(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(p.Or(latchkey.OAuth{
		ID:            "heroku",
		Name:          "Heroku",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://id.heroku.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://id.heroku.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.heroku.com/account"},
		Scopes:        []string{"identity"},
		Identify:      fields{subject: "id", name: "name", email: "email", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#430098"},
	}), withHeader("Accept", "application/vnd.heroku+json; version=3"))
}
