package providers

import "github.com/latchkeyhq/latchkey"

// Gitea signs in with a user of a Gitea server. Its profile is a [profile.Gitea].
//
// Issuer is the URL of the server. If Issuer is empty, AUTH_GITEA_ISSUER is used, or
// else https://gitea.com. The scope lets a token read the person's profile alone. Servers
// before 1.23 know no such scope, and let the token do what the person can. Whether
// e-mails are proven is for the server's operator to say. See
// https://docs.gitea.com/development/oauth2-provider.
func Gitea(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "gitea",
		Name:     "Gitea",
		Issuer:   "https://gitea.com",
		Derive:   below("/login/oauth/authorize", "/login/oauth/access_token", "/api/v1/user"),
		Scopes:   []string{"read:user"},
		Identify: fields{subject: "id", name: "full_name||login", email: "email", image: "avatar_url"}.identify,
		Style:    latchkey.Style{Color: "#609926", Mark: markGitea},
	})
}
