package sitetest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// R-555 Whatever a guard answers, with an error page of the application's own: a browser
// that follows the redirects comes to an end, a refusal and a fault are told on that
// page, and what nobody is told stands in the log. The guard of before showed its own
// page with status 403 and 500, was silent about errors for a client without a session,
// and led from a redirect to another site to the root of the site without a word.
func TestGuardsAskTheErrorPage(t *testing.T) {
	foreign := latchkey.RedirectTo("https://elsewhere.example/path?secret=1")
	for _, c := range []struct {
		name     string
		why      error
		user     string // where a browser with a session ends
		visitor  string // where one without ends
		isLogged bool
	}{
		{"a refusal", latchkey.ErrAccessDenied, "/oops?error=AccessDenied", "/login", false},
		{"an error of the guard", errors.New("no such table"), "/oops?error=Configuration", "/login", true},
		{"a redirect to another site", foreign, "/oops?error=Configuration", "/oops?error=Configuration", true},
		{"a redirect", latchkey.RedirectTo("/open"), "/open", "/open", false},
	} {
		for _, page := range []string{"/note", "/oops", "/login"} {
			for who, want := range map[string]string{"a user": c.user, "a visitor": c.visitor} {
				t.Run(fmt.Sprint("R-555 ", c.name, " for ", who, " at ", page), func(t *testing.T) {
					s := newSite(t, func(cfg *latchkey.Config) { cfg.Pages.Error, cfg.Pages.SignIn = "/oops", "/login" })
					b := s.newBrowser()
					if who == "a user" {
						b.signIn()
					}
					before := len(s.log.records(t))
					guard := s.auth.Authorize(func(r *http.Request, _ *latchkey.Session) error {
						if r.URL.Path == "/open" {
							return nil
						}
						return c.why
					})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "passed") }))
					a, at := b.as(opens, guard, page), page
					for hops := 0; a.Code == http.StatusFound; hops++ {
						if at = strings.TrimPrefix(a.location(), siteOrigin); hops == 3 || !strings.HasPrefix(at, "/") {
							t.Fatalf("redirected to %s", a.location())
						}
						if page == "/note" && strings.HasPrefix(at, "/oops") {
							break // which is outside of the guard
						}
						a = b.as(opens, guard, at)
					}
					if page == "/note" && !strings.HasPrefix(at, want) {
						t.Errorf("the browser ends at %s, want %s", at, want)
					}
					if page == "/oops" && strings.HasPrefix(want, "/oops") && (at != "/oops" || a.Code != 403 && a.Code != 500 || a.Body.String() == "passed") {
						t.Errorf("the error page is answered with %d at %s: %s", a.Code, at, a.Body)
					}
					wrong := ""
					for _, record := range s.log.records(t)[before:] {
						if record["level"] == "ERROR" {
							wrong += fmt.Sprint(record["error"], "\n")
						}
					}
					passes := c.why != foreign && (page == "/login" || page == "/oops" && who == "a visitor")
					if (wrong != "") != (c.isLogged && !passes) || strings.Contains(wrong, "secret") || c.why == foreign && !strings.Contains(wrong, "https://elsewhere.example") {
						t.Errorf("the log says %q", wrong)
					}
				})
			}
		}
	}
}

// R-555 A script gets the status, not the page.
func TestGuardsTellScriptsTheStatus(t *testing.T) {
	s, b := newEnteredSite(t, func(c *latchkey.Config) { c.Pages.Error = "/oops" })
	for why, status := range map[error]int{latchkey.ErrAccessDenied: 403, errors.New("no such table"): 500} {
		guard := s.auth.Authorize(func(*http.Request, *latchkey.Session) error { return why })(http.NotFoundHandler())
		if a := b.as(fetches, guard, "/note"); a.Code != status || a.location() != "" {
			t.Errorf("R-555 %v: status %d to %q", why, a.Code, a.location())
		}
	}
}
