package sitetest

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/turns"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// benchIssuer is a provider whose tokens are cheap to sign.
func benchIssuer(b *testing.B) *latchkeytest.Issuer {
	b.Helper()
	return latchkeytest.NewIssuer(b, func(c *latchkeytest.IssuerConfig) { c.Algorithm = "ES256" })
}

// benchSite is a site with that provider.
func benchSite(b *testing.B, issuer *latchkeytest.Issuer, l latchkey.Logout, strategy latchkey.Strategy) (*latchkey.Auth, *memoryadapter.Adapter) {
	b.Helper()
	p := issuer.Provider()
	p.IDTokenAlgs, p.Logout = []string{"ES256"}, l
	store := memoryadapter.New(memoryadapter.Options{})
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*", "site.example"}}, Secrets: []string{siteSecret}, Adapter: store, Providers: []latchkey.Provider{p},
		Session: latchkey.SessionConfig{Strategy: strategy}, Limits: latchkey.Limits{Disabled: true},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	})
	if err != nil {
		b.Fatal(err)
	}
	return auth, store
}

// mostLogouts is how many logout tokens a benchmark makes beforehand.
const mostLogouts = 20_000

// BenchmarkBackChannelLogout is a whole back-channel logout, in turns with what cannot be
// avoided: one verification of the token, and one deletion.
func BenchmarkBackChannelLogout(b *testing.B) {
	issuer := benchIssuer(b)
	auth, store := benchSite(b, issuer, latchkey.Logout{BackChannel: true}, latchkey.DatabaseSessions)
	tokens := make([]string, mostLogouts)
	for i := range tokens {
		tokens[i] = issuer.LogoutToken(b, func(c map[string]any) { c["sub"] = "ada" })
	}
	p := issuer.Provider()
	client, err := oauth.New(oauth.Config{OIDC: true, Issuer: p.Issuer, ClientID: p.ClientID, ClientAuth: oauth.NoClientAuth, IDTokenAlgs: []string{"ES256"}, Time: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	turns.Compare(b, func(i int) error {
		if i >= len(tokens) {
			return errors.New("more turns than tokens: use a shorter -benchtime")
		}
		return postLogout(auth, tokens[i], http.StatusOK)
	}, func(i int) error {
		said, err := client.VerifyLogoutToken(b.Context(), tokens[i], oauth.LogoutCheck{})
		if err != nil {
			return err
		}
		_, err = store.DeleteProviderSessions(b.Context(), nil, []string{said.Subject}, said.Issued)
		return err
	})
}

// BenchmarkJunkLogout is a logout token of another issuer, in turns with a good one.
func BenchmarkJunkLogout(b *testing.B) {
	issuer := benchIssuer(b)
	auth, _ := benchSite(b, issuer, latchkey.Logout{BackChannel: true}, latchkey.DatabaseSessions)
	tokens := make([]string, mostLogouts)
	for i := range tokens {
		tokens[i] = issuer.LogoutToken(b, func(c map[string]any) { c["sub"] = "ada" })
	}
	junk := issuer.LogoutToken(b, func(c map[string]any) { c["sub"], c["iss"] = "ada", "https://other.example" })
	turns.Compare(b, func(int) error { return postLogout(auth, junk, http.StatusBadRequest) }, func(i int) error {
		if i >= len(tokens) {
			return errors.New("more turns than tokens: use a shorter -benchtime")
		}
		return postLogout(auth, tokens[i], http.StatusOK)
	})
}

func postLogout(auth *latchkey.Auth, token string, want int) error {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1/auth/backchannel-logout/issuer", strings.NewReader(latchkeytest.LogoutForm(token).Encode()))
	r.Header.Set("Content-Type", formContentType)
	w := httptest.NewRecorder()
	if auth.ServeHTTP(w, r); w.Code != want {
		return errors.New(w.Body.String())
	}
	return nil
}

// BenchmarkSessionWithLogout reads over HTTP a JWT session that ends with its provider's, in turns
// with one of a site without a logout.
func BenchmarkSessionWithLogout(b *testing.B) {
	issuer := benchIssuer(b)
	look := func(l latchkey.Logout) func(int) error {
		auth, _ := benchSite(b, issuer, l, latchkey.JWTSessions)
		c := latchkeytest.NewClient(b, auth)
		c.SignIn(issuer)
		var cookies []string
		for _, cookie := range c.Cookies() {
			cookies = append(cookies, cookie.Name+"="+cookie.Value)
		}
		w := openWire(b, auth, getRequest("/auth/session", strings.Join(cookies, "; ")))
		return func(int) error {
			if status := w.roundTrip(b); !strings.Contains(status, "200") {
				return errors.New(status)
			}
			return nil
		}
	}
	turns.Compare(b, look(latchkey.Logout{BackChannel: true}), look(latchkey.Logout{}))
}

// withoutSwaps is a store that keeps the tokens of the first sign-in.
type withoutSwaps struct{ *memoryadapter.Adapter }

// SwapTokens is none of a storage.TokenAdapter.
func (withoutSwaps) SwapTokens() {}

// TestTokensCostOneSignInLittle counts what a sign-in of a known account asks of the
// store, with tokens that are kept and without. It is at most two calls more.
func TestTokensCostOneSignInLittle(t *testing.T) {
	calls := func(change func(*latchkey.Config)) int {
		s := newOAuthSite(t, change)
		s.mustSignIn(s.newBrowser())
		before := strings.Count(s.log.text(), `"msg":"latchkey: adapter"`)
		s.mustSignIn(s.newBrowser())
		return strings.Count(s.log.text(), `"msg":"latchkey: adapter"`) - before
	}
	with := calls(func(*latchkey.Config) {})
	without := calls(func(c *latchkey.Config) { c.Adapter = withoutSwaps{c.Adapter.(*memoryadapter.Adapter)} })
	if with > without+2 || with == without {
		t.Errorf("%d calls of the store, and %d without tokens: want one or two more", with, without)
	}
}
