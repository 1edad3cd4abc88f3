package providers

import "github.com/latchkeyhq/latchkey"

// Snapchat signs in with a Snapchat account. Its profile is a [profile.Snapchat].
//
// Make an app with Login Kit in the Snap developer portal, with a redirect URI that
// ends in /callback/snapchat. The id of a user differs from app to app. There is no
// e-mail, and the picture is a Bitmoji, which users may withhold.
//
// See https://developers.snap.com/snap-kit/login-kit/overview (read on 24 November 2026).
func Snapchat(p latchkey.OAuth) *latchkey.OAuth {
	const scope = "https://auth.snapchat.com/oauth2/api/user."
	return fetching(p.Or(latchkey.OAuth{
		ID:            "snapchat",
		Name:          "Snapchat",
		Authorization: latchkey.Endpoint{URL: "https://accounts.snapchat.com/accounts/oauth2/auth"},
		Token:         latchkey.Endpoint{URL: "https://accounts.snapchat.com/accounts/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://kit.snapchat.com/v1/me"},
		Checks:        []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Scopes:        []string{scope + "external_id", scope + "display_name", scope + "bitmoji.avatar"},
		Identify: fields{
			subject: "data.me.externalId", name: "data.me.displayName", image: "data.me.bitmoji.avatar", trust: latchkey.EmailUnproven,
		}.identify,
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#fffc00"},
	}), graphQL("{me{externalId displayName bitmoji{avatar}}}"))
}
