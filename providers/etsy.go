package providers

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Etsy signs in with an Etsy account. Its profile is a [profile.Etsy].
//
// The client id is the keystring of an app at https://www.etsy.com/developers. One of
// the callback URLs of the app ends in /callback/etsy. At the token endpoint, PKCE
// takes the place of a secret. The client secret, which is the app's shared secret,
// goes with the calls of the API. Etsy does not say whether the e-mail was proven.
//
// See https://developers.etsy.com/documentation/essentials/authentication/ (read on 24
// November 2026).
func Etsy(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "etsy",
		Name:          "Etsy",
		Authorization: latchkey.Endpoint{URL: "https://www.etsy.com/oauth/connect"},
		Token:         latchkey.Endpoint{URL: "https://api.etsy.com/v3/public/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.etsy.com/v3/application/users/"}, // the id follows
		ClientAuth:    latchkey.ClientAuthNone,
		Checks:        []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Scopes:        []string{"email_r"},
		Derive:        deriveEtsy,
		Identify:      fields{subject: "user_id", name: "first_name+last_name", email: "primary_email", image: "image_url_75x75"}.identify,
		Style:         latchkey.Style{Color: "#f1641e"},
	})
}

// deriveEtsy sets a FetchProfile, unless there is one. It sends client id and secret as a key.
// An access token begins with the id of its user. An answer about another user is an error.
func deriveEtsy(p *latchkey.OAuth) error {
	key := p.ClientID
	if p.ClientSecret != "" {
		key += ":" + p.ClientSecret
	}
	fetching(p, func(ctx context.Context, a api) (latchkey.Claims, error) {
		id, _, found := strings.Cut(a.tokens.AccessToken, ".")
		if !found || id == "" || strings.Trim(id, "0123456789") != "" {
			return nil, errors.New("providers: the access token of Etsy does not begin with a user id")
		}
		req, err := a.request(ctx, http.MethodGet, a.user.URL+id, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("X-Api-Key", key)
		c, err := a.object(req)
		if err == nil && c.String("user_id") != id {
			return nil, errors.New("providers: Etsy answered about another user")
		}
		return c, err
	})
	return nil
}
