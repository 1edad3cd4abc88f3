package providers

import (
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Twitter signs in with an X account, by OAuth 2.0. Its profile is a
// [profile.Twitter].
//
// Make an app of the type web at https://developer.x.com/en/portal/dashboard
// with a callback URI that ends in /callback/twitter; the client id and secret
// are those of OAuth 2.0, and not the API key.
//
// X gives a confirmed e-mail, but only to an app that is allowed to ask for it
// and asks like this:
//
//	providers.Twitter(latchkey.OAuth{
//		Scopes:   []string{"users.read", "tweet.read", "users.email"},
//		UserInfo: latchkey.Endpoint{Params: url.Values{"user.fields": {"profile_image_url,confirmed_email"}}},
//	})
//
// The default scopes have offline.access, which brings a refresh token that works once.
// The scopes above leave it out. Tokens are revoked at /2/oauth2/revoke.
//
// See https://docs.x.com/resources/fundamentals/authentication/oauth-2-0/authorization-code.
func Twitter(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "twitter",
		Name:          "Twitter",
		Authorization: latchkey.Endpoint{URL: "https://x.com/i/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.x.com/2/oauth2/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.x.com/2/users/me", Params: url.Values{"user.fields": {"profile_image_url"}}},
		Revocation:    latchkey.Endpoint{URL: "https://api.x.com/2/oauth2/revoke"},
		Refresh:       latchkey.Refresh{AskScopes: []string{"offline.access"}},
		Scopes:        []string{"users.read", "tweet.read", "offline.access"},
		Checks:        []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState},
		Identify:      identifyTwitter,
		Style:         latchkey.Style{Color: "#1da1f2"},
	})
}

// identifyTwitter returns the person. Only the member confirmed_email is proven.
func identifyTwitter(g latchkey.Grant) (latchkey.Identity, error) {
	who := fields{subject: "data.id", name: "data.name", email: "data.email", image: "data.profile_image_url", trust: latchkey.EmailUnproven}
	if member(g.Profile, "data").String("confirmed_email") != "" {
		who.email, who.trust = "data.confirmed_email", latchkey.EmailProven
	}
	return who.identify(g)
}
