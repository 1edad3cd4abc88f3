package providers

import (
	"context"
	"net/http"

	"github.com/latchkeyhq/latchkey"
)

// Slack signs in with a Slack account. Its profile is a [profile.Slack].
//
// Make an app at https://api.slack.com/apps with the user scopes openid, profile
// and email, and a redirect URL that ends in /callback/slack; Slack wants https,
// in development too. A person has another id in each workspace. The parameter
// team with the id of a workspace makes Slack offer that one.
//
// Slack says in email_verified whether an e-mail is verified. Token rotation is a setting
// of the app that stays on. Access tokens then live 12 hours, and a refresh token works
// once. Latchkey revokes tokens by auth.revoke, whose errors come with status 200.
//
// See https://api.slack.com/authentication/sign-in-with-slack.
func Slack(p latchkey.OAuth) *latchkey.OAuth {
	return revoking(p.Or(latchkey.OAuth{
		ID:     "slack",
		Name:   "Slack",
		OIDC:   true,
		Issuer: "https://slack.com",
		Checks: []latchkey.Check{latchkey.CheckNonce},
		Refresh: latchkey.Refresh{
			AskScopes: []string{}, // it is a setting of the app
			Refused:   []string{"invalid_refresh_token", "token_revoked", "token_expired", "account_inactive"},
		},
		Style: latchkey.Style{Color: "#611f69"},
	}), func(*latchkey.OAuth) revoke { return revokeSlack })
}

// revokeSlack calls auth.revoke, which says in the body whether it worked.
func revokeSlack(ctx context.Context, c *http.Client, t latchkey.Tokens) error {
	return endedByBearer(ctx, c, http.MethodPost, "https://slack.com/api/auth.revoke", t)
}
