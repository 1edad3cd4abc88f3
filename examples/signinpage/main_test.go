package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func open(t *testing.T) (*latchkeytest.Client, *latchkey.Message) {
	var mailed latchkey.Message
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions}, Adapter: memoryadapter.New(memoryadapter.Options{}),
	}, func(_ context.Context, m latchkey.Message) error {
		mailed = m
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return latchkeytest.NewClient(t, site), &mailed
}

func TestPassword(t *testing.T) {
	browser, _ := open(t)
	page := browser.Follow(browser.Get("/")) // the guard leads to /login, which knows the way back
	if !strings.Contains(string(page.Body), "Send me a link") {
		t.Fatalf("the guard leads to %s: %s", page.URL, page.Body)
	}
	post := func(password string) *latchkeytest.Page {
		return browser.Post("/auth/callback/credentials", url.Values{
			"csrfToken": {browser.CSRFToken()}, "callbackUrl": {page.URL.Query().Get("callbackUrl")},
			"name": {"ada"}, "password": {password},
		})
	}
	refused := browser.Follow(post("wrong"))
	if refused.URL.Path != "/login" || !strings.Contains(string(refused.Body), "do not go together") {
		t.Errorf("a wrong password leads to %s: %s", refused.URL, refused.Body)
	}
	if home := browser.Follow(post("lovelace")); string(home.Body) != "Hello, Ada" {
		t.Errorf("the password leads to %s: %s", home.URL, home.Body)
	}
}

func TestMagicLink(t *testing.T) {
	browser, mailed := open(t)
	browser.Get("/login")
	asked := browser.Post("/auth/signin/email", url.Values{"csrfToken": {browser.CSRFToken()}, "email": {"bob@example.com"}})
	sent := browser.Follow(browser.Follow(asked)) // by way of /auth/verify-request
	if sent.URL.Path != "/mailed" || mailed.URL == "" {
		t.Fatalf("asking for a link leads to %s, with the mail %+v", sent.URL, mailed)
	}
	browser.Get(mailed.URL)
	if home := browser.Get("/"); home.Status != http.StatusOK || string(home.Body) != "Hello, bob@example.com" {
		t.Errorf("home: %d %s", home.Status, home.Body)
	}
}
