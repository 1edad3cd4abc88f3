package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Atlassian signs in with an Atlassian account. Its profile is a
// [profile.Atlassian].
//
// The application needs the User identity API, with read:me, in the developer console.
// The scope offline_access brings a refresh token, which ends after 90 days without use
// and is replaced at each use; a refused one is answered with status 403. Atlassian
// does not say whether the e-mail was proven. See
// https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/.
func Atlassian(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:   "atlassian",
		Name: "Atlassian",
		Authorization: latchkey.Endpoint{
			URL:    "https://auth.atlassian.com/authorize",
			Params: url.Values{"audience": {"api.atlassian.com"}},
		},
		Token:    latchkey.Endpoint{URL: "https://auth.atlassian.com/oauth/token"},
		UserInfo: latchkey.Endpoint{URL: "https://api.atlassian.com/me"},
		Scopes:   []string{"read:me"},
		Checks:   []latchkey.Check{latchkey.CheckState},
		Refresh:  latchkey.Refresh{AskScopes: []string{"offline_access"}},
		Identify: fields{subject: "account_id", name: "name", email: "email", image: "picture"}.identify,
		Style:    latchkey.Style{Color: "#0052cc", Mark: markAtlassian},
	})
}
