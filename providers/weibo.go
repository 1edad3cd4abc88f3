package providers

import (
	"context"
	"errors"
	"maps"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Weibo signs in with an account of Sina Weibo. Its profile is a [profile.Weibo].
//
// Make a website application at https://open.weibo.com, with a callback URL that ends
// in /callback/weibo. There is no e-mail. Before an application has passed the review,
// its tokens live for a day and serve test users alone.
//
// See https://open.weibo.com/wiki/Oauth2/access_token (read on 24 November 2026).
func Weibo(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(dialect{answer: asBearer}.of(p).Or(latchkey.OAuth{
		ID:            "weibo",
		Name:          "Weibo",
		Authorization: latchkey.Endpoint{URL: "https://api.weibo.com/oauth2/authorize"},
		Token:         latchkey.Endpoint{URL: "https://api.weibo.com/oauth2/access_token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.weibo.com/2/users/show.json"},
		ClientAuth:    latchkey.ClientSecretPost,
		Checks:        []latchkey.Check{latchkey.CheckState},
		Scopes:        []string{},
		Identify:      fields{subject: "idstr", name: "screen_name", image: "avatar_large||profile_image_url", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#e6162d"},
	}), fetchWeibo)
}

// fetchWeibo returns the profile of the user that the token answer names.
func fetchWeibo(ctx context.Context, a api) (latchkey.Claims, error) {
	uid := latchkey.Claims(a.tokens.Extra).String("uid")
	params := url.Values{"uid": {uid}}
	maps.Copy(params, a.user.Params)
	a.user.Params = params
	user, err := tokenInQuery("access_token")(ctx, a)
	if err == nil && (uid == "" || user.String("idstr") != uid) {
		return nil, errors.New("providers: Weibo answered about another user than the owner of the token")
	}
	return user, err
}
