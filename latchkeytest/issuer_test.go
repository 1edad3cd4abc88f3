package latchkeytest_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestSignInByHand(t *testing.T) {
	for _, alg := range []string{"RS256", "ES256", "EdDSA"} {
		t.Run(alg, func(t *testing.T) {
			iss := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Algorithm = alg })
			iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "g@example.com", EmailVerified: "true", Claims: map[string]any{"hd": "example.com"}})
			p := newParty(t, iss)

			back := p.authorize()
			if back.Get("state") != "the state" || back.Get("iss") != iss.URL {
				t.Errorf("authorization response: %v", back)
			}
			_, answer := p.exchange(back.Get("code"))
			claims, err := p.verify(text(answer, "id_token"), jose.SignatureAlgorithm(alg))
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]any{
				"iss": iss.URL, "aud": "client", "sub": "grace", "nonce": "the nonce", "name": "Grace",
				"email": "g@example.com", "email_verified": "true", "hd": "example.com",
			} {
				if claims[name] != want {
					t.Errorf("%s is %v, want %v", name, claims[name], want)
				}
			}
			if claims["exp"].(float64)-claims["iat"].(float64) != 3600 || answer["expires_in"] != 3600.0 || answer["token_type"] != "Bearer" {
				t.Errorf("lifetimes: %v, %v", claims, answer)
			}
			_, body := p.userInfo(text(answer, "access_token"))
			if info := p.object(body); info["sub"] != "grace" || info["email"] != "g@example.com" {
				t.Errorf("userinfo: %v", info)
			}
		})
	}
}

func TestDiscovery(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	p := newParty(t, iss)
	_, body := p.do(http.MethodGet, iss.URL+latchkeytest.PathDiscovery, nil, nil)
	document := p.object(body)
	for name, want := range map[string]string{
		"issuer": iss.URL, "authorization_endpoint": iss.URL + "/authorize", "token_endpoint": iss.URL + "/token",
		"userinfo_endpoint": iss.URL + "/userinfo", "jwks_uri": iss.URL + "/jwks", "end_session_endpoint": iss.URL + "/end_session",
	} {
		if document[name] != want {
			t.Errorf("%s is %v, want %s", name, document[name], want)
		}
	}
	if o := iss.Provider(); o.Issuer != iss.URL || !o.OIDC || o.ID != "issuer" || o.ClientSecret == "" {
		t.Errorf("Provider: %+v", o)
	}
}

func TestAuthorizationIsRefused(t *testing.T) {
	iss := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.RedirectURIs = []string{callback} })
	p := newParty(t, iss)
	for name, changes := range map[string][]string{
		"unknown client":           {"client_id", "another"},
		"no redirect URI":          {"redirect_uri", "-"},
		"redirect URI not allowed": {"redirect_uri", callback + "/x"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, _ := p.do(http.MethodGet, iss.URL+latchkeytest.PathAuthorize+"?"+p.request(changes...).Encode(), nil, nil)
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("status %d", resp.StatusCode)
			}
		})
	}
	for name, row := range map[string]struct {
		changes []string
		want    string
	}{
		"implicit flow":       {[]string{"response_type", "token"}, "unsupported_response_type"},
		"PKCE plain":          {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"PKCE without method": {[]string{"code_challenge_method", "-"}, "invalid_request"},
		"short challenge":     {[]string{"code_challenge", "abc"}, "invalid_request"},
		"unknown mode":        {[]string{"response_mode", "fragment"}, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			back := p.authorize(row.changes...)
			if back.Get("error") != row.want || back.Has("code") || back.Get("state") != "the state" {
				t.Errorf("got %v, want error %s", back, row.want)
			}
		})
	}
}

func TestLoginPage(t *testing.T) {
	iss := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) {
		c.People = []latchkeytest.Person{{Subject: "mallory", Name: "<script>alert(1)</script>"}}
	})
	p := newParty(t, iss)
	authorize := iss.URL + latchkeytest.PathAuthorize + "?" + p.request().Encode()
	if _, body := p.do(http.MethodGet, authorize, nil, nil); !strings.Contains(string(body), "&lt;script&gt;") || strings.Contains(string(body), "<script>") {
		t.Errorf("page %s", body)
	}
	if _, body := p.do(http.MethodGet, authorize, nil, nil); !strings.Contains(string(body), "prefers-color-scheme:dark") || !strings.Contains(string(body), "width=device-width") || !strings.Contains(string(body), "to continue to app.example") {
		t.Errorf("R-328: the page is not made for people: %s", body)
	}
	answer := func(form url.Values) url.Values {
		resp, body := p.do(http.MethodPost, authorize, form, nil)
		to, err := resp.Location()
		if err != nil {
			t.Fatalf("no redirect: %s", body)
		}
		return to.Query()
	}
	if back := answer(url.Values{"cancel": {"1"}}); back.Get("error") != "access_denied" || back.Has("code") {
		t.Errorf("cancelled: %v", back)
	}
	if back := answer(url.Values{"person": {"0"}}); !back.Has("code") || back.Get("state") != "the state" {
		t.Errorf("chosen: %v", back)
	}
	if back := p.authorize("prompt", "none"); back.Get("error") != "login_required" {
		t.Errorf("prompt=none: %v", back)
	}
	for _, person := range []string{"", "1", "-1", "x"} {
		if resp, _ := p.do(http.MethodPost, authorize, url.Values{"person": {person}}, nil); resp.StatusCode != http.StatusOK {
			t.Errorf("person %q: status %d", person, resp.StatusCode)
		}
	}
}

func TestTokenIsRefused(t *testing.T) {
	p := newParty(t, latchkeytest.NewIssuer(t))
	for name, row := range map[string]struct {
		authorize, exchange []string
		want                string
	}{
		"unknown code":               {nil, []string{"code", "x"}, "invalid_grant"},
		"other redirect URI":         {nil, []string{"redirect_uri", callback + "2"}, "invalid_grant"},
		"no redirect URI":            {nil, []string{"redirect_uri", "-"}, "invalid_grant"},
		"other verifier":             {nil, []string{"code_verifier", verifier + "x"}, "invalid_grant"},
		"no verifier":                {nil, []string{"code_verifier", "-"}, "invalid_grant"},
		"verifier without challenge": {[]string{"code_challenge", "-", "code_challenge_method", "-"}, nil, "invalid_grant"},
		"unknown refresh token":      {nil, []string{"grant_type", "refresh_token", "refresh_token", "x"}, "invalid_grant"},
		"other grant type":           {nil, []string{"grant_type", "password"}, "unsupported_grant_type"},
		"secret by two methods":      {nil, []string{"client_secret", p.iss.Provider().ClientSecret}, "invalid_client"},
	} {
		t.Run(name, func(t *testing.T) {
			_, answer := p.exchange(p.authorize(row.authorize...).Get("code"), row.exchange...)
			if answer["error"] != row.want || answer["access_token"] != nil {
				t.Errorf("got %v, want error %s", answer, row.want)
			}
		})
	}
	t.Run("code used twice", func(t *testing.T) {
		code := p.authorize().Get("code")
		if status, _ := p.exchange(code); status != http.StatusOK {
			t.Fatal("first use refused")
		}
		if _, answer := p.exchange(code); answer["error"] != "invalid_grant" {
			t.Errorf("second use: %v", answer)
		}
	})
	t.Run("GET", func(t *testing.T) {
		if resp, _ := p.do(http.MethodGet, p.iss.URL+latchkeytest.PathToken, nil, p.basic()); resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
}

func TestLifetimesFollowTheClock(t *testing.T) {
	var mu sync.Mutex
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	pass := func(d time.Duration) { mu.Lock(); now = now.Add(d); mu.Unlock() }
	iss := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) {
		c.Time = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
		c.Lifetime = time.Minute
	})
	p := newParty(t, iss)
	answer := p.signIn()
	code := p.authorize().Get("code")
	pass(time.Hour)
	if resp, _ := p.userInfo(text(answer, "access_token")); resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("expired access token: %d", resp.StatusCode)
	}
	if _, answer := p.exchange(code); answer["error"] != "invalid_grant" {
		t.Errorf("expired code: %v", answer)
	}
}

func TestRefresh(t *testing.T) {
	p := newParty(t, latchkeytest.NewIssuer(t))
	first := p.signIn()
	_, second := p.exchange("", "grant_type", "refresh_token", "refresh_token", text(first, "refresh_token"))
	claims, err := p.verify(text(second, "id_token"))
	if err != nil || claims["sub"] != "person-1" || claims["nonce"] != nil || claims["auth_time"] == nil {
		t.Errorf("refreshed ID token: %v, %v", claims, err)
	}
	if text(second, "refresh_token") == text(first, "refresh_token") {
		t.Error("the refresh token does not rotate")
	}
	if _, third := p.exchange("", "grant_type", "refresh_token", "refresh_token", text(first, "refresh_token")); third["error"] != "invalid_grant" {
		t.Errorf("old refresh token: %v", third)
	}
}

func TestSignedUserInfo(t *testing.T) {
	p := newParty(t, latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.SignedUserInfo = true }))
	resp, body := p.userInfo(text(p.signIn(), "access_token"))
	claims, err := p.verify(string(body))
	if err != nil || claims["sub"] != "person-1" || claims["aud"] != "client" || resp.Header.Get("Content-Type") != "application/jwt" {
		t.Errorf("got %v, %v", claims, err)
	}
}

func TestRotateKeys(t *testing.T) {
	p := newParty(t, latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Algorithm = "ES256" }))
	old := text(p.signIn(), "id_token")
	if err := p.iss.RotateKeys(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.verify(old, jose.ES256); err == nil {
		t.Error("the old key is still published")
	}
	if _, err := p.verify(text(p.signIn(), "id_token"), jose.ES256); err != nil {
		t.Error("the new key is not:", err)
	}
}

func TestEndSession(t *testing.T) {
	p := newParty(t, latchkeytest.NewIssuer(t))
	resp, _ := p.do(http.MethodGet, p.iss.URL+latchkeytest.PathEndSession+"?post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fbye&state=s", nil, nil)
	if got := resp.Header.Get("Location"); got != "https://app.example/bye?state=s" {
		t.Errorf("sent to %q", got)
	}
	if resp, _ := p.do(http.MethodGet, p.iss.URL+latchkeytest.PathEndSession, nil, nil); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestRequestsAreCounted(t *testing.T) {
	p := newParty(t, latchkeytest.NewIssuer(t))
	p.signIn()
	if n := p.iss.Count(latchkeytest.PathToken); n != 1 {
		t.Errorf("token requests: %d", n)
	}
	if n := p.iss.Count(latchkeytest.PathUserInfo); n != 0 {
		t.Errorf("userinfo requests: %d", n)
	}
	r := p.iss.Requests(latchkeytest.PathToken)[0]
	if r.Method != http.MethodPost || r.Form.Get("code_verifier") != verifier || r.Header.Get("Authorization") == "" {
		t.Errorf("recorded %+v", r)
	}
	if got := p.iss.Requests(latchkeytest.PathAuthorize)[0].Query.Get("nonce"); got != "the nonce" {
		t.Errorf("recorded nonce %q", got)
	}
	if n := p.iss.Count(""); n != 2 {
		t.Errorf("requests in all: %d", n)
	}
}

func TestManyAtOnce(t *testing.T) {
	iss := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Algorithm = "ES256" })
	p := newParty(t, iss)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			code := p.authorize().Get("code")
			if status, _ := p.exchange(code); status != http.StatusOK {
				t.Errorf("status %d", status)
			}
			iss.SignInAs(latchkeytest.Person{Subject: "x"})
			iss.Misbehave(latchkeytest.Misbehaviour{})
			if err := iss.RotateKeys(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestStartIssuerRefuses(t *testing.T) {
	for name, c := range map[string]latchkeytest.IssuerConfig{
		"unknown algorithm":               {Algorithm: "HS256"},
		"private_key_jwt without the key": {ClientAuth: latchkey.PrivateKeyJWT},
		"listener that cannot be had":     {Addr: "192.0.2.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			if iss, err := latchkeytest.StartIssuer(c); err == nil {
				iss.Close()
				t.Error("started")
			}
		})
	}
}
