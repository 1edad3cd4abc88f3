package providers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// Lark signs in with a Feishu account. Its profile is a [profile.Lark]. For an account of
// Lark, outside China, use [LarkInternational].
//
// The client id is the App ID. People are known by their open_id, which differs from
// application to application. The e-mail, which needs a permission, is the one of the
// company, so that none counts as proven. See
// https://open.feishu.cn/document/authentication-management/access-token/get-user-access-token.
func Lark(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(dialect{ask: askLark, answer: repairLark}.of(p).Or(latchkey.OAuth{
		ID:            "lark",
		Name:          "Lark",
		Authorization: latchkey.Endpoint{URL: "https://accounts.feishu.cn/open-apis/authen/v1/authorize"},
		Token:         latchkey.Endpoint{URL: "https://open.feishu.cn/open-apis/authen/v2/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://open.feishu.cn/open-apis/authen/v1/user_info"},
		ClientAuth:    latchkey.ClientSecretPost,
		Scopes:        []string{},
		Identify:      fields{subject: "data.open_id", name: "data.name", email: "data.enterprise_email||data.email", image: "data.avatar_url", trust: latchkey.EmailUnproven}.identify,
		EmailTrust:    latchkey.EmailUnproven,
		Style:         latchkey.Style{Color: "#3370ff"},
	}), fetchLark)
}

// LarkInternational signs in as [Lark] does, with accounts outside China, at larksuite.com. A
// site that has both gives one of them an ID of its own.
func LarkInternational(p latchkey.OAuth) *latchkey.OAuth {
	return Lark(*p.Or(latchkey.OAuth{
		Authorization: latchkey.Endpoint{URL: "https://accounts.larksuite.com/open-apis/authen/v1/authorize"},
		Token:         latchkey.Endpoint{URL: "https://open.larksuite.com/open-apis/authen/v2/oauth/token"},
		UserInfo:      latchkey.Endpoint{URL: "https://open.larksuite.com/open-apis/authen/v1/user_info"},
	}))
}

// askLark sends the form as JSON.
func askLark(r *http.Request, form url.Values) {
	members := map[string]string{}
	for name := range form {
		members[name] = form.Get(name)
	}
	sendJSON(r, members)
}

// repairLark turns an error of Lark, which is a number in code, into one of OAuth.
func repairLark(c latchkey.Claims) latchkey.Claims {
	if code := c.String("code"); code != "" && code != "0" && c.String("error") == "" {
		return fault("lark_"+code, c.String("msg"))
	}
	return c
}

// fetchLark returns the profile, or an error of Lark, which comes with status 200.
func fetchLark(ctx context.Context, a api) (latchkey.Claims, error) {
	profile, err := a.userInfo(ctx)
	if code := profile.String("code"); err == nil && code != "0" {
		return nil, fmt.Errorf("providers: Lark answered with error %.20q", code)
	}
	return profile, err
}
