package providers

import (
	"context"
	"net/http"

	"github.com/latchkeyhq/latchkey"
)

// Trakt signs in with a Trakt account. Its profile is a [profile.Trakt].
//
// Make an application at https://trakt.tv/oauth/applications with a redirect URI
// that ends in /callback/trakt. Trakt gives no e-mail and asks sites to copy
// pictures instead of linking to them.
//
// A person is known by a UUID. Auth.js takes the slug, which is made of the user name,
// which its owner can change and another person take over; users of Auth.js have to be
// given their UUID when they move here.
//
// See https://trakt.docs.apiary.io/#reference/authentication-oauth.
func Trakt(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "trakt",
		Name:          "Trakt",
		Authorization: latchkey.Endpoint{URL: "https://trakt.tv/oauth/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.trakt.tv/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.trakt.tv/users/settings"}, // only here is the UUID
		Scopes:        []string{},
		Derive:        deriveTrakt,
		Identify:      fields{subject: "ids.uuid", name: "name", image: "images.avatar.full", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#ed2224", Mark: markTrakt},
	})
}

// deriveTrakt sets a FetchProfile, unless there is one, that sends the client id as a key.
func deriveTrakt(p *latchkey.OAuth) error {
	key := p.ClientID
	fetching(p, func(ctx context.Context, a api) (latchkey.Claims, error) {
		req, err := a.request(ctx, http.MethodGet, endpointURL(a.user), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("trakt-api-version", "2")
		req.Header.Set("trakt-api-key", key)
		settings, err := a.object(req)
		return member(settings, "user"), err
	})
	return nil
}
