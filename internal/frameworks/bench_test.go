package frameworks

import (
	"net/http"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
)

func BenchmarkOverhead(b *testing.B) {
	auth := newAuth(b)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	b.Run("net/http", func(b *testing.B) {
		router := http.NewServeMux()
		router.Handle("GET /", page)
		frameworktest.Overhead(b, router, auth.Middleware(router))
	})
	b.Run("chi", func(b *testing.B) {
		bare, mounted := chi.NewRouter(), chi.NewRouter()
		mounted.Use(auth.Middleware)
		bare.Method(http.MethodGet, "/", page)
		mounted.Method(http.MethodGet, "/", page)
		frameworktest.Overhead(b, bare, mounted)
	})
}
