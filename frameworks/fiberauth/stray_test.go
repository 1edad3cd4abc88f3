package fiberauth_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"

	"github.com/latchkeyhq/latchkey/frameworks/fiberauth"
)

// strays are the parts of request lines that Fiber's middleware never sees.
var strays = []string{"//", "///", "%2F", "%2F%2F", "private/x", "private", "*", "?x", "?", ".", "..", "%2Fprivate/x", "http://HOST?x", "x:y"}

// ways are the ways to put a guard in front of a page, and whether it works. page is
// added behind them for every method and path.
var ways = map[string]struct {
	mount func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler)
	fault bool
}{
	"Mount and a guard": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		site.Mount(app)
		app.Use(site.RequireSession())
		app.All("/*", page)
	}},
	"Middleware and a guard": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use(site.Middleware())
		app.Use(site.RequireSession())
		app.All("/*", page)
	}},
	"Middleware and a guard for a prefix": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use(site.Middleware())
		app.Use("/private", site.RequireSession())
		app.All("/*", page)
	}},
	"a guard for every target": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use("*", site.RequireSession())
		app.All("/*", page)
	}},
	"a guard and a page for the empty path": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use("*", site.RequireSession())
		app.All("/:one?/:two?", page)
	}},
	"a guard and a page with a path": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use(site.RequireSession())
		app.All("/private/*", page)
		app.All("/:one/:two", page)
	}},
	"a guard in front of one page": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Get("/private/x", site.RequireSession(), page)
		app.Get("/*", func(c fiber.Ctx) error { return c.SendString("public") })
	}},
	"an app below another": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		members := fiber.New()
		site.Mount(members)
		members.Use("/private", site.RequireSession())
		app.Use("/", members)
		app.All("/*", page)
	}},
	"an app below one that is below another": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		members, between := fiber.New(), fiber.New()
		site.Mount(members)
		members.Use("/", site.RequireSession())
		between.Use("/private", members)
		app.Use("/", between)
		app.All("/*", page)
	}},
	"a guard alone": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use(site.RequireSession())
		app.All("/*", page)
	}, fault: true},
	"a guard alone, and a page for the empty path": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use(site.RequireSession())
		app.All("/:one?/:two?", page)
	}, fault: true},
	"a guard alone for a prefix": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use("/private", site.RequireSession())
		app.All("/*", page)
	}, fault: true},
	"a guard in front of a page for another method": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use(site.RequireSession())
		app.Get("/private/x", page)
		app.Post("/*", page)
	}, fault: true},
	"Mount behind the guard": {mount: func(site *fiberauth.Auth, app *fiber.App, page fiber.Handler) {
		app.Use(site.RequireSession())
		app.All("/*", page)
		site.Mount(app)
	}, fault: true},
}

// TestStrays is R-521: where a guard works, no request target gets around it. Where
// one would, the guard lets nobody in and the log names the cure. It found that every
// way to mount a guard with app.Use gives "private/x", "*", "?x" and "//" to a page
// with a star.
func TestStrays(t *testing.T) {
	site, routes := newAuth(t), fiber.New()
	site.Mount(routes)
	ada := openAs(t, serve(t, routes), "Ada").Cookies()
	for name, way := range ways {
		for kind, config := range map[string]fiber.Config{
			"": {}, ", unescaped": {UnescapePath: true}, ", strict and unescaped": {StrictRouting: true, CaseSensitive: true, UnescapePath: true},
		} {
			t.Run(name+kind, func(t *testing.T) {
				reached, app := 0, fiber.New(config) // each request is over before reached is read
				way.mount(site, app, func(c fiber.Ctx) error {
					reached++
					return c.SendString("here")
				})
				siteURL := serve(t, app)
				want := map[bool]int{false: http.StatusOK, true: http.StatusInternalServerError}[way.fault]
				if status := statusFor(t, siteURL+"/private/x", ada); status != want {
					t.Fatalf("R-521: a member gets status %d, want %d", status, want)
				}
				if reached = 0; !way.fault {
					sendStrays(t, siteURL, config.UnescapePath, &reached)
				}
			})
		}
	}
}

// statusFor asks for a page with cookies of another port, and returns its status.
func statusFor(t *testing.T, pageURL string, cookies []*http.Cookie) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, pageURL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range cookies {
		r.AddCookie(&http.Cookie{Name: k.Name, Value: k.Value, Quoted: k.Quoted})
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// sendStrays sends every stray, without a session, to an app whose page is behind a
// guard and counts in reached.
func sendStrays(t *testing.T, siteURL string, unescaped bool, reached *int) {
	t.Helper()
	host := strings.TrimPrefix(siteURL, "http://")
	targets := append([]string{"/private/x"}, strays...)
	if unescaped {
		targets = append(targets, "/%2F")
	}
	for _, target := range targets {
		for _, method := range []string{"GET", "POST"} {
			answer := raw(t, host, method+" "+strings.ReplaceAll(target, "HOST", host)+" HTTP/1.1\r\nHost: "+host+"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			if *reached != 0 {
				t.Fatalf("R-521: %s %s reaches the page: %s", method, target, answer)
			}
		}
	}
}
