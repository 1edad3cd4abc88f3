package providers

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// WeChat signs in inside WeChat's own browser, with an Official Account. Its
// profile is a [profile.WeChat]. [WeChatWebsite] is for other browsers.
//
// The client id is what WeChat calls the appid. The Official Account is a
// verified service account, at https://mp.weixin.qq.com, with the domain of the
// callback URL, which ends in /callback/wechat, among its web authorization
// domains.
//
// People are known by their unionid, which an account has only when it is bound to an
// account of https://open.weixin.qq.com; without it a user cannot sign in. WeChat gives
// no e-mail.
//
// See https://developers.weixin.qq.com/doc/offiaccount/OA_Web_Apps/Wechat_webpage_authorization.html.
func WeChat(p latchkey.OAuth) *latchkey.OAuth {
	return weChat(p, "https://open.weixin.qq.com/connect/oauth2/authorize", "snsapi_userinfo")
}

// WeChatWebsite signs in as [WeChat] does, in any browser, by a QR code that people scan
// with their phones. The application is a website one at https://open.weixin.qq.com.
// A site that has both gives one of them an ID of its own.
func WeChatWebsite(p latchkey.OAuth) *latchkey.OAuth {
	return weChat(p, "https://open.weixin.qq.com/connect/qrconnect", "snsapi_login")
}

// weChat returns the provider that begins at authorize and asks for scope.
func weChat(p latchkey.OAuth, authorize, scope string) *latchkey.OAuth {
	return fetching(dialect{ask: askWeChat, answer: repairWeChat}.of(p).Or(latchkey.OAuth{
		ID:            "wechat",
		Name:          "WeChat",
		Authorization: latchkey.Endpoint{URL: authorize, Fragment: "wechat_redirect"}, // against the standard
		Token:         latchkey.Endpoint{URL: "https://api.weixin.qq.com/sns/oauth2/access_token"},
		UserInfo:      latchkey.Endpoint{URL: "https://api.weixin.qq.com/sns/userinfo", Params: url.Values{"lang": {"zh_CN"}}},
		ClientAuth:    latchkey.ClientSecretPost,
		ClientIDParam: "appid",
		Scopes:        []string{scope},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Identify:      fields{subject: "unionid", name: "nickname", image: "headimgurl", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#07c160", Mark: markWeChat},
	}), fetchWeChat)
}

// askWeChat makes the token request a GET request with the parameters of WeChat.
func askWeChat(r *http.Request, form url.Values) {
	sendQuery(r, url.Values{
		"appid": form["appid"], "secret": form["client_secret"], "code": form["code"], "grant_type": form["grant_type"],
	})
}

// repairWeChat turns an error of WeChat, which has status 200, into one of OAuth, and
// adds the type of the token.
func repairWeChat(c latchkey.Claims) latchkey.Claims {
	if code := c.String("errcode"); code != "" && code != "0" {
		return fault("wechat_"+code, c.String("errmsg"))
	}
	return asBearer(c)
}

// fetchWeChat returns the profile of the person that the token answer names, or an error
// of WeChat, which has status 200.
func fetchWeChat(ctx context.Context, a api) (latchkey.Claims, error) {
	a.user.Params = maps.Clone(a.user.Params)
	openID, _ := a.tokens.Extra["openid"].(string)
	a.user.Params.Set("openid", openID)
	profile, err := tokenInQuery("access_token")(ctx, a)
	if code := profile.String("errcode"); code != "" && code != "0" {
		return nil, fmt.Errorf("providers: WeChat answered with error %.16q", code)
	}
	return profile, err
}
