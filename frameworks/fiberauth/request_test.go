package fiberauth_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/csrf"
	"github.com/gofiber/fiber/v3/middleware/encryptcookie"
	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/fiberauth"
)

// seen serves a site that tells its requests to a configuration of their own.
func seen(t *testing.T, config fiber.Config) (siteURL string, last func() *latchkey.Request) {
	t.Helper()
	var got *latchkey.Request
	c := site()
	auth, err := latchkey.NewFunc(latchkey.Func{Config: func(_ context.Context, r *latchkey.Request) (*latchkey.Config, error) {
		got = r
		return c, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(config)
	app.Use(func(c fiber.Ctx) error {
		if c.Path() == "/old" {
			c.Path("/auth/session")
			return c.RestartRouting()
		}
		return c.Next()
	})
	app.Use(fiberauth.New(auth).Middleware())
	app.Get("/*", func(c fiber.Ctx) error { return c.SendString("the application's") })
	return serve(t, app), func() *latchkey.Request { return got }
}

// A request reaches Latchkey as it was sent, whatever Fiber makes of it.
func TestRequestAsSent(t *testing.T) {
	siteURL, last := seen(t, fiber.Config{UnescapePath: true, TrustProxy: true, TrustProxyConfig: fiber.TrustProxyConfig{Loopback: true}, ProxyHeader: "X-Forwarded-For"})
	host := strings.TrimPrefix(siteURL, "http://")
	for _, c := range []struct{ name, target, path, query, answer string }{
		{"a path", "/auth/session", "/auth/session", "", "null"},
		{"an escaped path is another one", "/%61uth/session", "/%61uth/session", "", "the application's"},
		{"and so is one in capitals", "/AUTH/session", "/AUTH/session", "", "the application's"},
		{"an escaped slash", "/a%2Fb/c", "/a%2Fb/c", "", "the application's"},
		{"a query with order, repetitions and a URL", "/auth/session?b=1&a=2&b=%20x&to=http://x.example//y", "/auth/session", "b=1&a=2&b=%20x&to=http://x.example//y", "null"},
		{"an absolute target", siteURL + "/auth/session?x=1", "/auth/session", "x=1", "null"},
		{"two slashes at its beginning", "//evil.example/auth/session", "//evil.example/auth/session", "", "the application's"},
		{"a path that Fiber has rewritten", "/old?x=1", "/auth/session", "x=1", "null"},
		{"a broken escape", "/auth/%zz", "/auth/%25zz", "", "the application's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := raw(t, host, "GET "+c.target+" HTTP/1.1\r\nHost: "+host+"\r\n"+
				"X-Twice: 1\r\nx-twice: 2\r\nCookie: a=1\r\nCookie: b=\"2\"\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n\r\n")
			r := last()
			if r.URL.EscapedPath() != c.path || r.URL.RawQuery != c.query || r.Host != host || r.Method != http.MethodGet || r.TLS {
				t.Errorf("%s %s?%s at %s", r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Host)
			}
			if !slices.Equal(r.Header["X-Twice"], []string{"1", "2"}) || len(r.Header["Host"]) > 0 {
				t.Errorf("%v", r.Header)
			}
			if addr, err := netip.ParseAddrPort(r.RemoteAddr); err != nil || !addr.Addr().IsLoopback() {
				t.Errorf("R-217: the client is %s", r.RemoteAddr)
			}
			if !slices.Equal(r.Header["Cookie"], []string{"a=1", `b="2"`}) {
				t.Errorf("cookies %q", r.Header["Cookie"])
			}
			if !strings.HasSuffix(answer, "\r\n\r\n"+c.answer) {
				t.Errorf("want %s: %s", c.answer, answer)
			}
		})
	}
}

// raw sends bytes and returns what comes back until the connection ends.
func raw(t *testing.T, host, request string) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(bufio.NewReader(conn))
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// TestNamelessCookies is R-461: a cookie without a name is no session, whatever its
// value looks like.
func TestNamelessCookies(t *testing.T) {
	app := fiber.New()
	auth := newAuth(t)
	app.Use("/changed", func(c fiber.Ctx) error {
		c.Request().Header.SetCookie("more", "of it") // as Fiber's encryptcookie does
		return c.Next()
	})
	app.Use(auth.Middleware())
	app.Get("/who", who(auth))
	app.Get("/changed/who", who(auth))
	siteURL := serve(t, app)
	host := strings.TrimPrefix(siteURL, "http://")
	planted := ""
	for _, k := range openAs(t, siteURL, "mallory").Cookies() {
		if strings.Contains(k.Name, "session-token") {
			planted = k.Name + "=" + k.Value
		}
	}
	for _, c := range []struct{ name, cookies, want string }{
		{"the session", planted, "here is mallory"},
		{"the session beside one without a name", "=x; y; " + planted, "here is mallory"},
		{"R-461 no name", "=" + planted, "here is nobody"},
		{"R-461 two", "==" + planted, "here is nobody"},
		{"R-461 a space for a name", " =" + planted, "here is nobody"},
		{"R-461 in quotes", "=\"" + planted + "\"", "here is nobody"},
		{"R-461 behind another", "a=b; =" + planted, "here is nobody"},
	} {
		for _, path := range []string{"/who", "/changed/who"} {
			answer := raw(t, host, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nCookie: "+c.cookies+"\r\nConnection: close\r\n\r\n")
			if _, body, _ := strings.Cut(answer, "\r\n\r\n"); body != c.want {
				t.Errorf("%s, %s: %q, want %q", c.name, path, body, c.want)
			}
		}
	}
}

// Which host a request is for is Site's to say, and no absolute target or header
// gets around it.
func TestHost(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New(fiber.Config{TrustProxy: true, TrustProxyConfig: fiber.TrustProxyConfig{Loopback: true}})
	app.Use(auth.Middleware())
	host := strings.TrimPrefix(serve(t, app), "http://")
	for name, request := range map[string]string{
		"R-213 in the header": "GET /auth/csrf HTTP/1.1\r\nHost: evil.example\r\n",
		"R-213 in the target": "GET http://evil.example/auth/csrf HTTP/1.1\r\nHost: " + host + "\r\n",
	} {
		if answer := raw(t, host, request+"Connection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400") {
			t.Errorf("%s: %s", name, answer)
		}
	}
	answer := raw(t, host, "GET /auth/csrf HTTP/1.1\r\nHost: "+host+"\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("R-213: a header of a proxy counts: %s", answer)
	}
}

// Fiber takes no request whose header is longer than its buffer, and says so
// with status 431.
func TestLargeHeader(t *testing.T) {
	for size, status := range map[int]int{0: http.StatusRequestHeaderFieldsTooLarge, fiberauth.ReadBufferSize: http.StatusOK} {
		auth := newAuth(t, func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
				u.Claims["much"] = strings.Repeat("0123456789", 1000)
				return u.Claims, nil
			}
		})
		app := fiber.New(fiber.Config{ReadBufferSize: size})
		app.Use(auth.Middleware())
		app.Get("/who", who(auth))
		browser := openAs(t, serve(t, app), "")
		leads(t, browser.Post("/auth/callback/credentials", url.Values{"name": {"Ada"}, "password": {password}, "csrfToken": {browser.CSRFToken()}}), browser.URL)
		res := insist(t, func() *http.Request {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, browser.URL+"/who", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range browser.Cookies() {
				r.AddCookie(&http.Cookie{Name: k.Name, Value: k.Value})
			}
			return r
		})
		if res.StatusCode != status {
			t.Errorf("with ReadBufferSize %d: status %d, want %d", size, res.StatusCode, status)
		}
	}
}

// insist sends a request until there is an answer: a server that ends a
// connection before it has read everything may take its answer along.
func insist(t *testing.T, request func() *http.Request) *http.Response {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	for range 100 {
		res, err := transport.RoundTrip(request())
		if err == nil {
			_ = res.Body.Close()
			return res
		}
	}
	t.Fatal("there is no answer")
	return nil
}

// Bodies are bounded by Limits.MaxBodyBytes, however Fiber reads them.
func TestBodies(t *testing.T) {
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}}
	long := "name=" + strings.Repeat("x", 70<<10)
	for name, config := range map[string]fiber.Config{
		"read at once": {ReadBufferSize: fiberauth.ReadBufferSize},
		"streamed":     {ReadBufferSize: fiberauth.ReadBufferSize, StreamRequestBody: true},
		"small":        {ReadBufferSize: fiberauth.ReadBufferSize, BodyLimit: 1 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			auth := newAuth(t)
			app := fiber.New(config)
			app.Use(auth.Middleware())
			app.Post("/login", auth.SignInAction(func(c fiber.Ctx) error {
				failure := latchkey.FormFailureFrom(c.Context())
				return c.Status(failure.Status).SendString("no, " + c.FormValue("name"))
			}))
			app.Get("/who", who(auth))
			siteURL := serve(t, app)
			ada := openAs(t, siteURL, "Ada")
			for _, path := range []string{"/auth/signout", "/login"} {
				for _, chunked := range []bool{false, true} {
					res := insist(t, func() *http.Request {
						r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, siteURL+path, strings.NewReader(long))
						if err != nil {
							t.Fatal(err)
						}
						if r.Header = form.Clone(); chunked {
							r.ContentLength = -1
						}
						for _, k := range ada.Cookies() {
							r.AddCookie(&http.Cookie{Name: k.Name, Value: k.Value})
						}
						return r
					})
					if res.StatusCode != http.StatusRequestEntityTooLarge || len(res.Header["Set-Cookie"]) > 0 {
						t.Errorf("%s, chunked %t: status %d, %v", path, chunked, res.StatusCode, res.Header)
					}
				}
			}
			says(t, ada.Get("/who"), http.StatusOK, "here is Ada")
			p := openAs(t, siteURL, "").Post("/login", url.Values{"providerId": {"credentials"}, "name": {"Eve"}, "password": {"guessed"}})
			says(t, p, http.StatusForbidden, "no, Eve")
			res := ask(t, nil, http.MethodPost, siteURL+"/login", http.Header{"Content-Type": {"multipart/form-data; boundary=b"}, "Sec-Fetch-Site": {"same-origin"}},
				"--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nEve\r\n--b--\r\n")
			if res.StatusCode != http.StatusUnsupportedMediaType {
				t.Errorf("R-116: a multipart form: status %d", res.StatusCode)
			}
		})
	}
}

// Deadlines and values that an application sets reach its callbacks.
func TestContext(t *testing.T) {
	type key struct{}
	var got []any
	auth := newAuth(t, func(c *latchkey.Config) {
		c.Callbacks.Session = func(ctx context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
			got = append(got, ctx.Value(key{}))
			return r.Session, ctx.Err()
		}
	})
	app := fiber.New()
	auth.Mount(app)
	app.Use(func(c fiber.Ctx) error {
		ctx, cancel := context.WithCancel(context.WithValue(c.Context(), key{}, "of the request"))
		defer cancel()
		if c.Query("over") != "" {
			cancel()
		}
		c.SetContext(ctx)
		return c.Next()
	})
	app.Get("/who", who(auth))
	browser := openAs(t, serve(t, app), "Ada")
	says(t, browser.Get("/who"), http.StatusOK, "here is Ada")
	says(t, browser.Get("/who?over=1"), http.StatusOK, "here is nobody")
	if !slices.Contains(got, any("of the request")) {
		t.Errorf("the callback has seen %v", got)
	}
}

// Apps below apps, groups, and pages of the application's own below the base
// path.
func TestMountedApps(t *testing.T) {
	auth := newAuth(t, func(c *latchkey.Config) { c.Site.BasePath = "/shop/auth"; c.AccountPage.Enabled = false })
	shop := fiber.New()
	auth.Mount(shop)
	shop.Get("/auth/account", func(c fiber.Ctx) error { return c.SendString("mine") })
	shop.Get("/auth/signin", func(c fiber.Ctx) error { return c.SendString("never") })
	members := shop.Group("/members", auth.RequireSession())
	members.Get("/", who(auth))
	app := fiber.New()
	app.Use("/shop", shop)
	app.Get("/*", func(c fiber.Ctx) error { return c.SendString("outside") })
	siteURL := serve(t, app)
	browser := openAs(t, siteURL, "")
	browser.BasePath = "/shop/auth"
	leads(t, browser.Get("/shop/members"), siteURL+"/shop/auth/signin")
	says(t, browser.Get("/shop/auth/account"), http.StatusOK, "mine")
	says(t, browser.Get("/auth/signin"), http.StatusOK, "outside")
	if p := browser.Get("/shop/auth/signin"); p.Status != http.StatusOK || strings.Contains(string(p.Body), "never") {
		t.Errorf("status %d: %s", p.Status, p.Body)
	}
	browser.SignInCredentials(map[string]string{"name": "Ada", "password": password})
	says(t, browser.Get("/shop/members"), http.StatusOK, "here is Ada")
	res := ask(t, browser, http.MethodHead, siteURL+"/shop/members", nil, "")
	if res.StatusCode != http.StatusOK || len(res.Header["Set-Cookie"]) == 0 {
		t.Errorf("HEAD: status %d, %v", res.StatusCode, res.Header)
	}
}

// Fiber's own csrf middleware leaves Latchkey's routes alone when it is told.
func TestFiberCSRF(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New()
	app.Use(csrf.New(csrf.Config{Next: auth.Match}))
	app.Use(auth.Middleware())
	app.Post("/mine", func(c fiber.Ctx) error { return c.SendString("posted") })
	app.Get("/who", who(auth))
	browser := openAs(t, serve(t, app), "Ada")
	says(t, browser.Get("/who"), http.StatusOK, "here is Ada")
	says(t, browser.Post("/mine", nil), http.StatusForbidden, "")
}

// Middleware that changes cookies, such as Fiber's encryptcookie, is heard.
func TestCookiesChangedByMiddleware(t *testing.T) {
	auth := newAuth(t)
	app := fiber.New(fiber.Config{ReadBufferSize: fiberauth.ReadBufferSize})
	app.Use(encryptcookie.New(encryptcookie.Config{Key: encryptcookie.GenerateKey(32)}))
	app.Use(auth.Middleware())
	app.Get("/who", who(auth))
	browser := openAs(t, serve(t, app), "Ada")
	says(t, browser.Get("/who"), http.StatusOK, "here is Ada")
	for _, k := range browser.Cookies() {
		if strings.HasPrefix(k.Value, "eyJ") {
			t.Errorf("%s is not encrypted once more: %s", k.Name, k.Value)
		}
	}
}
