package providers_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/providers"
)

// steam is Steam's OpenID 2.0 server: it signs what it answers with a secret of its
// own and confirms each answer once.
type steam struct {
	key []byte

	mu        sync.Mutex
	confirmed map[string]bool // nonces
	asked     int
	about     url.Values // what Steam was asked to confirm last
}

const steamUser = "https://steamcommunity.com/openid/id/76561197960435530"

// answer is where Steam sends a browser that came with a request.
func (s *steam) answer(request url.Values) url.Values {
	back, _ := url.Parse(request.Get("openid.return_to"))
	params := back.Query()
	for name, value := range map[string]string{
		"ns": request.Get("openid.ns"), "mode": "id_res", "op_endpoint": "https://steamcommunity.com/openid/login",
		"claimed_id": steamUser, "identity": steamUser, "return_to": request.Get("openid.return_to"),
		"response_nonce": "2026-11-22T10:00:00Z" + rand.Text(), "assoc_handle": "1234567890",
		"signed": "signed,op_endpoint,claimed_id,identity,return_to,response_nonce,assoc_handle",
	} {
		params.Set("openid."+name, value)
	}
	params.Set("openid.sig", s.sign(params))
	return params
}

// sign signs the fields that an answer lists (section 6 of OpenID 2.0).
func (s *steam) sign(params url.Values) string {
	mac := hmac.New(sha1.New, s.key)
	for field := range strings.SplitSeq(params.Get("openid.signed"), ",") {
		fmt.Fprintf(mac, "%s:%s\n", field, params.Get("openid."+field))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (s *steam) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Host + r.URL.Path {
	case "steamcommunity.com/openid/login":
		s.asked++
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		s.about = form
		nonce := form.Get("openid.response_nonce")
		valid := form.Get("openid.mode") == "check_authentication" && form.Get("openid.sig") == s.sign(form) && !s.confirmed[nonce]
		s.confirmed[nonce] = true
		return saying(200, fmt.Appendf(nil, "ns:http://specs.openid.net/auth/2.0\nis_valid:%t\n", valid)).RoundTrip(r)
	case "api.steampowered.com/ISteamUser/GetPlayerSummaries/v2/":
		return saying(200, fmt.Appendf(nil, `{"response":{"players":[{"steamid":%q,"personaname":"Ada"}]}}`, r.URL.Query().Get("steamids"))).RoundTrip(r)
	}
	return saying(404, nil).RoundTrip(r)
}

// steamVisit is a browser that Steam has just sent back.
func steamVisit(t *testing.T) (*steam, *site, url.Values) {
	t.Helper()
	peer := &steam{key: []byte(rand.Text()), confirmed: map[string]bool{}}
	s := newSiteOver(t, peer, providers.Steam(latchkey.OAuth{}))
	to := s.Begin("steam").Location()
	if to == nil || to.Host != "steamcommunity.com" || to.Query().Get("openid.realm") != s.URL {
		t.Fatalf("sent to %v; log: %s", to, s.log)
	}
	return peer, s, peer.answer(to.Query())
}

func (s *site) comeFromSteam(params url.Values) *latchkeytest.Page {
	return s.Get("/auth/callback/steam?" + params.Encode())
}

// TestSteamAnswers is R-443: an answer signs in whom Steam means, here and once.
func TestSteamAnswers(t *testing.T) {
	t.Run("R-443 good", func(t *testing.T) {
		peer, s, answer := steamVisit(t)
		s.comeFromSteam(answer)
		if a := s.attempt(t); a.Account.ProviderAccountID != "76561197960435530" || a.Account.Email != "" || a.User.Name != "Ada" {
			t.Errorf("%+v", a.User)
		}
		if s.comeFromSteam(answer); len(s.arrived) != 1 || peer.asked != 1 {
			t.Errorf("R-443 the same answer again: %d sign-ins, Steam was asked %d times", len(s.arrived), peer.asked)
		}
	})
	for name, change := range map[string]func(p *steam, answer url.Values){
		"another person":   func(_ *steam, q url.Values) { q.Set("openid.claimed_id", steamUser+"1") },
		"another identity": func(p *steam, q url.Values) { q.Set("openid.identity", steamUser+"1"); q.Set("openid.sig", p.sign(q)) },
		"no signature":     func(_ *steam, q url.Values) { q.Del("openid.sig") },
		"a host that looks alike": func(p *steam, q url.Values) {
			setSteamUser(p, q, "https://steamcommunity.com.evil.example/openid/id/76561197960435530")
		},
		"another path":        func(p *steam, q url.Values) { setSteamUser(p, q, "https://steamcommunity.com/id/76561197960435530") },
		"a line after the id": func(p *steam, q url.Values) { setSteamUser(p, q, steamUser+"\n") },
		"another server": func(p *steam, q url.Values) {
			q.Set("openid.op_endpoint", "https://evil.example/openid/login")
			q.Set("openid.sig", p.sign(q))
		},
		"another version": func(p *steam, q url.Values) { q.Set("openid.ns", "http://openid.net/signon/1.1") },
		"another site": func(p *steam, q url.Values) {
			q.Set("openid.return_to", "https://evil.example/auth/callback/steam?state="+url.QueryEscape(q.Get("state")))
			q.Set("openid.sig", p.sign(q))
		},
		"no state in what is signed": func(p *steam, q url.Values) {
			q.Set("openid.return_to", strings.Split(q.Get("openid.return_to"), "?")[0])
			q.Set("openid.sig", p.sign(q))
		},
		"the person is not signed": func(p *steam, q url.Values) {
			q.Set("openid.signed", "signed,op_endpoint,return_to,response_nonce,assoc_handle")
			q.Set("openid.sig", p.sign(q))
		},
		"the site is not signed": func(p *steam, q url.Values) {
			q.Set("openid.signed", "signed,op_endpoint,claimed_id,identity,response_nonce,assoc_handle")
			q.Set("openid.sig", p.sign(q))
		},
		"the nonce is not signed": func(p *steam, q url.Values) {
			q.Set("openid.signed", "signed,op_endpoint,claimed_id,identity,return_to,assoc_handle")
			q.Set("openid.sig", p.sign(q))
		},
		"a line break": func(p *steam, q url.Values) {
			q.Set("openid.assoc_handle", "1234567890\nclaimed_id:"+steamUser)
			q.Set("openid.sig", p.sign(q))
		},
		"confirmed before":  func(p *steam, q url.Values) { p.confirmed[q.Get("openid.response_nonce")] = true },
		"a question":        func(_ *steam, q url.Values) { q.Set("openid.mode", "checkid_setup") },
		"nothing of OpenID": func(_ *steam, q url.Values) { keepOnly(q, "state") },
	} {
		t.Run("R-443 "+name, func(t *testing.T) {
			peer, s, answer := steamVisit(t)
			change(peer, answer)
			if p := s.comeFromSteam(answer); p.Error() != "Configuration" || len(s.arrived) != 0 {
				t.Errorf("R-443 error %q, %d sign-ins; log: %s", p.Error(), len(s.arrived), s.log)
			}
		})
	}
}

// TestSteamIsAskedAboutWhatIsRead is R-464: a parameter that Steam might take for
// another one does not get there.
func TestSteamIsAskedAboutWhatIsRead(t *testing.T) {
	peer, s, answer := steamVisit(t)
	for _, name := range []string{"openid.Claimed_id", "OPENID.claimed_id", "openid.claimed_id ", "openid.claimed_id[]", "openid_claimed_id", "openid.ax.mode"} {
		answer.Set(name, steamUser+"1")
	}
	s.comeFromSteam(answer)
	for name := range peer.about {
		switch field := strings.TrimPrefix(name, "openid."); {
		case len(peer.about[name]) != 1:
			t.Errorf("R-464 %s is repeated", name)
		case !slices.Contains([]string{"ns", "mode", "signed", "sig", "op_endpoint", "claimed_id", "identity", "return_to", "response_nonce", "assoc_handle"}, field):
			t.Errorf("R-464 Steam is asked about %q", name)
		}
	}
	if len(s.arrived) != 1 || peer.asked != 1 {
		t.Errorf("R-464 %d sign-ins, Steam was asked %d times", len(s.arrived), peer.asked)
	}
}

func setSteamUser(p *steam, q url.Values, id string) {
	q.Set("openid.claimed_id", id)
	q.Set("openid.identity", id)
	q.Set("openid.sig", p.sign(q))
}

func keepOnly(q url.Values, name string) {
	for other := range q {
		if other != name {
			q.Del(other)
		}
	}
}

// TestSteamOfSomebodyElse is R-442 with Steam: an answer that a stranger got does
// not sign in the browser that it is planted in.
func TestSteamOfSomebodyElse(t *testing.T) {
	peer, s, answer := steamVisit(t)
	stranger := newSiteOver(t, peer, providers.Steam(latchkey.OAuth{}))
	if p := stranger.comeFromSteam(answer); p.Error() == "" || len(stranger.arrived) != 0 || peer.asked != 0 {
		t.Errorf("R-442 error %q, Steam was asked %d times", p.Error(), peer.asked)
	}
	for _, repeated := range []string{"openid.claimed_id", "openid.return_to", "state"} {
		twice := url.Values{}
		for name, values := range answer {
			twice[name] = values
		}
		twice[repeated] = append([]string{"https://steamcommunity.com/openid/id/76561197960000000"}, twice[repeated]...)
		if p := s.comeFromSteam(twice); p.Error() == "" || len(s.arrived) != 0 || peer.asked != 0 {
			t.Errorf("R-442 %s twice: error %q", repeated, p.Error())
		}
	}
	if s.comeFromSteam(answer); len(s.arrived) != 1 {
		t.Errorf("R-442 the sign-in itself is lost: %s", s.log)
	}
}

func TestSteamCancelled(t *testing.T) {
	_, s, answer := steamVisit(t)
	state := answer.Get("state")
	p := s.comeFromSteam(url.Values{"openid.ns": {"http://specs.openid.net/auth/2.0"}, "openid.mode": {"cancel"}, "state": {state}})
	if to := p.Location(); to == nil || to.Query().Get("error") != "OAuthCallbackError" || len(s.arrived) != 0 {
		t.Errorf("sent to %v; log: %s", to, s.log)
	}
}

// TestSteamNeedsAKey: without one New says what to set.
func TestSteamNeedsAKey(t *testing.T) {
	_, err := latchkey.New(configOf([]latchkey.Provider{providers.Steam(latchkey.OAuth{})}))
	if err == nil || !strings.Contains(err.Error(), "AUTH_STEAM_SECRET") || !strings.Contains(err.Error(), "https://steamcommunity.com/dev/apikey") || strings.Contains(err.Error(), "AUTH_STEAM_ID") || strings.Contains(err.Error(), "client_secret_basic") {
		t.Errorf("got %v", err)
	}
}

// TestWhatIsMissingIsNamed: where endpoints follow from an issuer, or an API wants
// a key, New says so.
func TestWhatIsMissingIsNamed(t *testing.T) {
	given := latchkey.OAuth{ClientID: "client", ClientSecret: "the client's secret"}
	for _, row := range []struct {
		provider *latchkey.OAuth
		want     string
	}{
		{providers.NetSuite(withUserInfo(given)), "AUTH_NETSUITE_ISSUER"},
		{providers.NetSuite(withIssuer(given, providers.NetSuiteAccount("1234567-sb1"))), "set UserInfo"},
		{providers.Mattermost(given), "AUTH_MATTERMOST_ISSUER"},
		{providers.Shopify(given), "AUTH_SHOPIFY_ISSUER"},
		{providers.Nextcloud(given), "AUTH_NEXTCLOUD_ISSUER"},
		{providers.Bungie(given), "providers.BungieProfile(key)"},
		{providers.StackExchange(given), "providers.StackExchangeProfile(key)"},
		{providers.WeCom(given), "providers.WeComAgent(id)"},
		{providers.Shopify(withIssuer(given, "acme")), `is "acme"; write https://acme.myshopify.com`},
		{providers.Mastodon(withIssuer(given, "social.example")), `is "social.example", which is no absolute https URL; write "https://social.example"`},
		{providers.Auth0(withIssuer(given, "acme.eu.auth0.com")), `write "https://acme.eu.auth0.com"`},
	} {
		if _, err := latchkey.New(configOf([]latchkey.Provider{row.provider})); err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", row.provider.ID, err)
		}
	}
	wrong := withIssuer(withUserInfo(given), "https://1234.netsuite.example")
	if _, err := latchkey.New(configOf([]latchkey.Provider{providers.NetSuite(wrong)})); err == nil || !strings.Contains(err.Error(), "NetSuiteAccount") {
		t.Errorf("another issuer: %v", err)
	}
}

func withIssuer(p latchkey.OAuth, issuer string) latchkey.OAuth {
	p.Issuer = issuer
	return p
}

func withUserInfo(p latchkey.OAuth) latchkey.OAuth {
	p.UserInfo.URL = "https://script.example"
	return p
}
