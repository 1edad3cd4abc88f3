package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Foursquare signs in with a Foursquare account. Its profile is a
// [profile.Foursquare].
//
// The date of the API's version is the parameter v of UserInfo. Foursquare does not
// say whether the e-mail was proven. See
// https://docs.foursquare.com/developer/reference/authentication.
func Foursquare(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(dialect{answer: asBearer}.of(p).Or(latchkey.OAuth{
		ID:            "foursquare",
		Name:          "Foursquare",
		ClientAuth:    latchkey.ClientSecretPost,
		Authorization: latchkey.Endpoint{URL: "https://foursquare.com/oauth2/authenticate"},
		Token:         latchkey.Endpoint{URL: "https://foursquare.com/oauth2/access_token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.foursquare.com/v2/users/self", Params: url.Values{"v": {"20230131"}}},
		Scopes:        []string{}, // there are none
		Identify:      identifyFoursquare,
		Style:         latchkey.Style{Color: "#3333ff", Mark: markFoursquare},
	}), tokenInQuery("oauth_token"))
}

// identifyFoursquare returns the person. It joins the two parts of the picture's URL.
func identifyFoursquare(g latchkey.Grant) (latchkey.Identity, error) {
	m := mapping{from: member(g.Profile, "response", "user")}
	who := latchkey.Identity{
		Subject: m.id("id"), Name: m.path("firstName+lastName"), Email: m.path("contact.email"), WithoutImage: true,
	}
	if prefix := m.path("photo.prefix"); prefix != "" {
		who.Image = prefix + "original" + m.path("photo.suffix")
	}
	return m.identity(who)
}
