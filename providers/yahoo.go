package providers

import "github.com/latchkeyhq/latchkey"

// Yahoo signs in with a Yahoo account, by OpenID Connect. Its profile is a
// [profile.Yahoo].
//
// Make an app at https://developer.yahoo.com/apps/ with the OpenID Connect
// permissions for e-mail and profile, and a redirect URI that ends in
// /callback/yahoo, with https. Yahoo says in email_verified whether an e-mail is
// verified.
//
// See https://developer.yahoo.com/sign-in-with-yahoo/.
func Yahoo(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:     "yahoo",
		Name:   "Yahoo",
		OIDC:   true,
		Issuer: "https://api.login.yahoo.com",
		Style:  latchkey.Style{Color: "#6001d2"},
	})
}
