package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// ticket is a service of its own kind: it sends browsers back with a ticket.
func ticket(received *int) *latchkey.OAuth {
	return &latchkey.OAuth{
		ID: "ticket", ClientID: "c", ClientSecret: "s", Authorization: latchkey.Endpoint{URL: "https://tickets.example/enter"},
		Protocol: latchkey.Protocol{
			Begin: func(returnURL string) (string, error) {
				return "https://tickets.example/enter?" + url.Values{"back": {returnURL}}.Encode(), nil
			},
			Receive: func(_ context.Context, _ *http.Client, returnURL string, params url.Values) (latchkey.Grant, error) {
				*received++
				switch {
				case !strings.HasSuffix(returnURL, "/auth/callback/ticket?state="+url.QueryEscape(params.Get("state"))):
					return latchkey.Grant{}, fmt.Errorf("returned to %s", returnURL)
				case params.Get("ticket") == "declined":
					return latchkey.Grant{}, fmt.Errorf("%w: declined", latchkey.ErrOAuthCallback)
				case params.Get("ticket") == "":
					panic("no ticket")
				}
				return latchkey.Grant{Profile: latchkey.Claims{"sub": params.Get("ticket"), "name": "Ada"}}, nil
			},
		},
	}
}

func ticketSite(t *testing.T, received *int) *latchkeytest.Client {
	t.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{ticket(received)}, Secrets: []string{siteSecret},
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return latchkeytest.NewClient(t, auth)
}

// enter begins a sign-in and returns what the service would send back.
func enter(t *testing.T, c *latchkeytest.Client) url.Values {
	t.Helper()
	back, err := url.Parse(c.Begin("ticket").Location().Query().Get("back"))
	if err != nil || back.Query().Get("state") == "" {
		t.Fatalf("back to %v, %v", back, err)
	}
	params := back.Query()
	params.Set("ticket", "ada")
	return params
}

// TestProtocolOfItsOwn is R-442: the state ties the answer to the browser, once,
// before the definition is asked.
func TestProtocolOfItsOwn(t *testing.T) {
	received := 0
	c := ticketSite(t, &received)
	params := enter(t, c)
	comeBack := func(q url.Values) *latchkeytest.Page { return c.Get("/auth/callback/ticket?" + q.Encode()) }
	for name, q := range map[string]url.Values{
		"without a state": {"ticket": {"ada"}},
		"another's state": {"ticket": {"ada"}, "state": {"x"}},
		"a ticket twice":  {"ticket": {"ada", "bob"}, "state": params["state"]},
		"a state twice":   {"ticket": {"ada"}, "state": {params.Get("state"), "x"}},
	} {
		if p := comeBack(q); p.Error() == "" || received != 0 {
			t.Errorf("R-442 %s: error %q, asked %d times", name, p.Error(), received)
		}
	}
	if p := comeBack(params); p.Error() != "" || received != 1 {
		t.Fatalf("R-442 error %q, asked %d times", p.Error(), received)
	}
	if comeBack(params); received != 1 {
		t.Errorf("R-442 again: asked %d times", received)
	}
	for answer, want := range map[string]string{"declined": "OAuthCallbackError", "": "Configuration"} {
		params := enter(t, c)
		params.Set("ticket", answer)
		p := comeBack(params)
		got := p.Error()
		if to := p.Location(); got == "" && to != nil {
			got = to.Query().Get("error")
		}
		if got != want {
			t.Errorf("%q: error %q, want %q", answer, got, want)
		}
	}
}

// TestProtocolIsWhole: half a protocol is refused, and one beside another.
func TestProtocolIsWhole(t *testing.T) {
	for name, change := range map[string]func(*latchkey.OAuth){
		"no Begin":     func(p *latchkey.OAuth) { p.Protocol.Begin = nil },
		"no Receive":   func(p *latchkey.OAuth) { p.Protocol.Receive = nil },
		"OIDC":         func(p *latchkey.OAuth) { p.OIDC, p.Issuer = true, "https://tickets.example" },
		"ResponseMode": func(p *latchkey.OAuth) { p.ResponseMode = "form_post" },
	} {
		p := ticket(new(int))
		change(p)
		_, err := latchkey.New(latchkey.Config{Providers: []latchkey.Provider{p}, Secrets: []string{siteSecret}, Site: latchkey.Site{URL: "https://app.example"}})
		if !errors.Is(err, latchkey.ErrInvalidProvider) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRepeatedOfCallback is R-444: what the token request repeats comes once.
func TestRepeatedOfCallback(t *testing.T) {
	asked := 0
	p := &latchkey.OAuth{
		ID: "device", ClientID: "c", ClientSecret: "s", CallbackParams: []string{"device_id"},
		Authorization: latchkey.Endpoint{URL: "https://d.example/a"}, Token: latchkey.Endpoint{URL: "https://d.example/t"}, UserInfo: latchkey.Endpoint{URL: "https://d.example/u"},
		Transport: func(http.RoundTripper) http.RoundTripper {
			return counting{&asked}
		},
	}
	auth, err := latchkey.New(latchkey.Config{Providers: []latchkey.Provider{p}, Secrets: []string{siteSecret}, Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}})
	if err != nil {
		t.Fatal(err)
	}
	c := latchkeytest.NewClient(t, auth)
	state := c.Begin("device").Location().Query().Get("state")
	for devices, want := range map[string]int{"device_id=a&device_id=b": 0, "device_id=a": 1} {
		asked = 0
		if devices == "device_id=a" {
			state = c.Begin("device").Location().Query().Get("state")
		}
		if p := c.Get("/auth/callback/device?code=x&" + devices + "&state=" + url.QueryEscape(state)); p.Error() == "" || asked != want {
			t.Errorf("R-444 %s: error %q, asked %d times", devices, p.Error(), asked)
		}
	}
}

// counting counts the calls that it makes none of.
type counting struct{ calls *int }

func (c counting) RoundTrip(*http.Request) (*http.Response, error) {
	*c.calls++
	return nil, errors.New("off")
}

// what a callback brings for another protocol is in no log, whatever it is
// called and whatever the definition says of it.
func TestProtocolIsNotLogged(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) {
		p := ticket(new(int))
		p.Protocol.Receive = func(_ context.Context, _ *http.Client, _ string, params url.Values) (latchkey.Grant, error) {
			return latchkey.Grant{}, fmt.Errorf("the service does not know %s, signed %s", params.Get("ticket"), params.Get("openid.sig"))
		}
		c.Providers = append(c.Providers, p)
	})
	b := s.newBrowser()
	back, err := url.Parse(b.post("/auth/signin/ticket").location())
	if err != nil {
		t.Fatal(err)
	}
	back, err = url.Parse(back.Query().Get("back"))
	if err != nil {
		t.Fatal(err)
	}
	params := back.Query()
	params.Set("ticket", "a-ticket-that-signs-in")
	params.Set("openid.sig", "a-signature-of-it")
	refused(t, b.get("/auth/callback/ticket?"+params.Encode()))
	if text := s.log.text(); strings.Contains(text, "a-ticket") || strings.Contains(text, "a-signature") || !strings.Contains(text, "does not know") {
		t.Errorf("the log has %s", text)
	}
}
