package fiberauth_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/frameworks/fiberauth"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

const password = "lovelace"

// site is a configuration that lets anybody in who knows the password.
func site(change ...func(*latchkey.Config)) *latchkey.Config {
	c := latchkey.Config{
		Secrets: []string{"a secret for tests that is long enough"},
		Site:    latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Adapter: memoryadapter.New(memoryadapter.Options{}), Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		AccountPage: latchkey.AccountPage{Enabled: true},
		Runtime:     latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if typed["password"] != password {
					return latchkey.User{}, latchkey.ErrCredentialsSignin
				}
				return latchkey.User{ID: "id-of-" + typed["name"], Name: typed["name"]}, nil
			},
		}},
	}.WithEnv(func(string) string { return "" })
	for _, f := range change {
		f(&c)
	}
	return &c
}

func newAuth(t testing.TB, change ...func(*latchkey.Config)) *fiberauth.Auth {
	t.Helper()
	auth, err := latchkey.New(*site(change...))
	if err != nil {
		t.Fatal(err)
	}
	return fiberauth.New(auth)
}

// serve serves app on a loopback port until the test ends, and returns its URL.
func serve(t testing.TB, app *fiber.App) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = app.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true})
	}()
	t.Cleanup(func() {
		_ = app.ShutdownWithTimeout(5 * time.Second)
		<-done
	})
	return "http://" + listener.Addr().String()
}

// openAs opens a site in a browser of somebody who has signed in; empty: of
// nobody.
func openAs(t *testing.T, siteURL, name string) *latchkeytest.Client {
	t.Helper()
	c := latchkeytest.NewClientAt(t, siteURL)
	if name != "" {
		c.SignInCredentials(map[string]string{"name": name, "password": password})
	}
	return c
}

// who says who is signed in.
func who(auth *fiberauth.Auth) fiber.Handler {
	return func(c fiber.Ctx) error {
		s, err := auth.Session(c)
		if err != nil {
			return c.SendString("here is nobody")
		}
		return c.SendString("here is " + s.User.Name)
	}
}

// says compares what a page says.
func says(t *testing.T, p *latchkeytest.Page, status int, text string) {
	t.Helper()
	if p.Status != status || !strings.Contains(string(p.Body), text) {
		t.Errorf("status %d, want %d with %q: %s", p.Status, status, text, p.Body)
	}
}

// leads compares where a page leads to.
func leads(t *testing.T, p *latchkeytest.Page, want string) {
	t.Helper()
	to := p.Location()
	if to == nil {
		t.Errorf("status %d and no redirect to %s: %s", p.Status, want, p.Body)
		return
	}
	if without := (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String(); without != want {
		t.Errorf("leads to %s, want %s", without, want)
	}
}

// ask asks for a page with header lines of the test's own, signed in as c.
func ask(t *testing.T, c *latchkeytest.Client, method, pageURL string, header http.Header, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, pageURL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, lines := range header {
		r.Header[name] = lines
	}
	if c != nil {
		for _, k := range c.Cookies() {
			r.AddCookie(&http.Cookie{Name: k.Name, Value: k.Value})
		}
	}
	res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// TestLookAfterTheRoute is R-620: an access log that reads the session behind c.Next
// undoes no sign-out, no change of user and no update.
func TestLookAfterTheRoute(t *testing.T) {
	for name, own := range map[string]func(fiber.Ctx) context.Context{
		"the context of the route": fiber.Ctx.Context,
		"a context of its own":     func(fiber.Ctx) context.Context { return context.Background() }, // as after Fiber's timeout
	} {
		auth := newAuth(t, func(c *latchkey.Config) {
			c.Adapter, c.AccountPage.Enabled = nil, false
			c.Callbacks.Token = func(_ context.Context, i latchkey.TokenInfo) (latchkey.Claims, error) {
				if i.Trigger == latchkey.TriggerUpdate {
					i.Claims["name"] = "guest"
				}
				return i.Claims, nil
			}
		})
		app := fiber.New(fiber.Config{ReadBufferSize: fiberauth.ReadBufferSize})
		app.Use(func(c fiber.Ctx) error {
			err := c.Next()
			c.SetContext(own(c))
			_, _ = auth.Session(c)
			return err
		})
		auth.Mount(app)
		app.Get("/", who(auth))
		at := serve(t, app)
		as := func(name string) *latchkeytest.Client {
			b := latchkeytest.NewClientAt(t, at)
			b.Post("/auth/callback/credentials", url.Values{"name": {name}, "password": {password}})
			return b
		}
		for _, c := range []struct {
			name, want string
			decide     func(*latchkeytest.Client)
		}{
			{"R-620 sign-out", "here is nobody", func(b *latchkeytest.Client) { b.Post("/auth/signout", nil) }},
			{"R-620 another user", "here is bob", func(b *latchkeytest.Client) {
				b.Post("/auth/callback/credentials", url.Values{"name": {"bob"}, "password": {password}})
			}},
			{"R-620 update", "here is guest", func(b *latchkeytest.Client) {
				b.Fetch(http.MethodPost, "/auth/session", map[string]any{"data": map[string]any{}, "csrfToken": b.CSRFToken()}, nil)
			}},
		} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				b := as("ada")
				if got := string(b.Get("/").Body); got != "here is ada" {
					t.Fatal(got)
				}
				c.decide(b)
				if got := string(b.Get("/").Body); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		}
	}
}
