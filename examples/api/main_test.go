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
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada"})
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{"a secret for tests that is long enough"},
		Providers: []latchkey.Provider{issuer.Provider()},
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	if p := browser.Get("/api/notes"); p.Status != http.StatusUnauthorized || p.Header.Get("Content-Type") != "application/json" {
		t.Errorf("nobody gets %d %s", p.Status, p.Body)
	}
	browser.SignIn(issuer)
	if p := browser.Get("/api/notes"); p.Status != http.StatusOK || string(p.Body) != "[]\n" {
		t.Errorf("ada gets %d %s", p.Status, p.Body)
	}
	if p := post(t, browser, "same-origin"); p != http.StatusCreated {
		t.Errorf("adding a note: %d", p)
	}
	if p := post(t, browser, "cross-site"); p != http.StatusForbidden {
		t.Errorf("another site adding a note: %d", p)
	}
	if p := browser.Get("/api/notes"); string(p.Body) != "[\"buy milk\"]\n" {
		t.Errorf("ada's notes are %s", p.Body)
	}
}

// post adds a note as a script of a page at from would.
func post(t *testing.T, browser *latchkeytest.Client, from string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, browser.URL+"/api/notes", strings.NewReader(`{"text":"buy milk"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", from)
	for _, c := range browser.Cookies() {
		r.AddCookie(c)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
