package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestSite(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "bob", Name: "Bob"})
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Providers: []latchkey.Provider{issuer.Provider()},
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	says := func(p *latchkeytest.Page, status int, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if p.Status != status || !strings.Contains(string(p.Body), text) {
				t.Errorf("%s answers %d and does not say %s: %s", p.URL, p.Status, text, p.Body)
			}
		}
	}
	says(browser.Get("/"), http.StatusOK, "Welcome", ">Sign in</a>")
	says(browser.Fetch("GET", "/api/me", nil, nil), http.StatusUnauthorized, `{"error":"sign in first"}`)
	says(browser.Follow(browser.Get("/members/")), http.StatusOK, "<h1>Sign in</h1>", `value="credentials"`, `value="issuer"`)

	form := url.Values{"providerId": {"credentials"}, "name": {"ada"}, "password": {"byron"}, "redirectTo": {"/members/"}}
	says(browser.Post("/login", form), http.StatusForbidden, "That is not right.", `value="ada"`)
	form.Set("password", "lovelace")
	says(browser.Follow(browser.Post("/login", form)), http.StatusOK, "Hello, Ada")
	says(browser.Follow(browser.Post("/members/name", url.Values{"name": {"Countess"}})), http.StatusOK, "Hello, Countess")
	says(browser.Fetch("GET", "/api/me", nil, nil), http.StatusOK, `"id":"1"`, `"name":"Countess"`)

	browser.Post("/signout", url.Values{"redirectTo": {"/"}})
	says(browser.Fetch("GET", "/api/me", nil, nil), http.StatusUnauthorized, `"error"`)
	browser.Complete(browser.Post("/login", url.Values{"providerId": {"issuer"}}))
	says(browser.Get("/members/"), http.StatusOK, "Hello, Bob")
}
