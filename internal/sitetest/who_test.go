package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/storage"
)

// What the server knows of whoever is signed in, and the browser does not.

// the server knows who is signed in, and the browser learns no id.
func TestServerFieldsOfSession(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		change func(*latchkey.Config)
		want   latchkey.Session // but for User, Expires and ID
		hasID  bool
	}{
		{
			"a row", func(*latchkey.Config) {},
			latchkey.Session{UserID: plainsite.UserID, Provider: "password", Via: latchkey.ViaCookie, Assurance: latchkey.Assurance{AuthTime: now, Proved: now}},
			true,
		},
		{
			"a token says whose it is, and no more", plainsite.AsEndlessTokens,
			latchkey.Session{UserID: plainsite.UserID, Via: latchkey.ViaCookie},
			false,
		},
		{
			"a token read with the application's say", func(c *latchkey.Config) {
				plainsite.AsEndlessTokens(c)
				c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) { return u.Claims, nil }
			},
			latchkey.Session{UserID: plainsite.UserID, Via: latchkey.ViaCookie},
			false,
		},
		{
			"a token that is tracked", func(c *latchkey.Config) { plainsite.AsTokens(c); c.Session.AbsoluteMaxAge = time.Hour },
			latchkey.Session{UserID: plainsite.UserID, Via: latchkey.ViaCookie, Assurance: latchkey.Assurance{AuthTime: now, Proved: now}},
			true,
		},
		{
			"a token that is tracked, read with the application's say", func(c *latchkey.Config) {
				plainsite.AsTokens(c)
				c.Session.AbsoluteMaxAge = time.Hour
				c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) { return u.Claims, nil }
			},
			latchkey.Session{UserID: plainsite.UserID, Via: latchkey.ViaCookie, Assurance: latchkey.Assurance{AuthTime: now, Proved: now}},
			true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plainsite.New(t, c.change, func(c *latchkey.Config) { c.Runtime.Time = func() time.Time { return now } })
			s.SignIn()
			got := s.Session()
			if got == nil {
				t.Fatal("nobody is signed in")
			}
			if (got.ID != "") != c.hasID {
				t.Errorf("id %q", got.ID)
			}
			if raw, err := json.Marshal(got); err != nil || strings.Contains(string(raw), plainsite.UserID) || strings.Contains(strings.ToLower(string(raw)), "via") {
				t.Errorf("in JSON it is %s, %v", raw, err)
			}
			known := latchkey.Session{
				Extra: got.Extra, UserID: got.UserID, Tenant: got.Tenant, Provider: got.Provider, Via: got.Via, Assurance: got.Assurance,
			}
			if !reflect.DeepEqual(known, c.want) {
				t.Errorf("%+v, want %+v", known, c.want)
			}
			if a := s.Send(s.Auth, http.MethodGet, "/auth/session", nil); strings.Contains(a.Body.String(), plainsite.UserID) {
				t.Errorf("the browser sees %s", a.Body)
			}
		})
	}
}

func TestNoCallbackChangesServerFields(t *testing.T) {
	shared := &latchkey.Session{UserID: "somebody", Via: "else", Extra: latchkey.Claims{"role": "editor"}}
	for name, shape := range map[string]func(*latchkey.Session) *latchkey.Session{
		"the session itself": func(s *latchkey.Session) *latchkey.Session {
			s.UserID, s.ID, s.Via, s.AuthTime = "somebody", "other", "else", time.Time{}
			return s
		},
		"another one": func(*latchkey.Session) *latchkey.Session { return shared },
	} {
		t.Run(name, func(t *testing.T) {
			s := plainsite.New(t, func(c *latchkey.Config) {
				c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
					if r.Stored == nil || r.Stored.UserID != plainsite.UserID || r.Stored.ID != r.Session.ID {
						t.Errorf("the stored row is %+v", r.Stored)
					}
					return shape(r.Session), nil
				}
			})
			s.SignIn()
			got := s.Session()
			if got == nil || got.UserID != plainsite.UserID || got.Via != latchkey.ViaCookie || got.ID == "other" || got.ID == "" || got.AuthTime.IsZero() {
				t.Errorf("%+v", got)
			}
			if shared.UserID != "somebody" || shared.ID != "" {
				t.Error("the application's own session was changed")
			}
		})
	}
}

func TestSessionEventHasTheRow(t *testing.T) {
	var heard latchkey.SessionEvent
	s := plainsite.New(t, func(c *latchkey.Config) {
		c.Events.Session = func(_ context.Context, e latchkey.SessionEvent) error { heard = e; return nil }
	})
	s.SignIn()
	if s.Session(); heard.Stored == nil || heard.Stored.UserID != plainsite.UserID || heard.Session.UserID != plainsite.UserID {
		t.Errorf("%+v", heard)
	}
}

// lookupStore counts lookups of users.
type lookupStore struct {
	*memoryadapter.Adapter
	users atomic.Int32
}

func (c *lookupStore) GetUser(ctx context.Context, id string) (latchkey.User, error) {
	c.users.Add(1)
	return c.Adapter.GetUser(ctx, id)
}

func TestCurrentUser(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*latchkey.Config)
		lookups  int32
		verified bool // known to the store alone
	}{
		{"with a row it comes along", func(*latchkey.Config) {}, 0, true},
		{"with a token it is looked up, once", plainsite.AsTokens, 1, true},
		{"without a store the token says", func(c *latchkey.Config) { plainsite.AsTokens(c); c.Adapter = nil }, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &lookupStore{}
			s := plainsite.New(t, func(config *latchkey.Config) {
				store.Adapter = config.Adapter.(*memoryadapter.Adapter)
				config.Adapter = store
				c.change(config)
			})
			s.SignIn()
			store.users.Store(0)
			s.Look(func(ctx context.Context) {
				for range 3 {
					u, err := s.Auth.CurrentUser(ctx)
					if err != nil || u.ID != plainsite.UserID || u.Name != "Ada" || u.Email != "ada@example.com" || u.EmailVerified.IsZero() == c.verified {
						t.Fatalf("%+v, %v", u, err)
					}
					u.Name = "changed by the caller"
				}
			})
			if got := store.users.Load(); got != c.lookups {
				t.Errorf("%d lookups, want %d", got, c.lookups)
			}
		})
	}
	t.Run("R-304 nobody", func(t *testing.T) {
		s := plainsite.New(t)
		s.Look(func(ctx context.Context) {
			if u, err := s.Auth.CurrentUser(ctx); !errors.Is(err, latchkey.ErrNoSession) {
				t.Errorf("%+v, %v", u, err)
			}
		})
		if _, err := s.Auth.CurrentUser(t.Context()); !errors.Is(err, latchkey.ErrNoSession) {
			t.Errorf("without LoadSession: %v", err)
		}
	})
	t.Run("a user who was deleted", func(t *testing.T) {
		s := plainsite.New(t, plainsite.AsTokens)
		s.SignIn()
		if err := s.Auth.Users().Delete(t.Context(), plainsite.UserID); err != nil {
			t.Fatal(err)
		}
		s.Look(func(ctx context.Context) {
			if u, err := s.Auth.CurrentUser(ctx); !errors.Is(err, latchkey.ErrNoSession) {
				t.Errorf("%+v, %v", u, err)
			}
		})
	})
	t.Run("two sites in one program", func(t *testing.T) {
		s, other := plainsite.New(t), plainsite.New(t)
		s.SignIn()
		s.Look(func(ctx context.Context) {
			if u, err := other.Auth.CurrentUser(ctx); !errors.Is(err, latchkey.ErrNoSession) {
				t.Errorf("the other site knows %+v, %v", u, err)
			}
			if _, err := other.Auth.Core().SignOut(ctx, neutral(s, "/"), latchkey.SignOutOptions{}); err != nil {
				t.Error(err)
			}
			if latchkey.SessionFrom(ctx) == nil {
				t.Error("a sign-out at the other site ended this session")
			}
		})
	})
	t.Run("a session that was put into the context", func(t *testing.T) {
		s := plainsite.New(t)
		ctx := latchkey.ContextWithSession(t.Context(), &latchkey.Session{UserID: plainsite.UserID})
		if found := latchkey.SessionFrom(ctx); found == nil || found.UserID != plainsite.UserID {
			t.Errorf("%+v", found)
		}
		if u, err := s.Auth.CurrentUser(ctx); err != nil || u.Name != "Ada" {
			t.Errorf("%+v, %v", u, err)
		}
		if latchkey.SessionFrom(latchkey.ContextWithSession(ctx, nil)) != nil {
			t.Error("nil is somebody")
		}
	})
}

// an empty id is an error, and never "no devices".
func TestUsersRefuseAnEmptyID(t *testing.T) {
	s := plainsite.New(t)
	u, ctx := s.Auth.Users(), t.Context()
	for name, do := range map[string]func() error{
		"Get":              func() error { _, err := u.Get(ctx, ""); return err },
		"Accounts":         func() error { _, err := u.Accounts(ctx, ""); return err },
		"Unlink":           func() error { return u.Unlink(ctx, latchkey.AccountRef{Provider: "elsewhere", ProviderAccountID: "1"}) },
		"Sessions":         func() error { _, err := u.Sessions(ctx, ""); return err },
		"EndSession":       func() error { return u.EndSession(ctx, "", "1") },
		"EndSessions":      func() error { return u.EndSessions(ctx, "") },
		"EndOtherSessions": func() error { return u.EndOtherSessions(ctx, "", "") },
		"Delete":           func() error { return u.Delete(ctx, "") },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "user id is empty") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := u.Get(ctx, plainsite.UserID); err != nil || got.Name != "Ada" {
		t.Errorf("Get: %+v, %v", got, err)
	}
	if _, err := u.Get(ctx, "nobody"); !errors.Is(err, latchkey.ErrNotFound) {
		t.Errorf("Get of nobody: %v", err)
	}
}

// plainStore is an Adapter that cannot list sessions.
type plainStore struct {
	storage.Adapter
	storage.SessionAdapter
}

func TestEndSessionsNeedsAList(t *testing.T) {
	s := plainsite.New(t, func(c *latchkey.Config) {
		c.Adapter = plainStore{c.Adapter, c.Adapter.(storage.SessionAdapter)}
	})
	for name, err := range map[string]error{
		"EndSessions":      s.Auth.Users().EndSessions(t.Context(), plainsite.UserID),
		"EndOtherSessions": s.Auth.Users().EndOtherSessions(t.Context(), plainsite.UserID, "x"),
		"EndSession":       s.Auth.Users().EndSession(t.Context(), plainsite.UserID, "x"),
	} {
		if !errors.Is(err, latchkey.ErrMissingAdapterMethods) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An empty keep is no way to end all sessions, of either kind.
func TestEndOtherSessionsNeedsOneToKeep(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"stored sessions": func(*latchkey.Config) {},
		"JWT sessions":    func(c *latchkey.Config) { c.Session.Strategy = latchkey.JWTSessions },
	} {
		t.Run(name, func(t *testing.T) {
			s := plainsite.New(t, change)
			s.SignIn()
			if err := s.Auth.Users().EndOtherSessions(t.Context(), plainsite.UserID, ""); err == nil || !strings.Contains(err.Error(), "Users.EndSessions") {
				t.Errorf("EndOtherSessions without a session to keep: %v", err)
			}
			if s.Session() == nil {
				t.Error("the session has ended")
			}
			if err := s.Auth.Users().EndSessions(t.Context(), plainsite.UserID); err != nil {
				t.Errorf("EndSessions: %v", err)
			}
			if s.Session() != nil {
				t.Error("the session goes on")
			}
		})
	}
}

func TestEndOtherSessions(t *testing.T) {
	here := func(ctx context.Context) string {
		s := latchkey.SessionFrom(ctx)
		return s.ID
	}
	s := plainsite.New(t)
	s.SignIn()
	s.Jar = map[string]string{}
	s.SignIn()
	s.Look(func(ctx context.Context) {
		if err := s.Auth.Users().EndOtherSessions(ctx, plainsite.UserID, here(ctx)); err != nil {
			t.Fatal(err)
		}
	})
	if left, err := s.Auth.Users().Sessions(t.Context(), plainsite.UserID); len(left) != 1 || err != nil {
		t.Errorf("%d sessions, %v", len(left), err)
	}
	if s.Session() == nil {
		t.Error("the session of the context has ended")
	}
	s.Look(func(ctx context.Context) { // somebody else's
		if err := s.Auth.Users().EndOtherSessions(ctx, "eve", here(ctx)); err != nil {
			t.Fatal(err)
		}
	})
	if s.Session() == nil {
		t.Error("the sessions of another user ended this one")
	}
}
