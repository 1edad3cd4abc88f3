package providers

import "github.com/latchkeyhq/latchkey"

// DigitalOcean signs in with a DigitalOcean account. Its profile is a
// [profile.DigitalOcean].
//
// Without Scopes a token may read. It lives for 30 days and comes with a refresh
// token. The account's email_verified says whether the e-mail was proven. See
// https://docs.digitalocean.com/reference/api/oauth/.
func DigitalOcean(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "digitalocean",
		Name:          "DigitalOcean",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://cloud.digitalocean.com/v1/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://cloud.digitalocean.com/v1/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.digitalocean.com/v2/account"},
		Scopes:        []string{},
		Identify:      fields{subject: "account.uuid", name: "account.name", email: "account.email", verified: "account.email_verified", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#0080ff", Mark: markDigitalOcean},
	})
}
