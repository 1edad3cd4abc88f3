package providers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Bungie signs in with a Bungie.net account. Its profile is a [profile.Bungie].
//
//	providers.Bungie(latchkey.OAuth{FetchProfile: providers.BungieProfile("the API key")})
//
// The API key of the application goes with every call of the API: FetchProfile is
// [BungieProfile] with it, or New fails. Callback URLs need https, and localhost is refused;
// 127.0.0.1 works. There is no e-mail. See
// https://github.com/Bungie-net/api/wiki/OAuth-Documentation.
func Bungie(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "bungie",
		Name:          "Bungie",
		Authorization: latchkey.Endpoint{URL: "https://www.bungie.net/en/OAuth/Authorize", Params: url.Values{"reauth": {"true"}}},
		Token:         latchkey.Endpoint{URL: "https://www.bungie.net/platform/app/oauth/token/"},
		UserInfo:      latchkey.Endpoint{URL: "https://www.bungie.net/Platform/User/GetMembershipsForCurrentUser/"},
		Scopes:        []string{}, // they are the application's
		Derive:        deriveBungie,
		Identify:      identifyBungie,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#0077a8"},
	})
}

// deriveBungie returns an error without a FetchProfile, which has to send the API key.
func deriveBungie(p *latchkey.OAuth) error {
	if p.FetchProfile == nil {
		return errors.New("providers: Bungie's API needs a key: set FetchProfile to providers.BungieProfile(key), with the API key of the application")
	}
	return nil
}

// BungieProfile returns a FetchProfile for [Bungie] with the application's API key.
func BungieProfile(apiKey string) func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
	return func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
		user := latchkey.Endpoint{URL: "https://www.bungie.net/Platform/User/GetMembershipsForCurrentUser/"}
		return withHeader("X-API-Key", apiKey)(ctx, api{c, t, user})
	}
}

// identifyBungie returns the person. It completes the path of the picture to a URL.
func identifyBungie(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: member(g.Profile, "Response", "bungieNetUser")}
	image := m.text("profilePicturePath")
	if image != "" {
		image = "https://www.bungie.net/" + strings.TrimPrefix(image, "/")
	}
	return m.identity(latchkey.Identity{Subject: m.id("membershipId"), Name: m.text("displayName"), Image: image})
}
