package providers

import "github.com/latchkeyhq/latchkey"

// Epic signs in with an account of Epic Games. Its profile is a [profile.Standard].
//
// Make an application with Epic Account Services in the developer portal of Epic, with
// the permission Basic Profile and a redirect URL that ends in /callback/epic. The name
// is the display name, which its owner can change. There is no e-mail and no picture.
//
// See https://dev.epicgames.com/docs/web-api-ref/authentication (read on 24 November 2026).
func Epic(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:            "epic",
		Name:          "Epic Games",
		Authorization: latchkey.Endpoint{URL: "https://www.epicgames.com/id/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.epicgames.dev/epic/oauth/v2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.epicgames.dev/epic/oauth/v2/userInfo"},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Scopes:        []string{"basic_profile"},
		Identify:      fields{subject: "sub", name: "preferred_username", noImage: true, trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#313131"},
	})
}
