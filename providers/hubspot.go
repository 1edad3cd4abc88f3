package providers

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// HubSpot signs in with a HubSpot user. Its profile is a [profile.HubSpot].
//
// The scopes have to be those of the application, and oauth has to be among them.
// The only name is the e-mail, and HubSpot does not say whether it was proven.
// Tokens live for half an hour. A refresh token lives until a POST to
// /oauth/2026-03/token/revoke, and is then refused with BAD_REFRESH_TOKEN. The endpoints
// of version 1, which Auth.js has, end on 16 February 2027
// (https://developers.hubspot.com/changelog/v1-oauth-api-deprecation). See
// https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/oauth/working-with-oauth.
func HubSpot(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: repairHubSpot}.of(p).Or(latchkey.OAuth{
		ID:            "hubspot",
		Name:          "HubSpot",
		Derive:        deriveHubSpot,
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://app.hubspot.com/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.hubapi.com/oauth/2026-03/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.hubapi.com/oauth/2026-03/token/introspect"},
		Scopes:        []string{"oauth"},
		Revocation:    latchkey.Endpoint{URL: "https://api.hubapi.com/oauth/2026-03/token/revoke"},
		Refresh:       latchkey.Refresh{Refused: []string{"BAD_REFRESH_TOKEN"}},
		Identify:      fields{subject: "user_id", name: "user", email: "user", noImage: true}.identify,
		Style:         latchkey.Style{Color: "#ff7a59", Mark: markHubSpot},
	})
}

// deriveHubSpot sets a FetchProfile, unless there is one. It asks HubSpot about the token with
// the client's secret (RFC 7662, section 2.1). A token that is not active is an error.
func deriveHubSpot(p *latchkey.OAuth) error {
	client, secret := p.ClientID, p.ClientSecret
	fetching(p, func(ctx context.Context, a api) (latchkey.Claims, error) {
		req, err := a.request(ctx, http.MethodPost, endpointURL(a.user), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Del("Authorization")
		form := url.Values{"client_id": {client}, "client_secret": {secret}, "token": {a.tokens.AccessToken}, "token_type_hint": {"access_token"}}
		setBody(req, "application/x-www-form-urlencoded", []byte(form.Encode()))
		c, err := a.object(req)
		if err == nil && c["active"] != true {
			return nil, errors.New("providers: HubSpot says that the access token is not active")
		}
		return c, err
	})
	return nil
}

// repairHubSpot turns an error of HubSpot, which has its code in status, into one of
// OAuth.
func repairHubSpot(c latchkey.Claims) latchkey.Claims {
	if status := c.String("status"); status != "" && c.String("access_token") == "" {
		return fault(status, c.String("message"))
	}
	return c
}
