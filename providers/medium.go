package providers

import "github.com/latchkeyhq/latchkey"

// Medium signs in with a Medium account. Its profile is a [profile.Medium].
//
// Medium takes no new applications: this is for sites that have one, with a
// callback URL that ends in /callback/medium. It gives no e-mail.
//
// See https://github.com/Medium/medium-api-docs.
func Medium(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: joinScopes}.of(p).Or(latchkey.OAuth{
		ID:            "medium",
		Name:          "Medium",
		Authorization: latchkey.Endpoint{URL: "https://medium.com/m/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.medium.com/v1/tokens"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.medium.com/v1/me"},
		ClientAuth:    latchkey.ClientSecretPost, // all that is documented
		Scopes:        []string{"basicProfile"},
		Identify:      fields{subject: "data.id", name: "data.name", image: "data.imageUrl", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#000", Mark: markMedium},
	})
}
