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
