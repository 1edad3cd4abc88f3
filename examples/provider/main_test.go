package main

import (
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// open is the site with one provider, made by define for a scripted one.
func open(t *testing.T, issuer *latchkeytest.Issuer, define func(latchkey.OAuth) *latchkey.OAuth) *latchkeytest.Client {
	t.Helper()
	at := issuer.Provider()
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Providers: []latchkey.Provider{define(latchkey.OAuth{ClientID: at.ClientID, ClientSecret: at.ClientSecret, Issuer: at.Issuer})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return latchkeytest.NewClient(t, site)
}

func TestAcme(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.ID = "acme" })
	issuer.SignInAs(latchkeytest.Person{Subject: "1", Name: "Ada", Email: "ada@example.com"})
	browser := open(t, issuer, acme)
	browser.SignIn(issuer)
	if p := browser.Get("/"); string(p.Body) != "Hello, Ada (ada@example.com)" {
		t.Errorf("ada gets %d %s", p.Status, p.Body)
	}
	asked := issuer.Requests(latchkeytest.PathAuthorize)
	if len(asked) != 1 || asked[0].Query.Get("prompt") != "select_account" || asked[0].Query.Get("nonce") == "" {
		t.Errorf("the provider was asked %v", asked)
	}
}

func TestLegacy(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.ID = "legacy" })
	at := func(o latchkey.OAuth) *latchkey.OAuth { return legacy(issuer.URL, o) }
	issuer.SignInAs(latchkeytest.Person{Subject: "1", Claims: map[string]any{"employee_number": 42, "login": "ada", "mail": "ada@example.com"}})
	browser := open(t, issuer, at)
	browser.SignIn(issuer)
	if p := browser.Get("/"); string(p.Body) != "Hello, ada (ada@example.com)" {
		t.Errorf("ada gets %d %s", p.Status, p.Body)
	}
	issuer.SignInAs(latchkeytest.Person{Subject: "2"})
	nobody := open(t, issuer, at)
	if nobody.TrySignIn(issuer); nobody.Session() != nil {
		t.Error("somebody without a number is signed in")
	}
}
