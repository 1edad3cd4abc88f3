package interop

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// TestLogoutAtCertifiedProvider signs out here, at oidc-provider, and comes back (T-069).
// Its logout token ends the session of another browser (T-079).
func TestLogoutAtCertifiedProvider(t *testing.T) {
	for name, strategy := range map[string]latchkey.Strategy{"T-079 stored sessions": latchkey.DatabaseSessions, "T-079 JWT sessions": latchkey.JWTSessions} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			c := client{id: "leaving", set: func(p *latchkey.OAuth) { p.Logout = latchkey.Logout{AtProvider: true, BackChannel: true} }}
			metadata := []object{{
				"client_id": c.id, "client_secret": secretOf(c.id), "redirect_uris": []string{s.callback(c)},
				"grant_types": []string{"authorization_code"}, "response_types": []string{"code"},
				"post_logout_redirect_uris": []string{s.signedOut(c.id)},
				"backchannel_logout_uri":    s.origin() + "/auth/backchannel-logout/" + c.id, "backchannel_logout_session_required": true,
			}}
			issuer := startPeer(t, "openid", "provider.mjs", string(asJSON(t, metadata))).url()
			s.server.Config.Handler = newAuth(t, latchkey.Config{
				Adapter: memoryadapter.New(memoryadapter.Options{}), Session: latchkey.SessionConfig{Strategy: strategy}, Providers: []latchkey.Provider{c.provider(issuer)},
			})
			s.server.Start()

			who := newPerson(t, s.origin(), map[string]string{"login": "ada", "password": "anything"})
			var browsers []*latchkeytest.Client
			for range 2 {
				b := latchkeytest.NewClientAt(t, s.origin())
				b.Complete(who.signIn(b.Begin(c.id).Location()))
				if b.Session() == nil {
					t.Fatal("not signed in")
				}
				browsers = append(browsers, b)
			}
			one, other := browsers[0], browsers[1]
			left := one.SignOut()
			if one.Session() != nil {
				t.Error("the sign-out left a session")
			}
			back := who.signOut(left.Location())
			if back.Path != "/auth/signed-out/"+c.id || back.Query().Get("state") == "" {
				t.Fatalf("came back to %s", back)
			}
			if end := one.Get(back.String()); end.Status != http.StatusFound || end.Location().Host != back.Host || end.Location().Path == back.Path {
				t.Errorf("answered %d and leads to %v", end.Status, end.Location())
			}
			for deadline := time.Now().Add(race.Patience(20 * time.Second)); other.Session() != nil; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the other browser's session lives")
				}
			}
		})
	}
}

// signOut confirms a logout on the page of a provider, and returns where that sends the
// browser.
func (p *person) signOut(start *url.URL) *url.URL {
	p.t.Helper()
	if start == nil || p.isSite(start) {
		p.t.Fatalf("the site leads to %v, not to the provider", start)
	}
	page := p.send(http.MethodGet, start, nil)
	for range 10 {
		if to := page.Location(); to != nil {
			if p.isSite(to) {
				return to
			}
			page = p.send(http.MethodGet, to, nil)
			continue
		}
		f := p.formOn(page)
		f.fields.Set("logout", "yes")
		page = p.send(http.MethodPost, f.action, f.fields)
	}
	p.t.Fatal("the provider has no end")
	return nil
}
