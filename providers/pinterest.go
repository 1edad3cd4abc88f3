package providers

import "github.com/latchkeyhq/latchkey"

// Pinterest signs in with a Pinterest account. Its profile is a
// [profile.Pinterest].
//
// Register an application at https://developers.pinterest.com/apps/ with a
// redirect URI that ends in /callback/pinterest. Until Pinterest has reviewed it
// only its owner can sign in.
//
// A person is known by an id. Auth.js takes the user name, which its owner can change
// and another person take over; users of Auth.js have to be given their id when they
// move here. Pinterest gives no e-mail.
//
// See
// https://developers.pinterest.com/docs/getting-started/set-up-authentication-and-authorization/.
func Pinterest(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:             "pinterest",
		Name:           "Pinterest",
		Authorization:  latchkey.Endpoint{URL: "https://www.pinterest.com/oauth"},
		Token:          latchkey.Endpoint{URL: "https://api.pinterest.com/v5/oauth/token"},
		UserInfo:       latchkey.Endpoint{URL: "https://api.pinterest.com/v5/user_account"},
		Scopes:         []string{"user_accounts:read"},
		ScopeSeparator: ",",
		Identify:       fields{subject: "id", name: "username", image: "profile_image", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:     latchkey.EmailUnproven,
		Style:          latchkey.Style{Color: "#bd081c", Mark: markPinterest},
	})
}
