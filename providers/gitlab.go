package providers

import (
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// GitLab signs in with an account of gitlab.com or of another GitLab server. Its
// profile is a [profile.GitLab].
//
// Issuer is the URL of the server. If Issuer is empty, AUTH_GITLAB_ISSUER is used, or
// else https://gitlab.com. Whether e-mails are proven is a setting of the server.
// Tokens live for two hours; a refresh token works once, and the old access token
// ends with it. /oauth/revoke ends a token. See https://docs.gitlab.com/api/oauth2/.
func GitLab(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:       "gitlab",
		Name:     "GitLab",
		Issuer:   "https://gitlab.com",
		Derive:   deriveGitLab,
		Scopes:   []string{"read_user"},
		Identify: fields{subject: "sub|id", name: "name|username", email: "email", image: "avatar_url"}.identify,
		Refresh:  latchkey.Refresh{Lifetime: 2 * time.Hour}, // which some versions do not state
		Style:    latchkey.Style{Color: "#FC6D26"},
	})
}

// deriveGitLab sets the endpoints by the issuer. It leaves out the one for revocation if
// Revoke is set.
func deriveGitLab(p *latchkey.OAuth) error {
	if p.Revocation.URL == "" && p.Revoke == nil {
		p.Revocation.URL = strings.TrimRight(p.Issuer, "/") + "/oauth/revoke"
	}
	return below("/oauth/authorize", "/oauth/token", "/api/v4/user")(p)
}
