package providers

import "github.com/latchkeyhq/latchkey"

// Roblox signs in with a Roblox account. Its profile is a [profile.Roblox].
//
// Make an OAuth 2.0 app at https://create.roblox.com/dashboard/credentials with a
// redirect URL that ends in /callback/roblox and the scopes openid and profile;
// until Roblox has reviewed it, ten people can use it. Roblox gives no e-mail,
// and the picture is null where there is none.
//
// See https://create.roblox.com/docs/cloud/auth/oauth2-overview.
func Roblox(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:         "roblox",
		Name:       "Roblox",
		OIDC:       true,
		Issuer:     "https://apis.roblox.com/oauth/", // with the slash
		Scopes:     []string{"openid", "profile"},
		Checks:     []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		EmailTrust: latchkey.EmailUnproven,
		Style:      latchkey.Style{Color: "#5865f2", Mark: markRoblox},
	})
}
