package sitetest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// TestBesideCrossOriginProtection runs what docs/middleware.md shows: a provider that
// posts its answer from its own site reaches the library, and a post of another site
// does not reach the application.
func TestBesideCrossOriginProtection(t *testing.T) {
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Runtime:   latchkey.Runtime{Logger: quiet},
		Providers: []latchkey.Provider{&latchkey.OAuth{ID: "acme", ClientID: "id", ClientSecret: "secret", OIDC: true, Issuer: "https://id.acme.example", ResponseMode: "form_post"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	site := http.NewServeMux()
	site.HandleFunc("POST /notes", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	exempting := http.NewCrossOriginProtection()
	exempting.AddInsecureBypassPattern("/auth/")
	routes := http.NewServeMux()
	routes.Handle("/", site)
	routes.Handle("/auth/", auth)
	for name, c := range map[string]struct {
		handler http.Handler
		refuses bool // the provider's post
	}{
		"the library outside":            {auth.Middleware(http.NewCrossOriginProtection().Handler(site)), false},
		"the library exempt":             {exempting.Handler(routes), false},
		"a protection around everything": {http.NewCrossOriginProtection().Handler(routes), true},
	} {
		t.Run(name, func(t *testing.T) {
			post := func(path string) int {
				r := httptest.NewRequest(http.MethodPost, "https://app.example"+path, strings.NewReader("code=c&state=s"))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				r.Header.Set("Sec-Fetch-Site", "cross-site")
				r.Header.Set("Origin", "https://id.acme.example")
				w := httptest.NewRecorder()
				c.handler.ServeHTTP(w, r)
				return w.Code
			}
			if status := post("/auth/callback/acme"); (status == http.StatusForbidden) != c.refuses {
				t.Errorf("the provider's post is answered with %d", status)
			}
			if status := post("/notes"); status != http.StatusForbidden {
				t.Errorf("a post of another site is answered with %d", status)
			}
		})
	}
}
