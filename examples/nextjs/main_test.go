package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// The app itself is driven by internal/interop, in a browser.
func TestBehindTheApp(t *testing.T) {
	auth, err := newAuth(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, auth)
	browser.BasePath = "/api/auth"
	wrong := browser.Post("/api/auth/callback/credentials", url.Values{"csrfToken": {browser.CSRFToken()}, "name": {"ada"}, "password": {"byron"}})
	if to := wrong.Header.Get("Location"); !strings.Contains(to, "error=CredentialsSignin") {
		t.Errorf("a wrong password leads to %q", to)
	}
	browser.SignInCredentials(map[string]string{"name": "ada", "password": "lovelace"})
	for _, c := range []struct {
		data any
		name string
	}{{"no object", "Ada"}, {map[string]any{"name": 5}, "Ada"}, {map[string]any{"name": " "}, "Ada"}, {map[string]any{"name": " Countess "}, "Countess"}} {
		p := browser.Fetch("POST", browser.BasePath+"/session", map[string]any{"csrfToken": browser.CSRFToken(), "data": c.data}, nil)
		if !strings.Contains(string(p.Body), `"name":"`+c.name+`"`) {
			t.Errorf("an update with %v: %d %s", c.data, p.Status, p.Body)
		}
	}
}
