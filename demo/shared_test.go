package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// R-554 One form has one address field and a button for each way to sign in. Enter uses
// the password, and what was typed as a password is no part of a question about passkeys.
func TestOneFormForAllWays(t *testing.T) {
	browser := startChromium(t)
	for _, walk := range []struct {
		name string
		walk func(*keyholder)
		ends string
	}{
		{"a password, by the enter key", func(k *keyholder) { k.press(kb.Enter) }, "/in"},
		{"a magic link", func(k *keyholder) { k.click(`button[formaction$="/signin/email"]`) }, "/auth/verify-request"},
		{"a passkey", func(k *keyholder) { k.click(passkeyButton) }, "/in"},
	} {
		t.Run("R-554 "+walk.name, func(t *testing.T) {
			var lock sync.Mutex
			asked := ""
			auth := threeWays(t)
			k := newKeyholder(openTab(t, browser, serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				lock.Lock()
				asked += r.URL.String() + "\n"
				lock.Unlock()
				auth.ServeHTTP(w, r)
			}))))
			k.before(noAutofill)
			k.open("/auth/signin?callbackUrl=/in")
			k.write(`input[name="email"]`, "ada@example.com")
			k.write(`input[name="password"]`, "lovelace")
			walk.walk(k)
			k.waitFor(walk.ends)
			lock.Lock()
			defer lock.Unlock()
			if strings.Contains(asked, "lovelace") {
				t.Errorf("the password stands in a URL: %s", asked)
			}
		})
	}
}

func threeWays(t *testing.T) http.Handler {
	t.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{strings.Repeat("secret ", 6)},
		Adapter: memoryadapter.New(memoryadapter.Options{}), Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Providers: []latchkey.Provider{
			&latchkey.Credentials{
				Fields: []latchkey.Field{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}},
				Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
					if _, ok := typed["action"]; ok || typed["password"] != "lovelace" {
						return latchkey.User{}, latchkey.ErrCredentialsSignin
					}
					return latchkey.User{ID: "ada", Email: typed["email"]}, nil
				},
			},
			&latchkey.Email{Send: func(context.Context, latchkey.Message) error { return nil }},
			webauthn.Passkey(latchkey.WebAuthn{}),
		},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return auth.Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(`<!doctype html><title>In</title><link rel="icon" href="data:,"><p>in`))
	}))
}
