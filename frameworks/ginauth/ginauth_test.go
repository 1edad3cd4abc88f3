package ginauth_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/ginauth"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
)

// What is Gin's own, and no other framework has like this.

// newSessions lets anybody in who says a name.
func newSessions(t testing.TB) *ginauth.Auth {
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
	return ginauth.New(auth)
}

func newRouter() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	return gin.New()
}

func TestChainIsAborted(t *testing.T) {
	sessions, router := newSessions(t), newRouter()
	var status int
	var went []string
	step := func(name string) gin.HandlerFunc { return func(*gin.Context) { went = append(went, name) } }
	router.Use(func(c *gin.Context) {
		c.Next()
		status = c.Writer.Status()
	})
	sessions.Mount(router)
	router.GET("/members", step("before"), sessions.RequireSession(), step("after"), func(c *gin.Context) { c.String(http.StatusOK, "mine") })
	c := latchkeytest.NewClient(t, router)
	if p := c.Get("/members"); p.Status != http.StatusFound || fmt.Sprint(went) != "[before]" || status != http.StatusFound {
		t.Errorf("R-452: %d, logged %d, went %v", p.Status, status, went)
	}
	went = nil
	c.SignInCredentials(map[string]string{"name": "Ada"})
	if p := c.Get("/members"); string(p.Body) != "mine" || fmt.Sprint(went) != "[before after]" {
		t.Errorf("R-452: %s, went %v", p.Body, went)
	}
}

// The hook answers routes that Gin does not know, and what nobody has stays a page
// of Gin's, whatever the application answers there.
func TestHookAndUnknownRoutes(t *testing.T) {
	sessions, router := newSessions(t), newRouter()
	router.HandleMethodNotAllowed = true
	router.Use(sessions.Middleware())
	router.POST("/only-post", func(c *gin.Context) { c.Status(http.StatusOK) })
	router.NoRoute(func(c *gin.Context) {
		_, err := sessions.Session(c)
		c.String(http.StatusNotFound, "nothing here: %v", err)
	})
	c := latchkeytest.NewClient(t, router)
	for path, want := range map[string]string{"/auth/session": "200 null", "/nothing": "404 nothing here", "/auth/nothing": "404 nothing here", "/only-post": "405 "} {
		if p := c.Get(path); !strings.HasPrefix(fmt.Sprintf("%d %s", p.Status, p.Body), want) {
			t.Errorf("R-452: %s: %d %s", path, p.Status, p.Body)
		}
	}
}

// A guard in front of everything answers the routes as well, mounted or not.
func TestGuardAlone(t *testing.T) {
	sessions, router := newSessions(t), newRouter()
	router.Use(sessions.RequireSession())
	router.GET("/members", func(c *gin.Context) { c.String(http.StatusOK, "mine") })
	c := latchkeytest.NewClient(t, router)
	if p := c.Get("/members"); p.Status != http.StatusFound {
		t.Errorf("R-452: a stranger gets %d", p.Status)
	}
	c.SignInCredentials(map[string]string{"name": "Ada"})
	if p := c.Get("/members"); string(p.Body) != "mine" {
		t.Errorf("R-452: a member gets %d %s", p.Status, p.Body)
	}
}

func TestCatchAll(t *testing.T) {
	sessions, router := newSessions(t), newRouter()
	router.Any("/auth/*path", sessions.Handler())
	c := latchkeytest.NewClient(t, router)
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
	newSessions(t).Mount(newRouter().Group("/shop"))
}

// shouting is what a middleware puts around Gin's writer.
type shouting struct{ gin.ResponseWriter }

func (w *shouting) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *shouting) Write(b []byte) (int, error) {
	return w.ResponseWriter.Write([]byte(strings.ToUpper(string(b))))
}

// What others put around Gin's writer sees the answers of the library, and a guarded
// handler can reach it, hijack and flush.
func TestWriters(t *testing.T) {
	sessions, router := newSessions(t), newRouter()
	router.Use(func(c *gin.Context) { c.Writer = &shouting{c.Writer} }, sessions.Middleware())
	router.GET("/raw", sessions.RequireSession(), func(c *gin.Context) {
		if err := http.NewResponseController(c.Writer).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		conn, rw, err := c.Writer.Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		_ = rw.Flush()
	})
	c := latchkeytest.NewClient(t, router)
	if p := c.Get("/auth/session"); string(p.Body) != "NULL" {
		t.Errorf("a middleware's writer saw nothing: %s", p.Body)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /raw HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", server.Listener.Addr(), sessionCookie(t, sessions))
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "418") {
		t.Errorf("hijacked: %q, %v", line, err)
	}
}

// The renewal of the session stands in the header whichever way a handler begins the
// response, once, and not after the response has begun.
func TestRenewalComesBeforeTheResponse(t *testing.T) {
	sessions := newSessions(t)
	cookie := sessionCookie(t, sessions)
	for name, begin := range map[string]func(gin.ResponseWriter){
		"Write":                   func(w gin.ResponseWriter) { _, _ = w.Write([]byte("mine")) },
		"WriteString":             func(w gin.ResponseWriter) { _, _ = w.WriteString("mine") },
		"WriteHeaderNow":          func(w gin.ResponseWriter) { w.WriteHeaderNow() },
		"Flush":                   func(w gin.ResponseWriter) { w.Flush() },
		"WriteHeader, then Write": func(w gin.ResponseWriter) { w.WriteHeader(http.StatusCreated); _, _ = w.Write([]byte("mine")) },
		"nothing":                 func(gin.ResponseWriter) {},
	} {
		t.Run(name, func(t *testing.T) {
			router := newRouter()
			router.Use(sessions.Middleware())
			router.GET("/mine", func(c *gin.Context) {
				if s, err := sessions.Session(c); s == nil || err != nil {
					t.Errorf("no session: %v", err)
				}
				begin(c.Writer)
				begin(c.Writer)
			})
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/mine", nil)
			r.Header.Set("Cookie", cookie)
			w := httptest.NewRecorder()
			router.ServeHTTP(w, r)
			sent := w.Result().Header
			if n := len(sent.Values("Set-Cookie")); n != 1 || !strings.Contains(sent.Get("Set-Cookie"), "session-token") || sent.Get("Cache-Control") == "" {
				t.Errorf("%d cookies, header %v", n, sent)
			}
		})
	}
}

// sessionCookie is that of somebody who has signed in.
func sessionCookie(t *testing.T, sessions *ginauth.Auth) string {
	t.Helper()
	router := newRouter()
	sessions.Mount(router)
	c := latchkeytest.NewClient(t, router)
	c.SignInCredentials(map[string]string{"name": "Ada"})
	cookie := c.Cookie("authjs.session-token")
	if cookie == nil {
		t.Fatalf("no session in %v", c.Cookies())
	}
	return cookie.Name + "=" + cookie.Value
}

// Gin's context and writer are the next request's when the handler has returned.
func TestLookingTooLate(t *testing.T) {
	sessions, router := newSessions(t), newRouter()
	late := make(chan context.Context, 1)
	router.Use(sessions.Middleware())
	router.GET("/leave", func(c *gin.Context) { late <- c.Request.Context() })
	router.GET("/next", func(c *gin.Context) {
		if s := latchkey.SessionFrom(<-late); s == nil || s.User.Name != "Ada" {
			t.Errorf("R-451: %v", s)
		}
		c.String(http.StatusOK, "next")
	})
	first := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80/leave", nil)
	first.Header.Set("Cookie", sessionCookie(t, sessions))
	router.ServeHTTP(httptest.NewRecorder(), first)
	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80/next", nil))
	if len(w.Header()["Set-Cookie"]) != 0 {
		t.Errorf("R-451: a stranger gets %q", w.Header()["Set-Cookie"])
	}
}

// A recovery that is behind the guards answers as one in front of them.
func TestRecoveryBehind(t *testing.T) {
	sessions, router := newSessions(t), newRouter()
	router.Use(sessions.Middleware(), gin.RecoveryWithWriter(io.Discard))
	router.GET("/panic", func(*gin.Context) { panic("of the application") })
	if p := latchkeytest.NewClient(t, router).Get("/panic"); p.Status != http.StatusInternalServerError {
		t.Errorf("R-452: %d", p.Status)
	}
}

// What takes a context finds the session in Gin's own, where Gin hands questions on.
func TestContextWithFallback(t *testing.T) {
	sessions, router := newSessions(t), newRouter()
	router.ContextWithFallback = true
	router.Use(sessions.Middleware())
	router.GET("/", func(c *gin.Context) {
		s := latchkey.SessionFrom(c)
		c.String(http.StatusOK, "here is %s", s.User.Name)
	})
	c := latchkeytest.NewClient(t, router)
	c.SignInCredentials(map[string]string{"name": "Ada"})
	if p := c.Get("/"); string(p.Body) != "here is Ada" {
		t.Errorf("%s", p.Body)
	}
}

func BenchmarkOverhead(b *testing.B) {
	sessions := newSessions(b)
	site := func(front ...gin.HandlerFunc) http.Handler {
		router := newRouter()
		router.Use(front...)
		router.GET("/", func(c *gin.Context) { c.Status(http.StatusOK) })
		return router
	}
	frameworktest.Overhead(b, site(), site(sessions.Middleware()))
}

// What has been answered is answered: no handler behind it in the chain runs.
func TestAnswersEndTheChain(t *testing.T) {
	sessions, router := newSessions(t), gin.New()
	ran := 0
	after := func(*gin.Context) { ran++ }
	router.POST("/login", sessions.SignInAction(nil), after)
	router.Any("/auth/*path", sessions.Handler(), after)
	c := latchkeytest.NewClient(t, router)
	c.Post("/login", nil)
	c.Get("/auth/session")
	if ran != 0 {
		t.Errorf("R-452: %d handlers ran behind an answer", ran)
	}
}
