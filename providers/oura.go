package providers

import "github.com/latchkeyhq/latchkey"

// Oura signs in with an Oura account. Its profile is a [profile.Oura].
//
// Register an application at https://cloud.ouraring.com/oauth/applications with
// a redirect URI that ends in /callback/oura; up to ten people can use it before
// Oura has approved it. The person can untick each scope.
//
// Oura gives no name and no picture. Whether an e-mail is verified is unknown.
// Refresh tokens are used once.
//
// See https://cloud.ouraring.com/docs/authentication.
func Oura(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "oura",
		Name:          "Oura",
		Authorization: latchkey.Endpoint{URL: "https://cloud.ouraring.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.ouraring.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.ouraring.com/v2/usercollection/personal_info"},
		Scopes:        []string{"email", "personal"},
		Identify:      fields{subject: "id", email: "email", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#2f4a73"},
	})
}
