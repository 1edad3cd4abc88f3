package providers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// WeCom signs in with a member of one company of WeCom, by a QR code. Its profile
// is a [profile.WeCom].
//
//	providers.WeCom(latchkey.OAuth{Authorization: providers.WeComAgent("1000002")})
//
// Without the agent id of an app, New fails. The client id is the company's corpid,
// the secret that of the app, at https://work.weixin.qq.com/wework_admin/frame#apps.
// The app needs the domain of the callback URL, which ends in /callback/wecom, for web
// authorization, and the server's IP among its trusted ones.
//
// The access token is the company's and no person's, so that none is stored.
// The company enters the e-mail, so that none counts as proven, and apps made since
// 2022 get none.
//
// See https://developer.work.weixin.qq.com/document/path/91025.
func WeCom(p latchkey.OAuth) *latchkey.OAuth {
	own := p.Transport
	p.Transport = func(next http.RoundTripper) http.RoundTripper {
		if own != nil {
			next = own(next)
		}
		return weComTransport{next}
	}
	return fetching(p.Or(latchkey.OAuth{
		ID:            "wecom",
		Name:          "WeCom",
		Authorization: latchkey.Endpoint{URL: weComLogin},
		Token:         latchkey.Endpoint{URL: "https://qyapi.weixin.qq.com/cgi-bin/gettoken"},
		UserInfo:      latchkey.Endpoint{URL: "https://qyapi.weixin.qq.com/cgi-bin/user/get"},
		ClientAuth:    latchkey.ClientSecretPost,
		ClientIDParam: "appid",
		Scopes:        []string{},
		Checks:        []latchkey.Check{latchkey.CheckState},
		Derive:        deriveWeCom,
		KeepTokens:    func(latchkey.Tokens) latchkey.Tokens { return latchkey.Tokens{} },
		Identify:      fields{subject: "userid", name: "name", email: "email", image: "avatar", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#2f7dcd"},
	}), fetchWeCom)
}

const weComLogin = "https://open.work.weixin.qq.com/wwopen/sso/qrConnect"

// deriveWeCom returns an error if the authorization URL of WeCom has no agent id.
func deriveWeCom(p *latchkey.OAuth) error {
	if p.Authorization.URL == weComLogin && p.Authorization.Params.Get("agentid") == "" {
		return errors.New("providers: WeCom asks for one app of the company: set Authorization to providers.WeComAgent(id), with the agent id of the app")
	}
	return nil
}

// WeComAgent returns the Authorization of [WeCom] for an app of the company.
func WeComAgent(id string) latchkey.Endpoint {
	return latchkey.Endpoint{Params: url.Values{"agentid": {id}}}
}

// weComTransport makes a token request two of WeCom's: one for the token of the
// company, and one that trades the code for the id of the person.
type weComTransport struct{ next http.RoundTripper }

// RoundTrip sends r. In place of a token request it sends the two of WeCom, and returns
// one answer with the company's token and the person's id.
func (t weComTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	form := tokenForm(r)
	token := dialect{
		ask: func(r *http.Request, form url.Values) {
			sendQuery(r, url.Values{"corpid": form["client_id"], "corpsecret": form["client_secret"]})
		},
		answer: func(c latchkey.Claims) latchkey.Claims { return t.withPerson(r, form.Get("code"), repairWeChat(c)) },
	}
	return (&interpreter{token, t.next}).RoundTrip(r)
}

// withPerson adds to token the id of the person that the code stands for, and returns
// it. It returns an error answer instead if that fails. The id is null for a person from
// outside the company.
func (t weComTransport) withPerson(r *http.Request, code string, token latchkey.Claims) latchkey.Claims {
	if token.String("access_token") == "" {
		return token
	}
	ask := latchkey.Endpoint{URL: r.URL.Scheme + "://" + r.URL.Host + "/cgi-bin/user/getuserinfo", Params: url.Values{"code": {code}}}
	a := api{client: &http.Client{Transport: t.next}, tokens: latchkey.Tokens{AccessToken: token.String("access_token")}, user: ask}
	person, err := tokenInQuery("access_token")(r.Context(), a)
	if err != nil {
		return fault("temporarily_unavailable", err.Error())
	}
	if person = repairWeChat(person); person["error"] != nil {
		return person
	}
	token["userid"] = person["UserId"] // absent: a person from outside the company
	return token
}

// fetchWeCom returns the profile of the person that the token answer names.
func fetchWeCom(ctx context.Context, a api) (latchkey.Claims, error) {
	id, _ := a.tokens.Extra["userid"].(string)
	if id == "" {
		return nil, errors.New("providers: this person is not of the company")
	}
	a.user.Params = url.Values{"userid": {id}}
	profile, err := tokenInQuery("access_token")(ctx, a)
	if stated := repairWeChat(profile); stated["error"] != nil {
		return nil, fmt.Errorf("providers: WeCom answered with error %.16q", stated["error"])
	}
	return profile, err
}
