package providers

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
)

// DingTalk signs in with a DingTalk account. Its profile is a [profile.DingTalk].
//
// The client id is the application's AppKey. People are known by their unionId, which
// is the same in all applications of a developer. DingTalk does not say whether the
// e-mail was proven. A FetchProfile of [DingTalkCompany] lets only people of one
// company enter. See
// https://open.dingtalk.com/document/orgapp/tutorial-obtaining-user-personal-information.
func DingTalk(p latchkey.OAuth) *latchkey.OAuth {
	return fetching(dialect{ask: askDingTalk, answer: repairDingTalk}.of(p).Or(latchkey.OAuth{
		ID:            "dingtalk",
		Name:          "DingTalk",
		Authorization: latchkey.Endpoint{URL: "https://login.dingtalk.com/oauth2/auth", Params: url.Values{"prompt": {"consent"}}},
		Token:         latchkey.Endpoint{URL: "https://api.dingtalk.com/v1.0/oauth2/userAccessToken"},
		UserInfo:      latchkey.Endpoint{URL: dingTalkUser},
		Scopes:        []string{"openid"},
		Checks:        []latchkey.Check{latchkey.CheckState},
		ClientAuth:    latchkey.ClientSecretPost,
		Identify:      fields{subject: "unionId", name: "nick", email: "email", image: "avatarUrl"}.identify,
		Style:         latchkey.Style{Color: "#3296fa"},
	}), fetchDingTalk)
}

const dingTalkUser = "https://api.dingtalk.com/v1.0/contact/users/me"

// DingTalkCompany returns a FetchProfile for [DingTalk] that lets only people of the
// company with this id enter, and no person if the id is empty. It needs the scope
// corpid beside openid.
func DingTalkCompany(corpID string) func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
	return func(ctx context.Context, c *http.Client, t latchkey.Tokens) (latchkey.Claims, error) {
		if chosen, _ := t.Extra["corpId"].(string); chosen != corpID || corpID == "" {
			return nil, errors.New("providers: DingTalk: the person is of another company")
		}
		return fetchDingTalk(ctx, api{client: c, tokens: t, user: latchkey.Endpoint{URL: dingTalkUser}})
	}
}

// fetchDingTalk returns the profile. It sends the token in a header of DingTalk's own.
func fetchDingTalk(ctx context.Context, a api) (latchkey.Claims, error) {
	req, err := a.request(ctx, http.MethodGet, endpointURL(a.user), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Del("Authorization")
	req.Header.Set("x-acs-dingtalk-access-token", a.tokens.AccessToken)
	return a.object(req)
}

// askDingTalk sends the form as JSON, under the names that DingTalk uses.
func askDingTalk(r *http.Request, form url.Values) {
	sendJSON(r, map[string]string{
		"clientId": form.Get("client_id"), "clientSecret": form.Get("client_secret"), "code": form.Get("code"),
		"refreshToken": form.Get("refresh_token"), "grantType": form.Get("grant_type"),
	})
}

// repairDingTalk gives the members of an answer the names of the standard, adds the type of
// the token and keeps corpId. An answer without an accessToken becomes an error of OAuth.
func repairDingTalk(c latchkey.Claims) latchkey.Claims {
	if c.String("accessToken") == "" {
		return fault(c.String("code"), c.String("message"))
	}
	for theirs, standard := range map[string]string{"accessToken": "access_token", "refreshToken": "refresh_token", "expireIn": "expires_in"} {
		if c[theirs] != nil {
			c[standard] = c[theirs]
		}
		delete(c, theirs)
	}
	return asBearer(c)
}
