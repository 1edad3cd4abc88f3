package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Notion signs in with a Notion account. Its profile is a [profile.Notion].
//
// Make a public integration at https://www.notion.so/profile/integrations, with a
// redirect URI that ends in /callback/notion and the capability to read user
// information with e-mails. The person chooses a workspace and pages; a person that
// installs the integration for a whole workspace cannot be signed in.
//
// Whether an e-mail is verified is unknown. Refresh tokens are used once. A grant from
// before Notion had refresh tokens does not end. Tokens can be revoked at
// /v1/oauth/revoke.
//
// See https://developers.notion.com/docs/authorization.
func Notion(p latchkey.OAuth) *latchkey.OAuth {
	version := dialect{header: http.Header{"Notion-Version": {"2022-06-28"}}}
	return revoking(fetching(version.of(p).Or(latchkey.OAuth{
		ID:            "notion",
		Name:          "Notion",
		Authorization: latchkey.Endpoint{URL: "https://api.notion.com/v1/oauth/authorize", Params: url.Values{"owner": {"user"}}},
		Token:         latchkey.Endpoint{URL: "https://api.notion.com/v1/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.notion.com/v1/users/me"},
		Identify:      fields{subject: "id", name: "name", email: "person.email", image: "avatar_url"}.identify,
		Style:         latchkey.Style{Color: "#000", Mark: markNotion},
	}), func(ctx context.Context, a api) (latchkey.Claims, error) {
		bot, err := a.userInfo(ctx)
		return member(bot, "bot", "owner", "user"), err
	}), func(p *latchkey.OAuth) revoke {
		client, secret := p.ClientID, p.ClientSecret
		return func(ctx context.Context, c *http.Client, t latchkey.Tokens) error {
			req, err := bare(ctx, http.MethodPost, "https://api.notion.com/v1/oauth/revoke")
			if err != nil {
				return err
			}
			req.SetBasicAuth(client, secret)
			return ended(c, req, "application/json", map[string]string{"token": t.AccessToken})
		}
	})
}
