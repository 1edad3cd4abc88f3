package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// shortLease makes a lease of a killed process end within seconds: it lasts as long as
// all calls under it may.
func shortLease(c *latchkey.Config) {
	c.Limits.ProviderCallTimeout, c.Limits.ProviderTimeout, c.Limits.StoreTimeout = 5*time.Second, 5*time.Second, 5*time.Second
}

// renew has the tokens of a person renewed, however long the present one is good for.
func renew(ctx context.Context, auth *latchkey.Auth, a storage.Adapter, person int) error {
	user, err := a.GetUserByAccount(ctx, "issuer", fmt.Sprintf("person-%d", person))
	if err != nil {
		return err
	}
	const longerThanTokensLast = 2 * time.Hour
	_, err = auth.Users().AccessToken(ctx, latchkey.AccountRef{UserID: user.ID, Provider: "issuer"}, latchkey.TokenOptions{MinLife: longerThanTokensLast})
	return err
}

// TestRenewalKilledAnywhere kills processes at random points of a renewal, at a provider
// that takes the refresh token before the last. Afterwards each account has a refresh
// token that works (T-035). LATCHKEY_KILLS is how many processes are killed.
func TestRenewalKilledAnywhere(t *testing.T) {
	kills, seed := number(t, "LATCHKEY_KILLS", 200), number(t, "LATCHKEY_SEED", rand.Uint64())
	t.Logf("LATCHKEY_SEED=%d LATCHKEY_KILLS=%d repeats the choices of this run", seed, kills)
	random := rand.New(rand.NewPCG(seed, 0))
	g := &ground{sites: map[driver]*latchkey.Auth{}}
	g.issuer = newIssuer(t, func(c *latchkeytest.IssuerConfig) { c.Rotation = latchkeytest.RotateWindow })
	g.ledger = newLedger(t, realservers.Postgres(t, false).DSN("postgres"), "renewals")
	stores := map[driver]storage.Adapter{}
	for _, by := range drivers {
		stores[by] = store(t, by, g.ledger.dsn, 8)
		g.sites[by] = newSite(t, stores[by], g.issuer, shortLease)
	}
	newRenewal := func(by driver) *job {
		j := g.newJob(t, renewal, by)
		g.signIn(t, newBrowser(g.sites[by]), "issuer", j)
		return j
	}
	usual := map[driver]time.Duration{}
	for _, by := range drivers {
		usual[by] = paceOf(t, func() *job { return newRenewal(by) })
		t.Logf("a renewal by %s takes %v", by, usual[by])
	}
	people, finished := make([]int, kills), 0
	for round := range people {
		by := drivers[round%2]
		j := newRenewal(by)
		if j.kill(t, begun, time.Duration(random.Float64()*1.2*float64(usual[by]))) == written {
			finished++
		}
		people[round] = j.Person
	}
	g.ledger.settle(t)
	t.Logf("%d of %d had finished before they were killed", finished, kills)
	errs := race.Run(len(people), func(i int) error {
		by := drivers[(i+1)%2] // each account is taken over by the other driver
		for range 2 {          // the second shows that what the first has stored works
			if err := renew(t.Context(), g.sites[by], stores[by], people[i]); err != nil {
				return fmt.Errorf("T-035 person-%d: %w", people[i], err)
			}
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// paceOf returns how long a renewal usually takes, in a process that no one kills.
func paceOf(t *testing.T, next func() *job) time.Duration {
	t.Helper()
	const times = 5
	took := make([]time.Duration, times)
	for i := range took {
		p := next().startProcess(t)
		p.start(t)
		p.until(t, begun)
		began := time.Now()
		p.until(t, written)
		took[i] = time.Since(began)
		p.finish(t)
	}
	slices.Sort(took)
	return took[times/2]
}
