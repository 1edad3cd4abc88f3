package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestPages(t *testing.T) {
	box := &latchkeytest.Mailbox{}
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Adapter: memoryadapter.New(memoryadapter.Options{}), Providers: []latchkey.Provider{&latchkey.Email{Send: box.Send}},
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	says := func(p *latchkeytest.Page, path, text string) *latchkeytest.Page {
		t.Helper()
		for p.Location() != nil {
			p = browser.Follow(p)
		}
		if p.URL.Path != path || !strings.Contains(string(p.Body), text) {
			t.Fatalf("at %s, not %s, which does not say %q:\n%s", p.URL, path, text, p.Body)
		}
		return p
	}
	login := says(browser.Get("/"), "/login", "Who are you?")
	says(send(browser, login, "email", "nobody"), "/login", `role="alert"`)
	says(send(browser, login, "email", "ada@example.com"), "/mailed", "Look into your mailbox")
	link := box.Messages("ada@example.com")[0].URL
	welcome := says(browser.Get(link), "/welcome", "You are new here, ada@example.com")
	if !strings.Contains(string(welcome.Body), `href="`+browser.URL+`/"`) {
		t.Errorf("the welcome leads nowhere:\n%s", welcome.Body)
	}
	says(browser.Get("/"), "/", "Hello, ada@example.com")
	says(send(browser, says(browser.Get("/logout"), "/logout", "Leave?"), "", ""), "/login", "Who are you?")
	if p := browser.Get("/"); p.Status == http.StatusOK {
		t.Error("ada is still there")
	}
	says(browser.Get(link), "/oops", "has been used")
}

var (
	action = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// send fills in one field of the form of a page, as a person would, and sends it.
func send(browser *latchkeytest.Client, page *latchkeytest.Page, field, value string) *latchkeytest.Page {
	form := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(string(page.Body), -1) {
		form.Set(m[1], m[2])
	}
	if field != "" {
		form.Set(field, value)
	}
	return browser.Post(action.FindStringSubmatch(string(page.Body))[1], form)
}
