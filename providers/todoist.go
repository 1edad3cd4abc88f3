package providers

import "github.com/latchkeyhq/latchkey"

// Todoist signs in with a Todoist account. Its profile is a [profile.Todoist].
//
// Make an app at https://app.todoist.com/app/settings/integrations/app-management
// with an OAuth redirect URL that ends in /callback/todoist. Whether an e-mail is
// verified is unknown. Tokens do not end.
//
// See https://developer.todoist.com/api/v1/#tag/Authorization.
func Todoist(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:             "todoist",
		Name:           "Todoist",
		Authorization:  latchkey.Endpoint{URL: "https://todoist.com/oauth/authorize"},
		Token:          latchkey.Endpoint{URL: "https://todoist.com/oauth/access_token"},
		UserInfo:       latchkey.Endpoint{URL: "https://api.todoist.com/api/v1/user"},
		ClientAuth:     latchkey.ClientSecretPost,
		Scopes:         []string{"data:read"},
		ScopeSeparator: ",",
		Identify:       fields{subject: "id", name: "full_name", email: "email", image: "avatar_big"}.identify,
		Style:          latchkey.Style{Color: "#e44332", Mark: markTodoist},
	})
}
