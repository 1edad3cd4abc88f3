package providers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// QQ signs in with a QQ account. Its profile is a [profile.QQ].
//
// Make a website application at https://connect.qq.com, with a callback URL that ends
// in /callback/qq. The id of a user differs from application to application. There is
// no e-mail.
//
// See https://wiki.connect.qq.com/ (read on 24 November 2026).
func QQ(p latchkey.OAuth) *latchkey.OAuth {
	return dialect{ask: askQQ, answer: repairQQ}.of(p).Or(latchkey.OAuth{
		ID:            "qq",
		Name:          "QQ",
		Authorization: latchkey.Endpoint{URL: "https://graph.qq.com/oauth2.0/authorize"},
		Token:         latchkey.Endpoint{URL: "https://graph.qq.com/oauth2.0/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://graph.qq.com/user/get_user_info"},
		ClientAuth:    latchkey.ClientSecretPost,
		Checks:        []latchkey.Check{latchkey.CheckState},
		Scopes:        []string{"get_user_info"},
		Derive:        deriveQQ,
		Identify:      fields{subject: "openid", name: "nickname", image: "figureurl_qq_2||figureurl_qq_1", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#12b7f5"},
	})
}

// askQQ makes the token request a GET request that asks for JSON.
func askQQ(r *http.Request, form url.Values) {
	form.Set("fmt", "json")
	sendQuery(r, form)
}

// repairQQ turns an error of QQ, which is a number, into one of OAuth, and adds the type
// of the token.
func repairQQ(c latchkey.Claims) latchkey.Claims {
	if code := c.String("error"); code != "" && code != "0" {
		return fault("qq_"+code, c.String("error_description"))
	}
	return asBearer(c)
}

// deriveQQ sets a FetchProfile, unless there is one. It asks QQ for the application and the
// user of the token, and then for the profile of that user. A token of another application
// is an error, because it would name a user of that application.
func deriveQQ(p *latchkey.OAuth) error {
	client := p.ClientID
	fetching(p, func(ctx context.Context, a api) (latchkey.Claims, error) {
		me := a
		me.user = latchkey.Endpoint{URL: "https://graph.qq.com/oauth2.0/me", Params: url.Values{"fmt": {"json"}}}
		whose, err := tokenInQuery("access_token")(ctx, me)
		switch {
		case err != nil:
			return nil, err
		case whose.String("client_id") != client || whose.String("openid") == "":
			return nil, errors.New("providers: the access token of QQ is not for this application")
		}
		a.user.Params = url.Values{"oauth_consumer_key": {client}, "openid": {whose.String("openid")}}
		user, err := tokenInQuery("access_token")(ctx, a)
		if err != nil {
			return nil, err
		}
		if code := user.String("ret"); code != "0" {
			return nil, fmt.Errorf("providers: QQ answered with error %.16q", code)
		}
		user["openid"] = whose["openid"]
		return user, nil
	})
	return nil
}
