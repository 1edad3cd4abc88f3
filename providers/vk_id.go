package providers

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// VKID signs in with VK ID: an account of VK, or through it one of Odnoklassniki
// or Mail.ru. Its profile is a [profile.VKID]. [VK] is for older applications.
//
// The application, made at https://id.vk.com/about/business/go, is a web one with a
// trusted redirect URL that ends in /callback/vk-id. It has no use for the client
// secret: PKCE takes its place. The callback brings a device_id, which the token
// request repeats. Every later call for a token needs it, too, so keep it from
// [latchkey.Grant].Params where you refresh tokens.
//
// VK does not say whether an e-mail is verified; the member verified is about the
// account. Tokens live for an hour.
//
// See
// https://id.vk.com/about/business/go/docs/en/vkid/latest/vk-id/connection/api-integration/api-description.
func VKID(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{answer: withoutIDToken}.of(p).Or(latchkey.OAuth{
		ID:             "vk-id",
		Name:           "VK ID",
		Authorization:  latchkey.Endpoint{URL: "https://id.vk.com/authorize"},
		Token:          latchkey.Endpoint{URL: "https://id.vk.com/oauth2/auth"},
		UserInfo:       latchkey.Endpoint{URL: "https://id.vk.com/oauth2/user_info"},
		ClientAuth:     latchkey.ClientAuthNone,
		CallbackParams: []string{"device_id"},
		Scopes:         []string{"vkid.personal_info", "email"},
		Identify:       fields{subject: "user.user_id", name: "user.first_name+user.last_name", email: "user.email", image: "user.avatar"}.identify,
		Derive:         deriveVKID,
		Style:          latchkey.Style{Color: "#0077ff", Mark: markVK},
	})
}

// deriveVKID sets a FetchProfile, unless there is one. It asks for the profile with a form of
// client id and access token.
func deriveVKID(p *latchkey.OAuth) error {
	client := p.ClientID
	fetching(p, func(ctx context.Context, a api) (latchkey.Claims, error) {
		form := url.Values{"client_id": {client}, "access_token": {a.tokens.AccessToken}}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpointURL(a.user), strings.NewReader(form.Encode()))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "application/json")
		return a.object(req)
	})
	return nil
}
