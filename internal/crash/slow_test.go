package crash

import (
	"bytes"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/realservers"
)

// storeLimit is what one call of the adapter may take in these tests; grace is
// what may come on top of it on a busy machine. Without the limit it would
// be for ever.
const (
	storeLimit = 300 * time.Millisecond
	grace      = 30 * time.Second
)

// stalls are the points at which the database falls silent in a flow. limit is
// how long the flow may wait: a transaction has twice the limit of a call.
var stalls = []struct {
	name, word string
	limit      time.Duration
	flow       func(s *slow, t *testing.T)
}{
	{"a session is read", "", storeLimit, (*slow).read},
	{"a person is looked up", "", storeLimit, (*slow).signUp},
	{"a transaction begins", "begin", 2 * storeLimit, (*slow).signUp},
	{"a transaction looks for the e-mail", "@example.com", 2 * storeLimit, (*slow).signUp},
	{"a transaction is committed", "commit", 2 * storeLimit, (*slow).signUp},
	{"a transaction is rolled back", "rollback", 2 * storeLimit, (*slow).refused},
}

// slow is a site on a database that can fall silent.
type slow struct {
	site   *latchkey.Auth
	ledger *ledger
	proxy  *tcpProxy
	known  *browser // of somebody who is signed in
	person int      // the last one
	word   string   // at which the database falls silent
	began  time.Time
}

// silence makes the database fall silent, and starts the clock.
func (s *slow) silence() {
	s.proxy.silenceAt(s.word)
	s.began = time.Now()
}

func (s *slow) read(t *testing.T) {
	s.silence()
	_, got := s.known.who(t.Context())
	if got.body != "null" || got.status != 200 {
		t.Errorf("R-194 the session was answered with %q, %v", got.body, got)
	}
	if _, touched := got.set[sessionCookie]; touched {
		t.Error("R-109 the session's cookie was touched")
	}
}

// signUp brings somebody new back from the provider.
func (s *slow) signUp(t *testing.T) {
	s.person++
	act := beginAt(t, s.site, s.person)
	s.silence()
	got := act()
	if !got.isPolite() || got.path() != "/auth/error" {
		t.Errorf("R-194 the sign-in ended with %v", got)
	}
}

// refused brings somebody new whose e-mail is somebody else's.
func (s *slow) refused(t *testing.T) {
	s.person++
	if _, err := s.ledger.db.Exec(`INSERT INTO users (id, email) VALUES ($1, $1)`, emailOf(s.person)); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = s.ledger.db.Exec(`DELETE FROM users WHERE id = $1`, emailOf(s.person)) }()
	act := beginAt(t, s.site, s.person)
	s.silence()
	got := act()
	if !got.isPolite() {
		t.Errorf("R-194 the sign-in ended with %v", got)
	}
}

func TestSlowStore(t *testing.T) {
	iss := newIssuer(t)
	server := realservers.Postgres(t, true)
	for i, by := range drivers {
		t.Run(string(by), func(t *testing.T) {
			p := newTCPProxy(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(server.Port)))
			l := newLedger(t, server.DSN("postgres")+" sslmode=disable", fmt.Sprintf("slow%d", i))
			dsn := fmt.Sprintf("host=127.0.0.1 port=%d user=latchkey dbname=postgres sslmode=disable search_path=slow%d", p.port(), i)
			site := newSite(t, store(t, by, dsn, 4), iss, func(c *latchkey.Config) { c.Limits.StoreTimeout = storeLimit })
			s := &slow{site: site, ledger: l, proxy: p, known: newBrowser(site), person: 100}
			for _, c := range stalls {
				t.Run("R-195 "+c.name, func(t *testing.T) {
					await(t, "somebody to sign in", func() bool {
						got, err := s.known.signIn(t.Context(), "issuer", 1)
						return err == nil && got.signedIn()
					})
					s.word = c.word
					s.stall(t, c.limit, c.flow)
				})
			}
			l.inOrder(t, orders)
		})
	}
}

// stall runs one flow while the database is silent, and another one later.
func (s *slow) stall(t *testing.T, limit time.Duration, flow func(*slow, *testing.T)) {
	upstream.CloseIdleConnections()
	goroutines := runtime.NumGoroutine()
	var took time.Duration
	await(t, "the database to fall silent", func() bool { // on a busy machine a flow may run out of its short time before
		flow(s, t)
		took = time.Since(s.began)
		return s.proxy.isSilent()
	})
	if took > limit+grace {
		t.Errorf("the flow waited for %v; it may %v, and %v more", took, limit, grace)
	}
	await(t, "everybody to give up on the database", func() bool { return ownGoroutine() == "" })
	s.proxy.reopen()
	upstream.CloseIdleConnections()
	await(t, "the goroutines to be as few as before", func() bool { return runtime.NumGoroutine() <= goroutines })
	if r := s.ledger.of(t, emailOf(s.person)); r.accounts+r.sessions != 0 || r.users > 1 {
		t.Errorf("R-194 a sign-in that failed left %v", r)
	}
	await(t, "the session to be read again", func() bool { who, _ := s.known.who(t.Context()); return who == emailOf(1) })
	await(t, "the next sign-in", func() bool { // R-194; on a busy machine one may run out of its short time
		s.person++
		got, err := newBrowser(s.site).signIn(t.Context(), "issuer", s.person)
		return err == nil && got.signedIn()
	})
}

// ownGoroutine is the stack of a goroutine in code of ours; empty: there is
// none.
func ownGoroutine() string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	for stack := range bytes.SplitSeq(all, []byte("\n\n")) {
		for _, home := range []string{"latchkeyhq/latchkey.", "latchkeyhq/latchkey/adapters/"} {
			if bytes.Contains(stack, []byte("github.com/"+home)) {
				return string(stack)
			}
		}
	}
	return ""
}

// await fails when something does not come about in a long time.
func await(t *testing.T, what string, come func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); !come(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s; at work is\n%s", what, ownGoroutine())
		}
	}
}
