package providers

import "github.com/latchkeyhq/latchkey"

// Amazon signs in with an Amazon account (Login with Amazon). Its profile is a
// [profile.Amazon].
//
// Callback URLs have to be listed in the security profile as allowed return URLs,
// with https unless on localhost. Amazon does not say whether the e-mail was
// proven. See https://developer.amazon.com/docs/login-with-amazon/documentation-overview.html.
func Amazon(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "amazon",
		Name:          "Amazon",
		Authorization: latchkey.Endpoint{URL: "https://www.amazon.com/ap/oa"},
		Token:         latchkey.Endpoint{URL: "https://api.amazon.com/auth/o2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.amazon.com/user/profile"},
		Scopes:        []string{"profile", "postal_code"},
		Identify:      fields{subject: "user_id", name: "name", email: "email", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#ff9900"},
	})
}
