package providers

import (
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Twitch signs in with a Twitch account. Its profile is a [profile.OpenID].
//
// Register an application at https://dev.twitch.tv/console/apps with an OAuth
// redirect URL that ends in /callback/twitch.
//
// The parameter claims asks for the e-mail, its verification, the picture and the name. If you
// replace it in Authorization.Params, ask for these again. The claim email_verified says
// whether the e-mail was proven. There is always a refresh token, which may change with each
// use; tokens are revoked at /oauth2/revoke.
//
// See https://dev.twitch.tv/docs/authentication/getting-tokens-oidc/.
func Twitch(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairTwitch}.of(p).Or(latchkey.OAuth{
		ID:     "twitch",
		Name:   "Twitch",
		OIDC:   true,
		Issuer: "https://id.twitch.tv/oauth2",
		Authorization: latchkey.Endpoint{Params: url.Values{
			"claims": {`{"id_token":{"email":null,"email_verified":null,"picture":null,"preferred_username":null}}`},
		}},
		ClientAuth: latchkey.ClientSecretPost,
		Scopes:     []string{"openid", "user:read:email"},
		Revocation: latchkey.Endpoint{URL: "https://id.twitch.tv/oauth2/revoke"},
		Refresh:    latchkey.Refresh{AskScopes: []string{}}, // there is always one
		Style:      latchkey.Style{Color: "#65459b", Mark: markTwitch},
	})
}

// repairTwitch turns an error that has a status and a message alone into one of OAuth,
// and a list of scopes into text.
func repairTwitch(c latchkey.Claims) latchkey.Claims {
	if message := c.String("message"); message != "" && c["access_token"] == nil && (c["error"] == nil || c["status"] != nil) {
		if strings.EqualFold(message, "invalid refresh token") {
			return fault("invalid_grant", message)
		}
		return fault("invalid_request", message)
	}
	return joinScopes(c)
}
