package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// cluster is two instances of a site behind a proxy that sends them requests in turn.
// Users are in PostgreSQL.
type cluster struct {
	*httptest.Server
	issuer *latchkeytest.Issuer
	clock  *testclock.Clock
	users  *pgxadapter.Adapter

	backends [2]atomic.Pointer[url.URL]
}

// newCluster starts the servers and the instances. change sets where the instances keep
// the rest.
func newCluster(t *testing.T, change func(*latchkey.Config)) *cluster {
	t.Helper()
	c := &cluster{clock: testclock.New(time.Now())}
	c.issuer = latchkeytest.NewIssuer(t, func(i *latchkeytest.IssuerConfig) {
		i.Algorithm, i.Time = "ES256", c.clock.Now // cheap to sign
	})
	c.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Email: "ada@example.com", EmailVerified: true, Claims: map[string]any{"sid": "s1"}})
	pool, err := pgxpool.New(t.Context(), realservers.Postgres(t, false).DSN("postgres")+" pool_max_conns=8")
	must(t, err)
	t.Cleanup(pool.Close)
	must(t, pgxadapter.Migrate(t.Context(), pool, pgxadapter.Options{}))
	c.users, err = pgxadapter.New(pool, pgxadapter.Options{})
	must(t, err)
	var turn atomic.Int64
	c.Server = httptest.NewServer(&httputil.ReverseProxy{
		Transport: &http.Transport{MaxIdleConnsPerHost: 100},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(c.backends[turn.Add(1)%2].Load())
			r.Out.Host = r.In.Host
		},
	})
	t.Cleanup(c.Close)
	c.start(t, change)
	return c
}

// start starts both instances, in the place of those that ran.
func (c *cluster) start(t *testing.T, change func(*latchkey.Config)) {
	t.Helper()
	for i := range c.backends {
		c.backends[i].Store(c.instance(t, change))
	}
}

// instance starts an instance and returns its address.
func (c *cluster) instance(t *testing.T, change func(*latchkey.Config)) *url.URL {
	t.Helper()
	patience := race.Patience(time.Minute)
	provider := c.issuer.Provider()
	provider.IDTokenAlgs = []string{"ES256"}
	provider.Offline, provider.Logout = true, latchkey.Logout{BackChannel: true}
	config := latchkey.Config{
		Site: latchkey.Site{URL: c.URL}, Secrets: []string{"one secret of all instances of the site"}, Adapter: c.users,
		Session:   latchkey.SessionConfig{Strategy: latchkey.DatabaseSessions},
		Providers: []latchkey.Provider{provider},
		Limits: latchkey.Limits{
			Disabled: true, ProviderCallTimeout: patience, ProviderTimeout: patience, StoreTimeout: patience, CallbackTimeout: patience,
		},
		Runtime: latchkey.Runtime{Time: c.clock.Now, Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))},
	}
	change(&config)
	auth, err := latchkey.New(config)
	must(t, err)
	site := http.NewServeMux()
	site.HandleFunc("GET /token", func(w http.ResponseWriter, r *http.Request) {
		got, err := auth.AccessToken(w, r, "issuer", latchkey.TokenOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, got.AccessToken)
	})
	server := httptest.NewServer(auth.Middleware(site))
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	must(t, err)
	return address
}

// enter signs a person in and returns the browser.
func (c *cluster) enter(t *testing.T) *latchkeytest.Client {
	t.Helper()
	b := latchkeytest.NewClientAt(t, c.URL)
	b.SignIn(c.issuer)
	return b
}

// renewals returns how often tokens were renewed.
func (c *cluster) renewals() (n int) {
	for _, r := range c.issuer.Requests(latchkeytest.PathToken) {
		if r.Form.Get("grant_type") == "refresh_token" {
			n++
		}
	}
	return n
}

// besideRedis keeps sessions and leases in Redis.
func besideRedis(t *testing.T) (*redis.Client, func(*latchkey.Config)) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: realservers.NewRedis(t).Addr, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	fast, err := redisadapter.New(client, redisadapter.Options{})
	must(t, err)
	return client, func(c *latchkey.Config) { c.Session.Store, c.Runtime.Leases = fast, fast }
}

// TestThousandCallersAtExpiry has 1,000 requests ask for a token that has just expired,
// at two instances behind a proxy. They cost one token request, and all of them get the
// new token (T-022). The instances share PostgreSQL, and then PostgreSQL with sessions
// and leases in Redis.
func TestThousandCallersAtExpiry(t *testing.T) {
	const callers = 1000
	for name, change := range map[string]func(t *testing.T) func(*latchkey.Config){
		"PostgreSQL": func(*testing.T) func(*latchkey.Config) { return func(*latchkey.Config) {} },
		"PostgreSQL, with sessions and leases in Redis": func(t *testing.T) func(*latchkey.Config) {
			_, change := besideRedis(t)
			return change
		},
	} {
		t.Run("T-022 "+name, func(t *testing.T) {
			c := newCluster(t, change(t))
			cookies := c.enter(t).Cookies()
			client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 100, MaxIdleConnsPerHost: 100}}
			got := make([]string, callers)
			ask := func(i int) error {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+"/token", nil)
				if err != nil {
					return err
				}
				for _, cookie := range cookies {
					r.AddCookie(cookie)
				}
				res, err := client.Do(r)
				if err != nil {
					return err
				}
				defer func() { _ = res.Body.Close() }()
				body, err := io.ReadAll(res.Body)
				if got[i] = string(body); err == nil && res.StatusCode != http.StatusOK {
					err = fmt.Errorf("status %d: %s", res.StatusCode, body)
				}
				return err
			}
			must(t, ask(0))
			former := got[0]
			c.clock.Advance(2 * time.Hour)
			must(t, errors.Join(race.Run(callers, ask)...))
			for i, token := range got {
				if token == former || token != got[0] {
					t.Fatalf("caller %d got another token than the first", i)
				}
			}
			if n := c.renewals(); n != 1 {
				t.Errorf("%d token requests, want 1", n)
			}
		})
	}
}

// TestLogoutOfSessionsInTwoStores has a session in PostgreSQL, from before there was a
// store of sessions, and one in Redis. A logout token ends both (T-131).
func TestLogoutOfSessionsInTwoStores(t *testing.T) {
	client, beside := besideRedis(t)
	c := newCluster(t, func(*latchkey.Config) {})
	before := c.enter(t)
	c.start(t, func(of *latchkey.Config) {
		beside(of)
		of.Session.AdapterToo = true
	})
	after := c.enter(t)
	if n, err := client.Keys(t.Context(), "lk:s:*").Result(); err != nil || len(n) != 1 {
		t.Fatalf("%d sessions in Redis, error %v, want 1", len(n), err)
	}
	if before.Session() == nil || after.Session() == nil {
		t.Fatal("a session is dead before the logout")
	}
	token := c.issuer.LogoutToken(t, func(claims map[string]any) { claims["sid"] = "s1" })
	res, err := http.PostForm(c.URL+"/auth/backchannel-logout/issuer", latchkeytest.LogoutForm(token))
	must(t, err)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("the logout was answered with %s", res.Status)
	}
	if before.Session() != nil {
		t.Error("the session in PostgreSQL lives")
	}
	if after.Session() != nil {
		t.Error("the session in Redis lives")
	}
}
