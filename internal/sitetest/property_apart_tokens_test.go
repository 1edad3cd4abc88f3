package sitetest

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// party is a configuration as one provider sees it, by everything that tells two of
// them apart. Two of them share the store.
type party struct {
	secret, tenant, origin, id, sub string

	*testSite
	issuer *latchkeytest.Issuer
	own    *oauthSite
	held   *browser // signed in, and never ended by the other
}

// open makes the site of a party.
func (c *party) open(t *testing.T, shared latchkey.Config) {
	t.Helper()
	config := shared
	p := c.issuer.Provider()
	p.ClientID, p.IDTokenAlgs, p.Logout = c.id, []string{"ES256"}, latchkey.Logout{BackChannel: true}
	config.Secrets, config.Site.URL, config.Providers = []string{c.secret}, c.origin, []latchkey.Provider{p}
	c.testSite = &testSite{t: t, log: &logBuffer{}, auth: newTenants(t, latchkey.Tenants{
		Name:   func(context.Context, *latchkey.Request) (string, error) { return c.tenant, nil },
		Config: func(context.Context, string) (*latchkey.Config, error) { return &config, nil },
	})}
	c.own = &oauthSite{c.testSite, c.issuer, newHTTPClient(t)}
}

// enter signs the person in, with a session that the provider calls s1.
func (c *party) enter() *browser {
	c.t.Helper()
	c.issuer.SignInAs(latchkeytest.Person{Subject: c.sub, Claims: map[string]any{"sid": c.sub + "-s1"}})
	b := c.newBrowser()
	c.own.mustSignIn(b)
	return b
}

// end posts a logout token of the client's own.
func (c *party) end(random *rand.Rand) {
	c.t.Helper()
	claims := oneOf(random, []map[string]any{{"sub": c.sub}, {"sid": c.sub + "-s1"}})
	form := latchkeytest.LogoutForm(c.issuer.LogoutToken(c.t, func(all map[string]any) {
		maps.Copy(all, claims)
		all["aud"] = c.id
	})).Encode()
	if a := c.newBrowser().do(http.MethodPost, "/auth/backchannel-logout/issuer", formContentType, form); a.Code != http.StatusOK {
		c.t.Fatalf("a logout is answered with %d", a.Code)
	}
}

// ask asks for a token of every account in the store, of whichever client it is.
func (c *party) ask(accounts []latchkey.Account) {
	c.t.Helper()
	for _, a := range accounts {
		ctx := latchkey.ContextWithTenant(c.t.Context(), c.tenant)
		_, _ = c.auth.Users().AccessToken(ctx, latchkey.AccountRef{UserID: a.UserID, Provider: a.Provider, ProviderAccountID: a.ProviderAccountID}, latchkey.TokenOptions{})
	}
}

// issued are the refresh tokens that a provider has issued.
type issued struct{ sync.Map }

// newCountedIssuer is a provider whose refresh tokens are noted.
func newCountedIssuer(t *testing.T, clock *testclock.Clock) (*latchkeytest.Issuer, *issued) {
	t.Helper()
	own := &issued{}
	issuer := latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Algorithm, c.Time = "ES256", clock.Now })
	issuer.Misbehave(latchkeytest.Misbehaviour{Token: func(answer map[string]any) {
		if token, ok := answer["refresh_token"].(string); ok {
			own.Store(token, true)
		}
	}})
	return issuer, own
}

// foreign returns the first refresh token that a provider was shown and has not issued.
func (i *issued) foreign(issuer *latchkeytest.Issuer) string {
	for _, r := range issuer.Requests(latchkeytest.PathToken) {
		if token := r.Form.Get("refresh_token"); token != "" {
			if _, known := i.Load(token); !known {
				return token[:min(len(token), 8)]
			}
		}
	}
	return ""
}

// TestClientsAreApart has two clients of providers share a store, which differ in exactly
// one component: secret, tenant, site, issuer, client or account. Whatever happens at
// one, with logout tokens, sign-ins and renewals, the other's session lives, and no
// refresh token reaches a provider that has not issued it (P-B). A logout token for each
// ends its own. A stored session is an exception: it outlives the secret that it was opened
// under, and a logout for its client finds it under every other (R-650). Without the client in the seal it fails at once: "a refresh token reached
// a provider that has not issued it".
func TestClientsAreApart(t *testing.T) {
	others := map[string]func(*party){
		"secret":  func(c *party) { c.secret = "the secret of another, long enough" },
		"tenant":  func(c *party) { c.tenant = "blue" },
		"site":    func(c *party) { c.origin = "https://two.example" },
		"issuer":  func(*party) {}, // another one is started
		"client":  func(c *party) { c.id = "another" },
		"account": func(c *party) { c.sub = "bob" },
	}
	seed, steps := race.Walk(t, 40, 2*len(others)-1)
	for component, change := range others {
		both(t, "P-B "+component, func(t *testing.T, strategy latchkey.Strategy) {
			if component == "secret" && strategy == latchkey.DatabaseSessions {
				return
			}
			random := rand.New(rand.NewPCG(seed, 10))
			for taken := 0; taken < steps; taken += 20 {
				clock := newTestClock()
				issuer, own := newCountedIssuer(t, clock)
				here := &party{secret: "the secret of one site, long enough", tenant: "red", origin: "https://one.example", id: issuer.Provider().ClientID, sub: "ada", issuer: issuer}
				copied := *here
				there, theirs := &copied, own
				if change(there); component == "issuer" {
					there.issuer, theirs = newCountedIssuer(t, clock)
				}
				store := newFaultyStore().inner
				shared := latchkey.Config{
					Adapter: store, Session: latchkey.SessionConfig{Strategy: strategy}, Limits: latchkey.Limits{Disabled: true},
					Runtime: latchkey.Runtime{Time: clock.Now, Logger: (&logBuffer{}).logger()},
				}
				here.open(t, shared)
				there.open(t, shared)
				here.held = here.enter()
				var done []string
				for range 20 {
					clock.Advance(oneOf(random, []time.Duration{time.Second, time.Minute, 2 * time.Hour}))
					switch done = append(done, oneOf(random, []string{"is logged out", "signs in", "asks", "the other asks"})); done[len(done)-1] {
					case "is logged out":
						there.end(random)
					case "signs in":
						if component != "client" { // which the provider does not know
							there.enter()
						}
					case "asks":
						there.ask(store.Contents().Accounts)
					default:
						here.ask(store.Contents().Accounts)
					}
					if !here.held.copy().isLive() {
						t.Fatalf("the session ends after the neighbour %s", strings.Join(done, ", "))
					}
				}
				if token := own.foreign(here.issuer) + theirs.foreign(there.issuer); token != "" {
					t.Errorf("a refresh token reached a provider that has not issued it: %s…, after %s", token, strings.Join(done, ", "))
				}
				for _, r := range here.issuer.Requests(latchkeytest.PathToken) {
					if r.Form.Get("grant_type") == "refresh_token" && component == "client" && strings.Contains(r.Form.Encode(), "client_id=another") {
						t.Error("a refresh token was sent for another client")
					}
				}
				here.end(random)
				dead(t, here.held)
			}
		})
	}
}
