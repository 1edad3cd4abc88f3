package fiberauth_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/timeout"
	"github.com/latchkeyhq/latchkey"
)

// Requests of one connection share their memory. Nobody gets to see anything of
// another's, however long they keep what they got.
func TestKeptBeyondTheRequest(t *testing.T) {
	for name, config := range map[string]fiber.Config{"as it is": {}, "immutable": {Immutable: true}, "streamed": {StreamRequestBody: true}} {
		t.Run(name, func(t *testing.T) { proveKept(t, config) })
	}
}

func proveKept(t *testing.T, config fiber.Config) {
	t.Helper()
	auth := newAuth(t)
	app := fiber.New(config)
	app.Use(auth.Middleware())
	var sessions []*latchkey.Session
	var forms []*latchkey.Forms
	var contexts []context.Context // of people whose session nobody has looked at
	app.Get("/keep", func(c fiber.Ctx) error {
		s, err := auth.Session(c)
		if err != nil {
			return err
		}
		f, err := auth.Forms(c)
		if err != nil {
			return err
		}
		sessions, forms = append(sessions, s), append(forms, f)
		return c.SendString(s.User.Name)
	})
	app.Get("/unread", func(c fiber.Ctx) error {
		contexts = append(contexts, c.Context())
		if s := latchkey.SessionFrom(c); s != nil {
			t.Errorf("R-451: c itself has the session of %s", s.User.Name)
		}
		return c.SendString("unread")
	})
	at := serve(t, app)
	var people []string
	for i := range 8 {
		name := fmt.Sprint("Person-", i)
		people = append(people, name)
		browser := openAs(t, at, name)
		says(t, browser.Get("/keep?callbackUrl=%2Fof-"+name), http.StatusOK, name)
		says(t, browser.Get("/unread"), http.StatusOK, "unread")
		says(t, browser.Get("/keep?callbackUrl=%2Fof-"+name), http.StatusOK, name)
	}
	for i, name := range people {
		for _, n := range []int{2 * i, 2*i + 1} {
			if got := sessions[n].User.Name; got != name || sessions[n].UserID != "id-of-"+name {
				t.Errorf("R-451: the session of %s is one of %s", name, got)
			}
			if got := forms[n]; got.Session.User.Name != name || got.RedirectTo != at+"/of-"+name {
				t.Errorf("R-451: the forms of %s lead %s to %s", name, got.Session.User.Name, got.RedirectTo)
			}
		}
		if s := latchkey.SessionFrom(contexts[i]); s != nil {
			t.Errorf("R-451: whoever looks at %s's session late sees %s", name, s.User.Name)
		}
		if _, err := auth.Auth().CurrentUser(contexts[i]); err == nil {
			t.Errorf("R-451: there is a user in the late context of %s", name)
		}
	}
}

// What is typed is Fiber's memory, and callbacks may keep what they are given.
func TestTypedValuesAreCopied(t *testing.T) {
	var kept []string
	auth := newAuth(t, func(c *latchkey.Config) {
		c.Pages.SignIn = "/login"
		c.Callbacks.Redirect = func(_ context.Context, to, base string) (string, error) {
			kept = append(kept, to)
			return base + "/", nil
		}
	})
	app := fiber.New()
	app.Post("/option", func(c fiber.Ctx) error {
		err := auth.SignIn(c, "", latchkey.SignInOptions{RedirectTo: c.FormValue("to")})
		return err
	})
	app.Post("/field", func(c fiber.Ctx) error {
		err := auth.SignIn(c, "", latchkey.SignInOptions{Form: url.Values{"redirectTo": {c.FormValue("to")}}})
		return err
	})
	app.Post("/out", func(c fiber.Ctx) error {
		err := auth.SignOut(c, latchkey.SignOutOptions{RedirectTo: c.FormValue("to")})
		return err
	})
	browser := openAs(t, serve(t, app), "")
	want := []string{"/for-Ada", "/for-Tim", "/for-Eve", "/for-Bob"}
	for _, action := range []string{"/option", "/field", "/out"} {
		kept = nil
		for _, to := range want {
			if p := browser.Post(action, url.Values{"to": {to}}); p.Location() == nil {
				t.Fatalf("%s: status %d: %s", action, p.Status, p.Body)
			}
		}
		for i, to := range want {
			if len(kept) != len(want) || !strings.HasSuffix(kept[i], to) {
				t.Errorf("R-451: %s has kept %q, want %q", action, kept, want)
				break
			}
		}
	}
}

// Goroutines that outlive their handlers look at sessions while the connection
// goes on.
func TestLateGoroutines(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New()
	app.Use(auth.LoadSession())
	auth.Mount(app)
	var late sync.WaitGroup
	app.Get("/late/:name", func(c fiber.Ctx) error {
		ctx, name := c.Context(), fmt.Sprint(c.Params("name"), "")
		name = string(append([]byte(nil), name...))
		for range 4 {
			late.Go(func() {
				if s := latchkey.SessionFrom(ctx); s != nil && s.User.Name != name {
					t.Errorf("R-451: %s sees the session of %s", name, s.User.Name)
				}
			})
		}
		return c.SendString("gone")
	})
	at := serve(t, app)
	var crowd sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprint("Person-", i)
		browser := openAs(t, at, name)
		crowd.Go(func() {
			for range 50 {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/late/"+name, http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				for _, k := range browser.Cookies() {
					r.AddCookie(&http.Cookie{Name: k.Name, Value: k.Value})
				}
				res, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				_ = res.Body.Close()
			}
		})
	}
	crowd.Wait()
	late.Wait()
}

// A handler that Fiber has given up on keeps its own request.
func TestAbandonedHandler(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New()
	app.Use(auth.Middleware())
	let, found := make(chan struct{}), make(chan string, 1)
	app.Get("/slow", timeout.New(func(c fiber.Ctx) error {
		<-let
		s := latchkey.SessionFrom(c.Context())
		if s == nil {
			found <- "nobody"
			return nil
		}
		found <- s.User.Name
		return nil
	}, timeout.Config{Timeout: time.Millisecond}))
	app.Get("/who", who(auth))
	at := serve(t, app)
	ada, grace := openAs(t, at, "Ada"), openAs(t, at, "Grace")
	says(t, ada.Get("/slow"), http.StatusRequestTimeout, "")
	for range 5 {
		says(t, grace.Get("/who"), http.StatusOK, "here is Grace")
	}
	close(let)
	if got := <-found; got != "Ada" && got != "nobody" {
		t.Errorf("R-451: Ada's handler sees %s", got)
	}
}

// A stream is written when its handler is done, and knows who it is for.
func TestStream(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New()
	app.Use(auth.Middleware())
	app.Get("/early", func(c fiber.Ctx) error {
		s, err := auth.Session(c)
		if err != nil {
			return err
		}
		return c.SendStreamWriter(func(w *bufio.Writer) { _, _ = w.WriteString("here is " + s.User.Name) })
	})
	app.Get("/late", func(c fiber.Ctx) error {
		ctx := c.Context()
		return c.SendStreamWriter(func(w *bufio.Writer) {
			_, _ = w.WriteString("here ")
			_ = w.Flush()
			s := latchkey.SessionFrom(ctx)
			if s == nil {
				_, _ = w.WriteString("is nobody")
				return
			}
			_, _ = w.WriteString("is " + s.User.Name)
		})
	})
	at := serve(t, app)
	browser := openAs(t, at, "Ada")
	p := browser.Get("/early")
	says(t, p, http.StatusOK, "here is Ada")
	if len(p.Header.Values("Set-Cookie")) == 0 || p.Header.Get("Vary") != "Cookie" {
		t.Errorf("the session is not renewed: %v", p.Header)
	}
	says(t, browser.Get("/late"), http.StatusOK, "here is Ada")
}

// TestAfterTheHandler is R-699: what is called with a request that Fiber has taken back
// returns an error and does not panic, whether or not the site has a URL of its own.
func TestAfterTheHandler(t *testing.T) {
	for _, origin := range []string{"", "https://app.example"} {
		auth := newAuth(t, func(c *latchkey.Config) { c.Site.URL = origin })
		app := fiber.New()
		var c fiber.Ctx
		app.Get("/keep", func(of fiber.Ctx) error { c = of; return of.SendString("kept") })
		says(t, openAs(t, serve(t, app), "").Get("/keep"), http.StatusOK, "kept")
		calls := map[string]func() error{
			"Session":       func() error { _, err := auth.Session(c); return err },
			"CurrentUser":   func() error { _, err := auth.CurrentUser(c); return err },
			"SignIn":        func() error { return auth.SignIn(c, "", latchkey.SignInOptions{}) },
			"SignInURL":     func() error { _, err := auth.SignInURL(c, "", latchkey.SignInOptions{}); return err },
			"AccessToken":   func() error { _, err := auth.AccessToken(c, "x", latchkey.TokenOptions{}); return err },
			"Link":          func() error { return auth.Link(c, "x", latchkey.LinkOptions{}) },
			"LinkURL":       func() error { _, err := auth.LinkURL(c, "x", latchkey.LinkOptions{}); return err },
			"SignOut":       func() error { return auth.SignOut(c, latchkey.SignOutOptions{}) },
			"SignOutURL":    func() error { _, err := auth.SignOutURL(c, latchkey.SignOutOptions{}); return err },
			"UpdateSession": func() error { _, err := auth.UpdateSession(c, nil); return err },
			"CSRFToken":     func() error { _, err := auth.CSRFToken(c); return err },
			"Forms":         func() error { _, err := auth.Forms(c); return err },
			"UI":            func() error { _, err := auth.UI(c); return err },
			"WriteError":    func() error { return auth.WriteError(c, latchkey.ErrNoSession) },
		}
		for name, call := range calls {
			if err := call(); err == nil {
				t.Errorf("R-699: %s of a site with the URL %q returns no error", name, origin)
			}
		}
		if _, err := auth.ActionURL(c, "signin"); (err == nil) != (origin != "") || auth.Match(c) {
			t.Errorf("R-699: the URL of an action: %v", err)
		}
	}
}
