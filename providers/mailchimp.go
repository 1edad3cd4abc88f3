package providers

import "github.com/latchkeyhq/latchkey"

// Mailchimp signs in with a Mailchimp account. It sends no mail. Its profile is
// a [profile.Mailchimp].
//
// Register an application at https://admin.mailchimp.com/account/oauth2 with a
// redirect URI that ends in /callback/mailchimp; for trials Mailchimp takes
// 127.0.0.1 and not localhost.
//
// A person is known by their login; an account of Mailchimp can have several,
// and the name is the account's. Whether an e-mail is verified is unknown.
// Tokens do not expire.
//
// See https://mailchimp.com/developer/marketing/guides/access-user-data-oauth-2/.
func Mailchimp(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: unending}.of(p).Or(latchkey.OAuth{
		ID:            "mailchimp",
		Name:          "Mailchimp",
		Authorization: latchkey.Endpoint{URL: "https://login.mailchimp.com/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://login.mailchimp.com/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://login.mailchimp.com/oauth2/metadata"},
		ClientAuth:    latchkey.ClientSecretPost, // all that is documented
		Identify:      fields{subject: "login.login_id", name: "accountname", email: "login.email", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#000"},
	})
}
