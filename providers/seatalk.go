package providers

import "github.com/latchkeyhq/latchkey"

// SeaTalk signs in with a SeaTalk account. Its profile is a [profile.SeaTalk].
//
// SeaTalk documents this for its partners only, so that it has not been compared
// with documentation. The redirect URI to register ends in /callback/seatalk.
// The access token goes in the query. Employers enter the e-mails, so that none
// counts as proven.
//
// See https://open.seatalk.io/docs.
func SeaTalk(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(p.Or(latchkey.OAuth{
		ID:            "seatalk",
		Name:          "SeaTalk",
		Authorization: latchkey.Endpoint{URL: "https://seatalkweb.com/webapp/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://seatalkweb.com/webapp/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://seatalkweb.com/webapp/oauth2/profile"},
		Scopes:        []string{"email"},
		Identify:      fields{subject: "user_id", name: "name", email: "email", noImage: true, trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#1b74e4"},
	}), tokenInQuery("access_token"))
}
