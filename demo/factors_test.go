package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// newFactorTest is a site whose users prove a passkey after their provider, and again
// before /keys.
func newFactorTest(t *testing.T) http.Handler {
	t.Helper()
	iss := latchkeytest.NewIssuer(t)
	iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com", EmailVerified: true})
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{strings.Repeat("secret ", 6)},
		Adapter:     memoryadapter.New(memoryadapter.Options{}),
		Providers:   []latchkey.Provider{iss.Provider(), webauthn.Passkey(latchkey.WebAuthn{})},
		Factors:     latchkey.Factors{Kinds: []latchkey.FactorKind{latchkey.FactorPasskey, latchkey.FactorTOTP}},
		AccountPage: latchkey.AccountPage{Enabled: true},
		Runtime:     latchkey.Runtime{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))},
	})
	if err != nil {
		t.Fatal(err)
	}
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><title>Site</title><link rel="icon" href="data:,"><main>You are at ` + r.URL.Path + `</main>`))
	})
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("GET /home", auth.RequireSession(page))
	mux.Handle("GET /keys", auth.RequireFactor()(page))
	return mux
}

const (
	issuerButton = `form[action$="/signin/issuer"] button`
	proofForm    = `form[data-latchkey-passkey-factor="passkey"]`
	proofButton  = proofForm + ` button`
)

// TestPasskeyAsFactor proves passkeys on the built-in pages, with an authenticator of
// software.
func TestPasskeyAsFactor(t *testing.T) {
	k := newKeyholder(openTab(t, startChromium(t), serve(t, newFactorTest(t))))
	k.before(noAutofill)
	k.open("/auth/signin?callbackUrl=/home")
	k.click(issuerButton)
	k.waitFor("/home")
	k.open("/auth/account")
	k.click(addPasskey + " button")
	k.becomes(rows(1))

	t.Run("F-064 a passkey on the page that asks for another proof", func(*testing.T) {
		k.open("/keys")
		k.waitFor("/auth/reauth?for=factor")
		k.click(proofButton)
		k.waitFor("/keys")
		k.says("You are at /keys")
	})
	k.open("/auth/signout")
	k.click("form button")
	k.becomes("location.pathname === '/auth/signin'")
	t.Run("F-042 a passkey after a provider", func(*testing.T) {
		k.open("/auth/signin?callbackUrl=/home")
		k.click(issuerButton)
		k.waitFor("/auth/factor")
		k.click(proofButton)
		k.waitFor("/home")
		k.open("/keys")
		k.says("You are at /keys")
	})
	t.Run("F-042 a passkey that is not there", func(*testing.T) {
		k.open("/auth/signout")
		k.click("form button")
		k.becomes("location.pathname === '/auth/signin'")
		k.newDevice()
		k.open("/auth/signin?callbackUrl=/home")
		k.click(issuerButton)
		k.waitFor("/auth/factor")
		k.click(proofButton)
		k.becomes("document.querySelector('" + proofForm + " [data-latchkey-passkey-error]').checkVisibility()")
		k.says("No passkey was used. You can try again.")
	})
}
