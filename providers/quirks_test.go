package providers_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/providers/catalogue"
)

// entryOf is a provider with a profile type that does not matter.
func entryOf(make func(latchkey.OAuth) *latchkey.OAuth) catalogue.Entry {
	return catalogue.Entry{New: make}
}

// refuses signs in with a changed record, which has to fail for a reason.
func refuses(t *testing.T, make func(latchkey.OAuth) *latchkey.OAuth, id, reason string, change func(*recorded)) {
	t.Helper()
	r := record(t, id)
	r.Error.At = ""
	change(&r)
	v := tryToSignIn(t, entryOf(make), r)
	v.isRefused(t, v.page, reason)
}

func TestShopifySignsItsCallbacks(t *testing.T) {
	refuses(t, providers.Shopify, "shopify", "hmac", func(r *recorded) { r.CallbackHMAC = "" })
	refuses(t, providers.Shopify, "shopify", "hmac", func(r *recorded) { r.Callback["hmac"], r.CallbackHMAC = strings.Repeat("0", 64), "" })
}

func TestNextcloudNamesThePersonWithTheToken(t *testing.T) {
	refuses(t, providers.Nextcloud, "nextcloud", "user_id", func(r *recorded) {
		r.Token.Answer = json.RawMessage(`{"access_token":"t","token_type":"Bearer","user_id":7}`)
	})
	p := providers.Nextcloud(latchkey.OAuth{Issuer: "https://cloud.example.com/"})
	p.Derive(p)
	who, err := p.Identify(latchkey.Grant{Profile: latchkey.Claims{"id": "../a?b"}})
	if err != nil || who.Image != "https://cloud.example.com/avatar/..%2Fa%3Fb/512" {
		t.Errorf("%+v, %v", who, err)
	}
}

func TestWeChatErrorsHaveStatus200(t *testing.T) {
	refuses(t, providers.WeChat, "wechat", `error \"40003\"`, func(r *recorded) {
		r.Requests[0].Answer = json.RawMessage(`{"errcode":40003,"errmsg":"invalid openid"}`)
	})
}

func TestWeComIsForTheCompany(t *testing.T) {
	refuses(t, providers.WeCom, "wecom", "not of the company", func(r *recorded) {
		r.Requests[0].Answer = json.RawMessage(`{"errcode":0,"errmsg":"ok","OpenId":"outsider"}`)
	})
	refuses(t, providers.WeCom, "wecom", "wechat_40001", func(r *recorded) {
		r.Token.Answer = json.RawMessage(`{"errcode":40001,"errmsg":"invalid credential"}`)
	})
	refuses(t, providers.WeCom, "wecom", `error \"wechat_60111\"`, func(r *recorded) {
		r.Requests[1].Answer = json.RawMessage(`{"errcode":60111,"errmsg":"userid not found"}`)
	})
	if kept := providers.WeCom(latchkey.OAuth{}).KeepTokens(latchkey.Tokens{AccessToken: "the company's"}); kept.AccessToken != "" {
		t.Error("the token of the company would be stored with a person")
	}
}

func TestSoundCloudWithoutNumbers(t *testing.T) {
	identify := providers.SoundCloud(latchkey.OAuth{}).Identify
	for urn, want := range map[string]string{"soundcloud:users:3207": "3207", "soundcloud:tracks:3207": "", "3207": ""} {
		if who, err := identify(latchkey.Grant{Profile: latchkey.Claims{"urn": urn}}); err != nil || who.Subject != want {
			t.Errorf("%s: %+v, %v", urn, who, err)
		}
	}
}

func TestTumblrKnowsPeopleByTheirPrimaryBlog(t *testing.T) {
	blog := func(uuid string, primary bool) any { return map[string]any{"uuid": uuid, "primary": primary} }
	who, err := providers.Tumblr(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: latchkey.Claims{"response": map[string]any{
		"user": map[string]any{"name": "ada", "blogs": []any{blog("t:1", false), blog("t:2", true)}},
	}}})
	if err != nil || who.Subject != "t:2" || who.Name != "ada" {
		t.Errorf("%+v, %v", who, err)
	}
}

func TestPayPalWithoutPrimaryEmail(t *testing.T) {
	for confirmed, want := range map[any]latchkey.EmailTrust{true: latchkey.EmailProven, false: latchkey.EmailUnproven, nil: latchkey.EmailUnproven} {
		who, err := providers.PayPal(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: latchkey.Claims{
			"user_id": "u", "emails": []any{map[string]any{"value": "ada@example.com", "confirmed": confirmed}},
		}})
		if err != nil || who.Email != "ada@example.com" || who.EmailVerified != want {
			t.Errorf("%v: %+v, %v", confirmed, who, err)
		}
	}
}

func TestNetSuiteAccounts(t *testing.T) {
	for issuer, want := range map[string]string{
		providers.NetSuiteAccount("123-sb1"):       "https://123-sb1.suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token",
		providers.NetSuiteAccount("123-sb1") + "/": "https://123-sb1.suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token",
		"https://elsewhere.example":                "",
		"":                                         "",
	} {
		p := providers.NetSuite(latchkey.OAuth{Issuer: issuer})
		if p.Derive(p); p.Token.URL != want {
			t.Errorf("%q: %s", issuer, p.Token.URL)
		}
	}
}

func TestZohoIsInSeveralPlaces(t *testing.T) {
	for _, issuer := range []string{
		providers.ZohoEurope, providers.ZohoIndia, providers.ZohoAustralia, providers.ZohoJapan, providers.ZohoCanada, providers.ZohoChina,
	} {
		p := providers.Zoho(latchkey.OAuth{Issuer: issuer})
		p.Derive(p)
		for _, endpoint := range []string{p.Authorization.URL, p.Token.URL, p.UserInfo.URL} {
			if u, err := url.Parse(endpoint); err != nil || "https://"+u.Host != issuer {
				t.Errorf("%s is not at %s", endpoint, issuer)
			}
		}
	}
}

// FuzzIdentities holds that no profile makes a mapping panic, or a person
// without an id out of an error.
func FuzzIdentities(f *testing.F) {
	for _, seed := range []string{`{}`, `{"id":1,"name":[]}`, `{"data":{"user":null}}`, `{"emails":[{"primary":true}]}`, `{"response":{"user":{"blogs":[1,{"primary":true}]}}}`} {
		f.Add([]byte(seed))
	}
	var mappings []func(latchkey.Grant) (latchkey.Identity, error)
	for _, e := range catalogue.Providers() {
		p := e.New(latchkey.OAuth{Issuer: "https://x.example", ClientSecret: "hush"})
		if p.Derive != nil {
			p.Derive(p)
		}
		if p.Identify != nil {
			mappings = append(mappings, p.Identify)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var profile latchkey.Claims
		if json.Unmarshal(data, &profile) != nil {
			return
		}
		for _, identify := range mappings {
			if who, err := identify(latchkey.Grant{Profile: profile}); err != nil && who.Subject+who.Email != "" {
				t.Errorf("%+v with %v", who, err)
			}
		}
	})
}

// FuzzTokenAnswers holds that no dialect makes a token of an answer without
// one.
func FuzzTokenAnswers(f *testing.F) {
	for _, body := range []string{"", "null", tokenAnswer, `{"error":"x"}`, `{"access_token":{"token":"x"}}`, `{"errcode":40029}`, `{"scope":[1,"a"]}`, "a=b&c"} {
		f.Add(200, []byte(body))
	}
	var transports []func(http.RoundTripper) http.RoundTripper
	for _, e := range catalogue.Providers() {
		if p := e.New(latchkey.OAuth{}); p.Transport != nil {
			transports = append(transports, p.Transport)
		}
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		for _, wrap := range transports {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://x.example/token", strings.NewReader("grant_type=authorization_code"))
			resp, err := wrap(saying(status, body)).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			var after map[string]any
			if json.NewDecoder(resp.Body).Decode(&after) == nil && after["access_token"] != nil && !strings.Contains(string(body), "oken") {
				t.Errorf("%q became a token", body)
			}
		}
	})
}

func TestTokensWithoutEnd(t *testing.T) {
	for id, make := range map[string]func(latchkey.OAuth) *latchkey.OAuth{"mailchimp": providers.Mailchimp, "vk": providers.VK} {
		r := record(t, id)
		r.Token.Answer = json.RawMessage(strings.Replace(string(r.Token.Answer), `"expires_in": 43200`, `"expires_in": 0`, 1))
		if a := signIn(t, entryOf(make), r).attempt(t); !a.Account.Tokens.ExpiresAt.IsZero() {
			t.Errorf("%s: ends at %v", id, a.Account.Tokens.ExpiresAt)
		}
	}
}
