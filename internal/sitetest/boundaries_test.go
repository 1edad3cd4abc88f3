package sitetest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// An answer that is none lets nobody pass, and signs nobody in.
func TestRespondWithNothing(t *testing.T) {
	nothing := func(*http.Request, *latchkey.Session) error { return latchkey.RespondWith(nil) }
	var log strings.Builder
	s := plainsite.New(t, func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { return latchkey.RespondWith(nil) }
		c.Runtime.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	lines := func() (n int) {
		n = strings.Count(log.String(), "RespondWith was given no response")
		log.Reset()
		return n
	}
	reached := false
	guarded := s.Auth.Authorize(nothing)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	if a := s.Send(guarded, http.MethodGet, "/", nil); reached || a.Code != http.StatusInternalServerError {
		t.Errorf("a guard: reached %t, %d", reached, a.Code)
	}
	if n := lines(); n != 1 {
		t.Errorf("a guard: %d lines in the log", n)
	}
	access := s.Auth.Core().Authorize(t.Context(), neutral(s, "/"), func(*latchkey.Request, *latchkey.Session) error { return latchkey.RespondWith(nil) })
	if n := lines(); access.Response == nil || access.Response.Status != http.StatusInternalServerError || n != 1 {
		t.Errorf("a neutral guard answers %+v with %d lines in the log", access.Response, n)
	}
	failed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Auth.WriteError(w, r, latchkey.RespondWith(nil)) })
	if a := s.Send(failed, http.MethodGet, "/", nil); a.Code != http.StatusInternalServerError || lines() != 1 {
		t.Errorf("WriteError: %d, or not one line in the log", a.Code)
	}
	if a := s.SignIn(); s.Session() != nil || !strings.Contains(a.Header().Get("Location"), "AccessDenied") {
		t.Errorf("signed in: %d %q", a.Code, a.Header().Get("Location"))
	}
	if n := lines(); n != 1 {
		t.Errorf("a sign-in: %d lines in the log", n)
	}
}

// A browser's update, spread over the claims as many applications do it, cannot
// make somebody else of its user.
func TestUpdateCannotBecomeSomebodyElse(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"plain":   func(*latchkey.Config) {},
		"tracked": func(c *latchkey.Config) { c.Session.AbsoluteMaxAge = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			s := plainsite.New(t, plainsite.AsTokens, change, func(c *latchkey.Config) {
				c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
					if data, ok := u.Update.(map[string]any); ok {
						for key, value := range data {
							u.Claims[key] = value
						}
					}
					return u.Claims, nil
				}
			})
			s.SignIn()
			before := s.Session()
			update := map[string]any{"sub": "admin", "sid": "S", "auth_time": 1, "tenant": "t", "name": "Augusta"}
			for range 2 { // what is sealed is read again
				found, cookies, err := s.Auth.Core().UpdateSession(t.Context(), neutral(s, "/"), update)
				if err != nil {
					t.Fatal(err)
				}
				keep(s, cookies)
				if found.UserID != plainsite.UserID || found.ID != before.ID || !found.AuthTime.Equal(before.AuthTime) || found.Tenant != "" || found.User.Name != "Augusta" {
					t.Errorf("%+v, want to be %+v", found, before)
				}
			}
		})
	}
}

// A handler's context may name another tenant than the request has.
func TestTenantNamedLate(t *testing.T) {
	s := newTenantSite(t)
	s.at("a", s.Auth, http.MethodPost, "/auth/callback/password", map[string][]string{"name": {"ada"}, "password": {"lovelace"}})
	reached := false
	inner := s.Auth.RequireSession(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	s.at("a", s.Auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if latchkey.SessionFrom(r.Context()) == nil {
			t.Error("nobody is signed in at a")
		}
		late := latchkey.ContextWithTenant(r.Context(), "b")
		if found := latchkey.SessionFrom(late); found != nil {
			t.Errorf("%s is signed in at b", found.UserID)
		}
		inner.ServeHTTP(w, r.WithContext(late))
	})), http.MethodGet, "/", nil)
	if reached {
		t.Error("a session of a passes a guard of b")
	}
}

// The neutral calls answer for the request they are given, whatever the context.
func TestCoreForAnotherRequest(t *testing.T) {
	s := newTenantSite(t)
	s.at("a", s.Auth, http.MethodPost, "/auth/callback/password", map[string][]string{"name": {"ada"}, "password": {"lovelace"}})
	s.at("a", s.Auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		other := neutral(s.Site, "/")
		other.Host = "b.plain.example"
		if found, _, err := s.Auth.Core().ReadSession(r.Context(), other); err == nil {
			t.Errorf("%s is signed in at b", found.UserID)
		}
	})), http.MethodGet, "/", nil)
}

// A handler asks for the users of the tenant whose request it answers.
func TestUsersInAHandlerOfATenant(t *testing.T) {
	s := newTenantSite(t)
	asked := 0
	page := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked++
		if u, err := s.Auth.Users().Get(r.Context(), plainsite.UserID); err != nil || u.ID != plainsite.UserID {
			t.Errorf("%+v, %v", u, err)
		}
		if _, err := s.Auth.Users().Get(latchkey.ContextWithTenant(r.Context(), "nowhere/"), plainsite.UserID); err == nil {
			t.Error("a tenant that is not there has users")
		}
	})
	for _, h := range []http.Handler{s.Auth.LoadSession(page), s.Auth.Middleware(page)} {
		s.named.Store(0)
		s.at("a", h, http.MethodGet, "/", nil)
		if got := s.named.Load(); got != 1 {
			t.Errorf("the tenant was asked for %d times", got)
		}
	}
	if asked != 2 {
		t.Errorf("the handler ran %d times", asked)
	}
}

// Sealed sessions belong to their tenant, whoever shares the secret.
func TestSealedSessionsBelongToTheirTenant(t *testing.T) {
	store := memoryadapter.New(memoryadapter.Options{})
	auth := newTenants(t, latchkey.Tenants{
		Name: func(_ context.Context, r *latchkey.Request) (string, error) { return r.Header.Get("X-Tenant"), nil },
		Config: func(context.Context, string) (*latchkey.Config, error) {
			c := plainsite.Config(store)
			plainsite.AsTokens(&c)
			return &c, nil
		},
	})
	s := plainsite.New(t, plainsite.AsTokens)
	s.Auth = auth
	at := func(tenant, method, path string, form map[string][]string) string {
		return s.Send(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("X-Tenant", tenant)
			auth.ServeHTTP(w, r)
		}), method, path, form).Body.String()
	}
	at("a", http.MethodPost, "/auth/callback/password", map[string][]string{"name": {"ada"}, "password": {"lovelace"}})
	if got := at("a", http.MethodGet, "/auth/session", nil); !strings.Contains(got, "Ada") {
		t.Fatalf("at a: %s", got)
	}
	if got := at("b", http.MethodGet, "/auth/session", nil); got != "null" {
		t.Errorf("at b: %s", got)
	}
}

// lookingStore looks at the session, as row-level security does.
type lookingStore struct {
	*memoryadapter.Adapter
}

func (l lookingStore) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	latchkey.SessionFrom(ctx)
	return l.Adapter.GetUser(ctx, id)
}

func TestStoreMayLookAtTheSession(t *testing.T) {
	s := plainsite.New(t, plainsite.AsTokens, func(c *latchkey.Config) { c.Adapter = lookingStore{c.Adapter.(*memoryadapter.Adapter)} })
	s.SignIn()
	s.Look(func(ctx context.Context) {
		if u, err := s.Auth.CurrentUser(ctx); err != nil || u.ID != plainsite.UserID {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

// Callbacks of a tenant can ask for its users, behind LoadSession too.
func TestUsersInACallbackOfATenant(t *testing.T) {
	s := newTenantSite(t)
	s.Auth = newTenants(t, latchkey.Tenants{
		Name: func(context.Context, *latchkey.Request) (string, error) { return "a", nil },
		Config: func(context.Context, string) (*latchkey.Config, error) {
			c := plainsite.Config(s.Store)
			c.Callbacks.Session = func(ctx context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				_, err := s.Auth.Users().Get(ctx, r.Session.UserID)
				return r.Session, err
			}
			return &c, nil
		},
	})
	s.SignIn()
	if s.Session() == nil {
		t.Error("the callback failed")
	}
}

// What a callback does to what it was handed stays with it.
func TestCallbackCannotChangeTheCurrentUser(t *testing.T) {
	s := plainsite.New(t, func(c *latchkey.Config) {
		c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
			r.User.Email = ""
			return r.Session, nil
		}
	})
	s.SignIn()
	s.Look(func(ctx context.Context) {
		if u, err := s.Auth.CurrentUser(ctx); err != nil || u.Email != "ada@example.com" {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

func TestPagesAreNoRoutes(t *testing.T) {
	for _, page := range []string{"/auth/signin", "/auth/signin#top", "/auth/signin?x#y", "/auth/signin/"} {
		c := plainsite.Config(memoryadapter.New(memoryadapter.Options{}))
		c.Pages.SignIn = page
		if _, err := latchkey.New(c); !errors.Is(err, latchkey.ErrInvalidConfig) {
			t.Errorf("%s: %v", page, err)
		}
	}
}

// Sessions that cannot be ended from here are not said to have ended.
func TestTokensThatCannotBeEnded(t *testing.T) {
	s := plainsite.New(t, plainsite.AsEndlessTokens)
	if err := s.Auth.Users().EndSessions(t.Context(), plainsite.UserID); !errors.Is(err, latchkey.ErrUnsupportedStrategy) {
		t.Errorf("%v", err)
	}
}
