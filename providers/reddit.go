package providers

import "github.com/latchkeyhq/latchkey"

// Reddit signs in with a Reddit account. Its profile is a [profile.Reddit].
//
// Reddit has to approve a new app before it gets tokens, by its Responsible Builder
// Policy of November 2025
// (https://support.reddithelp.com/hc/articles/42728983564564). A web app has exactly
// one redirect URI, which ends in /callback/reddit. Reddit slows down
// clients that do not name themselves in User-Agent, which a Transport can do.
//
// Reddit gives no e-mail, even where it says that one is verified. Tokens live
// an hour; the parameter duration with the value permanent brings a refresh
// token.
//
// See https://github.com/reddit-archive/reddit/wiki/OAuth2.
func Reddit(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "reddit",
		Name:          "Reddit",
		Authorization: latchkey.Endpoint{URL: "https://www.reddit.com/api/v1/authorize"},
		Token:         latchkey.Endpoint{URL: "https://www.reddit.com/api/v1/access_token"},
		UserInfo:      latchkey.Endpoint{URL: "https://oauth.reddit.com/api/v1/me"},
		Scopes:        []string{"identity"},
		Checks:        []latchkey.Check{latchkey.CheckState},
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#ff4500", Mark: markReddit},
	})
}
