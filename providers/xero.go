package providers

import "github.com/latchkeyhq/latchkey"

// Xero signs in with a Xero account, by OpenID Connect. Its profile is a
// [profile.Xero].
//
// Make a web app at https://developer.xero.com/app/manage with a redirect URI that
// ends in /callback/xero. It is a person that signs in; the organizations of that
// person are said by the connections endpoint of Xero's API. There is no picture.
// Whether an e-mail is verified is unknown. The scope offline_access brings a refresh
// token, which is used once.
//
// See https://developer.xero.com/documentation/guides/oauth2/sign-in/.
func Xero(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:           "xero",
		Name:         "Xero",
		OIDC:         true,
		Issuer:       "https://identity.xero.com",
		FetchProfile: idTokenOnly, // which has every claim, the name in two parts
		Identify:     fields{subject: "sub", name: "name||given_name+family_name", email: "email", noImage: true}.identify,
		Style:        latchkey.Style{Color: "#13b5ea", Mark: markXero},
	})
}
