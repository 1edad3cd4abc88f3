package providers

import "github.com/latchkeyhq/latchkey"

// MailRu signs in with a Mail.ru account. Its profile is a [profile.MailRu].
//
// Register an application at https://o2.mail.ru/app/ with a redirect URI that ends in
// /callback/mailru. Mail.ru gets the access token in the query. Whether an e-mail is
// verified is unknown; it is a mailbox of Mail.ru's or the one of the registration.
//
// See https://api.mail.ru/docs/guides/oauth/.
func MailRu(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(p.Or(latchkey.OAuth{
		ID:            "mailru",
		Name:          "Mail.ru",
		Authorization: latchkey.Endpoint{URL: "https://oauth.mail.ru/login"},
		Token:         latchkey.Endpoint{URL: "https://oauth.mail.ru/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://oauth.mail.ru/userinfo"},
		Scopes:        []string{"userinfo"},
		Identify:      fields{subject: "id", name: "name|nickname", email: "email", image: "image"}.identify,
		Style:         latchkey.Style{Color: "#005ff9", Mark: markMailRu},
	}), tokenInQuery("access_token"))
}
