package echoauth_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v5"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/echoauth"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
)

// What is Echo's own, and no other framework has like this.

// quiet is an Echo that logs nothing.
func quiet() *echo.Echo {
	e := echo.New()
	e.Logger = slog.New(slog.DiscardHandler)
	return e
}

// newSessions lets anybody in who says a name.
func newSessions(t testing.TB) *echoauth.Auth {
	t.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Secrets: []string{"a secret for tests that is long enough"},
		Site:    latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{ID: typed["name"], Name: typed["name"]}, nil
			},
		}},
	}.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	return echoauth.New(auth)
}

// An error of a handler behind the guards reaches Echo's own error handler, and the
// renewed session goes out with its answer.
func TestErrorsOfHandlers(t *testing.T) {
	sessions, e := newSessions(t), quiet()
	var handled []error
	standard := e.HTTPErrorHandler
	e.HTTPErrorHandler = func(c *echo.Context, err error) {
		handled = append(handled, err)
		standard(c, err)
	}
	e.Use(sessions.Middleware())
	broken := errors.New("broken")
	e.GET("/broken", func(*echo.Context) error { return broken }, sessions.RequireSession())
	e.GET("/gone", func(*echo.Context) error { return echo.NewHTTPError(http.StatusGone, "moved away") }, sessions.LoadSession())
	e.POST("/login", sessions.SignInAction(func(*echo.Context) error { return broken }))
	c := latchkeytest.NewClient(t, e)
	c.SignInCredentials(map[string]string{"name": "Ada"})
	for path, want := range map[string]int{"/broken": http.StatusInternalServerError, "/gone": http.StatusGone} {
		if p := c.Get(path); p.Status != want {
			t.Errorf("R-452: %s: %d", path, p.Status)
		}
	}
	if p := c.Get("/broken"); len(p.Header.Values("Set-Cookie")) == 0 {
		t.Error("the session is not kept alive")
	}
	if p := c.Post("/login", map[string][]string{"providerId": {"nobody"}}); p.Status != http.StatusInternalServerError {
		t.Errorf("R-452: the page of a form action: %d", p.Status)
	}
	if len(handled) != 4 || !errors.Is(handled[3], broken) {
		t.Errorf("R-452: handled %v", handled)
	}
}

// A handler may return what a guard would have answered.
func TestErrorHandler(t *testing.T) {
	sessions, e := newSessions(t), quiet()
	e.HTTPErrorHandler = sessions.ErrorHandler(nil)
	sessions.Mount(e)
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			if c.Request().URL.Path == "/auth/providers" {
				return latchkey.ErrNoSession
			}
			return next(c)
		}
	})
	e.GET("/me", func(c *echo.Context) error {
		s, err := sessions.Session(c)
		if err != nil {
			return err
		}
		return c.String(http.StatusOK, s.User.Name)
	})
	e.POST("/vote", func(c *echo.Context) error {
		_ = c.FormValue("choice")
		return latchkey.ErrAccessDenied
	})
	e.GET("/old", func(*echo.Context) error { return latchkey.RedirectTo("/new") })
	e.GET("/late", func(c *echo.Context) error {
		return errors.Join(c.String(http.StatusOK, "begun"), latchkey.ErrNoSession)
	})
	e.GET("/broken", func(*echo.Context) error { return errors.New("broken") })
	c := latchkeytest.NewClient(t, e)
	for _, row := range []struct {
		name, path string
		script     bool
		status     int
	}{
		{"people are led to the sign-in page", "/me", false, http.StatusFound},
		{"scripts are told", "/me", true, http.StatusUnauthorized},
		{"a redirect", "/old", false, http.StatusFound},
		{"an answer that is under way stays", "/late", false, http.StatusOK},
		{"another error is Echo's", "/broken", false, http.StatusInternalServerError},
		{"an error at a route of the library's own is Echo's", "/auth/providers", false, http.StatusInternalServerError},
	} {
		get := c.Get
		if row.script {
			get = func(path string) *latchkeytest.Page { return c.Fetch(http.MethodGet, path, nil, nil) }
		}
		if p := get(row.path); p.Status != row.status {
			t.Errorf("R-452: %s: %d to %q", row.name, p.Status, p.Header.Get("Location"))
		}
	}
	c.SignInCredentials(map[string]string{"name": "Ada"})
	if p := c.Get("/me"); string(p.Body) != "Ada" {
		t.Errorf("R-452: signed in: %d %q", p.Status, p.Body)
	}
	if p := c.Post("/vote", map[string][]string{"choice": {"a"}}); p.Status != http.StatusForbidden {
		t.Errorf("R-452: somebody who may not: %d", p.Status)
	}
}

// An answer of the library is an answer to Echo as well: nothing is written twice,
// and what logs knows the status.
func TestAnswersAreCommitted(t *testing.T) {
	sessions, e := newSessions(t), quiet()
	var status int
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			if err := next(c); err != nil {
				return err
			}
			r, err := echo.UnwrapResponse(c.Response())
			if err != nil || !r.Committed {
				t.Errorf("R-452: not committed: %v", err)
				return nil
			}
			status = r.Status
			return nil
		}
	})
	sessions.Mount(e)
	e.GET("/members", func(c *echo.Context) error { return c.String(http.StatusOK, "mine") }, sessions.RequireSession())
	c := latchkeytest.NewClient(t, e)
	for path, want := range map[string]int{"/members": http.StatusFound, "/auth/session": http.StatusOK, "/auth/callback/none": http.StatusFound} {
		if p := c.Get(path); p.Status != want || status != want {
			t.Errorf("R-452: %s: %d, logged %d", path, p.Status, status)
		}
	}
}

// Before the router, the hook answers as well as behind it.
func TestHookInFrontOfTheRouter(t *testing.T) {
	sessions, e := newSessions(t), quiet()
	e.Pre(sessions.Middleware())
	e.GET("/", func(c *echo.Context) error {
		s := latchkey.SessionFrom(c.Request().Context())
		return c.String(http.StatusOK, "here is "+s.User.Name)
	})
	c := latchkeytest.NewClient(t, e)
	c.SignInCredentials(map[string]string{"name": "Ada"})
	for path, want := range map[string]string{"/": "200 here is Ada", "/auth/session": `200 {"user":{"name":"Ada"`, "/auth/nothing": "404 {"} {
		if p := c.Get(path); !strings.HasPrefix(fmt.Sprintf("%d %s", p.Status, p.Body), want) {
			t.Errorf("R-452: %s: %d %s", path, p.Status, p.Body)
		}
	}
}

// A guard in front of everything answers the routes as well, mounted or not.
func TestGuardAlone(t *testing.T) {
	sessions, e := newSessions(t), quiet()
	e.Use(sessions.RequireSession())
	e.GET("/members", func(c *echo.Context) error { return c.String(http.StatusOK, "mine") })
	c := latchkeytest.NewClient(t, e)
	if p := c.Get("/members"); p.Status != http.StatusFound {
		t.Errorf("R-452: a stranger gets %d", p.Status)
	}
	c.SignInCredentials(map[string]string{"name": "Ada"})
	if p := c.Get("/members"); string(p.Body) != "mine" {
		t.Errorf("R-452: a member gets %d %s", p.Status, p.Body)
	}
}

func TestCatchAll(t *testing.T) {
	sessions, e := newSessions(t), quiet()
	e.Any("/auth/*", sessions.Handler())
	c := latchkeytest.NewClient(t, e)
	for path, want := range map[string]string{"/auth/session": "200 null", "/auth/session/": "200 null", "/auth/nothing": "404 <!"} {
		if p := c.Get(path); !strings.HasPrefix(fmt.Sprintf("%d %s", p.Status, p.Body), want) {
			t.Errorf("R-452: %s: %d %s", path, p.Status, p.Body)
		}
	}
}

func TestMountBesideTheGroup(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "/shop") {
			t.Errorf("mounted where nothing is routed: %v", p)
		}
	}()
	newSessions(t).Mount(quiet().Group("/shop"), "/shop")
}

func BenchmarkOverhead(b *testing.B) {
	sessions := newSessions(b)
	site := func(front ...echo.MiddlewareFunc) http.Handler {
		e := quiet()
		e.Use(front...)
		e.GET("/", func(c *echo.Context) error { return c.NoContent(http.StatusOK) })
		return e
	}
	frameworktest.Overhead(b, site(), site(sessions.Middleware()))
}
