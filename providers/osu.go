package providers

import "github.com/latchkeyhq/latchkey"

// Osu signs in with an osu! account. Its profile is a [profile.Osu].
//
// Register an application at https://osu.ppy.sh/home/account/edit#oauth with a
// callback URL that ends in /callback/osu. osu! gives no e-mail.
//
// See https://osu.ppy.sh/docs/index.html#authentication.
func Osu(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "osu",
		Name:          "osu!",
		Authorization: latchkey.Endpoint{URL: "https://osu.ppy.sh/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://osu.ppy.sh/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://osu.ppy.sh/api/v2/me"},
		Scopes:        []string{"identify"},
		Identify:      fields{subject: "id", name: "username", image: "avatar_url", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#ff66aa"},
	})
}
