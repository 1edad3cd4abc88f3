//go:build linux

package soak

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

const (
	origin = "http://localhost:3000" // of the site; nobody listens there
	people = 40                      // accounts at the provider, one a visitor
	speed  = 60                      // the clock of instances and issuer runs so many times as fast
	maxAge = 4 * time.Hour           // of a session, by that clock: four minutes
)

// world is the site: two instances behind a proxy that takes turns, PostgreSQL, a
// provider, and the faults that are under way.
type world struct {
	issuer   *latchkeytest.Issuer
	server   realservers.PG
	pool     *pgxpool.Pool
	mails    post
	began    time.Time
	faulty   atomic.Int64 // unix nanoseconds until which errors are excused
	lock     sync.Mutex
	secrets  []string
	backends [2]*instance
	turn     atomic.Uint64
	proxy    http.Handler
	network  *http.Transport // of the proxy and the visitors
}

type instance struct {
	auth   *latchkey.Auth
	server *httptest.Server
}

// now is the clock of instances and issuer.
func (w *world) now() time.Time { return w.began.Add(time.Since(w.began) * speed) }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{began: time.Now(), secrets: []string{"the first secret of a site that runs for long"}}
	w.issuer = latchkeytest.NewIssuer(t, func(c *latchkeytest.IssuerConfig) {
		c.Algorithm, c.Time = "ES256", w.now
		c.People = make([]latchkeytest.Person, people)
		for i := range c.People {
			c.People[i] = latchkeytest.Person{Subject: fmt.Sprint("person-", i), Email: emailOf(i), EmailVerified: true}
		}
	})
	w.server = realservers.Postgres(t, false)
	config, err := pgxpool.ParseConfig(w.server.DSN("postgres"))
	must(t, err)
	config.MaxConns = 8
	w.pool, err = pgxpool.NewWithConfig(t.Context(), config)
	must(t, err)
	t.Cleanup(w.pool.Close)
	must(t, pgxadapter.Migrate(t.Context(), w.pool, pgxadapter.Options{}))
	for i := range w.backends {
		w.start(t, i)
	}
	t.Cleanup(func() {
		for _, b := range w.backends {
			b.server.Close()
		}
	})
	w.network = &http.Transport{MaxIdleConnsPerHost: people}
	w.proxy = &httputil.ReverseProxy{
		Transport: w.network,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(w.next()); r.Out.Host = r.In.Host },
		ErrorHandler: func(rw http.ResponseWriter, _ *http.Request, _ error) { // an instance was killed under the request
			rw.WriteHeader(http.StatusBadGateway)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	return w
}

// post keeps the latest mail to each address, and how many there were. A mailbox would
// keep all of them, and grow with the run. The zero post is empty.
type post struct {
	lock sync.Mutex
	last map[string]letters
}

// letters are the mails to one address.
type letters struct {
	sent int
	url  string // in the latest
}

func (p *post) send(_ context.Context, m latchkey.Message) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.last == nil {
		p.last = map[string]letters{}
	}
	p.last[m.To] = letters{sent: p.last[m.To].sent + 1, url: m.URL}
	return nil
}

func (p *post) to(email string) letters {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.last[email]
}

func emailOf(i int) string { return fmt.Sprintf("person-%d@example.com", i) }

// next returns the instance whose turn it is.
func (w *world) next() *url.URL {
	w.lock.Lock()
	defer w.lock.Unlock()
	u, err := url.Parse(w.backends[w.turn.Add(1)%2].server.URL)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// start makes instance i anew, with the secrets of now, and lets the proxy use it.
func (w *world) start(t *testing.T, i int) {
	t.Helper()
	w.lock.Lock()
	secrets := append([]string(nil), w.secrets...)
	w.lock.Unlock()
	store, err := pgxadapter.New(w.pool, pgxadapter.Options{})
	must(t, err)
	p := w.issuer.Provider()
	p.IDTokenAlgs = []string{"ES256"}
	patience := race.Patience(time.Minute)
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{URL: origin}, Secrets: secrets, Adapter: store,
		Providers: []latchkey.Provider{p, &latchkey.Email{From: "site@example.com", Send: w.mails.send}},
		Session:   latchkey.SessionConfig{Strategy: latchkey.DatabaseSessions, MaxAge: maxAge},
		Limits: latchkey.Limits{
			Disabled: true, ProviderCallTimeout: patience, ProviderTimeout: patience, StoreTimeout: patience, CallbackTimeout: patience,
		},
		Runtime: latchkey.Runtime{Time: w.now, Logger: slog.New(slog.DiscardHandler)},
	})
	must(t, err)
	site := http.NewServeMux()
	site.Handle("GET /private", auth.RequireSession(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		fmt.Fprint(rw, latchkey.SessionFrom(r.Context()).User.Email)
	})))
	fresh := &instance{auth, httptest.NewServer(auth.Middleware(site))}
	w.lock.Lock()
	former := w.backends[i]
	w.backends[i] = fresh
	w.lock.Unlock()
	if former != nil {
		former.server.CloseClientConnections()
		former.server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), race.Patience(30*time.Second))
		defer cancel()
		must(t, former.auth.Shutdown(ctx))
	}
}

// excuse excuses errors during f and five seconds after.
func (w *world) excuse(f func()) {
	w.faulty.Store(time.Now().Add(time.Hour).UnixNano())
	f()
	w.faulty.Store(time.Now().Add(5 * time.Second).UnixNano())
}

// excused reports whether an error of now may come from a fault.
func (w *world) excused() bool { return time.Now().UnixNano() < w.faulty.Load() }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
