package providers

import "github.com/latchkeyhq/latchkey"

// Linear signs in with a member of a Linear workspace. Its profile is a
// [profile.Linear].
//
// Make an OAuth application in the settings of a workspace, with a callback URL that
// ends in /callback/linear. Linear does not say whether the e-mail was proven. Tokens
// of applications made since 1 October 2025 live for 24 hours and have a refresh token,
// which changes at each use.
//
// See https://linear.app/developers/oauth-2-0-authentication (read on 23 November 2026).
func Linear(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(p.Or(latchkey.OAuth{
		ID:             "linear",
		Name:           "Linear",
		Authorization:  latchkey.Endpoint{URL: "https://linear.app/oauth/authorize"},
		Token:          latchkey.Endpoint{URL: "https://api.linear.app/oauth/token"},
		UserInfo:       latchkey.Endpoint{URL: "https://api.linear.app/graphql"},
		ClientAuth:     latchkey.ClientSecretPost,
		Checks:         []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Scopes:         []string{"read"},
		ScopeSeparator: ",",
		Identify:       fields{subject: "data.viewer.id", name: "data.viewer.name", email: "data.viewer.email", image: "data.viewer.avatarUrl"}.identify,
		Style:          latchkey.Style{Color: "#5e6ad2"},
	}), graphQL("query { viewer { id name email avatarUrl } }"))
}
