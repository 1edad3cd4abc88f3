package providers

import "github.com/latchkeyhq/latchkey"

// Concept2 signs in with an account of the Concept2 Logbook. Its profile is a
// [profile.Concept2].
//
// The callback URL has to be registered to the letter. Concept2 does not say
// whether the e-mail was proven. See https://log.concept2.com/developers/documentation/.
func Concept2(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:             "concept2",
		Name:           "Concept2",
		ClientAuth:     latchkey.ClientSecretPost,
		Authorization:  latchkey.Endpoint{URL: "https://log.concept2.com/oauth/authorize"},
		Token:          latchkey.Endpoint{URL: "https://log.concept2.com/oauth/access_token"},
		UserInfo:       latchkey.Endpoint{URL: "https://log.concept2.com/api/users/me"},
		Scopes:         []string{"user:read", "results:write"},
		ScopeSeparator: ",",
		Identify:       fields{subject: "data.id", name: "data.username", email: "data.email", image: "data.profile_image"}.identify,
		Style:          latchkey.Style{Color: "#00629b"},
	})
}
