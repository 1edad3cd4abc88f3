package sitetest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
)

// A principal is a user as one configuration sees them, by everything that tells
// two of them apart. Name and id are the same for all.
type principal struct {
	*testSite
	secret, tenant, origin, provider string

	tried int // how often its application was asked for a password
}

// open makes the site of a principal, with users of its own, on the limiter and the
// revocations that it shares with others.
func (p *principal) open(t *testing.T, shared latchkey.Config) {
	t.Helper()
	c := shared
	c.Adapter, c.Secrets, c.Site.URL = memoryadapter.New(memoryadapter.Options{}), []string{p.secret}, p.origin
	c.Providers = []latchkey.Provider{&latchkey.Credentials{
		ID: p.provider, Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
		Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
			if p.tried++; typed["name"] != "alice" || typed["password"] != "right" {
				return latchkey.User{}, nil
			}
			return latchkey.User{ID: "1", Name: "Alice"}, nil
		},
	}}
	p.testSite = &testSite{t: t, auth: newTenants(t, latchkey.Tenants{
		Name:   func(context.Context, *latchkey.Request) (string, error) { return p.tenant, nil },
		Config: func(context.Context, string) (*latchkey.Config, error) { return &c, nil },
	})}
}

func (p *principal) try(b *browser, client, password string) *answer {
	return b.from(client, "/auth/callback/"+p.provider, "name", "alice", "password", password)
}

// guesses returns how many of so many wrong guesses get through.
func (p *principal) guesses(b *browser, client string, most int) int {
	before := p.tried
	for range most {
		p.try(b, client, "wrong")
	}
	return p.tried - before
}

// two principals that differ in exactly one component never influence each
// other's limits, known browsers and revocations, though they share a limiter, a
// store of revocations, the client, the browser, the name and the user's id.
// Against the code of before, secrets and sites fail: what happens at one uses up,
// forgives and signs out at the other.
func TestPrincipalsAreApart(t *testing.T) {
	first := principal{secret: "the secret of one site, long enough", tenant: "red", origin: "https://one.example", provider: "crew"}
	others := map[string]principal{"secret": first, "tenant": first, "site": first, "provider": first}
	change := func(component string, f func(*principal)) {
		p := others[component]
		f(&p)
		others[component] = p
	}
	change("secret", func(p *principal) { p.secret = "the secret of another, long enough" })
	change("tenant", func(p *principal) { p.tenant = "blue" })
	change("site", func(p *principal) { p.origin = "https://two.example" })
	change("provider", func(p *principal) { p.provider = "staff" })
	seed, steps := race.Walk(t, 45, len(others))
	random := rand.New(rand.NewPCG(seed, 0))
	for _, component := range slices.Sorted(maps.Keys(others)) {
		other := others[component]
		t.Run("R-509 "+component, func(t *testing.T) {
			for taken := 0; taken < steps; {
				clock := newTestClock()
				shared := latchkey.Config{
					Runtime: latchkey.Runtime{Time: clock.Now, Logger: (&logBuffer{}).logger()},
					Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions, Revocations: memoryadapter.New(memoryadapter.Options{})},
					Limits: latchkey.Limits{
						Limiter:               memoryadapter.NewLimiter(clock.Now),
						CredentialsPerAccount: latchkey.Rate{Events: 4, Per: time.Hour}, CredentialsPerClient: latchkey.Rate{Events: 8, Per: time.Hour},
					},
				}
				here, there := first, other
				here.open(t, shared)
				there.open(t, shared)
				clients := []string{owner, owner}
				if component == "provider" { // of one site, where a client is one
					clients[1] = attacker
				}
				signedIn, neighbour := here.newBrowser(), there.newBrowser()
				if !here.try(signedIn, owner, "right").signsIn() {
					t.Fatal("no sign-in")
				}
				used := here.guesses(here.newBrowser(), owner, random.IntN(5))
				var done []string
				for range 1 + random.IntN(8) {
					switch done = append(done, oneOf(random, []string{"guesses", "guesses", "signs in", "signs out", "ends all"})); done[len(done)-1] {
					case "guesses":
						there.guesses(neighbour, clients[1], 1+random.IntN(4))
					case "signs in":
						there.try(neighbour, clients[1], "right")
					case "signs out":
						neighbour.post("/auth/signout")
					case "ends all":
						if component == "provider" { // it is the same user
							continue
						}
						if err := there.auth.Users().EndSessions(latchkey.ContextWithTenant(t.Context(), there.tenant), "1"); err != nil {
							t.Fatal(err)
						}
					}
					taken++
				}
				said := fmt.Sprintf("after the neighbour %s", strings.Join(done, ", "))
				if !signedIn.isLive() {
					t.Errorf("%s: the user is signed out", said)
				}
				theirs := here.newBrowser()
				theirs.jar[browserCookie] = neighbour.jar[browserCookie]
				if left := here.guesses(theirs, owner, 6); left != 4-used {
					t.Errorf("%s: %d guesses get through, want %d", said, left, 4-used)
				}
			}
		})
	}
}
