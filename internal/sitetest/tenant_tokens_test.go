package sitetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// newTwoIssuers returns tenants a and b with one adapter and secret, whose issuers have
// one provider id. Ada has an account with each issuer.
func newTwoIssuers(t *testing.T, change func(c *latchkey.Config, p *latchkey.OAuth)) (s *issuerTenants, issuers map[string]*latchkeytest.Issuer) {
	t.Helper()
	s = newIssuerTenants(t, 2)
	s.change = func(c *latchkey.Config, p *latchkey.OAuth) {
		p.AllowDangerousEmailAccountLinking = true
		change(c, p)
	}
	issuers = map[string]*latchkeytest.Issuer{"a": latchkeytest.NewIssuer(t), "b": latchkeytest.NewIssuer(t)}
	for tenant, i := range issuers {
		i.SignInAs(latchkeytest.Person{
			Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true, Claims: map[string]any{"sid": "sid-" + tenant},
		})
	}
	s.auth = newTenants(t, latchkey.Tenants{
		Name: func(_ context.Context, r *latchkey.Request) (string, error) { return r.Header.Get("X-Tenant"), nil },
		Config: func(_ context.Context, tenant string) (*latchkey.Config, error) {
			s.issuer = issuers[tenant]
			return s.newConfig(), nil
		},
	})
	return s, issuers
}

// wantUnsent fails if the issuer got one of the tokens.
func wantUnsent(t *testing.T, i *latchkeytest.Issuer, tokens latchkey.Tokens) {
	t.Helper()
	for _, r := range i.Requests("") {
		for name, values := range r.Form {
			if slices.Contains(values, tokens.AccessToken) || slices.Contains(values, tokens.RefreshToken) {
				t.Errorf("%s of another tenant's account was sent to %s", name, r.Path)
			}
		}
	}
}

//
func TestTokensOfAnotherTenantsIssuer(t *testing.T) {
	for name, c := range map[string]struct {
		plain   bool
		subject string
	}{"plain": {true, "ada"}, "plain, a long subject": {true, strings.Repeat("a", 250)}, "sealed": {false, "ada"}} {
		t.Run(name, func(t *testing.T) {
			s, issuers := newTwoIssuers(t, func(cfg *latchkey.Config, _ *latchkey.OAuth) { cfg.Tokens.Plain = c.plain })
			issuers["a"].SignInAs(latchkeytest.Person{Subject: c.subject, Name: "Ada", Email: "ada@example.com", EmailVerified: true})
			s.signIn("a")
			row := s.store.Contents().Accounts[0]
			if row.Tokens.AccessToken == "" || row.Tokens.RefreshToken == "" {
				t.Fatal("the account has no tokens")
			}
			users, atA, atB := s.auth.Users(), latchkey.ContextWithTenant(t.Context(), "a"), latchkey.ContextWithTenant(t.Context(), "b")
			for _, id := range []string{"", row.ProviderAccountID} {
				of := latchkey.AccountRef{UserID: row.UserID, Provider: row.Provider, ProviderAccountID: id}
				if _, err := users.AccessToken(atA, of, latchkey.TokenOptions{}); err != nil {
					t.Errorf("the account's own tenant: %v", err)
				}
				for _, life := range []time.Duration{0, 2 * time.Hour} {
					if _, err := users.AccessToken(atB, of, latchkey.TokenOptions{MinLife: life}); !errors.Is(err, latchkey.ErrNotFound) {
						t.Errorf("another tenant, MinLife %v: %v, want ErrNotFound", life, err)
					}
				}
				if err := users.RevokeTokens(atB, of); !errors.Is(err, latchkey.ErrNotFound) {
					t.Errorf("another tenant revokes: %v, want ErrNotFound", err)
				}
			}
			wantUnsent(t, issuers["b"], row.Tokens)
			if s.store.Contents().Accounts[0].Tokens.RefreshToken != row.Tokens.RefreshToken {
				t.Error("another tenant has changed the tokens")
			}
		})
	}
}

//
func TestTokensOfAUserOfTwoTenants(t *testing.T) {
	s, _ := newTwoIssuers(t, func(cfg *latchkey.Config, _ *latchkey.OAuth) { cfg.Tokens.Plain = true })
	s.signIn("a")
	s.signIn("b")
	rows := s.store.Contents()
	if len(rows.Users) != 1 || len(rows.Accounts) != 2 {
		t.Fatalf("%d users with %d accounts, want 1 with 2", len(rows.Users), len(rows.Accounts))
	}
	seen := map[string]bool{}
	for _, tenant := range []string{"a", "b"} {
		of := latchkey.AccountRef{UserID: rows.Users[0].ID, Provider: "issuer"}
		got, err := s.auth.Users().AccessToken(latchkey.ContextWithTenant(t.Context(), tenant), of, latchkey.TokenOptions{})
		if err != nil || got.AccessToken == "" || seen[got.AccessToken] {
			t.Errorf("tenant %s: %v, a token of its own: %t", tenant, err, !seen[got.AccessToken])
		}
		seen[got.AccessToken] = true
	}
}
