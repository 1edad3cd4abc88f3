package providers

import "github.com/latchkeyhq/latchkey"

// Naver signs in with a Naver account. Its profile is a [profile.Naver].
//
// Register an application at https://developers.naver.com/apps/ with a callback
// URL that ends in /callback/naver. What Naver gives is chosen there and not by
// scopes, and people may decline each part, the e-mail too. Until Naver has
// reviewed an application only its listed testers can sign in.
//
// People can give Naver an e-mail that is not theirs to be contacted at, so none
// counts as proven.
//
// See https://developers.naver.com/docs/login/api/api.md.
func Naver(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "naver",
		Name:          "Naver",
		Authorization: latchkey.Endpoint{URL: "https://nid.naver.com/oauth2.0/authorize"},
		Token:         latchkey.Endpoint{URL: "https://nid.naver.com/oauth2.0/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://openapi.naver.com/v1/nid/me"},
		Identify:      fields{subject: "response.id", name: "response.nickname", email: "response.email", image: "response.profile_image", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#03c75a", Mark: markNaver},
	})
}
