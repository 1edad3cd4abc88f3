package webauthn_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/passkey"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/webauthn"
)

// noPasskeys is a store without a place for them.
type noPasskeys struct{ storage.Adapter }

func TestConfiguration(t *testing.T) {
	passkeys := func(p latchkey.WebAuthn) latchkey.Provider { return webauthn.Passkey(p) }
	for name, row := range map[string]struct {
		change func(*latchkey.Config)
		want   latchkey.ErrorType
	}{
		"R-557 a listed provider needs no switch": {func(*latchkey.Config) {}, ""},
		"no database": {func(c *latchkey.Config) { c.Adapter = nil }, latchkey.ErrMissingAdapter},
		"a database without passkeys": {func(c *latchkey.Config) {
			c.Adapter, c.Session.Strategy = noPasskeys{c.Adapter}, latchkey.JWTSessions
		}, latchkey.ErrMissingAdapterMethods},
		"no ceremony": {func(c *latchkey.Config) { c.Providers = []latchkey.Provider{&latchkey.WebAuthn{}} }, latchkey.ErrInvalidProvider},
		"two that offer passkeys while somebody types": {func(c *latchkey.Config) {
			c.Providers = append(c.Providers, webauthn.Provider(latchkey.WebAuthn{}))
		}, latchkey.ErrDuplicateConditionalUI},
		"one of two": {func(c *latchkey.Config) {
			c.Providers = append(c.Providers, webauthn.Provider(latchkey.WebAuthn{SkipConditionalUI: true}))
		}, ""},
		"no field for passkeys": {func(c *latchkey.Config) {
			c.Providers = []latchkey.Provider{passkeys(latchkey.WebAuthn{Fields: []latchkey.Field{{Name: "email", Autocomplete: "username"}}})}
		}, latchkey.ErrMissingWebAuthnAutocomplete},
		"no such requirement": {func(c *latchkey.Config) {
			c.Providers = []latchkey.Provider{passkeys(latchkey.WebAuthn{Authentication: passkey.AuthenticationOptions{UserVerification: "often"}})}
		}, latchkey.ErrInvalidProvider},
		"no such attachment": {func(c *latchkey.Config) {
			c.Providers = []latchkey.Provider{passkeys(latchkey.WebAuthn{Registration: passkey.RegistrationOptions{Attachment: "glued"}})}
		}, latchkey.ErrInvalidProvider},
		"no such attestation": {func(c *latchkey.Config) {
			c.Providers = []latchkey.Provider{passkeys(latchkey.WebAuthn{Registration: passkey.RegistrationOptions{Attestation: "some"}})}
		}, latchkey.ErrInvalidProvider},
		"no such list": {func(c *latchkey.Config) {
			c.Providers = []latchkey.Provider{passkeys(latchkey.WebAuthn{ListCredentials: "all"})}
		}, latchkey.ErrInvalidProvider},
		"a timeout before now": {func(c *latchkey.Config) {
			c.Providers = []latchkey.Provider{passkeys(latchkey.WebAuthn{Registration: passkey.RegistrationOptions{Timeout: -time.Second}})}
		}, latchkey.ErrInvalidProvider},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			c := latchkey.Config{
				Providers: []latchkey.Provider{passkeys(latchkey.WebAuthn{})}, Adapter: memoryadapter.New(memoryadapter.Options{}),
				Secrets: []string{"a secret of this test, and long enough"}, Site: latchkey.Site{TrustHost: true},
				Runtime: latchkey.Runtime{Logger: slog.New(slog.NewTextHandler(&log, nil))},
			}
			row.change(&c)
			_, err := latchkey.New(c)
			if row.want == "" && err != nil || row.want != "" && !errors.Is(err, row.want) {
				t.Errorf("New: %v, want %s", err, row.want)
			}
			if row.want == "" && (strings.Contains(log.String(), "experimental") || strings.Contains(log.String(), "WebAuthn")) {
				t.Errorf("a warning about passkeys: %s", &log)
			}
		})
	}
}

// TestOptions: what a site chooses reaches the browser.
func TestOptions(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config, p *latchkey.WebAuthn) {
		p.RelyingParty = func(*latchkey.Request) passkey.RelyingParty {
			return passkey.RelyingParty{ID: "example.com", Name: "Example", Origins: []string{"https://example.com", "https://example.co.uk"}}
		}
		p.Registration = passkey.RegistrationOptions{
			Timeout: time.Minute, UserVerification: passkey.Discouraged, ResidentKey: passkey.Preferred, Attachment: "cross-platform",
			Attestation: "direct", Algorithms: []int{-8}, Hints: []string{"security-key"}, Extensions: map[string]any{"credProps": true},
		}
		p.Authentication.Hints = []string{"hybrid"}
	})
	b, _ := s.visit()
	got := string(b.Get("/auth/webauthn-options/passkey?action=register&email=ada@example.com").Body)
	for _, want := range []string{
		`"rp":{"id":"example.com","name":"Example"}`, `"timeout":60000`, `"pubKeyCredParams":[{"alg":-8,"type":"public-key"}]`,
		`"authenticatorSelection":{"authenticatorAttachment":"cross-platform","residentKey":"preferred","requireResidentKey":false,"userVerification":"discouraged"}`,
		`"attestation":"direct"`, `"hints":["security-key"]`, `"extensions":{"credProps":true}`, `"name":"ada@example.com"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	got = string(b.Get("/auth/webauthn-options/passkey").Body)
	for _, want := range []string{`"rpId":"example.com"`, `"timeout":300000`, `"userVerification":"required"`, `"hints":["hybrid"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	related := latchkeytest.NewAuthenticator("https://example.co.uk")
	related.Algorithm = "EdDSA"
	related.Misbehave(bad{Unchecked: true}) // it has no network to look at /.well-known/webauthn
	if p := b.TryRegisterPasskey(related, "ada@example.com"); p.Error() != "" {
		t.Errorf("on a related origin: %s", p.Location())
	}
}

func TestWellKnown(t *testing.T) {
	for name, row := range map[string]struct {
		change           func(*latchkey.Config, *latchkey.WebAuthn)
		origins, manages string
	}{
		"passkeys": {nil, `{"origins":["https://app.example"]}`, ""},
		"related origins, and an account page": {func(c *latchkey.Config, p *latchkey.WebAuthn) {
			c.AccountPage.Enabled = true
			p.RelyingParty = func(*latchkey.Request) passkey.RelyingParty {
				return passkey.RelyingParty{Origins: []string{"https://app.example", "https://app.test"}}
			}
		}, `{"origins":["https://app.example","https://app.test"]}`, `{"enroll":"https://app.example/auth/account","manage":"https://app.example/auth/account"}`},
		"no passkeys": {func(c *latchkey.Config, _ *latchkey.WebAuthn) {
			c.AccountPage.Enabled = true
			c.Providers = []latchkey.Provider{&latchkey.Email{Send: func(context.Context, latchkey.Message) error { return nil }}}
		}, "", ""},
		"R-708 no store": {func(c *latchkey.Config, _ *latchkey.WebAuthn) {
			c.Adapter, c.Providers = nil, []latchkey.Provider{&latchkey.OAuth{ID: "acme", OIDC: true, Issuer: "https://id.example", ClientID: "c", ClientSecret: "s"}}
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(c *latchkey.Config, p *latchkey.WebAuthn) {
				c.Site = latchkey.Site{URL: "https://app.example"}
				if row.change != nil {
					row.change(c, p)
				}
			})
			shows(t, s.auth.RelatedOrigins(), row.origins)
			shows(t, s.auth.PasskeyEndpoints(""), row.manages)
			if row.manages == "" && row.origins == "" {
				shows(t, s.auth.PasskeyEndpoints("/keys"), "")
			}
			if row.origins != "" {
				shows(t, s.auth.PasskeyEndpoints("/keys"), `{"enroll":"https://app.example/keys","manage":"https://app.example/keys"}`)
			}
		})
	}
}

// shows tells what a handler answers; empty: that there is nothing.
func shows(t *testing.T, h http.Handler, want string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://app.example/.well-known/x", nil))
	if got := w.Body.String(); got != want || want == "" && w.Code != http.StatusNotFound || want != "" && w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s, want %s", w.Code, got, want)
	}
}
