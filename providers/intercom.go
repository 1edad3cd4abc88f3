package providers

import "github.com/latchkeyhq/latchkey"

// Intercom signs in with a teammate's Intercom account. Its profile is an
// [profile.Intercom].
//
// What the application may do is set in the developer hub. The profile's
// email_verified says whether the e-mail was proven. Tokens do not expire. See
// https://developers.intercom.com/docs/build-an-integration/learn-more/authentication/setting-up-oauth.
func Intercom(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: asBearer}.of(p).Or(latchkey.OAuth{
		ID:            "intercom",
		Name:          "Intercom",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://app.intercom.com/oauth"},
		Token:         latchkey.Endpoint{URL: "https://api.intercom.io/auth/eagle/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.intercom.io/me"},
		Scopes:        []string{},
		Identify:      fields{subject: "id", name: "name", email: "email", image: "avatar.image_url", verified: "email_verified"}.identify,
		Style:         latchkey.Style{Color: "#1f8ded", Mark: markIntercom},
	})
}
