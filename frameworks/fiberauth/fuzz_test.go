package fiberauth

import (
	"bufio"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp"

	"github.com/latchkeyhq/latchkey"
)

// a target that both take leads to the same path and query, and is for the
// same host, as on net/http; except where fasthttp, and with it Fiber's routes, takes
// the beginning of a path for a host: then to the same path as those. R-521: no
// target reaches a page behind a guard.
func FuzzTarget(f *testing.F) {
	for _, target := range []string{
		"/", "/auth/session?x=1&x=2", "/a%2Fb", "/%61uth", "//evil.example/auth", "http://evil.example/auth?y=http://z//", "/a?b?c", "/ä", "/a//b/../c",
		"/auth/signin?callbackUrl=http://x/y", "https://a@b/c", "/%zz", "/a;b=c", "/?", "http://h", "/a b", "//://", "//evil.example/auth?x=://",
		"private/x", "*", "?x", "//", "http://h?x", "x:y", "x//y://z", "%2F",
	} {
		f.Add(target)
	}
	reached := false
	guarded := guardedPage(f, func(c fiber.Ctx) error {
		reached = true
		return c.SendString("here")
	})
	f.Fuzz(func(t *testing.T, target string) {
		if strings.ContainsAny(target, "#\r\n") { // nobody sends fragments, and lines end there
			return
		}
		raw := "GET " + target + " HTTP/1.1\r\nHost: app.example\r\n\r\n"
		var got fasthttp.RequestCtx
		if err := got.Request.Header.Read(bufio.NewReader(strings.NewReader(raw))); err != nil {
			return
		}
		if guarded(&got); reached {
			t.Fatalf("R-521: %q reaches the page", target)
		}
		want, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil || want.URL.Path == "" { // which fasthttp gives a slash
			return
		}
		path := string(got.URI().PathOriginal())
		if isStrayPath(path) && path != want.URL.EscapedPath() && want.URL.Scheme == "" && !strings.Contains(target, "://") { // after a scheme net/http looks for a path, as in "x:/y"
			t.Fatalf("%q is a stray with the path %q, and on net/http %q", target, path, want.URL.EscapedPath())
		}
		r := headOf(&got)
		if strings.HasPrefix(target, "//") && strings.Contains(target, "://") {
			if r.URL.EscapedPath() != path && r.URL.Path != path || r.Host != want.Host {
				t.Errorf("%q: %q at %q, want %q at %q", target, r.URL.EscapedPath(), r.Host, path, want.Host)
			}
			return
		}
		if r.URL.EscapedPath() != want.URL.EscapedPath() || r.URL.RawQuery != want.URL.RawQuery || r.Host != want.Host {
			t.Errorf("%q: %q ? %q at %q, want %q ? %q at %q", target, r.URL.EscapedPath(), r.URL.RawQuery, r.Host,
				want.URL.EscapedPath(), want.URL.RawQuery, want.Host)
		}
	})
}

// guardedPage returns an app with page behind a guard for every target.
func guardedPage(f *testing.F, page fiber.Handler) fasthttp.RequestHandler {
	f.Helper()
	auth, err := latchkey.New(latchkey.Config{
		Secrets: []string{"a secret for tests that is long enough"},
		Site:    latchkey.Site{URL: "http://app.example"},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}},
			Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
				return latchkey.User{}, latchkey.ErrCredentialsSignin
			},
		}},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	}.WithEnv(func(string) string { return "" }))
	if err != nil {
		f.Fatal(err)
	}
	site, app := New(auth), fiber.New()
	app.Use(site.Middleware())
	app.Use(site.RequireSession())
	app.All("/*", page)
	return app.Handler()
}
