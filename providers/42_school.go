package providers

import "github.com/latchkeyhq/latchkey"

// FortyTwoSchool signs in with an account of the 42 intranet. Its profile is a
// [profile.FortyTwoSchool].
//
// The e-mail is the one that the school gave the student; 42 does not say whether
// it was proven. See https://api.intra.42.fr/apidoc/guides/web_application_flow.
func FortyTwoSchool(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "42-school",
		Name:          "42 School",
		Authorization: latchkey.Endpoint{URL: "https://api.intra.42.fr/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.intra.42.fr/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.intra.42.fr/v2/me"},
		Scopes:        []string{"public"},
		Identify:      fields{subject: "id", name: "usual_full_name", email: "email", image: "image.link"}.identify,
		Style:         latchkey.Style{Color: "#00babc", Mark: markFortyTwoSchool},
	})
}
