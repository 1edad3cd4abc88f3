package crash

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/storage"
)

// instances are two of one site, each with a pool of its own.
func instances(t *testing.T, dsn string, open func(storage.Adapter) *latchkey.Auth) [2]http.Handler {
	t.Helper()
	return [2]http.Handler{open(store(t, bySQL, dsn, 16)), open(store(t, byPgx, dsn, 16))}
}

// TestTwoFirstSignInsAtOnce has one new person come back from the provider in
// two browsers, to two instances, in the same instant.
func TestTwoFirstSignInsAtOnce(t *testing.T) {
	iss := newIssuer(t)
	l := newLedger(t, realservers.Postgres(t, false).DSN("postgres"), "races")
	sites := instances(t, l.dsn, func(a storage.Adapter) *latchkey.Auth { return newSite(t, a, iss) })
	welcome, refused := 0, 0
	for person := range 50 {
		for _, got := range together(2, func(i int) func() answer { return beginAt(t, sites[i], person) }) {
			switch {
			case got.signedIn() && got.status == http.StatusFound:
				welcome++
			case got.isPolite():
				refused++
			default:
				t.Errorf("R-188 person %d: %v", person, got)
			}
		}
		if r := l.of(t, emailOf(person)); r.users != 1 || r.accounts != 1 {
			t.Errorf("R-188 person %d has %v", person, r)
		}
	}
	l.inOrder(t, orders)
	if welcome < 50 {
		t.Errorf("R-188 of 50 people only %d got in by either browser", welcome)
	}
	t.Logf("two browsers of 50 people: %d welcome, %d politely refused", welcome, refused)
}

// beginAt returns the rest of a sign-in that has come as far as the callback.
func beginAt(t *testing.T, site http.Handler, person int) func() answer {
	b := newBrowser(site)
	callback, err := b.begin(t.Context(), "issuer", person)
	if err != nil {
		t.Fatal(err)
	}
	return func() answer { return b.send(t.Context(), callback, nil) }
}

// together prepares n acts one after the other and does them all at once.
func together(n int, prepare func(i int) func() answer) []answer {
	acts, got := make([]func() answer, n), make([]answer, n)
	for i := range acts {
		acts[i] = prepare(i)
	}
	var all sync.WaitGroup
	start := make(chan struct{})
	for i, act := range acts {
		all.Go(func() { <-start; got[i] = act() })
	}
	close(start)
	all.Wait()
	return got
}

// TestOneLinkOpenedByMany opens every link in a hundred browsers, on two
// instances.
func TestOneLinkOpenedByMany(t *testing.T) {
	const rounds, browsers = 10, 100
	iss := newIssuer(t)
	l := newLedger(t, realservers.Postgres(t, false).DSN("postgres"), "races")
	links := make(chan string, 1)
	send := func(_ context.Context, link latchkey.Message) error { links <- link.URL; return nil }
	sites := instances(t, l.dsn, func(a storage.Adapter) *latchkey.Auth { return newMailingSite(t, a, iss, send) })
	for round := range rounds {
		email := fmt.Sprintf("mail-%d@example.com", round)
		askForLink(t.Context(), newBrowser(sites[0]), email)
		link, in := <-links, 0
		for _, got := range together(browsers, func(i int) func() answer {
			return func() answer { return newBrowser(sites[i%2]).send(t.Context(), link, nil) }
		}) {
			switch {
			case got.signedIn():
				in++
			case !got.isPolite() || got.fault() != "Verification":
				t.Errorf("a browser that was late: %v", got)
			}
		}
		if r := l.of(t, email); in != 1 || r.users != 1 || r.sessions != 1 {
			t.Errorf("%d browsers were signed in by one link, which made %v", in, r)
		}
	}
}

func askForLink(ctx context.Context, b *browser, email string) answer {
	return b.press(ctx, "signin/email", map[string][]string{"email": {email}})
}

// TestSignOutWinsOverRenewal signs out on one instance while both renew.
func TestSignOutWinsOverRenewal(t *testing.T) {
	const rounds, readers = 40, 8
	iss := newIssuer(t)
	l := newLedger(t, realservers.Postgres(t, false).DSN("postgres"), "races")
	sites := instances(t, l.dsn, func(a storage.Adapter) *latchkey.Auth {
		return newSite(t, a, iss, func(c *latchkey.Config) { c.Session.UpdateAge = -1 }) // renewed by every read
	})
	before, after := 0, 0
	for person := range rounds {
		b := newBrowser(sites[0])
		if got, err := b.signIn(t.Context(), "issuer", person); err != nil || !got.signedIn() {
			t.Fatal(got, err)
		}
		for i, got := range together(readers+1, func(i int) func() answer {
			tab := b.at(sites[i%2])
			if i == readers/2 {
				return func() answer { return tab.press(t.Context(), "signout", nil) }
			}
			return func() answer { _, got := tab.who(t.Context()); return got }
		}) {
			switch {
			case i == readers/2 && (got.status != http.StatusFound || got.fault() != ""):
				t.Errorf("R-191 the sign-out: %v", got)
			case i == readers/2:
			case got.status != http.StatusOK:
				t.Errorf("R-191 a reader: %v", got)
			case got.body == "null":
				after++
			default:
				before++
			}
		}
		for _, site := range sites {
			if who, _ := b.at(site).who(t.Context()); who != "" {
				t.Errorf("R-191 %s is signed in again", who)
			}
		}
		if r := l.of(t, emailOf(person)); r.sessions != 0 {
			t.Errorf("R-191 after the sign-out there are %v", r)
		}
	}
	t.Logf("%d reads before the sign-out, %d after", before, after)
}

// TestFewConnections signs 50 people in at once through two connections.
func TestFewConnections(t *testing.T) {
	const people = 50
	iss := newIssuer(t)
	server := realservers.Postgres(t, false)
	for i, by := range drivers {
		t.Run(string(by), func(t *testing.T) {
			l := newLedger(t, server.DSN("postgres"), fmt.Sprintf("few%d", i))
			site := newSite(t, store(t, by, l.dsn, 2), iss)
			for person, got := range together(people, func(person int) func() answer { return beginAt(t, site, person) }) {
				if !got.signedIn() {
					t.Errorf("person %d: %v", person, got)
				}
				if r := l.of(t, emailOf(person)); r != (rows{1, 1, 1}) {
					t.Errorf("person %d has %v", person, r)
				}
			}
			l.inOrder(t, orders)
		})
	}
}
