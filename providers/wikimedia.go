package providers

import "github.com/latchkeyhq/latchkey"

// Wikimedia signs in with an account of Wikipedia and its sisters. Its profile is
// a [profile.Wikimedia].
//
// Propose a consumer for OAuth 2.0 at
// https://meta.wikimedia.org/wiki/Special:OAuthConsumerRegistration/propose/oauth2
// with a callback URL that ends in /callback/wikimedia; until it is approved only
// its owner can sign in. Not every account has an e-mail; confirmed_email says
// whether it is verified. There is no picture.
//
// See https://www.mediawiki.org/wiki/OAuth/For_Developers.
func Wikimedia(p latchkey.OAuth) *latchkey.OAuth {
	return p.Or(latchkey.OAuth{
		ID:            "wikimedia",
		Name:          "Wikimedia",
		Authorization: latchkey.Endpoint{URL: "https://meta.wikimedia.org/w/rest.php/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://meta.wikimedia.org/w/rest.php/oauth2/access_token"},
		UserInfo:      latchkey.Endpoint{URL: "https://meta.wikimedia.org/w/rest.php/oauth2/resource/profile"},
		Scopes:        []string{},
		Identify: func(g latchkey.Grant) (latchkey.Identity, error) {
			return fields{subject: "sub", name: "username", email: "email", noImage: true, trust: trust(g.Profile["confirmed_email"])}.identify(g)
		},
		Style: latchkey.Style{Color: "#000", Mark: markWikimedia},
	})
}
