//go:build linux

package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// balancer hands each request to the next of several sites in turn.
type balancer struct {
	proxies []*httputil.ReverseProxy
	next    atomic.Int64
}

func newBalancer(t *testing.T, sites ...*site) *balancer {
	t.Helper()
	b := &balancer{}
	for _, d := range sites {
		target, err := url.Parse(serve(t, d))
		if err != nil {
			t.Fatal(err)
		}
		b.proxies = append(b.proxies, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		}})
	}
	return b
}

// ServeHTTP implements http.Handler.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.proxies[b.next.Add(1)%int64(len(b.proxies))].ServeHTTP(w, r)
}

// TestTwoInstances puts two demos with one database behind a load balancer that
// gives every request to the other one.
func TestTwoInstances(t *testing.T) {
	for _, database := range []struct {
		name string
		url  func(t *testing.T) string // of an empty database
	}{
		{"SQLite", func(*testing.T) string { return "" }},
		{"PostgreSQL", postgresURL},
		{"MariaDB", mariadbURL},
	} {
		t.Run(database.name, func(t *testing.T) {
			databaseURL := database.url(t)
			for _, strategy := range []latchkey.Strategy{latchkey.DatabaseSessions, latchkey.JWTSessions} {
				t.Run(string(strategy), func(t *testing.T) { drivePair(t, databaseURL, strategy) })
			}
		})
	}
}

// TestTwoInstancesOnRedis is the same with users in SQL and everything else in a
// Redis Cluster, which loses a primary: nobody is signed out by that.
func TestTwoInstancesOnRedis(t *testing.T) {
	cluster := realservers.NewRedisCluster(t)
	redisURL := "redis://" + cluster.Addrs[0] + "?addr=" + strings.Join(cluster.Addrs[1:], "&addr=")
	databaseURL := postgresURL(t)
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			origin := drivePair(t, databaseURL, strategy, "REDIS_URL", redisURL)
			var browsers []*latchkeytest.Client
			for range 12 {
				c := latchkeytest.NewClientAt(t, origin)
				signInAsAda(t, c)
				browsers = append(browsers, c)
			}
			if strategy == latchkey.JWTSessions {
				return
			}
			cluster.Nodes[2].AwaitCopies(t)
			cluster.Lose(t, 2, func() {
				for i, c := range browsers {
					for deadline := time.Now().Add(time.Minute); !strings.Contains(string(c.Get("/").Body), "Hello, Ada Lovelace"); {
						if time.Now().After(deadline) {
							t.Fatalf("browser %d was signed out by the loss of a server", i)
						}
					}
				}
			})
			for _, c := range browsers {
				for range 2 {
					wants(t, c.Get("/members"), 200, "Members only")
				}
				leads(t, c.Post("/auth/signout", hiddenFields(c.Get("/profile"))), "/")
			}
		})
	}
}

func postgresURL(t *testing.T) string {
	server := realservers.Postgres(t, false)
	return fmt.Sprintf("postgres://latchkey@/postgres?host=%s&port=%d", url.QueryEscape(server.Dir), server.Port)
}

func mariadbURL(t *testing.T) string {
	socket := realservers.MariaDB(t)
	db, err := sql.Open("mysql", "root@unix("+socket+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE demo"); err != nil {
		t.Fatal(err)
	}
	return "mysql://root@localhost/demo?socket=" + url.QueryEscape(socket)
}

// drivePair goes through every flow twice, so that each request reaches either
// demo, and returns where both are.
func drivePair(t *testing.T, databaseURL string, strategy latchkey.Strategy, more ...string) (origin string) {
	issuer, err := startIssuer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(issuer.Close)
	s := environment(t, append(more, "DATABASE_URL", databaseURL, "SESSION_STRATEGY", string(strategy), "AUTH_DEMO_ISSUER", issuer.URL)...)
	b := newBalancer(t, newTestSite(t, s), newTestSite(t, s))
	origin = serve(t, b)
	for shift := range 2 {
		for _, flow := range []struct {
			name string
			run  func(*testing.T, *latchkeytest.Client)
			says string
		}{
			{"identity provider", signInAsAda, "Hello, Ada Lovelace"},
			{"password", signInAsAlice, "Hello, Alice"},
			{"magic link", signInByLink, "Hello, by.link@example.com"},
		} {
			t.Run(fmt.Sprintf("%s, shift %d", flow.name, shift), func(t *testing.T) {
				b.next.Store(int64(shift))
				c := latchkeytest.NewClientAt(t, origin)
				flow.run(t, c)
				for range 2 { // one for each
					wants(t, c.Get("/"), 200, flow.says)
					wants(t, c.Get("/members"), 200, "Members only")
					wants(t, c.Get("/auth/account"), 200, "Your account")
				}
				leads(t, c.Post("/auth/signout", hiddenFields(c.Get("/profile"))), "/")
				for range 2 {
					wants(t, c.Get("/"), 200, "Try signing in")
				}
			})
		}
	}
	return origin
}

func signInAsAda(t *testing.T, c *latchkeytest.Client) {
	t.Helper()
	leads(t, c.Complete(c.Begin("demo")), "/")
}

func signInAsAlice(t *testing.T, c *latchkeytest.Client) {
	t.Helper()
	leads(t, c.SignInCredentials(alicesFields), "/")
}

func signInByLink(t *testing.T, c *latchkeytest.Client) {
	t.Helper()
	askForLink(t, c, "by.link@example.com")
	leads(t, c.Get(newestLink(t, c)), "/profile")
}
