package providers_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

func TestDingTalkCompany(t *testing.T) {
	fetch := providers.DingTalkCompany("ours")
	client := &http.Client{Transport: saying(200, []byte(`{"unionId":"1"}`))}
	for corp, allowed := range map[any]bool{"ours": true, "theirs": false, nil: false} {
		profile, err := fetch(t.Context(), client, latchkey.Tokens{AccessToken: "t", Extra: map[string]any{"corpId": corp}})
		if (err == nil) != allowed || (profile != nil) != allowed {
			t.Errorf("%v: %v, %v", corp, profile, err)
		}
	}
}

func TestBungieSendsTheKey(t *testing.T) {
	key := ""
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		key = r.Header.Get("X-API-Key")
		return saying(200, []byte(`{}`)).RoundTrip(r)
	})}
	if _, err := providers.BungieProfile("the key")(t.Context(), client, latchkey.Tokens{AccessToken: "t"}); err != nil || key != "the key" {
		t.Errorf("sent %q, %v", key, err)
	}
}

func TestLarkInternational(t *testing.T) {
	p := providers.LarkInternational(latchkey.OAuth{ID: "mine"})
	if p.ID != "mine" || p.Token.URL != "https://open.larksuite.com/open-apis/authen/v2/oauth/token" || p.Transport == nil {
		t.Errorf("%+v", p)
	}
}

func TestDiscordPictures(t *testing.T) {
	for _, row := range []struct{ profile, want latchkey.Claims }{
		{latchkey.Claims{"id": "80351110224678912", "discriminator": "0"}, latchkey.Claims{"url": "https://cdn.discordapp.com/embed/avatars/5.png"}},
		{latchkey.Claims{"id": "80351110224678912", "discriminator": "1337"}, latchkey.Claims{"url": "https://cdn.discordapp.com/embed/avatars/2.png"}},
		{latchkey.Claims{"id": "7", "avatar": "ab"}, latchkey.Claims{"url": "https://cdn.discordapp.com/avatars/7/ab.png"}},
		{latchkey.Claims{"id": "no number"}, latchkey.Claims{"url": ""}},
	} {
		got, err := providers.Discord(latchkey.OAuth{}).Identify(latchkey.Grant{Profile: row.profile})
		if err != nil || got.Image != row.want["url"] {
			t.Errorf("%v: %q, %v", row.profile, got.Image, err)
		}
	}
}

// TestSalesforceOfAnybody: at the hosts that all organizations share, the word of
// one of them proves no e-mail.
func TestSalesforceOfAnybody(t *testing.T) {
	for issuer, want := range map[string]latchkey.EmailTrust{
		"": latchkey.EmailUnproven, "https://test.salesforce.com/": latchkey.EmailUnproven,
		"https://acme.my.salesforce.com": latchkey.EmailProven,
	} {
		p := providers.Salesforce(latchkey.OAuth{Issuer: issuer})
		if err := p.Derive(p); err != nil {
			t.Fatal(err)
		}
		got, err := p.Identify(latchkey.Grant{Profile: latchkey.Claims{"sub": "1", "email": "a@example.com", "email_verified": true}})
		if err != nil || got.EmailTrust != want {
			t.Errorf("%q: %v, %v", issuer, got.EmailTrust, err)
		}
	}
}

// R-571 Shopify's tokens end and are refreshed, unless the application says otherwise.
func TestShopifyTokensEnd(t *testing.T) {
	for _, c := range []struct {
		name, query, want string
	}{
		{"by default", "", "1"},
		{"as Token.Params say", "?expiring=0", ""},
	} {
		p := providers.Shopify(latchkey.OAuth{})
		sent := url.Values{}
		calls := p.Transport(roundTripper(func(r *http.Request) (*http.Response, error) {
			if err := r.ParseForm(); err != nil {
				t.Error(err)
			}
			sent = r.PostForm
			return saying(200, []byte(`{"access_token":"t"}`)).RoundTrip(r)
		}))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://acme.myshopify.com/admin/oauth/access_token"+c.query, strings.NewReader("grant_type=authorization_code&code=x"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := calls.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if sent.Get("expiring") != c.want || sent.Get("code") != "x" {
			t.Errorf("R-571 %s: sent %v", c.name, sent)
		}
	}
}

// R-572 HubSpot's word that a token is not active, or no word, is no profile.
func TestHubSpotTokenIsActive(t *testing.T) {
	for answer, isActive := range map[string]bool{`{"active":true,"user_id":1}`: true, `{"active":false,"user_id":1}`: false, `{"user_id":1}`: false, `{"active":"true"}`: false} {
		p := providers.HubSpot(latchkey.OAuth{ClientID: "client", ClientSecret: "secret"})
		if err := p.Derive(p); err != nil {
			t.Fatal(err)
		}
		got, err := p.FetchProfile(t.Context(), &http.Client{Transport: saying(200, []byte(answer))}, latchkey.Tokens{AccessToken: "t"})
		if (err == nil) != isActive || (got != nil) != isActive {
			t.Errorf("R-572 %s: %v, %v", answer, got, err)
		}
	}
}

// R-572 An access token that stands for the profile is EVE Online's own, for this client.
func TestEVEOnlineTokenIsForThisClient(t *testing.T) {
	p := providers.EVEOnline(latchkey.OAuth{ClientID: "client"})
	if err := p.Derive(p); err != nil {
		t.Fatal(err)
	}
	for payload, isOurs := range map[string]bool{
		`{"iss":"https://login.eveonline.com","aud":["client","EVE Online"],"sub":"CHARACTER:EVE:1"}`: true,
		`{"iss":"login.eveonline.com","aud":["client","EVE Online"],"sub":"CHARACTER:EVE:1"}`:         true,
		`{"iss":"https://login.eveonline.com","aud":["other","EVE Online"],"sub":"CHARACTER:EVE:1"}`:  false,
		`{"iss":"https://evil.example","aud":["client","EVE Online"],"sub":"CHARACTER:EVE:1"}`:        false,
		`{"iss":"https://login.eveonline.com","sub":"CHARACTER:EVE:1"}`:                               false,
		`{"iss":"https://login.eveonline.com","aud":["client"],"sub":"CORPORATION:EVE:1"}`:            false,
		`{"iss":7,"aud":"client"}`: false,
	} {
		token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"
		got, err := p.FetchProfile(t.Context(), http.DefaultClient, latchkey.Tokens{AccessToken: token})
		if (err == nil) != isOurs || (got != nil) != isOurs {
			t.Errorf("R-572 %s: %v, %v", payload, got, err)
		}
	}
	for _, none := range []string{"", "opaque", "a.b.c", "a..c"} {
		if got, err := p.FetchProfile(t.Context(), http.DefaultClient, latchkey.Tokens{AccessToken: none}); err == nil || got != nil {
			t.Errorf("R-572 the token %q is %v", none, got)
		}
	}
	for subject, want := range map[string]string{"CHARACTER:EVE:95465499": "95465499", "CHARACTER:EVE:": "", "": ""} {
		if who, err := p.Identify(latchkey.Grant{Profile: latchkey.Claims{"sub": subject, "name": "x"}}); err != nil || who.Subject != want {
			t.Errorf("R-572 %q is %q, %v", subject, who.Subject, err)
		}
	}
}

// R-573 Twitch is asked whether the e-mail was proven, and Facebook for no version of
// its API that will end.
func TestDefinitionsThatLast(t *testing.T) {
	if asked := providers.Twitch(latchkey.OAuth{}).Authorization.Params.Get("claims"); !strings.Contains(asked, `"email_verified":null`) {
		t.Errorf("R-573 Twitch is asked for %s", asked)
	}
	f := providers.Facebook(latchkey.OAuth{})
	for _, to := range []string{f.Authorization.URL, f.Token.URL, f.UserInfo.URL} {
		if strings.Contains(to, "/v") {
			t.Errorf("R-573 Facebook is asked at %s", to)
		}
	}
}
