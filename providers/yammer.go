package providers

import "github.com/latchkeyhq/latchkey"

// Yammer signs in with an account of Yammer, now Viva Engage. Its profile is a
// [profile.Yammer].
//
// This is for applications that are registered at
// https://www.yammer.com/client_applications, with a redirect URI that ends in
// /callback/yammer; newer ones use [MicrosoftEntraID]. Employers enter the
// e-mails, so that none counts as proven. Tokens do not end.
//
// See https://learn.microsoft.com/rest/api/yammer/oauth-2.
func Yammer(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairYammer}.of(p).Or(latchkey.OAuth{
		ID:            "yammer",
		Name:          "Yammer",
		Authorization: latchkey.Endpoint{URL: "https://www.yammer.com/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://www.yammer.com/oauth2/access_token"},
		UserInfo:      latchkey.Endpoint{URL: "https://www.yammer.com/api/v1/users/current.json"},
		ClientAuth:    latchkey.ClientSecretPost,
		Scopes:        []string{},
		Identify:      fields{subject: "id", name: "full_name", email: "email", noImage: true, trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#0072c6"},
	})
}

// repairYammer returns the token inside an access_token that is an object, as a bearer token.
func repairYammer(c latchkey.Claims) latchkey.Claims {
	if token := member(c, "access_token").String("token"); token != "" {
		return latchkey.Claims{"access_token": token, "token_type": "bearer"}
	}
	return c
}
