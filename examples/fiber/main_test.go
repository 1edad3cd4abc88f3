package main

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// open serves the site until the test ends, in a browser of its own.
func open(t *testing.T, site *fiber.App) *latchkeytest.Client {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- site.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true}) }()
	t.Cleanup(func() {
		if err := site.Shutdown(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return latchkeytest.NewClientAt(t, "http://"+listener.Addr().String())
}

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
	browser := open(t, site)
	says := func(p *latchkeytest.Page, status int, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if p.Status != status || !strings.Contains(string(p.Body), text) {
				t.Errorf("%s answers %d and does not say %s: %s", p.URL, p.Status, text, p.Body)
			}
		}
	}
	says(browser.Get("/"), http.StatusOK, "Welcome", ">Sign in</a>")
	says(browser.Fetch("GET", "/api/me", nil, nil), http.StatusUnauthorized, "Sign in to access this.")
	says(browser.Follow(browser.Get("/members")), http.StatusOK, "<h1>Sign in</h1>", `value="credentials"`, `value="issuer"`)
	says(browser.Get("/style.css"), http.StatusOK, ".latchkey-")

	form := url.Values{"providerId": {"credentials"}, "name": {"ada"}, "password": {"byron"}, "redirectTo": {"/members"}}
	says(browser.Post("/login", form), http.StatusForbidden, "That is not right.", `value="ada"`)
	form.Set("password", "lovelace")
	says(browser.Follow(browser.Post("/login", form)), http.StatusOK, "Hello, Ada")
	says(browser.Follow(browser.Post("/members/name", url.Values{"name": {"Countess"}})), http.StatusOK, "Hello, Countess")
	says(browser.Fetch("GET", "/api/me", nil, nil), http.StatusOK, `"id":"1"`, `"name":"Countess"`)

	browser.Post("/signout", url.Values{"redirectTo": {"/"}})
	says(browser.Fetch("GET", "/api/me", nil, nil), http.StatusUnauthorized, "Sign in")
	browser.Complete(browser.Post("/login", url.Values{"providerId": {"issuer"}}))
	says(browser.Get("/members"), http.StatusOK, "Hello, Bob")
}
