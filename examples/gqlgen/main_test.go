package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestServer(t *testing.T) {
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
	ask := func(query, want string) {
		t.Helper()
		p := browser.Fetch("POST", "/query", map[string]any{"query": query}, nil)
		if !strings.Contains(string(p.Body), want) {
			t.Errorf("%s: %d %s", query, p.Status, p.Body)
		}
	}
	ask(`{version}`, `"version":"1.0"`)
	ask(`{me{name}}`, `sign in first`)
	ask(`{notes}`, `sign in first`)
	ask(`mutation{addNote(text:"x")}`, `sign in first`)
	browser.SignIn(issuer)
	ask(`{me{name}}`, `{"data":{"me":{"name":"Ada"}}}`)
	ask(`mutation{addNote(text:"buy milk")}`, `{"data":{"addNote":["buy milk"]}}`)
	ask(`{notes}`, `{"data":{"notes":["buy milk"]}}`)
	evil := http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}
	if p := browser.Fetch("POST", "/query", map[string]any{"query": `{me{name}}`}, evil); p.Status != http.StatusForbidden {
		t.Errorf("another site asks: %d %s", p.Status, p.Body)
	}
}
