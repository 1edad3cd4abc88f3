package frameworks

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/gorilla/mux"
	"github.com/labstack/echo/v4"

	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// what the pages say about the mountings is true of each.
func TestFrameworks(t *testing.T) {
	for name, serve := range map[string]func(*testing.T, latchkeytest.FrameworkSite) string{
		"net/http": serveMux, "chi": serveChi, "gorilla/mux": serveGorilla, "Echo v4": serveEcho4,
	} {
		t.Run(name, func(t *testing.T) { latchkeytest.Framework(t, serve) })
	}
}

func serveMux(t *testing.T, site latchkeytest.FrameworkSite) string {
	auth, router := authOf(site), http.NewServeMux()
	if !site.WholeSite {
		for _, path := range routes(t, auth) {
			router.Handle(path, auth)
		}
	}
	for _, p := range site.Pages {
		router.Handle(p.Method+" "+site.Group+p.Path, handler(auth, p))
	}
	if site.WholeSite {
		return site.Serve(t, recovered(auth.Middleware(router)))
	}
	return site.Serve(t, recovered(router))
}

func serveChi(t *testing.T, site latchkeytest.FrameworkSite) string {
	auth, router := authOf(site), chi.NewRouter()
	router.Use(middleware.Recoverer)
	if site.WholeSite {
		router.Use(auth.Middleware)
	} else {
		for _, path := range routes(t, auth) {
			router.Handle(path, auth)
		}
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
func serveGorilla(t *testing.T, site latchkeytest.FrameworkSite) string {
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
	if site.WholeSite {
		return site.Serve(t, auth.Middleware(router))
	}
	return site.Serve(t, router)
}

func serveEcho4(t *testing.T, site latchkeytest.FrameworkSite) string {
	auth, router := authOf(site), echo.New()
	router.Use(echo.WrapMiddleware(recovered))
	if site.WholeSite {
		router.Use(echo.WrapMiddleware(auth.Middleware))
	} else {
		for _, path := range routes(t, auth) {
			router.Any(strings.Replace(path, "{name}", ":name", 1), echo.WrapHandler(auth))
		}
	}
	group := router.Group(site.Group)
	for _, p := range site.Pages {
		group.Add(p.Method, p.Path, echo.WrapHandler(handler(auth, p)))
	}
	return site.Serve(t, router)
}
