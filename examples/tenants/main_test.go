package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestTenantsShareNothing(t *testing.T) {
	box, hosts := &latchkeytest.Mailbox{}, map[string]string{}
	site, err := newSite(hosts, func(tenant string) *latchkey.Config {
		return &latchkey.Config{
			Site:      latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
			Secrets:   []string{"the secret of " + tenant + ", which is long enough"},
			Adapter:   memoryadapter.New(memoryadapter.Options{}),
			Providers: []latchkey.Provider{&latchkey.Email{Send: box.Send}},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	open := func(tenant string) *latchkeytest.Client {
		server := httptest.NewServer(site)
		t.Cleanup(server.Close)
		if tenant != "" {
			hosts[strings.TrimPrefix(server.URL, "http://")] = tenant
		}
		return latchkeytest.NewClientAt(t, server.URL)
	}
	red, blue := open("red"), open("blue")
	red.SignInByEmail("ada@example.com", box)
	if p := red.Get("/"); string(p.Body) != "Hello, ada@example.com, at red" {
		t.Errorf("ada gets %d %s", p.Status, p.Body)
	}
	for _, c := range red.Cookies() {
		blue.SetCookie(c)
	}
	if p := blue.Get("/"); p.Status == http.StatusOK {
		t.Errorf("the session of red is good at blue: %s", p.Body)
	}
	if p := open("").Get("/"); p.Status != http.StatusNotFound {
		t.Errorf("a host of nobody: %d %s", p.Status, p.Body)
	}
}
