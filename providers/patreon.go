package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Patreon signs in with a Patreon account. Its profile is a [profile.Patreon].
//
// Register a client at https://www.patreon.com/portal/registration/register-clients
// with a redirect URI that ends in /callback/patreon. Patreon says in
// is_email_verified whether an e-mail is verified.
//
// See https://docs.patreon.com/#oauth.
func Patreon(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "patreon",
		Name:          "Patreon",
		Authorization: latchkey.Endpoint{URL: "https://www.patreon.com/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://www.patreon.com/api/oauth2/token"},
		UserInfo: latchkey.Endpoint{URL: "https://www.patreon.com/api/oauth2/v2/identity", Params: url.Values{
			"fields[user]": {"email,full_name,image_url,is_email_verified"},
		}},
		ClientAuth: latchkey.ClientSecretPost, // all that is documented
		Scopes:     []string{"identity", "identity[email]"},
		Identify: func(g latchkey.Grant) (latchkey.Identity, error) {
			user := member(g.Profile, "data", "attributes")
			return fields{
				subject: "data.id", name: "data.attributes.full_name", email: "data.attributes.email", image: "data.attributes.image_url",
				trust: trust(user["is_email_verified"]),
			}.identify(g)
		},
		Style: latchkey.Style{Color: "#e85b46", Mark: markPatreon},
	})
}
