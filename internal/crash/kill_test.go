package crash

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// flows are in the order in which rounds take them: sign-ups matter most.
var flows = []flow{signUp, mailLink, signUp, linking, signUp, signOut}

// ground is where processes are killed and people come back to.
type ground struct {
	issuer *latchkeytest.Issuer
	ledger *ledger
	sites  map[driver]*latchkey.Auth // of this process, which lives on
	links  chan string
	newest int // the last one who was new
}

func newGround(t *testing.T) *ground {
	g := &ground{issuer: newIssuer(t), links: make(chan string, 1), sites: map[driver]*latchkey.Auth{}}
	g.ledger = newLedger(t, realservers.Postgres(t, false).DSN("postgres"), "kills")
	send := func(_ context.Context, link latchkey.Message) error { g.links <- link.URL; return nil }
	for _, by := range drivers {
		g.sites[by] = newMailingSite(t, store(t, by, g.ledger.dsn, 4), g.issuer, send, audited)
	}
	return g
}

// other is the driver that a browser comes back by.
func other(by driver) driver {
	if by == bySQL {
		return byPgx
	}
	return bySQL
}

// killed is what the connections of jobs are called.
const killed = "killed"

// settle waits until the database has done what killed processes asked of it:
// their last commit may still be under way.
func (l *ledger) settle(t *testing.T) {
	t.Helper()
	for l.count(t, "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", killed) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// newJob is for somebody new. Flows for people who are signed in begin with
// that, on an instance that lives on.
func (g *ground) newJob(t *testing.T, f flow, by driver) *job {
	t.Helper()
	g.newest++
	p := g.issuer.Provider()
	j := &job{
		Flow: f, By: by, DSN: g.ledger.dsn + " application_name=" + killed, Issuer: p.Issuer, ClientID: p.ClientID, ClientSecret: p.ClientSecret,
		Person: g.newest, Email: emailOf(g.newest), Cookies: map[string]string{},
	}
	if f == mailLink {
		j.Email = fmt.Sprintf("mail-%d@example.com", g.newest)
	}
	if f == linking || f == signOut {
		b := newBrowser(g.sites[by])
		g.signIn(t, b, "issuer", j)
		j.Cookies = b.jar
	}
	return j
}

// signIn signs the browser of a job in at a provider.
func (g *ground) signIn(t *testing.T, b *browser, provider string, j *job) {
	t.Helper()
	got, err := b.signIn(t.Context(), provider, j.Person)
	if err != nil || !got.signedIn() {
		t.Fatalf("R-186 %s cannot sign in by %s: %v, %v", j.Email, provider, got, err)
	}
}

// way is a flow by a driver; pace is how long that takes from each of the
// moments to its end, when nobody disturbs it.
type (
	way struct {
		flow flow
		by   driver
	}
	pace map[string]time.Duration
)

// moments are what kills are counted from. Two of three go where the rows are
// written, which is a small part of a flow.
var moments = []string{begun, lastRequest, writing}

func (g *ground) measureAll(t *testing.T) map[way]pace {
	t.Helper()
	paces := map[way]pace{}
	for _, f := range []flow{signUp, mailLink, linking, signOut} {
		for _, by := range drivers {
			paces[way{f, by}] = g.measure(t, f, by)
			t.Logf("a %s by %s takes %v", f, by, paces[way{f, by}])
		}
	}
	return paces
}

// measure does a flow a few times to the end, and takes the times in the
// middle.
func (g *ground) measure(t *testing.T, f flow, by driver) pace {
	t.Helper()
	const times = 5
	took := map[string][]time.Duration{}
	for range times {
		p := g.newJob(t, f, by).startProcess(t)
		p.start(t)
		at := map[string]time.Time{}
		for _, moment := range moments {
			p.until(t, moment)
			at[moment] = time.Now()
		}
		p.until(t, written)
		for moment, began := range at {
			took[moment] = append(took[moment], time.Since(began))
		}
		p.finish(t)
	}
	usual := pace{}
	for moment, all := range took {
		slices.Sort(all)
		usual[moment] = all[times/2]
	}
	return usual
}

// kill does a job until some time after a moment.
func (j *job) kill(t *testing.T, moment string, later time.Duration) (stage string) {
	t.Helper()
	p := j.startProcess(t)
	p.start(t)
	p.until(t, moment)
	time.Sleep(later)
	return p.kill(t)
}

// remains are the rows that a killed flow may leave: as if it had never begun,
// or had come to its end.
var remains = map[flow]struct{ before, after rows }{
	signUp:   {rows{}, rows{1, 1, 1}},
	mailLink: {rows{}, rows{1, 0, 1}},
	linking:  {rows{1, 1, 1}, rows{1, 2, 1}},
	signOut:  {rows{1, 1, 1}, rows{1, 1, 0}},
}

// retry is what the browser of a killed job does next.
func (g *ground) retry(t *testing.T, j *job) {
	t.Helper()
	b := &browser{g.sites[other(j.By)], j.Cookies} // the cookies from before: no answer came
	switch j.Flow {
	case mailLink:
		askForLink(t.Context(), b, j.Email)
		if got := b.send(t.Context(), <-g.links, nil); !got.signedIn() {
			t.Errorf("R-186 %s cannot sign in by a new link: %v", j.Email, got)
		}
	case linking:
		if who, _ := b.who(t.Context()); who == "" { // what was linked ended the session that is known here
			g.signIn(t, b, "issuer", j)
		}
		g.signIn(t, b, "second", j)
	case signOut:
		b.press(t.Context(), "signout", nil)
		if who, _ := b.at(b.site).who(t.Context()); who != "" {
			t.Errorf("R-186 %s cannot sign out", who)
		}
		g.signIn(t, b, "issuer", j)
	default:
		g.signIn(t, b, "issuer", j)
	}
	if who, _ := b.who(t.Context()); who != j.Email {
		t.Errorf("R-186 %s came back as %q", j.Email, who)
	}
	r, want := g.ledger.of(t, j.Email), remains[j.Flow].after
	if r.users != want.users || r.accounts != want.accounts || r.sessions < 1 {
		t.Errorf("R-186 after coming back there are %v of %s", r, j.Email)
	}
}

// TestKill kills processes in the middle of what browsers do. O-038: the audit log has
// what succeeded, and nothing else.
func TestKill(t *testing.T) {
	kills, seed := number(t, "LATCHKEY_KILLS", 200), number(t, "LATCHKEY_SEED", rand.Uint64())
	t.Logf("LATCHKEY_SEED=%d LATCHKEY_KILLS=%d repeats the choices of this run", seed, kills)
	random := rand.New(rand.NewPCG(seed, 0))
	g, tally := newGround(t), map[string]int{}
	paces := g.measureAll(t)
	for round := range int(kills) {
		f, by, moment := flows[random.IntN(len(flows))], drivers[round%2], moments[random.IntN(len(moments))]
		j := g.newJob(t, f, by)
		stage := j.kill(t, moment, time.Duration(random.Float64()*float64(paces[way{f, by}][moment])))
		g.ledger.settle(t)
		tally[fmt.Sprintf("%-14s  killed when %-7s  left %s", f, stage, g.judge(t, j))]++
		g.retry(t, j)
		if t.Failed() {
			t.Fatalf("round %d of seed %d: a %s by %s, killed when %s", round, seed, f, by, stage)
		}
	}
	for _, outcome := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%4d  %s", tally[outcome], outcome)
	}
}

// judge says what a killed job has left.
func (g *ground) judge(t *testing.T, j *job) string {
	t.Helper()
	g.ledger.inOrder(t, orders, auditOrders)
	switch left := g.ledger.of(t, j.Email); left {
	case remains[j.Flow].before:
		return "as before"
	case remains[j.Flow].after:
		return "complete"
	default:
		t.Errorf("R-185 half of it is left: %v", left)
		return "half done"
	}
}

// number is a setting from the environment.
func number(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
