package sitetest

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
)

// downStore is a store of which some calls fail for a time.
type downStore struct {
	*memoryadapter.Adapter
	down atomic.Pointer[[]string]
}

func newDownStore() *downStore {
	return &downStore{Adapter: memoryadapter.New(memoryadapter.Options{})}
}

// fail makes the calls fail from now on; none: every call works.
func (d *downStore) fail(calls ...string) { d.down.Store(&calls) }

func (d *downStore) fault(call string) error {
	if calls := d.down.Load(); calls != nil && slices.Contains(*calls, call) {
		return errStore
	}
	return nil
}

func (d *downStore) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	if err := d.fault("InTx"); err != nil {
		return err
	}
	return d.Adapter.InTx(ctx, f)
}

func (d *downStore) DeleteSession(ctx context.Context, token string) (storage.StoredSession, error) {
	if err := d.fault("DeleteSession"); err != nil {
		return storage.StoredSession{}, err
	}
	return d.Adapter.DeleteSession(ctx, token)
}

func (d *downStore) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	if err := d.fault("Revoke"); err != nil {
		return err
	}
	return d.Adapter.Revoke(ctx, key, at, expires)
}

func (d *downStore) SwapTokens(ctx context.Context, provider, id string, old, next storage.Tokens) error {
	if err := d.fault("SwapTokens"); err != nil {
		return err
	}
	return d.Adapter.SwapTokens(ctx, provider, id, old, next)
}

// refresh tokens that could not be dropped are dropped later, and a logout token
// that comes once more drops no newer ones.
func TestOfflineLogoutIsTriedAgain(t *testing.T) {
	for name, claims := range map[string]map[string]any{"sid": {"sid": "a1"}, "sub": {"sub": "ada"}} {
		t.Run("R-653 "+name, func(t *testing.T) {
			store := newDownStore()
			s := newLogoutSite(t, latchkey.DatabaseSessions, everyWay, func(c *latchkey.Config) { c.Adapter = store })
			s.store = store.Adapter
			b := s.enter("ada", "a1")
			if len(s.connected()) != 1 {
				t.Fatal("no refresh token is stored")
			}
			token := s.issuer.LogoutToken(t, func(c map[string]any) {
				maps.Copy(c, claims)
				c["events"] = offlineEnd
			})
			store.fail("SwapTokens")
			said(t, s.tellToken(token), http.StatusBadRequest)
			dead(t, b)
			store.fail()
			said(t, s.tellToken(token), http.StatusOK)
			if err := s.auth.Shutdown(t.Context()); err != nil { // tries what failed
				t.Fatal(err)
			}
			if left := s.connected(); len(left) > 0 {
				t.Errorf("R-653 accounts %v have their refresh tokens", left)
			}
			s.clock.Advance(time.Second)
			s.enter("ada", "a1")
			said(t, s.tellToken(token), http.StatusBadRequest)
			if len(s.connected()) != 1 {
				t.Error("R-653 a repeated logout token drops a newer refresh token")
			}
		})
	}
}

// a sign-out that the store takes late is told like any other.
func TestLateSignOutIsTold(t *testing.T) {
	both(t, "R-655", func(t *testing.T, strategy latchkey.Strategy) {
		store := newDownStore()
		s := newLogoutSite(t, strategy, everyWay, func(c *latchkey.Config) { c.Adapter, c.Operations.Audit.Store = store, true })
		s.store = store.Adapter
		b := s.enter("ada", "a1")
		before := b.copy()
		store.fail("InTx", "DeleteSession", "Revoke")
		b.post("/auth/signout")
		if n := s.seen(event.SessionEnded); n != 0 {
			t.Fatalf("%d events of a session that could not be ended", n)
		}
		store.fail()
		if err := s.auth.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		dead(t, before)
		page, err := s.auth.Audit().List(t.Context(), latchkey.AuditQuery{Type: event.SessionEnded})
		if err != nil {
			t.Fatal(err)
		}
		if n := s.seen(event.SessionEnded); n != 1 || len(page.Events) != 1 || page.Events[0].UserID != onlyUser(t, s.oauthSite) || page.Events[0].Client == "" {
			t.Errorf("R-655 %d events, and the audit log has %+v", n, page.Events)
		}
	})
}

// Shutdown finishes the sign-outs of a tenant that is out of the cache.
func TestShutdownOfEvictedTenants(t *testing.T) {
	store := newDownStore()
	site := newSite(t)
	config := site.config
	config.Adapter, config.Session.Strategy = store, latchkey.DatabaseSessions
	tenant := "a"
	auth, err := latchkey.NewTenants(latchkey.Tenants{
		Name:      func(context.Context, *latchkey.Request) (string, error) { return tenant, nil },
		Config:    func(context.Context, string) (*latchkey.Config, error) { c := config; return &c, nil },
		CacheSize: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	site.auth, site.store = auth, store.Adapter
	b := site.newBrowser()
	b.signInByLink("ada@example.com")
	if len(store.Contents().Sessions) != 1 {
		t.Fatal("not signed in")
	}
	store.fail("InTx", "DeleteSession")
	b.post("/auth/signout")
	tenant = "b"
	site.newBrowser().session()
	store.fail()
	if err := auth.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(store.Contents().Sessions); n != 0 {
		t.Errorf("R-654 %d sessions live on", n)
	}
}
