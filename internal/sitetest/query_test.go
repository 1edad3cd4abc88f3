package sitetest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// Of a parameter given twice the last counts, in a query as in a form.
func TestRepeatedParameters(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
	t.Run("R-311 the callback URL", func(t *testing.T) {
		b := s.newBrowser()
		b.get("/auth/signin?callbackUrl=/first&callbackUrl=/last")
		if got, _ := url.QueryUnescape(b.jar["__Secure-authjs.callback-url"]); got != siteOrigin+"/last" {
			t.Errorf("remembered %q", got)
		}
		if a := s.newBrowser().get("/auth/signin?callbackUrl=javascript:x&callbackUrl=/fine"); a.Code != http.StatusOK {
			t.Errorf("the first one counts: %d", a.Code)
		}
		if a := s.newBrowser().get("/auth/signin?callbackUrl=/fine&callbackUrl=javascript:x"); a.Code != http.StatusInternalServerError {
			t.Errorf("the last one does not count: %d", a.Code)
		}
	})
	t.Run("R-311 the error shown", func(t *testing.T) {
		if a := s.newBrowser().get("/auth/error?error=Configuration&error=AccessDenied"); a.Code != http.StatusForbidden {
			t.Errorf("%d", a.Code)
		}
	})
	t.Run("R-311 parameters for the provider", func(t *testing.T) {
		a := s.newBrowser().post("/auth/signin/acme?prompt=none&prompt=login")
		u, err := url.Parse(a.location())
		if err != nil || strings.Join(u.Query()["prompt"], " ") != "login" {
			t.Errorf("sent to %q", a.location())
		}
	})
	t.Run("R-311 a magic link", func(t *testing.T) {
		b := s.newBrowser()
		b.post("/auth/signin/post", "email", "ada@example.com")
		links := s.sent()
		path, query, _ := strings.Cut(strings.TrimPrefix(links[len(links)-1].URL, siteOrigin), "?")
		if a := b.get(path + "?token=wrong&email=eve@example.com&" + query); !a.signsIn() {
			t.Errorf("the last ones do not count: %q", a.location())
		}
	})
	t.Run("R-009 R-311 but those of a provider must stand alone", func(t *testing.T) {
		for _, name := range []string{"code", "state", "iss", "error", "response"} {
			a := s.newBrowser().get("/auth/callback/acme?code=c&state=s&" + name + "=x&" + name + "=y")
			if a.error() != "Configuration" || s.outbound.calls() != 0 {
				t.Errorf("%s: %q", name, a.location())
			}
		}
	})
}

// A URL without a host is none, wherever it comes from.
func TestCallbackURLWithoutHost(t *testing.T) {
	s := newSite(t)
	for _, to := range []string{"http://", "https://", "HTTP://", "http:", "https:", "http:///", "https://?x=y", "https://#x", "https://:443/", "https://user@/", `https:\\`, "https:/\\/"} {
		t.Run("R-314 "+to, func(t *testing.T) {
			if a := s.newBrowser().get("/auth/signin?callbackUrl=" + url.QueryEscape(to)); a.Code != http.StatusInternalServerError {
				t.Errorf("in the query: %d", a.Code)
			}
			a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland", "callbackUrl", to)
			if a.error() != "Configuration" || a.signsIn() {
				t.Errorf("in a form: %d to %q", a.Code, a.location())
			}
		})
	}
	for to, want := range map[string]string{"https://app.example": siteOrigin, "https://app.example/x": siteOrigin + "/x", "http:evil.example": siteOrigin, "https:///evil.example": siteOrigin} {
		a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland", "callbackUrl", to)
		if a.location() != want {
			t.Errorf("R-314: %q leads to %q", to, a.location())
		}
	}
}
