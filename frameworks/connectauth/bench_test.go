package connectauth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/latchkeyhq/latchkey/frameworks/connectauth"
)

// What an interceptor adds to a call of which nobody looks at the session, and
// what a guard does.
func BenchmarkOverhead(b *testing.B) {
	sessions := connectauth.New(exampleAuth())
	for _, c := range []struct {
		name string
		o    connect.HandlerOption
	}{
		{"bare", connect.WithHandlerOptions()},
		{"mounted", connect.WithInterceptors(sessions.LoadSession())},
		{"public", connect.WithInterceptors(sessions.RequireSession(service))},
	} {
		b.Run(c.name, func(b *testing.B) {
			site := http.NewServeMux()
			mount(site, c.o)
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, service+"Blind", strings.NewReader(`"x"`))
				r.Header["Content-Type"] = []string{"application/json"}
				r.Header["Cookie"] = []string{"authjs.session-token=x"}
				w := httptest.NewRecorder()
				if site.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
