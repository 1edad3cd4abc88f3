package sitetest

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// TestWhySessionsAreOver shows what a guard says of a session that is over (T-082).
func TestWhySessionsAreOver(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(t *testing.T, s *logoutSite, b *browser)
		notice string
		is     error
		text   string
	}{
		"T-082 it has expired": {func(_ *testing.T, s *logoutSite, _ *browser) { s.clock.Advance(31 * 24 * time.Hour) }, "expired", latchkey.ErrSessionExpired, "Your session has expired."},
		"T-082 a logout at the provider": {func(t *testing.T, s *logoutSite, _ *browser) {
			said(t, s.tell(map[string]any{"sid": "one", "sub": nil}), http.StatusOK)
		}, "ended", latchkey.ErrSessionEnded, "Your session was ended."},
		"T-082 a sign-out in a copy of the browser": {func(_ *testing.T, _ *logoutSite, b *browser) { b.copy().post("/auth/signout") }, "ended", latchkey.ErrSessionEnded, "Your session was ended."},
		"T-082 junk":          {func(_ *testing.T, _ *logoutSite, b *browser) { b.jar["__Secure-authjs.session-token"] = "junk" }, "", latchkey.ErrNoSession, ""},
		"T-082 a first visit": {func(_ *testing.T, _ *logoutSite, b *browser) { clear(b.jar) }, "", latchkey.ErrNoSession, ""},
	} {
		both(t, name, func(t *testing.T, strategy latchkey.Strategy) {
			s := newLogoutSite(t, strategy, everyWay)
			b := s.enter("ada", "one")
			c.end(t, s, b)
			if strategy == latchkey.DatabaseSessions && c.notice == "" && len(b.jar) > 0 {
				c.notice, c.is, c.text = "ended", latchkey.ErrSessionEnded, "Your session was ended." // a row that is not found may have been deleted
			}
			var err error
			ask := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, err = s.auth.Session(r.Context())
				s.auth.WriteError(w, r, err)
			})
			told := b.serve(s.auth.LoadSession(ask), b.request(http.MethodGet, "/own", "", ""))
			if !errors.Is(err, c.is) || !errors.Is(err, latchkey.ErrNoSession) {
				t.Errorf("%v, want %v", err, c.is)
			}
			s = newLogoutSite(t, strategy, everyWay)
			b = s.enter("ada", "one")
			c.end(t, s, b)
			guarded := b.serve(s.auth.RequireSession(http.NotFoundHandler()), b.request(http.MethodGet, "/own", "", ""))
			_, notice, _ := strings.Cut(guarded.location(), "&notice=")
			if guarded.Code != http.StatusFound || notice != c.notice || told.location() != guarded.location() {
				t.Errorf("%d to %q, and WriteError to %q", guarded.Code, guarded.location(), told.location())
			}
			body := s.newBrowser().get(strings.TrimPrefix(guarded.location(), siteOrigin)).Body.String()
			if strings.Contains(body, "Your session") != (c.text != "") || !strings.Contains(body, c.text) {
				t.Errorf("the page does not say %q", c.text)
			}
		})
	}
	t.Run("T-082 a page of the application's own gets the word", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) { c.Pages.SignIn = "/login" })
		for notice, want := range map[string]bool{"expired": true, "ended": true, "other": false} {
			if to := s.newBrowser().get("/auth/signin?notice=" + notice).location(); strings.Contains(to, "notice="+notice) != want {
				t.Errorf("%s: %q", notice, to)
			}
		}
	})
}
