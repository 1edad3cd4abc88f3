package sitetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// tenantSite has a tenant for each host, on one store.
type tenantSite struct {
	*plainsite.Site
	named, configured atomic.Int32
	broken            atomic.Bool
}

func newTenants(t *testing.T, tenants latchkey.Tenants) *latchkey.Auth {
	t.Helper()
	auth, err := latchkey.NewTenants(tenants)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func newTenantSite(t *testing.T) *tenantSite {
	t.Helper()
	s := &tenantSite{Site: plainsite.New(t)}
	name := func(_ context.Context, r *latchkey.Request) (string, error) {
		s.named.Add(1)
		return strings.TrimSuffix(r.Host, ".plain.example"), nil
	}
	s.Auth = newTenants(t, latchkey.Tenants{
		Name: name,
		Config: func(_ context.Context, tenant string) (*latchkey.Config, error) {
			s.configured.Add(1)
			if s.broken.Load() {
				return nil, errors.New("the directory of tenants does not answer")
			}
			c := plainsite.Config(s.Store) // made anew each time
			c.Site.URL = "https://" + tenant + ".plain.example"
			if tenant == "nowhere/" {
				return nil, errors.New("there is no such tenant")
			}
			if tenant == "small" {
				c.Limits.MaxBodyBytes = 16
			}
			return &c, nil
		},
	})
	return s
}

// at asks as the browser sees a tenant's site.
func (s *tenantSite) at(tenant string, h http.Handler, method, path string, form map[string][]string) *httptest.ResponseRecorder {
	s.T.Helper()
	return s.Send(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = tenant + ".plain.example"
		if r.Header.Get("Origin") != "" {
			r.Header.Set("Origin", "https://"+r.Host)
		}
		h.ServeHTTP(w, r)
	}), method, path, form)
}

func TestTenantIsConfiguredOnce(t *testing.T) {
	s := newTenantSite(t)
	for range 5 {
		for _, tenant := range []string{"a", "b"} {
			if a := s.at(tenant, s.Auth, http.MethodGet, "/auth/providers", nil); !strings.Contains(a.Body.String(), "https://"+tenant+".plain.example/auth/signin/password") {
				t.Fatalf("%s: %d %s", tenant, a.Code, a.Body)
			}
		}
	}
	if got := s.configured.Load(); got != 2 {
		t.Errorf("configured %d times, want once for each of two", got)
	}
}

func TestTenantIsNamedOnceARequest(t *testing.T) {
	s := newTenantSite(t)
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		latchkey.SessionFrom(r.Context())
		_, _ = s.Auth.CurrentUser(r.Context())
		if _, err := s.Auth.CSRFToken(w, r); err != nil {
			t.Error(err)
		}
		if _, err := s.Auth.ActionURL(r, "signin"); err != nil {
			t.Error(err)
		}
		if _, err := s.Auth.SignInURL(w, r, "", latchkey.SignInOptions{}); err != nil {
			t.Error(err)
		}
	})
	for name, h := range map[string]http.Handler{
		"a page behind Middleware":  s.Auth.Middleware(page),
		"a page behind LoadSession": s.Auth.LoadSession(page),
		"guards within guards": s.Auth.LoadSession(s.Auth.Authorize(func(*http.Request, *latchkey.Session) error {
			return nil
		})(s.Auth.Middleware(page))),
	} {
		s.named.Store(0)
		s.at("a", h, http.MethodGet, "/page", nil)
		if got := s.named.Load(); got != 1 {
			t.Errorf("%s: asked %d times", name, got)
		}
	}
	s.named.Store(0)
	s.at("a", s.Auth.Middleware(page), http.MethodGet, "/auth/session", nil)
	if got := s.named.Load(); got != 1 {
		t.Errorf("a route behind Middleware: asked %d times", got)
	}
}

func TestTenantsOwnBodyLimit(t *testing.T) {
	s := newTenantSite(t)
	form := map[string][]string{"name": {"ada"}, "password": {"lovelace"}}
	if a := s.at("small", s.Auth, http.MethodPost, "/auth/callback/password", form); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("small: %d", a.Code)
	}
	if a := s.at("a", s.Auth, http.MethodPost, "/auth/callback/password", form); a.Code != http.StatusFound {
		t.Errorf("a: %d", a.Code)
	}
}

func TestTenantsConfigurationFails(t *testing.T) {
	s := newTenantSite(t)
	s.broken.Store(true)
	for range 2 {
		if a := s.at("a", s.Auth, http.MethodGet, "/auth/session", nil); a.Code != http.StatusInternalServerError {
			t.Errorf("%d", a.Code)
		}
	}
	if got := s.configured.Load(); got != 2 {
		t.Errorf("asked %d times, want again after a failure", got)
	}
	s.broken.Store(false)
	if a := s.at("a", s.Auth, http.MethodGet, "/auth/session", nil); a.Code != http.StatusOK {
		t.Errorf("mended: %d", a.Code)
	}
	nameless := newTenants(t, latchkey.Tenants{
		Name:   func(context.Context, *latchkey.Request) (string, error) { return "", nil },
		Config: func(context.Context, string) (*latchkey.Config, error) { t.Error("configured"); return nil, nil },
	})
	if a := s.at("a", nameless, http.MethodGet, "/auth/session", nil); a.Code != http.StatusNotFound {
		t.Errorf("no name: %d", a.Code)
	}
}

// TestTenantsOfPaths: R-717. What a handler asks of another tenant's path, in a request made
// of its own, is that tenant's: its guard does not believe what was found out for the first.
func TestTenantsOfPaths(t *testing.T) {
	s := plainsite.New(t)
	auth := newTenants(t, latchkey.Tenants{
		Name: func(_ context.Context, r *latchkey.Request) (string, error) {
			tenant, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
			return tenant, nil
		},
		Config: func(_ context.Context, tenant string) (*latchkey.Config, error) {
			c := plainsite.Config(s.Store)
			c.Site.URL, c.Pages.SignIn = plainsite.URL+"/"+tenant+"/auth", "/"+tenant+"/sign-in"
			return &c, nil
		},
	})
	page := auth.RequireSession(http.NotFoundHandler())
	to := func(path string, change func(*http.Request) *http.Request) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sub := change(r)
			sub.URL = &url.URL{Path: path}
			page.ServeHTTP(w, sub)
		})
	}
	same := func(r *http.Request) *http.Request { return r.WithContext(r.Context()) }
	clone := func(r *http.Request) *http.Request { return r.Clone(r.Context()) }
	inPlace := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = "/red/x"
		page.ServeHTTP(w, r)
	})
	noURL := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _, err := auth.Core().ReadSession(r.Context(), &latchkey.Request{Host: r.Host, Header: r.Header})
		if err != nil {
			t.Log(err)
		}
		page.ServeHTTP(w, r)
	})
	for name, row := range map[string]struct {
		inner  http.Handler
		tenant string
	}{
		"the page itself":                  {page, "blue"},
		"a prefix is taken off":            {http.StripPrefix("/blue", page), "blue"},
		"a copy of the request, elsewhere": {to("/red/x", same), "red"},
		"a clone of it, elsewhere":         {to("/red/x", clone), "red"},
		"a clone of it, at the same page":  {to("/blue/page", clone), "blue"},
		"the path is rewritten in place":   {inPlace, "red"},
		"a request without a URL":          {noURL, "blue"},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.Send(auth.Middleware(row.inner), http.MethodGet, "/blue/page", nil)
			if to := a.Header().Get("Location"); !strings.HasPrefix(to, plainsite.URL+"/"+row.tenant+"/sign-in") {
				t.Errorf("R-717 the guard leads to %q, want the page of %s", to, row.tenant)
			}
		})
	}
}

// TestTenantsSignOutBehindRewrites: R-688. A sign-out holds for the rest of its request, also
// behind a handler that rewrites paths. One that asks for another tenant's does not.
func TestTenantsSignOutBehindRewrites(t *testing.T) {
	for name, c := range map[string]struct {
		host, path string
		ends       bool
	}{
		"the request itself":            {"a.plain.example", "/page", true},
		"a prefix was taken off":        {"a.plain.example", "/", true},
		"the path was rewritten":        {"a.plain.example", "/articles/7", true},
		"it is the host of another one": {"b.plain.example", "/page", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTenantSite(t)
			s.at("a", s.Auth, http.MethodPost, "/auth/callback/password", url.Values{"name": {"ada"}, "password": {"lovelace"}})
			page := s.Auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if latchkey.SessionFrom(r.Context()) == nil {
					t.Fatal("not signed in")
				}
				asked := r.Clone(r.Context())
				asked.Host, asked.URL.Path = c.host, c.path
				if _, err := s.Auth.SignOutURL(w, asked, latchkey.SignOutOptions{SkipCSRFCheck: true}); err != nil {
					t.Error(err)
				}
				if left := latchkey.SessionFrom(r.Context()); (left == nil) != c.ends {
					t.Errorf("R-688 after the sign-out: session %v", left)
				}
			}))
			s.at("a", page, http.MethodGet, "/page", nil)
		})
	}
}

// NewTenants names every function that is missing, before there is a request.
func TestNewTenantsNeedsBothFunctions(t *testing.T) {
	name := func(context.Context, *latchkey.Request) (string, error) { return "a", nil }
	config := func(context.Context, string) (*latchkey.Config, error) { return nil, errors.New("asked at start") }
	for says, row := range map[string]struct {
		tenants latchkey.Tenants
		missing []string
	}{
		"both are there": {latchkey.Tenants{Name: name, Config: config}, nil},
		"no Name":        {latchkey.Tenants{Config: config}, []string{"Tenants.Name"}},
		"no Config":      {latchkey.Tenants{Name: name}, []string{"Tenants.Config"}},
		"neither":        {latchkey.Tenants{}, []string{"Tenants.Name", "Tenants.Config"}},
	} {
		t.Run(says, func(t *testing.T) {
			auth, err := latchkey.NewTenants(row.tenants)
			if failed := err != nil; failed != (row.missing != nil) || failed != (auth == nil) || failed != errors.Is(err, latchkey.ErrInvalidConfig) {
				t.Fatalf("%v, %v", auth, err)
			}
			for _, field := range row.missing {
				if !strings.Contains(err.Error(), field) {
					t.Errorf("the error does not name %s: %v", field, err)
				}
			}
		})
	}
}

func TestWorkWithoutATenantNamesTheCure(t *testing.T) {
	s := newTenantSite(t)
	for name, tenantOf := range map[string]func(context.Context, *latchkey.Request) (string, error){
		"an error": func(_ context.Context, r *latchkey.Request) (string, error) {
			return "", fmt.Errorf("no such host: %q", r.Host)
		},
		"no name":   func(context.Context, *latchkey.Request) (string, error) { return "", nil },
		"it panics": func(context.Context, *latchkey.Request) (string, error) { panic("no host") },
	} {
		configure := func(context.Context, string) (*latchkey.Config, error) {
			c := plainsite.Config(s.Store)
			return &c, nil
		}
		auth := newTenants(t, latchkey.Tenants{
			Name:   tenantOf,
			Config: configure,
		})
		_, sweep := auth.Sweep(t.Context())
		_, get := auth.Users().Get(t.Context(), plainsite.UserID)
		for _, err := range []error{sweep, get} {
			if !errors.Is(err, latchkey.ErrInvalidConfig) || !strings.Contains(err.Error(), "latchkey.ContextWithTenant(ctx, tenant)") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := auth.Sweep(latchkey.ContextWithTenant(t.Context(), "a")); err != nil {
			t.Errorf("%s, with a tenant: %v", name, err)
		}
		if _, err := auth.Core().Do(t.Context(), &latchkey.Request{Method: http.MethodGet, URL: &url.URL{Path: "/auth/session"}}); strings.Contains(fmt.Sprint(err), "ContextWithTenant") {
			t.Errorf("%s: a request is told to be a job: %v", name, err)
		}
	}
}

func TestStoredSessionsBelongToTheirTenant(t *testing.T) {
	s := newTenantSite(t)
	s.at("a", s.Auth, http.MethodPost, "/auth/callback/password", map[string][]string{"name": {"ada"}, "password": {"lovelace"}})
	for tenant, want := range map[string]string{"a": "Ada", "b": "null"} {
		jar := s.Jar
		s.Jar = map[string]string{}
		for name, value := range jar {
			s.Jar[name] = value
		}
		if a := s.at(tenant, s.Auth, http.MethodGet, "/auth/session", nil); !strings.Contains(a.Body.String(), want) {
			t.Errorf("%s: %s, want %s", tenant, a.Body, want)
		}
		s.Jar = jar
	}
	ctx := latchkey.ContextWithTenant(t.Context(), "a")
	if sessions, err := s.Auth.Users().Sessions(ctx, plainsite.UserID); err != nil || len(sessions) != 1 || sessions[0].Tenant != "a" {
		t.Errorf("%+v, %v", sessions, err)
	}
	s.at("b", s.Auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx := latchkey.ContextWithTenant(r.Context(), "nowhere/") // not b, whose request it is
		if _, err := s.Auth.Users().Get(ctx, plainsite.UserID); err == nil {
			t.Error("the request's tenant wins over the context's")
		}
	})), http.MethodGet, "/", nil)
	if _, err := s.Auth.Users().Get(latchkey.ContextWithTenant(t.Context(), ""), plainsite.UserID); err == nil {
		t.Error("the context names no tenant, and somebody was found")
	}
}

func TestTriesAreCountedForEachTenant(t *testing.T) {
	s := newTenantSite(t)
	try := func(tenant, password string) bool {
		s.Jar = map[string]string{}
		a := s.at(tenant, s.Auth, http.MethodPost, "/auth/callback/password", map[string][]string{"name": {"ada"}, "password": {password}})
		return !strings.Contains(a.Header().Get("Location"), "error=")
	}
	for range 25 {
		try("a", "wrong")
	}
	if try("a", "lovelace") {
		t.Error("the limit of a is not kept")
	}
	if !try("b", "lovelace") {
		t.Error("R-343 tries at a lock b")
	}
	if try("a", "lovelace") {
		t.Error("a sign-in at b forgives tries at a")
	}
}

// limitingStore counts and remembers in the store itself.
type limitingStore struct {
	*memoryadapter.Adapter
	taken, used atomic.Int32
	lacks       error // what it has no table for
}

func (l *limitingStore) Take(context.Context, string, latchkey.Rate) (wait time.Duration, err error) {
	l.taken.Add(1)
	return 0, l.lacks
}

func (l *limitingStore) Forget(context.Context, string) error { return nil }

func (l *limitingStore) Use(context.Context, string, time.Time) (bool, error) {
	l.used.Add(1)
	return true, l.lacks
}

// TestAdapterThatLimits: an adapter counts for all instances where the site is
// hardened and the adapter has a place for it.
func TestAdapterThatLimits(t *testing.T) {
	for name, c := range map[string]struct {
		hardened, asked bool
		lacks           error
	}{
		"hardened":                      {hardened: true, asked: true},
		"not hardened":                  {},
		"hardened, and no table for it": {hardened: true, lacks: errors.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			store := &limitingStore{lacks: c.lacks}
			s := plainsite.New(t, func(config *latchkey.Config) {
				store.Adapter = config.Adapter.(*memoryadapter.Adapter)
				config.Adapter, config.Hardened = store, c.hardened
			})
			store.taken.Store(0)
			if s.SignIn(); store.taken.Load() > 0 != c.asked {
				t.Errorf("asked %d times", store.taken.Load())
			}
		})
	}
}

func TestSitesWithOneSecretAreWarnedOf(t *testing.T) {
	// warnings returns how often NewFunc warns of sites with these URLs and secrets.
	warnings := func(t *testing.T, sites ...[2]string) int {
		t.Helper()
		log := &logBuffer{}
		configs := map[string]*latchkey.Config{}
		for i, site := range sites {
			configs[strconv.Itoa(i)] = &latchkey.Config{
				Site: latchkey.Site{URL: site[0]}, Secrets: []string{site[1]}, Providers: someProvider(), Runtime: latchkey.Runtime{Logger: log.logger()},
			}
		}
		s := &testSite{t: t, auth: newFunc(func(_ context.Context, r *latchkey.Request) (*latchkey.Config, error) {
			return configs[r.Header.Get("X-Tenant")], nil
		})}
		for range 2 {
			for i := range sites {
				s.newBrowser().at(strconv.Itoa(i)).get("/auth/session")
			}
		}
		return strings.Count(log.text(), "two sites have one secret")
	}
	const one, other = "https://one.example", "https://two.example"
	for rule, c := range map[string]struct {
		sites [][2]string
		want  int
	}{
		"two sites, one secret":   {[][2]string{{one, siteSecret}, {other, siteSecret}}, 1},
		"one site, two settings":  {[][2]string{{one, siteSecret}, {one, siteSecret}}, 0},
		"two sites, two secrets":  {[][2]string{{one, siteSecret}, {other, siteSecret + "2"}}, 0},
		"three sites, one secret": {[][2]string{{one, siteSecret}, {other, siteSecret}, {"https://three.example", siteSecret}}, 2},
	} {
		t.Run("R-509 "+rule, func(t *testing.T) {
			if n := warnings(t, c.sites...); n != c.want {
				t.Errorf("%d warnings, want %d", n, c.want)
			}
		})
	}
}

// TestUnknownTenant is R-556: a request for no tenant gets status 404, or what the
// application says, with one line in the log at level INFO; any other error stays a
// fault.
func TestUnknownTenant(t *testing.T) {
	missing := fmt.Errorf("no site is called x: %w", latchkey.ErrNotFound)
	for name, c := range map[string]struct {
		err      error
		status   int
		location string
		level    string // of the line in the log
	}{
		"no name":              {nil, http.StatusNotFound, "", "INFO"},
		"not found":            {missing, http.StatusNotFound, "", "INFO"},
		"a redirect":           {latchkey.RedirectTo("https://www.example/shops"), http.StatusFound, "https://www.example/shops", "INFO"},
		"a path":               {latchkey.RedirectTo("/shops"), http.StatusFound, "/shops", "INFO"},
		"a redirect to no URL": {latchkey.RedirectTo("javascript:x"), http.StatusNotFound, "", "INFO"},
		"an answer":            {latchkey.RespondWith(&latchkey.Response{Status: http.StatusTeapot}), http.StatusTeapot, "", "INFO"},
		"an answer of nothing": {latchkey.RespondWith(nil), http.StatusNotFound, "", "INFO"},
		"a fault":              {errors.New("the database is away"), http.StatusInternalServerError, "", "ERROR"},
	} {
		byName := newTenants(t, latchkey.Tenants{
			Name:   func(context.Context, *latchkey.Request) (string, error) { return "", c.err },
			Config: func(context.Context, string) (*latchkey.Config, error) { return nil, errors.New("asked for no tenant") },
		})
		ways := map[string]*latchkey.Auth{"Name": byName}
		if c.err != nil {
			ways["Config"] = newTenants(t, latchkey.Tenants{
				Name:   func(context.Context, *latchkey.Request) (string, error) { return "x", nil },
				Config: func(context.Context, string) (*latchkey.Config, error) { return nil, c.err },
			})
			ways["NewFunc"] = newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return nil, c.err })
		}
		for way, auth := range ways {
			t.Run("R-556 "+name+" of "+way, func(t *testing.T) { proveUnknown(t, auth, c.status, c.location, c.level) })
		}
	}
}

// proveUnknown asks auth for pages of a tenant that is not there, in every way, and
// compares the answer and the level of the lines in the log.
func proveUnknown(t *testing.T, auth *latchkey.Auth, status int, location, level string) {
	t.Helper()
	lines := logged(t)
	never := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request passes") })
	for kind, ask := range map[string]struct {
		h            http.Handler
		method, path string
	}{
		"a route":    {auth, http.MethodGet, "/auth/session"},
		"Middleware": {auth.Middleware(never), http.MethodGet, "/auth/session"},
		"a guard":    {auth.RequireSession(never), http.MethodGet, "/members"},
		"an action":  {auth.SignInAction(nil), http.MethodPost, "/signin"},
		"WriteError": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { auth.WriteError(w, r, latchkey.ErrNoSession) }), http.MethodGet, "/members"},
	} {
		lines.Reset()
		a := httptest.NewRecorder()
		ask.h.ServeHTTP(a, httptest.NewRequest(ask.method, "https://x.example"+ask.path, http.NoBody))
		if a.Code != status || a.Header().Get("Location") != location {
			t.Errorf("%s: status %d to %q", kind, a.Code, a.Header().Get("Location"))
		}
		got := lines.String()
		if n := strings.Count(got, "level="); n == 0 || n != strings.Count(got, "level="+level) || level == "INFO" && n != 1 {
			t.Errorf("%s: the log has\n%s", kind, got)
		}
	}
}

// logged returns what is written to the log of programs without a logger of their own,
// until the test ends.
func logged(t *testing.T) *strings.Builder {
	t.Helper()
	before, text := slog.Default(), new(strings.Builder)
	slog.SetDefault(slog.New(slog.NewTextHandler(text, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return text
}
