package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/webauthn"
)

func TestSite(t *testing.T) {
	site, err := newSite(latchkey.Config{
		Site:         latchkey.Site{TrustHost: true},
		Secrets:      []string{"a secret of this test, and long enough"},
		Adapter:      memoryadapter.New(memoryadapter.Options{}),
		Providers:    []latchkey.Provider{webauthn.Passkey(latchkey.WebAuthn{})},
		Experimental: latchkey.Experimental{EnableWebAuthn: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	if page := browser.Get("/"); page.Status != http.StatusFound || page.Location().Path != "/auth/signin" {
		t.Errorf("without a session: %d %s", page.Status, page.Location())
	}
	var asked struct{ Action string }
	page := browser.Get("/auth/webauthn-options/passkey?email=ada@example.com")
	if err := json.Unmarshal(page.Body, &asked); err != nil || asked.Action != "register" {
		t.Errorf("somebody new: %d %s", page.Status, page.Body)
	}
}
