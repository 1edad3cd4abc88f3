package providers

import "github.com/latchkeyhq/latchkey"

// Coinbase signs in with a Coinbase account. Its profile is a [profile.Coinbase].
//
// Tokens live for an hour and come with a refresh token, which works once. Coinbase
// does not say whether the e-mail was proven. See
// https://docs.cdp.coinbase.com/coinbase-app/oauth2-integration/overview.
func Coinbase(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "coinbase",
		Name:          "Coinbase",
		Authorization: latchkey.Endpoint{URL: "https://login.coinbase.com/oauth2/auth"},
		Token:         latchkey.Endpoint{URL: "https://login.coinbase.com/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.coinbase.com/v2/user"},
		Scopes:        []string{"wallet:user:email", "wallet:user:read"},
		Identify:      fields{subject: "data.id", name: "data.name", email: "data.email", image: "data.avatar_url"}.identify,
		Style:         latchkey.Style{Color: "#0052ff", Mark: markCoinbase},
	})
}
