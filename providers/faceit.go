package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// FACEIT signs in with a FACEIT account. Its profile is a [profile.FACEIT].
//
// FACEIT does not say whether the e-mail was proven. See
// https://docs.faceit.com/getting-started/authentication/oauth2.
func FACEIT(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:            "faceit",
		Name:          "FACEIT",
		Authorization: latchkey.Endpoint{URL: "https://accounts.faceit.com/accounts", Params: url.Values{"redirect_popup": {"true"}}},
		Token:         latchkey.Endpoint{URL: "https://api.faceit.com/auth/v1/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.faceit.com/auth/v1/resources/userinfo"},
		Scopes:        []string{"openid", "profile", "email"},
		Identify:      fields{subject: "guid", name: "name", email: "email", image: "picture"}.identify,
		Style:         latchkey.Style{Color: "#ff5500", Mark: markFACEIT},
	})
}
