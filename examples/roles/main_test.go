package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestRoles(t *testing.T) {
	for strategy, adapter := range map[string]storage.Adapter{
		"stored sessions": memoryadapter.New(memoryadapter.Options{}),
		"JWT sessions":    nil,
	} {
		t.Run(strategy, func(t *testing.T) {
			issuer := latchkeytest.NewIssuer(t)
			site, err := newSite(latchkey.Config{
				Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
				Adapter: adapter, Providers: []latchkey.Provider{issuer.Provider()},
			})
			if err != nil {
				t.Fatal(err)
			}
			visitor := latchkeytest.NewClient(t, site)
			if p := visitor.Get("/admin"); p.Location() == nil || p.Location().Path != "/auth/signin" {
				t.Errorf("a stranger at /admin got %d", p.Status)
			}
			issuer.SignInAs(latchkeytest.Person{Subject: "ada", Email: "ada@example.com"})
			admin := latchkeytest.NewClient(t, site)
			admin.SignIn(issuer)
			if p := admin.Get("/admin"); p.Status != http.StatusOK {
				t.Errorf("an administrator got %d", p.Status)
			}
			issuer.SignInAs(latchkeytest.Person{Subject: "bob", Email: "bob@example.com"})
			member := latchkeytest.NewClient(t, site)
			member.SignIn(issuer)
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
