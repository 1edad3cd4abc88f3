package sitetest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// accepting takes ID tokens from scripts.
func accepting(o *latchkey.OAuth) { o.AcceptIDToken = true }

// nonceFor returns the nonce that a script of the site makes for this browser.
func (b *browser) nonceFor() string {
	sum := sha256.Sum256([]byte(b.token()))
	return hex.EncodeToString(sum[:])
}

// tokenWithNonce gets an ID token with the nonce, as a script of the provider does.
func (s *oauthSite) tokenWithNonce(nonce string) string {
	s.t.Helper()
	o := s.issuer.Provider()
	redirect := siteOrigin + "/auth/callback/" + o.ID
	res, err := s.client.Get(s.issuer.URL + latchkeytest.PathAuthorize + "?" + url.Values{
		"response_type": {"code"}, "client_id": {o.ClientID}, "redirect_uri": {redirect}, "scope": {"openid profile email"}, "nonce": {nonce},
	}.Encode())
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	back, err := url.Parse(res.Header.Get("Location"))
	if err != nil {
		s.t.Fatal(err)
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {redirect}}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.issuer.URL+latchkeytest.PathToken, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(o.ClientID), url.QueryEscape(o.ClientSecret))
	if res, err = s.client.Do(r); err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		IDToken string `json:"id_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.IDToken == "" {
		s.t.Fatalf("no ID token: %v, status %d", err, res.StatusCode)
	}
	return answer.IDToken
}

// bring posts an ID token to the callback.
func (b *browser) bring(member, token string, more ...string) *answer {
	return b.post("/auth/callback/issuer", append([]string{member, token}, more...)...)
}

// TestIDTokenFromScripts: R-576, an ID token that a script or a native app brings signs in
// once, in the browser that it was made for, and nowhere else.
func TestIDTokenFromScripts(t *testing.T) {
	s := newOAuthSite(t, withIssuer(accepting))
	t.Run("R-576 it signs in the user that the flow knows", func(t *testing.T) {
		flow := s.newBrowser()
		s.mustSignIn(flow)
		want, _ := s.claimsOf(flow)["sub"].(string)
		for _, member := range []string{"credential", "id_token"} {
			b := s.newBrowser()
			if a := b.bring(member, s.tokenWithNonce(b.nonceFor())); !b.isLive() {
				t.Fatalf("%s: not signed in: %d to %q\n%s", member, a.Code, a.location(), s.log.text())
			}
			if got, _ := s.claimsOf(b)["sub"].(string); got != want || got == "" {
				t.Errorf("%s: signs in %q, the flow %q", member, got, want)
			}
		}
	})
	t.Run("R-576 in JSON, for scripts", func(t *testing.T) {
		b := s.newBrowser()
		if b.postJSON("/auth/callback/issuer", map[string]any{"credential": s.tokenWithNonce(b.nonceFor())}); !b.isLive() {
			t.Error("not signed in")
		}
	})
	t.Run("R-576 with Google's double submit", func(t *testing.T) {
		b := s.newBrowser()
		token := s.tokenWithNonce(b.nonceFor())
		b.jar["g_csrf_token"] = "g1"
		if b.bring("credential", token, "g_csrf_token", "g2"); b.isLive() {
			t.Error("another value than the cookie's signs in")
		}
		if b.bring("credential", token, "g_csrf_token", "g1"); !b.isLive() {
			t.Error("the cookie's value does not sign in")
		}
	})
	refused := func(t *testing.T, b *browser, a *answer) {
		t.Helper()
		if b.isLive() {
			t.Errorf("signed in: %d to %q", a.Code, a.location())
		}
	}
	t.Run("R-576 used once", func(t *testing.T) {
		b := s.newBrowser()
		token := s.tokenWithNonce(b.nonceFor())
		b.bring("credential", token)
		b.post("/auth/signout")
		refused(t, b, b.bring("credential", token))
		again := b.copy()
		refused(t, again, again.bring("credential", token+"="))
	})
	t.Run("R-576 not with another browser's nonce, or none", func(t *testing.T) {
		b, attacker := s.newBrowser(), s.newBrowser()
		refused(t, b, b.bring("credential", s.tokenWithNonce(attacker.nonceFor())))
		refused(t, b, b.bring("credential", s.tokenWithNonce("")))
		refused(t, b, b.bring("credential", s.tokenWithNonce(b.token())))
	})
	t.Run("R-576 not from another site, and not without a CSRF token", func(t *testing.T) {
		b := s.newBrowser()
		token := s.tokenWithNonce(b.nonceFor())
		form := url.Values{"credential": {token}}
		refused(t, b, b.do(http.MethodPost, "/auth/callback/issuer", "application/x-www-form-urlencoded", form.Encode()))
		b.header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Origin": {"https://evil.example"}}
		refused(t, b, b.bring("credential", token))
	})
	t.Run("R-576 not by GET", func(t *testing.T) {
		b := s.newBrowser()
		refused(t, b, b.get("/auth/callback/issuer?credential="+url.QueryEscape(s.tokenWithNonce(b.nonceFor()))))
	})
	for name, change := range map[string]func(map[string]any){
		"for another client":                 func(c map[string]any) { c["aud"] = "another" },
		"with another party":                 func(c map[string]any) { c["azp"] = "another" },
		"of another issuer":                  func(c map[string]any) { c["iss"] = "https://evil.example" },
		"issued a quarter of an hour ago":    func(c map[string]any) { c["iat"] = s.clock.Now().Add(-15 * time.Minute).Unix() },
		"that has expired":                   func(c map[string]any) { c["exp"] = 1 },
		"of a client that is no native one":  func(c map[string]any) { c["aud"], c["azp"] = []any{"app"}, "app" },
		"that names no client as its party ": func(c map[string]any) { c["azp"] = "" },
	} {
		t.Run("R-576 not one "+name, func(t *testing.T) {
			s.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: change})
			defer s.issuer.Misbehave(latchkeytest.Misbehaviour{})
			b := s.newBrowser()
			refused(t, b, b.bring("credential", s.tokenWithNonce(b.nonceFor())))
		})
	}
	t.Run("R-576 a native client's counts where it is named", func(t *testing.T) {
		native := newOAuthSite(t, withIssuer(accepting), withIssuer(func(o *latchkey.OAuth) { o.NativeClientIDs = []string{"com.example.app"} }))
		native.issuer.Misbehave(latchkeytest.Misbehaviour{IDToken: func(c map[string]any) { c["aud"], c["azp"] = "com.example.app", "com.example.app" }})
		b := native.newBrowser()
		if b.bring("id_token", native.tokenWithNonce(b.nonceFor())); !b.isLive() {
			t.Errorf("not signed in\n%s", native.log.text())
		}
	})
	t.Run("R-576 off by default", func(t *testing.T) {
		off := newOAuthSite(t)
		b := off.newBrowser()
		refused(t, b, b.bring("credential", off.tokenWithNonce(b.nonceFor())))
	})
	t.Run("R-576 a mistake of the client is a warning", func(t *testing.T) {
		for _, line := range s.log.records(t) {
			if line["level"] == "ERROR" {
				t.Errorf("%v", line)
			}
		}
	})
	t.Run("R-576 without OIDC New refuses", func(t *testing.T) {
		_, err := latchkey.New(latchkey.Config{
			Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: (&logBuffer{}).logger()},
			Providers: []latchkey.Provider{&latchkey.OAuth{
				ID: "acme", ClientID: "c", ClientSecret: "s", AcceptIDToken: true,
				Authorization: latchkey.Endpoint{URL: "https://id.example/a"}, Token: latchkey.Endpoint{URL: "https://id.example/t"}, UserInfo: latchkey.Endpoint{URL: "https://id.example/u"},
			}},
		})
		if err == nil || !strings.Contains(err.Error(), "AcceptIDToken") {
			t.Errorf("%v", err)
		}
	})
}
