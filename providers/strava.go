package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Strava signs in with a Strava account. Its profile is a [profile.Strava].
//
// Make an application at https://www.strava.com/settings/api; it has a domain
// for its callbacks and not a URL. A new application can have one athlete, until
// Strava has reviewed it. Strava gives no e-mail. Refresh tokens may change with
// each use.
//
// See https://developers.strava.com/docs/authentication/.
func Strava(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:             "strava",
		Name:           "Strava",
		Authorization:  latchkey.Endpoint{URL: "https://www.strava.com/api/v3/oauth/authorize", Params: url.Values{"approval_prompt": {"auto"}}},
		Token:          latchkey.Endpoint{URL: "https://www.strava.com/api/v3/oauth/token"},
		UserInfo:       latchkey.Endpoint{URL: "https://www.strava.com/api/v3/athlete"},
		ClientAuth:     latchkey.ClientSecretPost,
		Scopes:         []string{"read"},
		ScopeSeparator: ",",
		Identify:       fields{subject: "id", name: "firstname+lastname", image: "profile", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:     latchkey.EmailUnproven,
		Style:          latchkey.Style{Color: "#fc4c02", Mark: markStrava},
	})
}
