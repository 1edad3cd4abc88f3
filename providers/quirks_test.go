package providers_test

import (
	"net/http"
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
