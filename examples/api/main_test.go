package main

import (
	"net/http"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestAPI(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com"})
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Providers: []latchkey.Provider{issuer.Provider()},
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	if p := browser.Fetch("GET", "/api/notes", nil, nil); p.Status != http.StatusUnauthorized || p.Header.Get("Content-Type") != "application/json" {
		t.Errorf("nobody gets %d %s", p.Status, p.Body)
	}
	browser.SignIn(issuer)
	if p := browser.Fetch("GET", "/api/notes", nil, nil); p.Status != http.StatusOK || string(p.Body) != "[]\n" {
		t.Errorf("ada gets %d %s", p.Status, p.Body)
	}
	note := map[string]string{"text": "buy milk"}
	if p := browser.Fetch("POST", "/api/notes", note, nil); p.Status != http.StatusCreated {
		t.Errorf("adding a note: %d %s", p.Status, p.Body)
	}
	if p := browser.Fetch("POST", "/api/notes", note, http.Header{"Origin": {"https://evil.example"}}); p.Status != http.StatusForbidden {
		t.Errorf("another site adding a note: %d", p.Status)
	}
	if p := browser.Fetch("GET", "/api/notes", nil, nil); string(p.Body) != "[\"buy milk\"]\n" {
		t.Errorf("ada's notes are %s", p.Body)
	}
}
