package providers

import "github.com/latchkeyhq/latchkey"

// Pipedrive signs in with a Pipedrive account. Its profile is a
// [profile.Pipedrive].
//
// Register an application in the developer hub of an account, which is under
// Tools and apps, with a callback URL that ends in /callback/pipedrive. The
// scopes are chosen there. Whether an e-mail is verified is unknown.
//
// See https://pipedrive.readme.io/docs/marketplace-oauth-authorization.
func Pipedrive(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "pipedrive",
		Name:          "Pipedrive",
		Authorization: latchkey.Endpoint{URL: "https://oauth.pipedrive.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://oauth.pipedrive.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.pipedrive.com/users/me"},
		Identify:      fields{subject: "data.id", name: "data.name", email: "data.email", image: "data.icon_url"}.identify,
		Style:         latchkey.Style{Color: "#017737"},
	})
}
