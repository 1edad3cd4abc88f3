package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// moody is a store that fails when it is told to, and counts what it is asked.
type moody struct {
	*memoryadapter.Adapter
	fault atomic.Pointer[error]
	asked atomic.Int32
}

func newMoody() *moody { return &moody{Adapter: memoryadapter.New(memoryadapter.Options{})} }

func (m *moody) fail(err error) { m.fault.Store(&err) }
func (m *moody) mend()          { m.fault.Store(nil) }

func (m *moody) GetUserByAccount(ctx context.Context, provider, id string) (storage.User, error) {
	m.asked.Add(1)
	if err := m.fault.Load(); err != nil {
		return storage.User{}, *err
	}
	return m.Adapter.GetUserByAccount(ctx, provider, id)
}

func (m *moody) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	if err := m.fault.Load(); err != nil {
		return storage.StoredSession{}, storage.User{}, *err
	}
	return m.Adapter.GetSessionAndUser(ctx, token)
}

// probe asks the health handler.
func probe(a *latchkey.Auth, method, path string) (status int, word string) {
	w := httptest.NewRecorder()
	a.HealthHandler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code, strings.TrimSpace(w.Body.String())
}

// partOf returns a part of the health of a site.
func partOf(t *testing.T, a *latchkey.Auth, name string) latchkey.HealthPart {
	t.Helper()
	for _, p := range a.Health(t.Context()).Parts {
		if p.Name == name {
			return p
		}
	}
	return latchkey.HealthPart{}
}

// O-076: one word, and no fact about the inside.
func TestHealthHandler(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		method, path string
		status       int
		word         string
	}{
		{"GET", "/livez", 200, "live"},
		{"HEAD", "/internal/livez", 200, "live"},
		{"GET", "/readyz", 200, "ready"},
		{"GET", "/internal/readyz?verbose=1", 200, "ready"},
		{"POST", "/readyz", 405, "method"},
		{"GET", "/", 404, "unknown"},
		{"GET", "/readyz/store", 404, "unknown"},
	} {
		if status, word := probe(s.auth, c.method, c.path); status != c.status || word != c.word {
			t.Errorf("O-076: %s %s is %d %q", c.method, c.path, status, word)
		}
	}
}

// tableless is a store whose table of audit events fails.
type tableless struct {
	*memoryadapter.Adapter
	appends, lists error
}

func (s tableless) Audit() storage.AuditStore { return noTable{s.Adapter.Audit(), s} }

type noTable struct {
	storage.AuditStore
	of tableless
}

func (s noTable) Append(context.Context, []storage.AuditRecord) error { return s.of.appends }

func (s noTable) List(context.Context, storage.AuditQuery) ([]storage.AuditRecord, error) {
	return nil, s.of.lists
}

// a required audit log without its table is told at the start.
func TestRequiredAuditLogHasATable(t *testing.T) {
	lacks := fmt.Errorf("sql: audit_events: there is no such table: %w", storage.ErrSchema)
	site := func(t *testing.T, required bool, store tableless) *testSite {
		store.Adapter = memoryadapter.New(memoryadapter.Options{})
		return newSite(t, func(c *latchkey.Config) {
			c.Adapter, c.Operations.Audit.Store, c.Operations.Audit.Required = store, true, required
		})
	}
	for name, c := range map[string]struct {
		required bool
		lists    error
		status   int
	}{
		"R-772 a required log without a table": {true, lacks, 503},
		"a log that may only be written":       {true, errors.New("permission denied for table audit_events"), 200},
		"a required log":                       {true, nil, 200},
		"a log that is not required":           {false, lacks, 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := site(t, c.required, tableless{lists: c.lists})
			if status, word := probe(s.auth, "GET", "/readyz"); status != c.status {
				t.Errorf("%d %q, want %d", status, word, c.status)
			}
			said := s.log.text()
			if named := strings.Contains(said, "audit_events: there is no such table") && strings.Contains(said, "run latchkey migrate") && strings.Contains(said, `"ERROR"`); named != (c.status == 503) {
				t.Errorf("log: %s", said)
			}
		})
	}
	t.Run("R-772 a layout without the table", func(t *testing.T) {
		c := site(t, false, tableless{}).config
		c.Operations.Audit.Required = true
		c.Adapter = tableless{memoryadapter.New(memoryadapter.Options{}), errors.ErrUnsupported, nil}
		if _, err := latchkey.New(c); !errors.Is(err, latchkey.ErrInvalidConfig) || !strings.Contains(err.Error(), "run latchkey migrate") {
			t.Errorf("New returns %v", err)
		}
	})
}

// O-071, O-072, O-076: a store that is down at the start, comes up, and fails later.
func TestReadiness(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			store := newMoody()
			store.fail(errors.New("no such table: users; run latchkey migrate"))
			s := newOAuthSite(t, func(c *latchkey.Config) {
				c.Adapter, c.Session.Strategy = store, strategy
			})
			if status, word := probe(s.auth, "GET", "/readyz"); status != 503 || word != "unready" {
				t.Fatalf("O-071: %d %q", status, word)
			}
			if !strings.Contains(s.log.text(), "run latchkey migrate") {
				t.Error("O-071: the log has no cure:", s.log.text())
			}
			if s.auth.Health(t.Context()).Ready || partOf(t, s.auth, "store").State != "down" {
				t.Errorf("O-071: %+v", s.auth.Health(t.Context()))
			}
			store.mend()
			before := store.asked.Load()
			for range 100 {
				probe(s.auth, "GET", "/readyz")
			}
			if n := store.asked.Load() - before; n > 1 {
				t.Errorf("O-076: %d calls of the store at once", n)
			}
			ready := false
			for end := time.Now().Add(10 * time.Second); !ready && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				status, _ := probe(s.auth, "GET", "/readyz")
				ready = status == 200
			}
			if !ready {
				t.Fatal("O-071: never ready")
			}
			b := s.newBrowser()
			s.signIn(b)
			before = store.asked.Load()
			for range 50 {
				probe(s.auth, "GET", "/readyz")
			}
			if store.asked.Load() != before {
				t.Error("O-076: the store is asked after it was ready")
			}
			store.fail(errors.New("gone"))
			a := b.get("/auth/session")
			if status, _ := probe(s.auth, "GET", "/readyz"); status != 200 {
				t.Error("O-072: unready although it was ready")
			}
			if strategy == latchkey.DatabaseSessions {
				if p := partOf(t, s.auth, "store"); p.State != "down" || p.Since.IsZero() {
					t.Errorf("O-072: %+v", p)
				}
				if strings.TrimSpace(a.Body.String()) != "null" || b.jar["__Secure-authjs.session-token"] == "" {
					t.Errorf("O-070: %s, cookies %v", a.Body, b.jar)
				}
			} else if strings.TrimSpace(a.Body.String()) == "null" {
				t.Error("O-070: a JWT session needs the store")
			}
			store.mend()
			if !b.isLive() || partOf(t, s.auth, "store").State == "down" && strategy == latchkey.DatabaseSessions {
				t.Error("O-070: it does not recover by itself")
			}
		})
	}
}

// O-070: a guard answers an outage with 503, never with the sign-in page.
func TestOutageAtAGuard(t *testing.T) {
	store := newMoody()
	s := newOAuthSite(t, func(c *latchkey.Config) { c.Adapter, c.Session.Strategy = store, latchkey.DatabaseSessions })
	b := s.newBrowser()
	s.signIn(b)
	store.fail(storage.ErrUnavailable)
	a := b.serve(s.auth.RequireSession(http.NotFoundHandler()), b.request(http.MethodGet, "/private", "", ""))
	if a.Code != 503 || a.Header().Get("Retry-After") == "" || b.jar["__Secure-authjs.session-token"] == "" {
		t.Errorf("O-070: %d %v", a.Code, a.Header())
	}
}

// O-070: a provider that is down takes nobody's session and no other provider.
func TestOutageOfAProvider(t *testing.T) {
	s := newOAuthSite(t)
	b, other := s.newBrowser(), s.newBrowser()
	s.signIn(b)
	if p := partOf(t, s.auth, "provider issuer"); p.State != "up" {
		t.Errorf("O-072: %+v", p)
	}
	params := s.authResponse(other, "issuer")
	s.issuer.Close()
	if a := other.callback("issuer", params); a.signsIn() {
		t.Error("O-070: signed in without a provider")
	}
	if p := partOf(t, s.auth, "provider issuer"); p.State != "down" || p.Since.IsZero() {
		t.Errorf("O-072: %+v", p)
	}
	if !b.isLive() {
		t.Error("O-070: an outage of the provider has signed somebody out")
	}
	if a := other.post("/auth/callback/crew", "username", "alice", "password", "wonderland"); !a.signsIn() {
		t.Error("O-070: another provider does not work")
	}
}

// O-086: sites without a store of their own, or with one by request, are ready at once.
func TestReadyAtOnce(t *testing.T) {
	without := newSite(t, func(c *latchkey.Config) {
		c.Adapter, c.Providers = nil, c.Providers[:1]
	}).auth
	perRequest, err := latchkey.NewTenants(latchkey.Tenants{
		Name:   func(context.Context, *latchkey.Request) (string, error) { return "a", nil },
		Config: func(context.Context, string) (*latchkey.Config, error) { return nil, errors.New("x") },
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*latchkey.Auth{
		"no adapter": without, "NewTenants": perRequest, "NewFunc": newFunc(always(&latchkey.Config{})),
	} {
		if !a.Health(t.Context()).Ready {
			t.Errorf("O-086: %s is not ready", name)
		}
		if status, _ := probe(a, "GET", "/readyz"); status != 200 {
			t.Errorf("O-086: %s: %d", name, status)
		}
	}
	if status, _ := probe(new(latchkey.Auth), "GET", "/readyz"); status != 503 {
		t.Errorf("O-086: the zero Auth is ready")
	}
}

// O-073: Shutdown alone drains, so that no balancer sends requests to what is going.
func TestShutdownDrains(t *testing.T) {
	s := newSite(t)
	if status, _ := probe(s.auth, "GET", "/readyz"); status != 200 {
		t.Fatal(status)
	}
	if err := s.auth.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if status, _ := probe(s.auth, "GET", "/readyz"); status != 503 || s.auth.Health(t.Context()).Ready {
		t.Errorf("O-073: %d after Shutdown", status)
	}
}

// O-073: Drain is seen at once and refuses no request; Shutdown drains and may be called
// twice, and says what it left.
func TestDrainAndShutdown(t *testing.T) {
	s := newSite(t)
	probe(s.auth, "GET", "/readyz")
	s.auth.Drain()
	if status, _ := probe(s.auth, "GET", "/readyz"); status != 503 {
		t.Errorf("O-073: %d after Drain", status)
	}
	if status, _ := probe(s.auth, "GET", "/livez"); status != 200 {
		t.Errorf("O-073: not live after Drain: %d", status)
	}
	if a := s.newBrowser().signIn(); !a.signsIn() {
		t.Error("O-073: a request is refused after Drain")
	}
	for range 2 {
		if err := s.auth.Shutdown(t.Context()); err != nil {
			t.Errorf("O-073: %v", err)
		}
	}
}
