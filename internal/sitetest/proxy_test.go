package sitetest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/testclock"
)

// proxied is a change that makes a site one of those behind the proxy at
// siteOrigin, or the proxy itself.
func proxied(url string, origins ...string) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		c.Site.URL, c.Site.RedirectProxyURL, c.Site.RedirectProxyOrigins = url, siteOrigin+"/auth", origins
	}
}

// stateFrom begins a sign-in at a preview and returns the state that the
// provider would bring to the proxy.
func stateFrom(t *testing.T, clock *testclock.Clock, preview string) string {
	t.Helper()
	s := newSite(t, proxied(preview), func(c *latchkey.Config) { c.Runtime.Time = clock.Now })
	r := httptest.NewRequest(http.MethodPost, preview+"/auth/signin/acme", http.NoBody)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Origin", preview)
	w := httptest.NewRecorder()
	s.auth.ServeHTTP(w, r)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Host != "acme.example" || to.Query().Get("redirect_uri") != siteOrigin+"/auth/callback/acme" {
		t.Fatalf("the preview sends to %q, %v", to, err)
	}
	return to.Query().Get("state")
}

// code and state leave the proxy for listed origins only.
func TestRedirectProxy(t *testing.T) {
	for _, c := range []struct {
		name, preview string
		origins       []string
		sentOn        bool
	}{
		{"a listed origin", "https://pr-1.preview.example", []string{"https://pr-1.preview.example"}, true},
		{"a pattern", "https://pr-2.preview.example", []string{"https://*.preview.example"}, true},
		{"an origin that is not listed", "https://evil.example", []string{"https://*.preview.example"}, false},
		{"one that ends alike", "https://evilpreview.example", []string{"https://*.preview.example"}, false},
		{"another scheme", "http://pr-3.preview.example", []string{"https://*.preview.example"}, false},
		{"another port", "https://pr-4.preview.example:8443", []string{"https://pr-4.preview.example"}, false},
		{"R-516 no list, another port of the proxy", "https://app.example:8443", nil, false},
		{"R-516 no list, the proxy's host without TLS", "http://app.example", nil, false},
		{"R-516 no list, the proxy's host without TLS on another port", "http://app.example:8080", nil, false},
		{"no list, another host", "https://pr-5.preview.example", nil, false},
		{"no list, a host below the proxy's", "https://x.app.example", nil, false},
	} {
		t.Run("R-132 "+c.name, func(t *testing.T) {
			s := newSite(t, proxied(siteOrigin, c.origins...))
			state := stateFrom(t, s.clock, c.preview)
			a := s.newBrowser().get("/auth/callback/acme?" + url.Values{"code": {"c"}, "state": {state}}.Encode())
			if !c.sentOn {
				refused(t, a, "Configuration")
				if !strings.HasPrefix(a.location(), siteOrigin+"/") || strings.Contains(a.location(), state) {
					t.Errorf("sent to %q", a.location())
				}
				return
			}
			want := c.preview + "/auth/callback/acme?" + url.Values{"code": {"c"}, "state": {state}}.Encode()
			if a.Code != http.StatusFound || a.location() != want || a.signsIn() {
				t.Errorf("answered %d to %q, want %q", a.Code, a.location(), want)
			}
			if s.outbound.calls() != 0 {
				t.Error("the proxy asked the provider")
			}
		})
	}
	s := newSite(t, proxied(siteOrigin, "https://*.preview.example"))
	state := stateFrom(t, s.clock, "https://pr-6.preview.example")
	t.Run("R-132 a state of nobody's", func(t *testing.T) {
		refused(t, s.newBrowser().get("/auth/callback/acme?code=c&state="+state[:len(state)-2]), "Configuration")
	})
	t.Run("R-132 no state", func(t *testing.T) {
		refused(t, s.newBrowser().get("/auth/callback/acme?code=c"), "Configuration")
	})
	t.Run("R-132 a posted callback", func(t *testing.T) {
		form := url.Values{"code": {"c"}, "state": {state}}.Encode()
		refused(t, s.newBrowser().do(http.MethodPost, "/auth/callback/acme", formContentType, form), "Configuration")
	})
	t.Run("R-132 a state that is too old", func(t *testing.T) {
		s.clock.Advance(16 * time.Minute)
		refused(t, s.newBrowser().get("/auth/callback/acme?"+url.Values{"code": {"c"}, "state": {state}}.Encode()), "Configuration")
	})
}
