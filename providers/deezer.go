package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Deezer signs in with a Deezer account. Its profile is a [profile.Deezer]. Deezer
// registers no new applications for now.
//
// There is no refresh token. The scope offline_access brings a token that does not
// expire. Deezer does not say whether the e-mail was proven. See
// https://developers.deezer.com/api/oauth.
func Deezer(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(dialect{answer: repairDeezer}.of(p).Or(latchkey.OAuth{
		ID:            "deezer",
		Name:          "Deezer",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://connect.deezer.com/oauth/auth.php"},
		Token:         latchkey.Endpoint{URL: "https://connect.deezer.com/oauth/access_token.php", Params: url.Values{"output": {"json"}}},
		UserInfo:      latchkey.Endpoint{URL: "https://api.deezer.com/user/me"},
		Scopes:        []string{"email"},
		Identify:      fields{subject: "id", name: "name", email: "email", image: "picture"}.identify,
		Style:         latchkey.Style{Color: "#a238ff", Mark: markDeezer},
	}), tokenInQuery("access_token"))
}

// repairDeezer renames expires to expires_in, and drops an expires of 0, which means
// never. It adds the type of the token.
func repairDeezer(c latchkey.Claims) latchkey.Claims {
	if seconds := c.String("expires"); seconds != "" && seconds != "0" {
		c["expires_in"] = seconds
	}
	delete(c, "expires")
	return asBearer(c)
}
