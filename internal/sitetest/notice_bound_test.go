package sitetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// personAt is the browser at a tenant, as somebody who opens pages.
func (b *browser) personAt(tenant string) *browser {
	there := b.at(tenant)
	for name, values := range opens {
		there.header[name] = values
	}
	return there
}

func TestNoticesAreBound(t *testing.T) {
	t.Run("R-343 where a link went is not said at another tenant", func(t *testing.T) {
		s := newTenantPair(t, stored)
		b := s.newPerson()
		b.personAt("a").post("/auth/signin/post", "email", adaEmail)
		if words := b.personAt("b").get("/auth/verify-request").words(); strings.Contains(words, adaEmail) {
			t.Errorf("at b: %s", words)
		}
		b.personAt("a").get("/auth/verify-request").says(t, adaEmail)
	})
	for name, at := range map[string]string{"another tenant": "a", "another session": "b"} {
		t.Run("R-343 R-326 a recent sign-in of "+name+" is none of this session", func(t *testing.T) {
			s, stores := newBeginlessTenants(t)
			ada := s.newBrowser()
			ada.personAt("b").signInByLink(adaEmail)
			s.clock.Advance(5 * time.Hour)
			other := s.newBrowser()
			other.personAt(at).get("/auth/signin?callbackUrl=/auth/account%3Fdo%3Ddelete")
			other.personAt(at).signInByLink(map[string]string{"a": "mallory@evil.example", "b": adaEmail}[at])
			planted := 0
			for name, value := range other.jar {
				if strings.Contains(name, "notice") {
					ada.jar[name] = value
					planted++
				}
			}
			ada.personAt("b").post("/auth/account?do=delete", "confirm", "delete")
			if planted != 1 || len(stores["b"].Contents().Users) != 1 {
				t.Errorf("%d notices, and %d users are left", planted, len(stores["b"].Contents().Users))
			}
			other.personAt(at).post("/auth/account?do=delete", "confirm", "delete")
			if len(stores[at].Contents().Users) != 0 {
				t.Error("the session that is new may not delete")
			}
		})
	}
}

// newBeginlessTenants are two tenants whose stores number their users alike, and
// forget when a session began.
func newBeginlessTenants(t *testing.T) (*oauthSite, map[string]*memoryadapter.Adapter) {
	t.Helper()
	s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	stores := map[string]*memoryadapter.Adapter{}
	for tenant, email := range map[string]string{"a": "mallory@evil.example", "b": adaEmail} {
		stores[tenant] = memoryadapter.New(memoryadapter.Options{})
		if _, err := stores[tenant].CreateUser(t.Context(), latchkey.User{ID: "1", Email: email}); err != nil {
			t.Fatal(err)
		}
	}
	shared := s.config
	s.auth = newTenants(t, latchkey.Tenants{
		Name: func(_ context.Context, r *latchkey.Request) (string, error) { return r.Header.Get("X-Tenant"), nil },
		Config: func(_ context.Context, tenant string) (*latchkey.Config, error) {
			c := shared
			c.Adapter = beginless{stores[tenant]}
			return &c, nil
		},
	})
	return s, stores
}
