package providers

import "github.com/latchkeyhq/latchkey"

// OpenStreetMap signs in with an OpenStreetMap account. Its profile is a
// [profile.OpenStreetMap].
//
// Register an application at https://www.openstreetmap.org/oauth2/applications with a
// redirect URI that ends in /callback/openstreetmap, and allow it to read user
// preferences. There is no e-mail. Tokens do not end.
//
// See https://wiki.openstreetmap.org/wiki/OAuth (read on 24 November 2026).
func OpenStreetMap(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "openstreetmap",
		Name:          "OpenStreetMap",
		Authorization: latchkey.Endpoint{URL: "https://www.openstreetmap.org/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://www.openstreetmap.org/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.openstreetmap.org/api/0.6/user/details.json"},
		Checks:        []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Scopes:        []string{"read_prefs"},
		Identify:      fields{subject: "user.id", name: "user.display_name", image: "user.img.href", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#7ebc6f"},
	})
}
