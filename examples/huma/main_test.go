package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestAPI(t *testing.T) {
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
	if p := browser.Fetch("GET", "/api/version", nil, nil); p.Status != http.StatusOK || !strings.Contains(string(p.Body), "1.0") {
		t.Errorf("the version: %d %s", p.Status, p.Body)
	}
	for name, h := range map[string]http.Header{"nobody": nil, "a wrong token": {"Authorization": {"Bearer nonsense"}}} {
		if p := browser.Fetch("GET", "/api/me", nil, h); p.Status != http.StatusUnauthorized || !strings.HasPrefix(p.Header.Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%s: %d %v", name, p.Status, p.Header)
		}
	}
	browser.SignIn(issuer)
	if p := browser.Fetch("GET", "/api/me", nil, nil); p.Status != http.StatusOK || !strings.Contains(string(p.Body), `"name":"Ada"`) {
		t.Errorf("Ada: %d %s", p.Status, p.Body)
	}
}
