package frameworks

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
)

// faulty are mountings that the suite must not let pass, by the case that has to
// notice.
var faulty = map[string]func(*testing.T, frameworktest.Site) string{
	"what a guard refuses, no handler sees": func(t *testing.T, site frameworktest.Site) string {
		auth, router := authOf(site), http.NewServeMux()
		for _, p := range site.Pages {
			serve := handler(auth, p)
			router.HandleFunc(p.Path, func(w http.ResponseWriter, r *http.Request) {
				serve.ServeHTTP(w, r)
				if w.Header().Get("Location") != "" {
					p.Serve(&visit{auth, w, r}) // the chain goes on
				}
			})
		}
		return site.Serve(t, router)
	},
	"the cookies of the application stand beside ours": around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(&lossy{w, 1}, r) })
	}),
	"a stream begins with the renewed cookie": around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/stream" {
				w = &lossy{w, 0}
			}
			next.ServeHTTP(w, r)
		})
	}),
	"many people at one time are told apart": around(func(next http.Handler) http.Handler {
		var mu sync.Mutex
		var first string
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			if c := r.Header.Get("Cookie"); strings.Contains(c, "session-token") && first == "" {
				first = c
			}
			if first != "" && r.URL.Path == "/who" {
				r.Header.Set("Cookie", first)
			}
			mu.Unlock()
			next.ServeHTTP(w, r)
		})
	}),
	"every route and method is answered as by net/http": around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			next.ServeHTTP(w, r)
		})
	}),
}

// around is a mounting with a middleware that spoils it.
func around(spoil func(http.Handler) http.Handler) func(*testing.T, frameworktest.Site) string {
	return func(t *testing.T, site frameworktest.Site) string {
		auth, router := authOf(site), http.NewServeMux()
		for _, path := range routes(t, auth) {
			router.Handle(path, auth)
		}
		for _, p := range site.Pages {
			router.Handle(p.Method+" "+p.Path, handler(auth, p))
		}
		return site.Serve(t, spoil(recovered(router)))
	}
}

// lossy sends the last cookies alone, as many as it keeps.
type lossy struct {
	http.ResponseWriter
	keeps int
}

func (w *lossy) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *lossy) lose() {
	if all := w.Header()["Set-Cookie"]; len(all) > w.keeps {
		w.Header()["Set-Cookie"] = all[len(all)-w.keeps:]
	}
}

func (w *lossy) WriteHeader(status int) {
	w.lose()
	w.ResponseWriter.WriteHeader(status)
}

func (w *lossy) Write(b []byte) (int, error) {
	w.lose()
	return w.ResponseWriter.Write(b)
}

// faultVariable has the name of the fault that a process of TestFaults is to have.
const faultVariable = "LATCHKEY_FAULTY_MOUNTING"

// TestFaults proves that the suite fails where it has to: each faulty mounting is
// tried by the one case, in a process of its own.
func TestFaults(t *testing.T) {
	if name := os.Getenv(faultVariable); name != "" {
		frameworktest.Test(t, faulty[name])
		return
	}
	for name := range faulty {
		t.Run(name, func(t *testing.T) {
			pattern := "^TestFaults$/^" + strings.ReplaceAll(name, " ", "_")[:20]
			try := exec.CommandContext(t.Context(), os.Args[0], "-test.run", pattern)
			try.Env = append(os.Environ(), faultVariable+"="+name)
			out, err := try.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestFaults/"+strings.ReplaceAll(name, " ", "_")) {
				t.Errorf("R-452: the suite lets it pass: %v\n%s", err, out)
			}
		})
	}
}
