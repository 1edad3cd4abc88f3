package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Polar signs in with a Polar account. Its profile is a [profile.Standard].
//
// Make an OAuth client in the settings of an account, with a redirect URI that ends in
// /callback/polar. The parameter sub_type asks for the user; without it Polar asks for
// one of the user's organizations. The claim email_verified says whether the e-mail
// was proven.
//
// See https://polar.sh/docs/integrate/oauth2/connect (read on 24 November 2026).
func Polar(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:            "polar",
		Name:          "Polar",
		Authorization: latchkey.Endpoint{URL: "https://polar.sh/oauth2/authorize", Params: url.Values{"sub_type": {"user"}}},
		Token:         latchkey.Endpoint{URL: "https://api.polar.sh/v1/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.polar.sh/v1/oauth2/userinfo"},
		ClientAuth:    latchkey.ClientSecretPost,
		Checks:        []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Scopes:        []string{"openid", "profile", "email"},
		Identify:      fields{subject: "sub", name: "name", email: "email", image: "picture", verified: "email_verified"}.identify,
		Style:         latchkey.Style{Color: "#0062ff"},
	})
}
