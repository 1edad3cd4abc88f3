package providers

import (
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Webex signs in with a Webex account. Its profile is a [profile.Webex].
//
// Make an integration at https://developer.webex.com/my-apps with the scopes
// spark:kms and spark:people_read, and a redirect URI that ends in
// /callback/webex. Whether an e-mail is verified is unknown; the first of several
// is taken.
//
// See https://developer.webex.com/docs/integrations.
func Webex(p latchkey.OAuth) *latchkey.OAuth { return WebexAt("https://webexapis.com/v1", p) }

// WebexAt signs in as [Webex] does, with its API at baseURL, such as
// "https://api-usgov.webex.com/v1" of Webex for Government.
func WebexAt(baseURL string, p latchkey.OAuth) *latchkey.OAuth {
	baseURL = strings.TrimRight(baseURL, "/")
	return p.Or(latchkey.OAuth{
		ID:            "webex",
		Name:          "Webex",
		Authorization: latchkey.Endpoint{URL: baseURL + "/authorize"},
		Token:         latchkey.Endpoint{URL: baseURL + "/access_token"},
		UserInfo:      latchkey.Endpoint{URL: baseURL + "/people/me"},
		Scopes:        []string{"spark:kms", "spark:people_read"},
		Identify:      fields{subject: "id", name: "displayName", email: "emails.0", image: "avatar"}.identify,
		Style:         latchkey.Style{Color: "#00bceb"},
	})
}
