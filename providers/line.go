package providers

import "github.com/latchkeyhq/latchkey"

// LINE signs in with a LINE account. Its profile is a [profile.Standard].
//
// The client id is the channel id. ID tokens are signed with the channel secret. The
// e-mail needs a permission that is applied for in the console, and LINE does not
// say whether it was proven. See
// https://developers.line.biz/en/docs/line-login/integrate-line-login/.
func LINE(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:          "line",
		Name:        "LINE",
		OIDC:        true,
		Issuer:      "https://access.line.me",
		ClientAuth:  latchkey.ClientSecretPost,
		Checks:      []latchkey.Check{latchkey.CheckState},
		IDTokenAlgs: []string{"HS256", "ES256"}, // web sign-ins have the first
		Style:       latchkey.Style{Color: "#06c755", Mark: markLINE},
	})
}
