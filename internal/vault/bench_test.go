package vault_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// BenchmarkAccessToken compares a valid token with what cannot be avoided: reading the
// account, and opening the seal of its access token. The vault opens that of the refresh
// token, too.
func BenchmarkAccessToken(b *testing.B) {
	store := memoryadapter.New(memoryadapter.Options{})
	u, err := store.CreateUser(b.Context(), storage.User{Email: "ada@example.com"})
	if err != nil {
		b.Fatal(err)
	}
	s := seals(b, false, newer)
	v := vault.New(vault.Config{
		Rows: store, Seals: s, Now: time.Now, Early: time.Minute,
		Providers: map[string]*vault.Provider{"acme": {Grant: theGrant}},
	})
	tokens := storage.Tokens{AccessToken: "access", RefreshToken: "refresh", Scope: "one two", ExpiresAt: time.Now().Add(24 * time.Hour), ExpiresIn: 24 * time.Hour}
	row := storage.Account{UserID: u.ID, Provider: "acme", ProviderAccountID: "1", Type: storage.TypeOAuth, Tokens: v.ForRow("acme", "1", tokens, tokens)}
	if err := store.LinkAccount(b.Context(), row); err != nil {
		b.Fatal(err)
	}
	b.Run("by hand", func(b *testing.B) {
		for b.Loop() {
			row, err := store.GetAccount(b.Context(), "acme", "1")
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range [...]struct{ name, value string }{{"access_token", row.Tokens.AccessToken}, {"refresh_token", row.Tokens.RefreshToken}} {
				if _, _, err := s.Open(vault.Place{Provider: "acme", AccountID: "1", Field: f.name}, f.value); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("AccessToken", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.AccessToken(b.Context(), vault.Ref{UserID: u.ID, Provider: "acme", AccountID: "1"}, vault.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// answering is a transport that answers at once.
type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// oneHeader is a transport that sets one header.
type oneHeader struct{ base http.RoundTripper }

func (t oneHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Header.Set("Authorization", "Bearer access")
	return t.base.RoundTrip(out)
}

// BenchmarkProviderClient compares a client that has a token with a transport that sets
// one header.
func BenchmarkProviderClient(b *testing.B) {
	token := storage.Tokens{AccessToken: "access", ExpiresAt: time.Now().Add(24 * time.Hour)}
	for _, c := range []struct {
		name string
		base http.RoundTripper
	}{
		{"one header", oneHeader{answering{}}},
		{"ProviderClient", &vault.Transport{
			Base: answering{}, Now: time.Now,
			Token: func(context.Context, string) (storage.Tokens, error) { return token, nil },
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://api.example/", nil)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := c.base.RoundTrip(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
