package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestRoles(t *testing.T) {
	for name, strategy := range map[string]latchkey.Strategy{
		"stored sessions": latchkey.DatabaseSessions,
		"JWT sessions":    latchkey.JWTSessions,
	} {
		t.Run(name, func(t *testing.T) {
			issuer := latchkeytest.NewIssuer(t)
			site, err := newSite(latchkey.Config{
				Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
				Adapter: memoryadapter.New(memoryadapter.Options{}), Session: latchkey.SessionConfig{Strategy: strategy},
				Providers: []latchkey.Provider{issuer.Provider()},
			}, "ada@example.com")
			if err != nil {
				t.Fatal(err)
			}
			visitor := latchkeytest.NewClient(t, site)
			if p := visitor.Get("/admin"); p.Location() == nil || p.Location().Path != "/auth/signin" {
				t.Errorf("a visitor at /admin got %d", p.Status)
			}
			signIn := func(p latchkeytest.Person) *latchkeytest.Client {
				issuer.SignInAs(p)
				browser := latchkeytest.NewClient(t, site)
				browser.SignIn(issuer)
				return browser
			}
			impostor := signIn(latchkeytest.Person{Subject: "eve", Email: "ada@example.com"}) // nobody has proven the address
			if p := impostor.Get("/admin"); p.Status != http.StatusForbidden {
				t.Errorf("an address that is not proven opens /admin: %d", p.Status)
			}
			member := signIn(latchkeytest.Person{Subject: "bob", Email: "bob@example.com", EmailVerified: true})
			if p := member.Get("/"); !strings.Contains(string(p.Body), "You are a member") {
				t.Errorf("home says %s", p.Body)
			}
			if p := member.Get("/report"); p.Status != http.StatusOK {
				t.Errorf("a member at /report got %d", p.Status)
			}
			if p := member.Get("/admin"); p.Status != http.StatusForbidden {
				t.Error("a member is let in to /admin")
			}
		})
	}
}

func TestAdministrator(t *testing.T) {
	box := new(latchkeytest.Mailbox)
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{&latchkey.Email{Send: box.Send}},
	}, "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	admin := latchkeytest.NewClient(t, site)
	admin.SignInByEmail("ada@example.com", box)
	if p := admin.Get("/admin"); p.Status != http.StatusOK {
		t.Errorf("the administrator got %d", p.Status)
	}
}
