package latchkey_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
)

// The places that are kept open: something can be plugged in to each.

func TestOptionsOfAProvider(t *testing.T) {
	s := plainsite.New(t)
	latchkey.Plug(s.Auth, latchkey.Plugs{OptionsOf: "elsewhere", Options: func(context.Context) (*latchkey.Response, error) {
		return &latchkey.Response{Body: []byte(`{"challenge":"x"}`)}, nil
	}})
	if a := s.Send(s.Auth, http.MethodGet, "/auth/webauthn-options/elsewhere", nil); a.Body.String() != `{"challenge":"x"}` {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	for _, path := range []string{"/auth/webauthn-options/password", "/auth/webauthn-options/nobody", "/auth/webauthn-options"} {
		if a := s.Send(s.Auth, http.MethodGet, path, nil); a.Code != http.StatusFound {
			t.Errorf("%s: %d, want the error page", path, a.Code)
		}
	}
}

func TestPausedSignIn(t *testing.T) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run(string(strategy), func(t *testing.T) {
			asked := 0
			s := plainsite.New(t, func(c *latchkey.Config) {
				c.Session.Strategy = strategy
				c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { asked++; return nil }
			})
			wanted := true
			latchkey.Plug(s.Auth, latchkey.Plugs{Pause: func(ctx context.Context, u latchkey.User, resume func(context.Context) (*latchkey.Response, error)) (*latchkey.Response, error) {
				if u.ID != plainsite.UserID {
					t.Errorf("paused for %q", u.ID)
				}
				if wanted {
					return &latchkey.Response{Redirect: "/second-factor"}, nil
				}
				return resume(ctx)
			}})
			a := s.SignIn()
			if a.Header().Get("Location") != "/second-factor" || s.Session() != nil || asked != 1 {
				t.Errorf("leads to %q, the callback was asked %d times, signed in: %t", a.Header().Get("Location"), asked, s.Session() != nil)
			}
			if sessions, err := s.Store.ListSessions(t.Context(), plainsite.UserID); len(sessions) != 0 || err != nil {
				t.Errorf("%d sessions are stored, %v", len(sessions), err)
			}
			wanted = false
			if s.SignIn(); s.Session() == nil {
				t.Error("not signed in after the pause")
			}
		})
	}
}

func TestProviderHearsOfSignOut(t *testing.T) {
	s := plainsite.New(t)
	var user, session string
	latchkey.Plug(s.Auth, latchkey.Plugs{SignedOutOf: "password", SignedOut: func(_ context.Context, userID, sessionID string) (*latchkey.Response, error) {
		user, session = userID, sessionID
		return &latchkey.Response{Redirect: "https://id.example/logout"}, nil
	}})
	s.SignIn()
	id := s.Session().ID
	a := s.SignOut()
	if user != plainsite.UserID || session != id || a.Header().Get("Location") != "https://id.example/logout" {
		t.Errorf("user %q, session %q of %q, leads to %q", user, session, id, a.Header().Get("Location"))
	}
	if s.Session() != nil {
		t.Error("still signed in")
	}
	user = ""
	if s.SignOut(); user != "" {
		t.Error("heard of a sign-out of nobody")
	}
}

func TestGuardsAskPrincipals(t *testing.T) {
	s := plainsite.New(t)
	fault := errors.New("the key store does not answer")
	latchkey.Plug(s.Auth, latchkey.Plugs{Principal: func(_ context.Context, r *latchkey.Request) (*latchkey.Session, error) {
		switch r.Header.Get("Authorization") {
		case "Bearer good":
			return &latchkey.Session{UserID: "robot", Via: "key"}, nil
		case "Bearer broken":
			return nil, fault
		}
		return nil, nil
	}})
	s.SignIn()
	for _, c := range []struct{ name, proof, user string }{
		{"another proof wins over the cookie", "Bearer good", "robot"},
		{"without one the cookie counts", "", plainsite.UserID},
		{"a fault is nobody", "Bearer broken", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen string
			guarded := s.Auth.RequireSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if found := latchkey.SessionFrom(r.Context()); found != nil {
					seen = found.UserID
				}
			}))
			s.Send(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.proof != "" {
					r.Header.Set("Authorization", c.proof)
				}
				guarded.ServeHTTP(w, r)
			}), http.MethodGet, "/private", nil)
			if seen != c.user {
				t.Errorf("the handler saw %q, want %q", seen, c.user)
			}
		})
	}
}

func TestSessionKeepsItsID(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"a row":                   func(*latchkey.Config) {},
		"a token that is tracked": func(c *latchkey.Config) { plainsite.AsTokens(c); c.Session.AbsoluteMaxAge = 30 * 24 * time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
			s := plainsite.New(t, change, func(c *latchkey.Config) { c.Runtime.Time = func() time.Time { return now } })
			s.SignIn()
			first := s.Session()
			for range 5 {
				now = now.Add(2 * 24 * time.Hour) // over the update age
				again := s.Session()
				if again == nil || again.ID != first.ID || first.ID == "" || !again.AuthTime.Equal(first.AuthTime) {
					t.Fatalf("%+v, want the id and sign-in of %+v", again, first)
				}
			}
			s.SignOut()
			s.SignIn()
			if next := s.Session(); next.ID == first.ID {
				t.Error("the next sign-in has the same id")
			}
		})
	}
}

// endingStore is what an engine may do: it removes what has expired by itself,
// and ends a transaction at the first conflict.
type endingStore struct {
	*memoryadapter.Adapter
	now func() time.Time

	mu        sync.Mutex
	conflicts int // that are still to come
	inTx      int // sessions that were made through a transaction's own Adapter
}

func (e *endingStore) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	row, u, err := e.Adapter.GetSessionAndUser(ctx, token)
	if err == nil && !e.now().Before(row.Expires) {
		return storage.StoredSession{}, latchkey.User{}, latchkey.ErrNotFound
	}
	return row, u, err
}

func (e *endingStore) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return e.Adapter.InTx(ctx, func(a storage.Adapter) error {
		return f(&endingTx{Adapter: a.(*memoryadapter.Adapter), of: e})
	})
}

type endingTx struct {
	*memoryadapter.Adapter
	of    *endingStore
	ended bool
}

var errEnded = errors.New("current transaction is aborted")

func (x *endingTx) CreateSession(ctx context.Context, s storage.StoredSession) error {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	if x.ended {
		return errEnded
	}
	if x.of.conflicts > 0 {
		x.of.conflicts--
		x.ended = true
		return latchkey.ErrConflict
	}
	x.of.inTx++
	return x.Adapter.CreateSession(ctx, s)
}

func TestEnginesThatEndThings(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	engine := &endingStore{now: func() time.Time { return now }}
	s := plainsite.New(t, func(c *latchkey.Config) {
		engine.Adapter = c.Adapter.(*memoryadapter.Adapter)
		c.Adapter, c.Runtime.Time = engine, engine.now
	})
	t.Run("a transaction that was ended by a conflict is tried again as a whole", func(t *testing.T) {
		engine.conflicts = 1
		if a := s.SignIn(); s.Session() == nil {
			t.Errorf("not signed in: %q", a.Header().Get("Location"))
		}
	})
	t.Run("abilities are those of the transaction's own adapter", func(t *testing.T) {
		if engine.inTx == 0 {
			t.Error("the session was made outside of the transaction")
		}
	})
	t.Run("a session that the engine has removed is nobody's, and the cookie goes", func(t *testing.T) {
		now = now.Add(40 * 24 * time.Hour)
		if s.Session() != nil || len(s.Jar) != 2 || s.Jar["__Secure-authjs.session-token"] != "" {
			t.Errorf("cookies %v, want that of the callback URL and the browser's", s.Jar)
		}
	})
}

// contextHandler is what tracing adds to a log.
type contextHandler struct {
	slog.Handler
	seen *[]string
}

type traceKey struct{}

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	if id, ok := ctx.Value(traceKey{}).(string); ok {
		*h.seen = append(*h.seen, id+" "+r.Message)
	}
	return h.Handler.Handle(ctx, r)
}

func (h contextHandler) Enabled(context.Context, slog.Level) bool { return true }

func TestLogHasTheContext(t *testing.T) {
	var seen []string
	s := plainsite.New(t, func(c *latchkey.Config) {
		c.Runtime.Logger = slog.New(contextHandler{slog.DiscardHandler, &seen})
	})
	traced := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Auth.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), traceKey{}, "trace-7")))
	})
	s.Send(traced, http.MethodPost, "/auth/callback/nobody", nil)
	if len(seen) != 1 || seen[0] != "trace-7 latchkey: InvalidProvider" {
		t.Errorf("the handler saw %q", seen)
	}
}
