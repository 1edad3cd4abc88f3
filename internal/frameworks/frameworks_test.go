package frameworks

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/gorilla/mux"
	"github.com/labstack/echo/v4"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
)

// what the pages say about the mountings is true of each.
func TestFrameworks(t *testing.T) {
	for name, serve := range map[string]func(*testing.T, frameworktest.Site) string{
		"net/http": serveMux, "chi": serveChi, "gorilla/mux": serveGorilla, "Echo v4": serveEcho4,
	} {
		t.Run(name, func(t *testing.T) { frameworktest.Test(t, serve) })
	}
}

func serveMux(t *testing.T, site frameworktest.Site) string {
	auth, router := authOf(site), http.NewServeMux()
	if !site.WholeSite {
		for _, path := range routes(t, auth) {
			router.Handle(path, auth)
		}
	}
	for _, p := range site.Pages {
		router.Handle(p.Method+" "+site.Group+p.Path, handler(auth, p))
	}
	if site.CatchAll != nil {
		router.Handle("/", handler(auth, frameworktest.Page{Serve: site.CatchAll}))
	}
	served := recovered(guarded(auth, site, router))
	if site.WholeSite {
		return site.Serve(t, auth.Middleware(served))
	}
	return site.Serve(t, served)
}

func serveChi(t *testing.T, site frameworktest.Site) string {
	auth, router := authOf(site), chi.NewRouter()
	router.Use(middleware.Recoverer)
	if site.WholeSite {
		router.Use(auth.Middleware)
	}
	if site.Guarded { // which answers the library's own routes
		router.Use(auth.RequireSession)
	}
	if !site.WholeSite {
		for _, path := range routes(t, auth) {
			router.Handle(path, auth)
		}
	}
	if site.CatchAll != nil {
		router.NotFound(handler(auth, frameworktest.Page{Serve: site.CatchAll}).ServeHTTP)
	}
	add := func(r chi.Router) {
		for _, p := range site.Pages {
			r.Method(p.Method, p.Path, handler(auth, p))
		}
	}
	if site.Group == "" {
		router.Group(add)
	} else {
		router.Route(site.Group, add)
	}
	return site.Serve(t, router)
}

// Middleware of gorilla/mux runs for routes that match alone, so that of the whole
// site is around the router.
func serveGorilla(t *testing.T, site frameworktest.Site) string {
	auth, router := authOf(site), mux.NewRouter()
	router.Use(recovered)
	if !site.WholeSite {
		for _, path := range routes(t, auth) {
			router.Handle(path, auth)
		}
	}
	group := router
	if site.Group != "" {
		group = router.PathPrefix(site.Group).Subrouter()
	}
	for _, p := range site.Pages {
		group.Handle(p.Path, handler(auth, p)).Methods(p.Method)
	}
	if site.CatchAll != nil {
		router.PathPrefix("/").Handler(handler(auth, frameworktest.Page{Serve: site.CatchAll}))
	}
	served := guarded(auth, site, router)
	if site.WholeSite {
		return site.Serve(t, auth.Middleware(served))
	}
	return site.Serve(t, served)
}

func serveEcho4(t *testing.T, site frameworktest.Site) string {
	auth, router := authOf(site), echo.New()
	router.Use(echo.WrapMiddleware(recovered))
	if site.WholeSite {
		router.Use(echo.WrapMiddleware(auth.Middleware))
	} else {
		for _, path := range routes(t, auth) {
			router.Any(strings.Replace(path, "{name}", ":name", 1), echo.WrapHandler(auth))
		}
	}
	if site.Guarded {
		router.Use(echo.WrapMiddleware(auth.RequireSession))
	}
	group := router.Group(site.Group)
	for _, p := range site.Pages {
		addEcho4(group, auth, p)
	}
	if site.CatchAll != nil {
		router.Any("/*", echo.WrapHandler(handler(auth, frameworktest.Page{Serve: site.CatchAll})))
	}
	return site.Serve(t, router)
}

// addEcho4 puts what Echo wraps in front of a handler of Echo's own.
func addEcho4(group *echo.Group, auth *latchkey.Auth, p frameworktest.Page) {
	if p.Guard == frameworktest.SignInAction || p.Guard == frameworktest.SignOutAction {
		group.Add(p.Method, p.Path, echo.WrapHandler(handler(auth, p)))
		return
	}
	page := func(c echo.Context) error {
		p.Serve(&visit{auth, c.Response(), auth.Attach(c.Response(), c.Request())})
		return nil
	}
	if p.Guard == frameworktest.Unguarded {
		group.Add(p.Method, p.Path, page)
		return
	}
	group.Add(p.Method, p.Path, page, echo.WrapMiddleware(func(next http.Handler) http.Handler { return guard(auth, p, next) }))
}

// The library may have all that is below its base path, but for what the application
// says more exactly.
func TestCatchAll(t *testing.T) {
	mine := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "mine") })
	for name, mount := range map[string]func(*latchkey.Auth) http.Handler{
		"net/http": func(auth *latchkey.Auth) http.Handler {
			router := http.NewServeMux()
			router.Handle("/auth/", auth)
			router.Handle("GET /auth/login", mine)
			return router
		},
		"chi": func(auth *latchkey.Auth) http.Handler {
			router := chi.NewRouter()
			router.Handle("/auth/*", auth)
			router.Method(http.MethodGet, "/auth/login", mine)
			return router
		},
		"gorilla/mux": func(auth *latchkey.Auth) http.Handler {
			router := mux.NewRouter()
			router.Handle("/auth/login", mine)
			router.PathPrefix("/auth/").Handler(auth)
			return router
		},
		"Echo v4": func(auth *latchkey.Auth) http.Handler {
			router := echo.New()
			router.Any("/auth/*", echo.WrapHandler(auth))
			router.GET("/auth/login", echo.WrapHandler(mine))
			return router
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := latchkeytest.NewClient(t, mount(newAuth(t)))
			c.SignInCredentials(map[string]string{"name": "Ada"})
			for path, want := range map[string]string{"/auth/login": "200 mine", "/auth/session": `200 {"user":{"name":"Ada"`, "/auth/nothing": "404 <!"} {
				if p := c.Get(path); !strings.HasPrefix(fmt.Sprintf("%d %s", p.Status, p.Body), want) {
					t.Errorf("R-452: %s: %d %s", path, p.Status, p.Body)
				}
			}
		})
	}
}
