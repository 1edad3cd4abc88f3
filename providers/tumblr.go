package providers

import (
	"strconv"

	"github.com/latchkeyhq/latchkey"
)

// Tumblr signs in with a Tumblr account. Its profile is a [profile.Tumblr].
//
// Register an application at https://www.tumblr.com/oauth/apps with an OAuth2
// redirect URL that ends in /callback/tumblr; the OAuth consumer key is the
// client id. People are known by the UUID of their primary blog, which stays
// when they rename it. Tumblr gives no e-mail and no picture. The scope
// offline_access brings a refresh token.
//
// See https://www.tumblr.com/docs/en/api/v2#oauth2-authorization.
func Tumblr(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "tumblr",
		Name:          "Tumblr",
		Authorization: latchkey.Endpoint{URL: "https://www.tumblr.com/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.tumblr.com/v2/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.tumblr.com/v2/user/info"},
		ClientAuth:    latchkey.ClientSecretPost,
		Scopes:        []string{"basic"},
		Identify:      identifyTumblr,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#36465d", Mark: markTumblr},
	})
}

// identifyTumblr returns the person, whose Subject is the UUID of the primary blog, or of the
// first blog if none is primary.
func identifyTumblr(g latchkey.Grant) (latchkey.Identity, error) {
	who := fields{subject: "response.user.blogs.0.uuid", name: "response.user.name", noImage: true, trust: latchkey.EmailUnproven}
	list, _ := at(map[string]any(g.Profile), "response.user.blogs").([]any)
	for i, blog := range list {
		if at(blog, "primary") == true {
			who.subject = "response.user.blogs." + strconv.Itoa(i) + ".uuid"
			break
		}
	}
	return who.identify(g)
}
