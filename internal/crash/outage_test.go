package crash

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// outage is a site whose database goes away while it is busy.
type outage struct {
	site    *latchkey.Auth
	ledger  *ledger
	readers []*browser // of people 0, 1, …, who stay signed in
	newest  atomic.Int64
	refused sync.Map // people, by number, who came in vain

	reads, nulls, ins, errs atomic.Int64
	strange                 sync.Map // what nobody should have seen
}

const (
	readers    = 6
	newcomers  = 2
	breath     = 2 * time.Millisecond // between two requests of one browser
	enoughSeen = 5                    // answers of each kind before things change
)

// TestDatabaseGoesAwayAndComesBack crashes the server under load and starts it
// again on the same data.
func TestDatabaseGoesAwayAndComesBack(t *testing.T) {
	for _, by := range drivers {
		t.Run(string(by), func(t *testing.T) {
			server := realservers.Postgres(t, false)
			o := &outage{ledger: newLedger(t, server.DSN("postgres"), "outage")}
			o.site = newSite(t, store(t, by, o.ledger.dsn, 8), newIssuer(t))
			o.open(t)
			end := o.load(t.Context())
			o.see(t, "the site at work", &o.reads, &o.ins)
			server.Crash()
			before := [2]int64{o.nulls.Load(), o.errs.Load()}
			o.see(t, "the site without a database", &o.nulls, &o.errs)
			t.Logf("while the database was gone: at least %d reads that said null, %d sign-ins that were refused", o.nulls.Load()-before[0], o.errs.Load()-before[1])
			server.Restart(t)
			o.see(t, "the site at work again", &o.reads, &o.ins)
			end()
			o.judge(t)
			t.Logf("in all: %d reads, %d null; %d sign-ins, %d refused", o.reads.Load(), o.nulls.Load(), o.ins.Load(), o.errs.Load())
		})
	}
}

// open signs the readers in.
func (o *outage) open(t *testing.T) {
	t.Helper()
	for person := range readers {
		b := newBrowser(o.site)
		if got, err := b.signIn(t.Context(), "issuer", person); err != nil || !got.signedIn() {
			t.Fatal(got, err)
		}
		o.readers = append(o.readers, b)
	}
	o.newest.Store(readers)
}

// load keeps the site busy until end is called.
func (o *outage) load(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	do := func(f func()) {
		all.Go(func() {
			for ctx.Err() == nil {
				f()
				time.Sleep(breath)
			}
		})
	}
	for person, b := range o.readers {
		do(func() { o.read(context.WithoutCancel(ctx), b, person) })
	}
	for range newcomers {
		do(func() { o.signUp(context.WithoutCancel(ctx), int(o.newest.Add(1))) })
	}
	return func() { cancel(); all.Wait() }
}

// see waits until enough new answers of two kinds were given.
func (o *outage) see(t *testing.T, what string, kinds ...*atomic.Int64) {
	t.Helper()
	for _, kind := range kinds {
		enough := kind.Load() + enoughSeen*readers
		await(t, what, func() bool { return kind.Load() >= enough })
	}
}

// read is a browser that asks for a page.
func (o *outage) read(ctx context.Context, b *browser, person int) {
	who, got := b.who(ctx)
	_, touched := got.set[sessionCookie]
	switch {
	case got.status == http.StatusOK && who == emailOf(person):
		o.reads.Add(1)
	case got.status == http.StatusOK && got.body == "null" && !touched:
		o.nulls.Add(1)
	default:
		o.strange.Store(fmt.Sprintf("a read by %s was answered by %q for %q; %v", emailOf(person), got.body, who, got), true)
	}
}

// signUp is a browser that comes for the first time.
func (o *outage) signUp(ctx context.Context, person int) {
	got, err := newBrowser(o.site).signIn(ctx, "issuer", person)
	switch {
	case err == nil && got.signedIn():
		o.ins.Add(1)
	case err == nil && got.isPolite() && got.path() == "/auth/error":
		o.errs.Add(1)
		o.refused.Store(person, true)
	default:
		o.strange.Store(fmt.Sprintf("a sign-in ended with %v, %v", got, err), true)
	}
}

// judge looks at what it was like, and who is there now.
func (o *outage) judge(t *testing.T) {
	t.Helper()
	for what := range o.strange.Range {
		t.Errorf("R-194 %s", what)
	}
	o.ledger.inOrder(t, orders)
	for person, b := range o.readers {
		if who, _ := b.who(t.Context()); who != emailOf(person) {
			t.Errorf("R-109 %s was signed out by the outage", emailOf(person))
		}
	}
	for person := range o.refused.Range {
		got, err := newBrowser(o.site).signIn(t.Context(), "issuer", person.(int))
		if r := o.ledger.of(t, emailOf(person.(int))); err != nil || !got.signedIn() || r.users != 1 || r.accounts != 1 {
			t.Errorf("R-194 whoever was refused comes again: %v, %v; there are %v", got, err, r)
		}
	}
}
