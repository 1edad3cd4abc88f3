package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestComponents(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "bob", Name: "Bob"})
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{"a secret for tests that is long enough"},
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
	login := browser.Follow(browser.Get("/members"))
	says(login, http.StatusOK, "<h1>Sign in</h1>", `name="providerId" value="credentials"`, `name="providerId" value="issuer"`)
	form := url.Values{"providerId": {"credentials"}, "name": {"ada"}, "password": {"byron"}, "redirectTo": {"/members"}}
	says(browser.Post("/login", form), http.StatusForbidden, "That is not right.", `value="ada"`)
	form.Set("password", "lovelace")
	says(browser.Follow(browser.Post("/login", form)), http.StatusOK, "Hello, Ada", "<summary>")
	browser.Post("/signout", url.Values{"redirectTo": {"/"}})
	browser.Complete(browser.Post("/login", url.Values{"providerId": {"issuer"}}))
	says(browser.Get("/members"), http.StatusOK, "Hello, Bob")
	says(browser.Get("/"), http.StatusOK, "A button of my own")
}
