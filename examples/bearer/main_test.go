package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// A desktop app: it opens the system browser, waits on a port of its own for the
// code, and asks the API with the token that it gets.
func TestApp(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com"})
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Session:   latchkey.SessionConfig{Bearer: true},
		Providers: []latchkey.Provider{issuer.Provider()},
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	browser.SignIn(issuer)

	const verifier = "a-secret-of-the-app-with-at-least-43-characters"
	hash := sha256.Sum256([]byte(verifier))
	page := "/app/sign-in?" + url.Values{
		"redirect_uri": {"http://127.0.0.1:49152/signed-in"}, "state": {"the app's own"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(hash[:])},
	}.Encode()
	if p := browser.Get(page); !strings.Contains(string(p.Body), "as Ada?") {
		t.Fatalf("the question: %d %s", p.Status, p.Body)
	}
	if p := browser.Fetch("POST", page, nil, http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}); p.Status != http.StatusForbidden {
		t.Errorf("another site answers it: %d", p.Status)
	}
	for _, other := range []string{"49152@evil.example", "49152%2Fx%3F", "49152/signed-in?code=mine&x="} {
		elsewhere := strings.Replace(page, "49152", url.QueryEscape(other), 1)
		if p := browser.Fetch("POST", elsewhere, nil, nil); p.Status != http.StatusBadRequest {
			t.Errorf("a code for somebody else, %s: %d", other, p.Status)
		}
	}
	back, err := url.Parse(browser.Post(page, nil).Header.Get("Location"))
	if err != nil || back.Host != "127.0.0.1:49152" || back.Query().Get("state") != "the app's own" {
		t.Fatalf("back to %s, %v", back, err)
	}

	api := browser.URL // which the app asks without the browser
	code := back.Query().Get("code")
	if got := tokenFor(t, api, code, "the verifier of another app, which listened in"); got != "" {
		t.Error("another app gets a token")
	}
	token := tokenFor(t, api, code, verifier)
	if status, body := ask(t, http.MethodGet, api+"/api/me", token); status != http.StatusOK || body != `{"name":"Ada","via":"bearer"}`+"\n" {
		t.Errorf("the API: %d %s", status, body)
	}
	if status, _ := ask(t, http.MethodPost, api+"/auth/signout", token); status != http.StatusNoContent {
		t.Errorf("the sign-out: %d", status)
	}
	if p := browser.Fetch("GET", "/api/me", nil, nil); p.Status != http.StatusOK {
		t.Errorf("the browser is signed out, too: %d", p.Status)
	}
	if status, _ := ask(t, http.MethodGet, api+"/api/me", "nonsense"); status != http.StatusUnauthorized {
		t.Errorf("nonsense: %d", status)
	}
}

// tokenFor changes a code for a token; empty: it is refused.
func tokenFor(t *testing.T, api, code, verifier string) string {
	t.Helper()
	res, err := http.PostForm(api+"/app/token", url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var got struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || (res.StatusCode == http.StatusOK) != (got.ExpiresIn > 0) {
		t.Errorf("%d, %v", res.StatusCode, err)
	}
	return got.AccessToken
}

func ask(t *testing.T, method, target, token string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
