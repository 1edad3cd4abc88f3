package sitetest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

func TestTenantCache(t *testing.T) {
	site := newSite(t)
	visit := func(t *testing.T, auth *latchkey.Auth, tenant string) {
		t.Helper()
		b := site.newBrowser()
		r := b.request(http.MethodGet, "/auth/session", "", "")
		r.Host = tenant
		if a := b.serve(auth, r); a.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", tenant, a.Code, a.Body)
		}
	}
	newAuth := func(made map[string]int, size int) *latchkey.Auth {
		return newTenants(t, latchkey.Tenants{
			Name: func(_ context.Context, r *latchkey.Request) (string, error) { return r.Host, nil },
			Config: func(_ context.Context, tenant string) (*latchkey.Config, error) {
				made[tenant]++
				return &latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Providers: someProvider(), Secrets: []string{siteSecret + tenant}, Runtime: latchkey.Runtime{Logger: quiet}}, nil
			},
			CacheSize: size,
		})
	}
	tenant := func(i int) string { return fmt.Sprintf("t%d.example", i) }
	t.Run("R-358 a thousand tenants fit", func(t *testing.T) {
		made := map[string]int{}
		auth := newAuth(made, 0)
		for range 2 {
			for i := range 1000 {
				visit(t, auth, tenant(i))
			}
		}
		for name, n := range made {
			if n != 1 {
				t.Fatalf("%s was made ready %d times", name, n)
			}
		}
		if len(made) != 1000 {
			t.Errorf("%d tenants", len(made))
		}
	})
	t.Run("R-358 the busy stay when there is no room for all", func(t *testing.T) {
		made := map[string]int{}
		auth := newAuth(made, 10)
		for i := range 200 {
			visit(t, auth, "busy.example")
			visit(t, auth, tenant(i))
		}
		if made["busy.example"] > 1 {
			t.Errorf("the busy one was made ready %d times", made["busy.example"])
		}
		for i := 191; i < 199; i++ {
			visit(t, auth, tenant(0))
		}
		if n := made[tenant(0)]; n != 2 {
			t.Errorf("an idle one was made ready %d times, want again, once", n)
		}
	})
	t.Run("R-358 room for one is enough to work", func(t *testing.T) {
		made := map[string]int{}
		auth := newAuth(made, -1)
		for i := range 6 {
			visit(t, auth, tenant(i%2))
		}
		if made[tenant(0)] != 3 {
			t.Errorf("made ready %d times", made[tenant(0)])
		}
	})
	t.Run("R-358 one that fails is asked for again", func(t *testing.T) {
		asked := 0
		auth := newTenants(t, latchkey.Tenants{
			Name:      func(context.Context, *latchkey.Request) (string, error) { return "one", nil },
			Config:    func(context.Context, string) (*latchkey.Config, error) { asked++; return nil, fmt.Errorf("down") },
			CacheSize: 2,
		})
		b := newSite(t).newBrowser()
		for range 3 {
			if a := b.serve(auth, b.request(http.MethodGet, "/auth/session", "", "")); !strings.Contains(a.Body.String(), "configuration") {
				t.Error(a.Body)
			}
		}
		if asked != 3 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// TestTenantsBelieveApart: what one tenant has read of sessions makes no room for
// another's, and is nothing that another believes.
func TestTenantsBelieveApart(t *testing.T) {
	users, sessions := newFaultyStore(), newApartStore()
	s := newTenantPair(t, stored, believing(time.Minute), func(c *latchkey.Config) {
		c.Adapter, c.Session.Store, c.Session.Cache.Size, c.Limits.Disabled = users, sessions, 2, true
	})
	ada := s.newBrowser()
	ada.at("a").signInByLink("ada@example.com")
	if ada.at("a").session() == "null" {
		t.Fatal("nobody is signed in")
	}
	for i := range 5 {
		b := s.newBrowser()
		b.at("b").signInByLink(fmt.Sprintf("b%d@example.com", i))
		if b.at("b").session() == "null" {
			t.Fatal("nobody is signed in at b")
		}
	}
	for range 2 { // that it is another's is believed, too
		if now := ada.copy().at("b").session(); now != "null" {
			t.Errorf("at b: %s", now)
		}
	}
	forget(users, sessions)
	if ada.at("a").session() == "null" {
		t.Error("at a: nobody")
	}
	if len(users.plan.called)+len(sessions.plan.called) > 0 {
		t.Errorf("a has asked for %v and %v", users.plan.called, sessions.plan.called)
	}
}
