package providers

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// HubSpot signs in with a HubSpot user. Its profile is a [profile.HubSpot].
//
// The scopes have to be those of the application, and oauth has to be among them.
// The only name is the e-mail, and HubSpot does not say whether it was proven.
// Tokens live for half an hour; a refresh token does not expire, is refused with
// BAD_REFRESH_TOKEN, and ends by a DELETE of /oauth/v1/refresh-tokens/{token}. See
// https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/oauth/working-with-oauth.
func HubSpot(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(dialect{answer: repairHubSpot}.of(p).Or(latchkey.OAuth{
		ID:            "hubspot",
		Name:          "HubSpot",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://app.hubspot.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.hubapi.com/oauth/v1/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.hubapi.com/oauth/v1/access-tokens"},
		Scopes:        []string{"oauth"},
		Identify:      fields{subject: "user_id", name: "user", email: "user", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#ff7a59", Mark: markHubSpot},
	}), fetchHubSpot)
}

// fetchHubSpot asks for what HubSpot knows of the token, by its name.
func fetchHubSpot(ctx context.Context, a api) (latchkey.Claims, error) {
	req, err := a.request(ctx, http.MethodGet, a.user.URL+"/"+url.PathEscape(a.tokens.AccessToken), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Del("Authorization")
	return a.object(req)
}

// repairHubSpot knows that HubSpot says status where others say error.
func repairHubSpot(c latchkey.Claims) latchkey.Claims {
	if status := c.String("status"); status != "" && c.String("access_token") == "" {
		return fault(status, c.String("message"))
	}
	return c
}
