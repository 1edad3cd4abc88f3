package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/webauthn"
)

func newTestSite(t *testing.T) http.Handler {
	t.Helper()
	site, err := newSite(latchkey.Config{
		Site:      latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Secrets:   []string{"a secret of this test, and long enough"},
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{webauthn.Passkey(latchkey.WebAuthn{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	return site
}

func TestSite(t *testing.T) {
	browser := latchkeytest.NewClient(t, newTestSite(t))
	if page := browser.Get("/"); page.Status != http.StatusFound || page.Location().Path != "/auth/signin" {
		t.Errorf("without a session: %d %s", page.Status, page.Location())
	}
	passkeys := latchkeytest.NewAuthenticator(browser.URL)
	if asked := browser.PasskeyOptions(passkeys, "", "ada@example.com"); !strings.Contains(string(asked.Body), `"action":"register"`) {
		t.Errorf("somebody new: %d %s", asked.Status, asked.Body)
	}
	browser.RegisterPasskey(passkeys, "ada@example.com")
	browser.SignOut()
	browser.SignInByPasskey(passkeys, "")
	if page := browser.Get("/"); !strings.Contains(string(page.Body), "Hello, ada@example.com") {
		t.Errorf("greeted with %s", page.Body)
	}
}

func TestForeignOrigin(t *testing.T) {
	browser := latchkeytest.NewClient(t, newTestSite(t))
	passkeys := latchkeytest.NewAuthenticator(browser.URL)
	browser.RegisterPasskey(passkeys, "ada@example.com")
	browser.SignOut()
	passkeys.Misbehave(latchkeytest.PasskeyMisbehaviour{
		ClientData: func(members map[string]any) { members["origin"] = "https://evil.example" },
	})
	if page := browser.TryPasskey(passkeys, ""); page.Error() != "WebAuthnVerificationError" || browser.Session() != nil {
		t.Errorf("a passkey used on another site: %v", page.Location())
	}
}
