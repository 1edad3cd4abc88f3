package main

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey"
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

// TestTwoInstances puts two demos with one data folder behind a load balancer that
// sends each request to the next of them.
func TestTwoInstances(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.DatabaseSessions, latchkey.JWTSessions} {
		t.Run(string(strategy), func(t *testing.T) { drivePair(t, strategy) })
	}
}

// drivePair goes through every flow twice, so that each request reaches either demo.
func drivePair(t *testing.T, strategy latchkey.Strategy) {
	issuer, err := startIssuer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(issuer.Close)
	s := environment(t, "SESSION_STRATEGY", string(strategy), "AUTH_DEMO_ISSUER", issuer.URL)
	b := newBalancer(t, newTestSite(t, s), newTestSite(t, s))
	origin := serve(t, b)
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
