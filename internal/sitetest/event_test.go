package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
)

// observed is a site that remembers its events.
func observed(t *testing.T, heard *[]latchkey.Event, change ...func(*latchkey.Config)) *plainsite.Site {
	t.Helper()
	return plainsite.New(t, append(change, func(c *latchkey.Config) {
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			*heard = append(*heard, e)
			return nil
		}
	})...)
}

func kinds(heard []latchkey.Event) string {
	var list []string
	for _, e := range heard {
		list = append(list, string(e.Type)+" "+string(e.Outcome))
	}
	return strings.Join(list, ", ")
}

func TestObserveSignIn(t *testing.T) {
	var heard []latchkey.Event
	s := observed(t, &heard)
	r := s.Request(http.MethodPost, "/auth/callback/password", map[string][]string{"name": {"ada"}, "password": {"wrong"}})
	r.Header.Set("User-Agent", "test/1")
	r.Header.Set("X-Request-Id", "req-1")
	s.Send(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { s.Auth.ServeHTTP(w, r) }), http.MethodPost, "/", nil)
	s.SignIn()
	id := s.Session().ID
	s.SignOut()
	if got, want := kinds(heard), "sign_in failure, sign_in success, session.ended success"; got != want {
		t.Fatalf("heard %s, want %s", got, want)
	}
	refused := heard[0]
	if refused.Reason != latchkey.ErrCredentialsSignin || refused.Provider != "password" || refused.ProviderType != latchkey.TypeCredentials ||
		refused.By.Kind != event.ActorVisitor || refused.Client != "192.0.2.1" || refused.UserAgent != "test/1" || refused.RequestID != "req-1" || refused.Err == nil {
		t.Errorf("refused: %+v", refused)
	}
	if e := heard[1]; e.UserID != plainsite.UserID || e.SessionID != id || e.By != (event.Actor{Kind: event.ActorUser, ID: plainsite.UserID}) || e.Reason != "" || e.Err != nil || e.Time.IsZero() {
		t.Errorf("signed in: %+v", e)
	}
	if e := heard[2]; e.UserID != plainsite.UserID || e.SessionID != id || e.Provider != "password" {
		t.Errorf("signed out: %+v", e)
	}
	for _, e := range heard {
		e.Detail = "" // signin.wrong, which is not what was typed
		text := fmt.Sprintf("%+v", e)
		for _, private := range []string{"Ada", "ada@", "lovelace", "wrong", s.Jar["__Secure-authjs.session-token"]} {
			if private != "" && strings.Contains(text, private) {
				t.Errorf("%s holds %q: %s", e.Type, private, text)
			}
		}
	}
}

func TestObserveRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		why    error
		reason latchkey.ErrorType
	}{
		{"the application says no", errors.New("banned"), latchkey.ErrAccessDenied},
		{"the application leads elsewhere", latchkey.RedirectTo("/waiting-list"), latchkey.ErrAccessDenied},
	} {
		t.Run(c.name, func(t *testing.T) {
			var heard []latchkey.Event
			s := observed(t, &heard, func(config *latchkey.Config) {
				config.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { return c.why }
			})
			s.SignIn()
			if len(heard) != 1 || heard[0].Outcome != event.Failed || heard[0].Reason != c.reason {
				t.Errorf("%+v", heard)
			}
		})
	}
}

// A closure is told exactly when its event is.
func TestObserveWithClosures(t *testing.T) {
	var order []string
	var heard []latchkey.Event
	s := observed(t, &heard, func(c *latchkey.Config) {
		c.Events.UnlinkAccount = func(context.Context, latchkey.LinkAccountEvent) error { order = append(order, "unlink"); return nil }
		c.Events.DeleteUser = func(context.Context, latchkey.User) error { order = append(order, "delete"); return nil }
	})
	for i := range 2 {
		if err := s.Store.LinkAccount(t.Context(), latchkey.Account{UserID: plainsite.UserID, Provider: "elsewhere", ProviderAccountID: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	u, ctx := s.Auth.Users(), t.Context()
	if err := errors.Join(u.Unlink(ctx, latchkey.AccountRef{UserID: plainsite.UserID, Provider: "elsewhere", ProviderAccountID: "0"}), u.Delete(ctx, plainsite.UserID)); err != nil {
		t.Fatal(err)
	}
	if err := u.Delete(ctx, plainsite.UserID); !errors.Is(err, latchkey.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if got, want := kinds(heard), "account.unlinked success, user.deleted success"; got != want || !slices.Equal(order, []string{"unlink", "delete"}) {
		t.Errorf("heard %s, closures %v", got, order)
	}
	for _, e := range heard {
		if e.By.Kind != event.ActorSystem || e.UserID != plainsite.UserID || e.Client != "" {
			t.Errorf("%+v", e)
		}
	}
}

func TestObserverChangesNothing(t *testing.T) {
	for name, observe := range map[string]func(context.Context, latchkey.Event) error{
		"fails":  func(context.Context, latchkey.Event) error { return errors.New("disk full") },
		"panics": func(context.Context, latchkey.Event) error { panic("oops") },
		"hangs":  nil, // until the test is over
	} {
		t.Run("an observer that "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if name == "hangs" {
					leave := make(chan struct{})
					observe = func(context.Context, latchkey.Event) error { <-leave; return nil }
					defer close(leave)
				}
				s := plainsite.New(t, func(c *latchkey.Config) { c.Events.Observe = observe })
				began := time.Now()
				s.SignIn()
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("held up for %v", took)
				}
				if s.Session() == nil {
					t.Error("not signed in")
				}
			})
		})
	}
}

// TestGrowingTypes: a program cannot depend on comparing values whose types will
// gain fields, nor on the order of their fields.
func TestGrowingTypes(t *testing.T) {
	for _, growing := range []reflect.Type{
		reflect.TypeFor[latchkey.Event](), reflect.TypeFor[latchkey.Session](),
		reflect.TypeFor[latchkey.SignInOptions](), reflect.TypeFor[latchkey.SignOutOptions](),
	} {
		if growing.Comparable() || growing.Field(0).Name != "_" {
			t.Errorf("%s can be compared, or written without the names of its fields", growing)
		}
	}
}
