package providers

import "github.com/latchkeyhq/latchkey"

// ClassLink signs in with a ClassLink account of a school. Its profile is a
// [profile.ClassLink].
//
// The school enters the e-mails, so that none counts as proven.
// See https://developer.classlink.com/docs/oauth2-workflow.
func ClassLink(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:            "classlink",
		Name:          "ClassLink",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://launchpad.classlink.com/oauth2/v2/auth"},
		Token:         latchkey.Endpoint{URL: "https://launchpad.classlink.com/oauth2/v2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://nodeapi.classlink.com/v2/my/info"},
		Scopes:        []string{"profile"},
		Identify:      fields{subject: "UserId", name: "DisplayName", email: "Email", noImage: true, trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#00a8e1"},
	})
}
