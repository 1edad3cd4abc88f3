package sitetest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// issuerTenants are tenants whose people all come from one issuer. Their Config
// is made anew whenever it is asked for.
type issuerTenants struct {
	*oauthSite
	change func(c *latchkey.Config, p *latchkey.OAuth)
}

func newIssuerTenants(t *testing.T, remembered int) *issuerTenants {
	t.Helper()
	s := &issuerTenants{newOAuthSite(t), func(*latchkey.Config, *latchkey.OAuth) {}}
	s.issuer = latchkeytest.NewIssuer(t)
	s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
	s.auth = newTenants(t, latchkey.Tenants{
		Name: func(_ context.Context, r *latchkey.Request) (string, error) { return r.Header.Get("X-Tenant"), nil },
		Config: func(_ context.Context, tenant string) (*latchkey.Config, error) {
			c := s.newConfig()
			c.Secrets = []string{siteSecret + tenant}
			return c, nil
		},
		CacheSize: remembered,
	})
	return s
}

func (s *issuerTenants) newConfig() *latchkey.Config {
	p := s.issuer.Provider()
	c := &latchkey.Config{
		Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Adapter: s.store,
		Runtime: latchkey.Runtime{Logger: quiet}, Providers: []latchkey.Provider{p},
	}
	s.change(c, p)
	return c
}

// signIn signs Ada in at a tenant.
func (s *issuerTenants) signIn(tenant string) {
	s.t.Helper()
	a, err := s.newBrowser().at(tenant).tryOAuth(s.client, "issuer")
	if err != nil {
		s.t.Fatal(err)
	}
	if !a.signsIn() {
		s.t.Fatalf("%s: %d to %q", tenant, a.Code, a.location())
	}
}

func (s *issuerTenants) wantAsked(times int) {
	s.t.Helper()
	for _, path := range []string{latchkeytest.PathDiscovery, latchkeytest.PathJWKS} {
		if n := s.issuer.Count(path); n != times {
			s.t.Errorf("%s was asked for %d times, want %d", path, n, times)
		}
	}
}

func TestTenantsOfOneIssuer(t *testing.T) {
	t.Run("R-358 300 tenants ask it once", func(t *testing.T) {
		s := newIssuerTenants(t, 1)
		for i := range 300 {
			s.signIn(fmt.Sprint(i))
		}
		s.wantAsked(1)
	})
	t.Run("R-358 also where each compares issuers itself", func(t *testing.T) {
		s := newIssuerTenants(t, 1)
		s.change = func(_ *latchkey.Config, p *latchkey.OAuth) {
			p.MatchIssuer = func(issuer string, _ latchkey.Claims) bool { return issuer == p.Issuer }
		}
		for i := range 5 {
			s.signIn(fmt.Sprint(i))
		}
		s.wantAsked(1)
	})
	t.Run("R-358 a Config for each request", func(t *testing.T) {
		s := newIssuerTenants(t, 1)
		s.auth = newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return s.newConfig(), nil })
		for range 5 {
			s.signIn("")
		}
		s.wantAsked(1)
	})
}

func TestTenantsThatAskOtherwise(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config, *latchkey.OAuth){
		"a client of its own": func(c *latchkey.Config, _ *latchkey.OAuth) {
			c.Runtime.HTTPClient = &http.Client{Transport: http.DefaultTransport}
		},
		"a transport of its own": func(_ *latchkey.Config, p *latchkey.OAuth) {
			p.Transport = func(next http.RoundTripper) http.RoundTripper { return next }
		},
		"a time of its own": func(c *latchkey.Config, _ *latchkey.OAuth) { c.Runtime.Time = time.Now },
	} {
		t.Run("R-358 "+name, func(t *testing.T) {
			s := newIssuerTenants(t, 2) // each is made ready once
			s.change = change
			s.signIn("a")
			s.signIn("b")
			s.wantAsked(2)
		})
	}
}

func TestAccountsOfTenantsNameTheirIssuer(t *testing.T) {
	// people returns how many users there are when the same subject comes from an
	// issuer at one tenant, and from an issuer at another.
	people := func(t *testing.T, one, other *latchkeytest.Issuer, subject string) int {
		t.Helper()
		s := newIssuerTenants(t, 2)
		issuers := map[string]*latchkeytest.Issuer{"a": one, "b": other}
		s.auth = newTenants(t, latchkey.Tenants{
			Name: func(_ context.Context, r *latchkey.Request) (string, error) { return r.Header.Get("X-Tenant"), nil },
			Config: func(_ context.Context, tenant string) (*latchkey.Config, error) {
				s.issuer = issuers[tenant]
				return s.newConfig(), nil
			},
		})
		for _, tenant := range []string{"a", "b", "a", "b"} {
			issuers[tenant].SignInAs(latchkeytest.Person{Subject: subject, Name: "Somebody at " + tenant})
			s.signIn(tenant)
		}
		for _, a := range s.store.Contents().Accounts {
			if len(a.ProviderAccountID) > 255 {
				t.Errorf("an id of %d characters", len(a.ProviderAccountID))
			}
		}
		return len(s.store.Contents().Users)
	}
	for _, subject := range []string{"ada", strings.Repeat("x", 255)} {
		t.Run(fmt.Sprintf("R-510 two issuers with one provider id share nobody: %d", len(subject)), func(t *testing.T) {
			if n := people(t, latchkeytest.NewIssuer(t), latchkeytest.NewIssuer(t), subject); n != 2 {
				t.Errorf("%d users, want 2", n)
			}
		})
	}
	t.Run("R-510 one issuer's people are the same at both", func(t *testing.T) {
		issuer := latchkeytest.NewIssuer(t)
		if n := people(t, issuer, issuer, "ada"); n != 1 {
			t.Errorf("%d users, want 1", n)
		}
	})
	t.Run("R-510 without tenants an account has the provider's own id", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		s.mustSignIn(s.newBrowser())
		if id := s.store.Contents().Accounts[0].ProviderAccountID; strings.Contains(id, ".") {
			t.Errorf("%q", id)
		}
	})
}
