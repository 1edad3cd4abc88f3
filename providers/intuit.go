package providers

import "github.com/latchkeyhq/latchkey"

// Intuit signs in with an Intuit account, as QuickBooks has them. Its profile is a
// [profile.Intuit].
//
// Make an app at https://developer.intuit.com with a redirect URI that ends in
// /callback/intuit. An app in development has keys of its own, and is asked at the
// sandbox: set UserInfo to
// https://sandbox-accounts.platform.intuit.com/v1/openid_connect/userinfo. The member
// emailVerified says whether the e-mail was proven.
//
// See https://developer.intuit.com/app/developer/qbo/docs/develop/authentication-and-authorization/openid-connect.
func Intuit(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:            "intuit",
		Name:          "Intuit",
		Authorization: latchkey.Endpoint{URL: "https://appcenter.intuit.com/connect/oauth2"},
		Token:         latchkey.Endpoint{URL: "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer"},
		UserInfo:      latchkey.Endpoint{URL: "https://accounts.platform.intuit.com/v1/openid_connect/userinfo"},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Scopes:        []string{"openid", "profile", "email"},
		Identify:      fields{subject: "sub", name: "givenName+familyName", email: "email", verified: "emailVerified", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#236cff"},
	})
}
