package providers

import "github.com/latchkeyhq/latchkey"

// Railway signs in with a Railway account. Its profile is a [profile.Standard].
//
// Make an OAuth app in the developer settings of a workspace, with a redirect URI that
// ends in /callback/railway. Railway does not say whether the e-mail was proven. The
// scope offline_access brings a refresh token.
//
// See https://docs.railway.com/integrations/oauth (read on 24 November 2026).
func Railway(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:            "railway",
		Name:          "Railway",
		Authorization: latchkey.Endpoint{URL: "https://backboard.railway.com/oauth/auth"},
		Token:         latchkey.Endpoint{URL: "https://backboard.railway.com/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://backboard.railway.com/oauth/me"},
		Checks:        []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Scopes:        []string{"openid", "email", "profile"},
		Identify:      fields{subject: "sub", name: "name", email: "email", image: "picture"}.identify,
		Style:         latchkey.Style{Color: "#13111c"},
	})
}
