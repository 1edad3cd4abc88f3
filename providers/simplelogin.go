package providers

import "github.com/latchkeyhq/latchkey"

// SimpleLogin signs in with a SimpleLogin account. Its profile is a
// [profile.SimpleLogin].
//
// Register a website at https://app.simplelogin.io/developer with a redirect URL
// that ends in /callback/simplelogin, with https except on localhost. People
// choose the e-mail that a site gets, mostly an alias; email_verified says
// whether it is verified.
//
// See https://simplelogin.io/docs/siwsl/intro/.
func SimpleLogin(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "simplelogin",
		Name:     "SimpleLogin",
		OIDC:     true,
		Issuer:   "https://app.simplelogin.io",
		Identify: fields{subject: "sub", name: "name", email: "email", image: "avatar_url"}.identify,
		Style:    latchkey.Style{Color: "#e3156a", Mark: markSimpleLogin},
	})
}
