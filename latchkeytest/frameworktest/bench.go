package frameworktest

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Overhead measures what a mounting costs a page that does not look at the
// session. bare and mounted are the same application, which answers GET / with
// status 200: bare without Latchkey, mounted with its middleware for the whole
// site.
//
//	go test -bench Overhead
func Overhead(b *testing.B, bare, mounted http.Handler) {
	b.Helper()
	for _, c := range []struct {
		name string
		site http.Handler
	}{{"bare", bare}, {"mounted", mounted}} {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", http.NoBody)
			w := &nowhere{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				c.site.ServeHTTP(w, r)
			}
			if w.status != 0 && w.status != http.StatusOK {
				b.Fatalf("the page answers with status %d", w.status)
			}
		})
	}
}

// nowhere is a [http.ResponseWriter] that discards the answer.
type nowhere struct {
	header http.Header
	status int
}

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (w *nowhere) WriteHeader(status int)      { w.status = status }
