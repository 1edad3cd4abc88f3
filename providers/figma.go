package providers

import "github.com/latchkeyhq/latchkey"

// Figma signs in with a Figma account. Its profile is a [profile.Figma].
//
// The scope files:read of Auth.js is not asked for, because it reads every file and Figma
// has deprecated it. Figma does not say whether the e-mail was proven. See
// https://developers.figma.com/docs/rest-api/authentication/.
func Figma(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairFigma}.of(p).Or(latchkey.OAuth{
		ID:            "figma",
		Name:          "Figma",
		Authorization: latchkey.Endpoint{URL: "https://www.figma.com/oauth"},
		Token:         latchkey.Endpoint{URL: "https://api.figma.com/v1/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.figma.com/v1/me"},
		Scopes:        []string{"current_user:read"},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Identify:      fields{subject: "id", name: "handle", email: "email", image: "img_url"}.identify,
		Style:         latchkey.Style{Color: "#ff7237", Mark: markFigma},
	})
}

// repairFigma turns an error of Figma, where error is a flag, into one of OAuth. It adds
// the type of the token, which Figma's documentation leaves out.
func repairFigma(c latchkey.Claims) latchkey.Claims {
	if isTrue(c["error"]) {
		return fault("figma_"+c.String("status"), c.String("message"))
	}
	return asBearer(c)
}
