package sitetest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// everyWay is a logout in every way.
var everyWay = latchkey.Logout{AtProvider: true, BackChannel: true, FrontChannel: true}

// logoutSite is a site with a logout at the issuer.
type logoutSite struct {
	*oauthSite
	mu     sync.Mutex
	events []latchkey.Event
}

func newLogoutSite(t *testing.T, strategy latchkey.Strategy, l latchkey.Logout, change ...func(*latchkey.Config)) *logoutSite {
	t.Helper()
	s := &logoutSite{}
	s.oauthSite = newOAuthSite(t, append([]func(*latchkey.Config){
		withIssuer(func(o *latchkey.OAuth) { o.Logout = l }), func(c *latchkey.Config) { c.Session.Strategy = strategy },
		func(c *latchkey.Config) {
			c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.events = append(s.events, e)
				return nil
			}
		},
	}, change...)...)
	return s
}

// seen returns how many events of a type were told.
func (s *logoutSite) seen(of event.Type) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Type == of {
			n++
		}
	}
	return n
}

// enter signs a person in whose session the issuer calls sid.
func (s *logoutSite) enter(sub, sid string) *browser {
	s.t.Helper()
	p := latchkeytest.Person{Subject: sub, Name: sub, Email: sub + "@example.com", EmailVerified: true}
	if sid != "" {
		p.Claims = map[string]any{"sid": sid}
	}
	s.issuer.SignInAs(p)
	b := s.newBrowser()
	s.mustSignIn(b)
	return b
}

// tell posts a logout token with the claims.
func (s *logoutSite) tell(claims map[string]any) *answer {
	s.t.Helper()
	return s.tellToken(s.issuer.LogoutToken(s.t, func(c map[string]any) {
		for name, value := range claims {
			c[name] = value
		}
	}))
}

func (s *logoutSite) tellToken(token string) *answer {
	s.t.Helper()
	return s.newBrowser().do(http.MethodPost, "/auth/backchannel-logout/issuer", formContentType, latchkeytest.LogoutForm(token).Encode())
}

// newSecret is a secret that a site of newLogoutSite does not begin with.
const newSecret = "another secret, which is long enough too"

// withSecrets returns another instance of the site, with the secrets.
func (s *logoutSite) withSecrets(secrets ...string) *latchkey.Auth {
	s.t.Helper()
	c := s.config
	c.Secrets = secrets
	auth, err := latchkey.New(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return auth
}

// said fails the test unless a logout token was answered with the status, to be kept by
// no cache and without cookies.
func said(t testing.TB, a *answer, status int) {
	t.Helper()
	if a.Code != status || !strings.Contains(a.Header().Get("Cache-Control"), "no-store") || len(a.Result().Cookies()) > 0 {
		t.Errorf("answered %d with %v: %s", a.Code, a.Header(), a.Body)
	}
}

// both runs a test with both strategies.
func both(t *testing.T, name string, f func(t *testing.T, strategy latchkey.Strategy)) {
	for _, strategy := range []latchkey.Strategy{latchkey.JWTSessions, latchkey.DatabaseSessions} {
		t.Run(name+", "+string(strategy), func(t *testing.T) { f(t, strategy) })
	}
}

// leave signs a browser out and returns where it is sent.
func (s *logoutSite) leave(b *browser, fields ...string) *url.URL {
	s.t.Helper()
	a := b.post("/auth/signout", append([]string{"callbackUrl", siteOrigin + "/bye"}, fields...)...)
	to, err := url.Parse(a.location())
	if err != nil || a.Code != http.StatusFound {
		s.t.Fatalf("sign-out: %d to %q", a.Code, a.location())
	}
	dead(s.t, b)
	return to
}

func TestLogoutAtProvider(t *testing.T) {
	both(t, "T-063 a sign-out goes on to the provider and comes back", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		b := s.enter("ada", "s1")
		before := b.copy()
		to := s.leave(b)
		dead(t, before)
		q := to.Query()
		if !strings.HasPrefix(to.String(), s.issuer.URL+latchkeytest.PathEndSession) || q.Get("client_id") != "client" ||
			q.Get("post_logout_redirect_uri") != siteOrigin+"/auth/signed-out/issuer" || len(q.Get("state")) < 43 || strings.Count(q.Get("id_token_hint"), ".") != 2 {
			t.Fatalf("sent to %s", to)
		}
		back := b.get("/auth/signed-out/issuer?state=" + q.Get("state"))
		if back.location() != siteOrigin+"/bye" || !strings.Contains(back.Header().Get("Cache-Control"), "no-store") {
			t.Errorf("came back to %q", back.location())
		}
		if again := b.get("/auth/signed-out/issuer?state=" + q.Get("state")); again.location() != siteOrigin {
			t.Errorf("T-064 the second return leads to %q", again.location())
		}
	})
	both(t, "T-064 a return with another state leads to the origin", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, second(func(o *latchkey.OAuth) { o.Logout = everyWay }))
		b := s.enter("ada", "s1")
		state := s.leave(b).Query().Get("state")
		for _, target := range []string{"issuer", "issuer?state=other", "issuer?state=", "second?state=" + state, "none?state=" + state, "crew?state=" + state} {
			a := b.get("/auth/signed-out/" + target)
			if a.Code != http.StatusFound || a.location() != siteOrigin || len(a.Result().Cookies()) > 0 {
				t.Errorf("%s: %d to %q with %v", target, a.Code, a.location(), a.Result().Cookies())
			}
		}
		if a := s.newBrowser().get("/auth/signed-out/issuer?state=" + state); a.location() != siteOrigin {
			t.Errorf("another browser is led to %q", a.location())
		}
		s.clock.Advance(16 * time.Minute)
		if a := b.get("/auth/signed-out/issuer?state=" + state); a.location() != siteOrigin {
			t.Errorf("after 16 minutes: %q", a.location())
		}
	})
	both(t, "T-065 one call decides", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		if to := s.leave(s.enter("ada", "s1"), "atProvider", "0"); to.String() != siteOrigin+"/bye" {
			t.Errorf("atProvider=0 leads to %s", to)
		}
		s = newLogoutSite(t, strategy, latchkey.Logout{BackChannel: true})
		if to := s.leave(s.enter("ada", "s1")); to.String() != siteOrigin+"/bye" {
			t.Errorf("without AtProvider: %s", to)
		}
		if to := s.leave(s.enter("ada", "s1"), "atProvider", "1"); !strings.HasPrefix(to.String(), s.issuer.URL) {
			t.Errorf("atProvider=1 leads to %s", to)
		}
		b, on, to := s.enter("ada", "s1"), true, ""
		b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to, _ = s.auth.SignOutURL(w, r, latchkey.SignOutOptions{AtProvider: &on, Params: url.Values{"ui_locales": {"de"}, "state": {"forged"}}})
		}), b.request(http.MethodPost, "/leave", "", ""))
		if !strings.HasPrefix(to, s.issuer.URL) || !strings.Contains(to, "ui_locales=de") || strings.Contains(to, "forged") {
			t.Errorf("SignOutURL leads to %s", to)
		}
	})
	both(t, "T-065 an address of the provider's own gets the parameters of one call", func(t *testing.T, strategy latchkey.Strategy) {
		own := everyWay
		own.URL = func(_ context.Context, l latchkey.LogoutRequest) (string, error) {
			return "https://id.acme.example/logout?returnTo=" + url.QueryEscape(l.ReturnTo) + "&state=" + l.State, nil
		}
		s := newLogoutSite(t, strategy, own)
		b, to := s.enter("ada", "s1"), ""
		b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to, _ = s.auth.SignOutURL(w, r, latchkey.SignOutOptions{Params: url.Values{"ui_locales": {"de"}, "returnTo": {"elsewhere"}, "state": {"forged"}, "id_token_hint": {"forged"}}})
		}), b.request(http.MethodPost, "/leave", "", ""))
		u, err := url.Parse(to)
		if err != nil || u.Host != "id.acme.example" || u.Query().Get("ui_locales") != "de" || strings.Contains(to, "forged") || strings.Contains(to, "elsewhere") {
			t.Errorf("SignOutURL leads to %s", to)
		}
	})
	both(t, "T-065 a session by mail ends here only", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		b := s.newBrowser()
		b.signInByLink("bob@example.com")
		if to := s.leave(b, "atProvider", "1"); to.String() != siteOrigin+"/bye" {
			t.Errorf("led to %s", to)
		}
	})
	both(t, "T-066 a provider that cannot is left out", func(t *testing.T, strategy latchkey.Strategy) {
		broken := everyWay
		broken.URL = func(context.Context, latchkey.LogoutRequest) (string, error) { return "", errors.New("no address") }
		for _, l := range []latchkey.Logout{broken, {URL: func(context.Context, latchkey.LogoutRequest) (string, error) { panic("no") }, AtProvider: true}} {
			s := newLogoutSite(t, strategy, l)
			if to := s.leave(s.enter("ada", "s1")); to.String() != siteOrigin+"/bye" || !strings.Contains(s.log.text(), "SignOutError") {
				t.Errorf("led to %s\n%s", to, s.log.text())
			}
		}
	})
	both(t, "T-067 a long ID token is left out", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		s.idToken(map[string]any{"filler": strings.Repeat("x", 6<<10)})
		q := s.leave(s.enter("ada", "s1")).Query()
		if q.Has("id_token_hint") || q.Get("client_id") == "" {
			t.Errorf("sent %v", q)
		}
	})
	both(t, "T-068 each device sends its own ID token", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		one, two := s.enter("ada", "s1"), s.enter("ada", "s2")
		for sid, b := range map[string]*browser{"s1": one, "s2": two} {
			hint := s.leave(b).Query().Get("id_token_hint")
			if claimed := claimsIn(t, hint)["sid"]; claimed != sid {
				t.Errorf("the hint of %s is of %v", sid, claimed)
			}
		}
	})
	both(t, "logout_hint and OmitIDToken", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, latchkey.Logout{AtProvider: true, OmitIDToken: true})
		s.idToken(map[string]any{"login_hint": "ada@work"})
		if q := s.leave(s.enter("ada", "s1")).Query(); q.Get("logout_hint") != "ada@work" || q.Has("id_token_hint") {
			t.Errorf("sent %v", q)
		}
	})
	both(t, "T-069 a client that asks for JSON gets the address", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		b := s.enter("ada", "s1")
		b.header.Set("X-Auth-Return-Redirect", "1")
		if a := b.post("/auth/signout"); a.Code != http.StatusOK || !strings.HasPrefix(a.Body.String(), `{"url":"`+s.issuer.URL+latchkeytest.PathEndSession) {
			t.Errorf("answered %d %s", a.Code, a.Body)
		}
	})
	t.Run("T-135 the state of a logout opens no callback, nor the reverse", func(t *testing.T) {
		s := newLogoutSite(t, latchkey.JWTSessions, everyWay)
		b := s.enter("ada", "s1")
		state := s.leave(b).Query().Get("state")
		params := s.authResponse(b, "issuer")
		signIn := params.Get("state")
		if a := b.get("/auth/signed-out/issuer?state=" + url.QueryEscape(signIn)); a.location() != siteOrigin {
			t.Errorf("the state of a sign-in leads to %q", a.location())
		}
		params.Set("state", state)
		refused(t, b.callback("issuer", params))
	})
	t.Run("T-135 a redirect proxy sends a logout on, and no state of another purpose", func(t *testing.T) {
		const preview = "https://pr-1.preview.example"
		s := newLogoutSite(t, latchkey.JWTSessions, everyWay, proxied(preview))
		b := s.enter("ada", "s1")
		to := s.leave(b, "callbackUrl", preview+"/bye")
		if back := to.Query().Get("post_logout_redirect_uri"); back != siteOrigin+"/auth/signed-out/issuer" {
			t.Fatalf("the provider is to come back to %q", back)
		}
		c := s.config
		proxied(siteOrigin, preview)(&c)
		proxy, err := latchkey.New(c)
		if err != nil {
			t.Fatal(err)
		}
		through := func(path, state string) string {
			visitor := s.newBrowser()
			return visitor.serve(proxy, visitor.request(http.MethodGet, path+"?"+url.Values{"state": {state}, "code": {"c"}}.Encode(), "", "")).location()
		}
		state, signIn := to.Query().Get("state"), s.authResponse(b, "issuer").Get("state")
		if sent := through("/auth/signed-out/issuer", state); sent != preview+"/auth/signed-out/issuer?state="+url.QueryEscape(state) {
			t.Errorf("the proxy sends the browser to %q", sent)
		}
		for what, sent := range map[string]string{
			"of a sign-in": through("/auth/signed-out/issuer", signIn), "of no one": through("/auth/signed-out/issuer", "made-up"), "of another provider": through("/auth/signed-out/acme", state),
		} {
			if sent != siteOrigin {
				t.Errorf("a state %s leads from the proxy to %q", what, sent)
			}
		}
		if sent := through("/auth/callback/issuer", state); strings.HasPrefix(sent, preview) || !strings.Contains(sent, "error=") {
			t.Errorf("the state of a logout leads from the proxy's callback to %q", sent)
		}
		if back := b.get("/auth/signed-out/issuer?state=" + url.QueryEscape(state)); back.location() != preview+"/bye" {
			t.Errorf("the preview sends the browser to %q", back.location())
		}
	})
}

func TestBackChannelLogout(t *testing.T) {
	both(t, "T-071 one sid ends one session", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		a1, a2, b1, b2 := s.enter("ada", "a1"), s.enter("ada", "a2"), s.enter("bob", "b1"), s.enter("bob", "b2")
		said(t, s.tell(map[string]any{"sid": "a1", "sub": "ada"}), http.StatusOK)
		dead(t, a1)
		for _, b := range []*browser{a2, b1, b2} {
			live(t, b)
		}
		if s.seen(event.ProviderLogout) != 1 {
			t.Errorf("%d events", s.seen(event.ProviderLogout))
		}
		said(t, s.tell(map[string]any{"sid": "unknown"}), http.StatusOK)
		live(t, a2)
	})
	both(t, "T-072 a sub ends all earlier sessions of that provider", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, second(func(o *latchkey.OAuth) { o.Logout, o.ClientID = everyWay, "client" }))
		one, two := s.enter("ada", "a1"), s.enter("ada", "a2")
		mail := s.newBrowser()
		mail.signInByLink("eve@example.com")
		issued := s.clock.Now().Unix()
		s.clock.Advance(5 * time.Second)
		newer := s.enter("ada", "a1")
		said(t, s.tell(map[string]any{"sub": "ada", "iat": issued}), http.StatusOK)
		dead(t, one)
		dead(t, two)
		live(t, newer)
		live(t, mail)
		said(t, s.tell(map[string]any{"sid": "a1", "iat": issued}), http.StatusOK)
		live(t, newer)
		said(t, s.tell(map[string]any{"sid": "a1"}), http.StatusOK)
		dead(t, newer)
	})
	both(t, "T-073, T-074, T-076 bad input changes nothing", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		b := s.enter("ada", "a1")
		good := s.issuer.LogoutToken(t, func(c map[string]any) { c["sub"] = "ada" })
		for name, claims := range map[string]map[string]any{
			"other iss": {"iss": "https://other.example"}, "other aud": {"aud": "other"}, "no event": {"events": nil}, "nonce": {"nonce": "n"},
			"no jti": {"jti": nil}, "no iat": {"iat": nil}, "past exp": {"exp": s.clock.Now().Add(-time.Minute).Unix()}, "no exp": {"exp": nil}, "nobody": {"sub": nil},
		} {
			t.Run(name, func(t *testing.T) {
				all := map[string]any{"sub": "ada"}
				for k, v := range claims {
					all[k] = v
				}
				said(t, s.tell(all), http.StatusBadRequest)
			})
		}
		calls := s.issuer.Count(latchkeytest.PathJWKS)
		type ask struct{ method, path, media, body string }
		form := latchkeytest.LogoutForm(good).Encode()
		for name, a := range map[string]ask{
			"GET": {http.MethodGet, "issuer?" + form, "", ""}, "JSON": {http.MethodPost, "issuer", "application/json", `{"logout_token":"` + good + `"}`},
			"two": {http.MethodPost, "issuer", formContentType, form + "&" + form}, "17 KiB": {http.MethodPost, "issuer", formContentType, "logout_token=" + strings.Repeat("x", 17<<10)},
			"provider without it": {http.MethodPost, "acme", formContentType, form}, "unknown provider": {http.MethodPost, "none", formContentType, form},
			"no provider": {http.MethodPost, "", formContentType, form}, "nothing": {http.MethodPost, "issuer", formContentType, ""},
		} {
			t.Run(name, func(t *testing.T) {
				said(t, s.newBrowser().do(a.method, "/auth/backchannel-logout/"+a.path, a.media, a.body), http.StatusBadRequest)
			})
		}
		s.issuer.Misbehave(latchkeytest.Misbehaviour{Sign: latchkeytest.SignUnknownKey})
		said(t, s.tell(map[string]any{"sub": "ada"}), http.StatusBadRequest)
		s.issuer.Misbehave(latchkeytest.Misbehaviour{})
		if n := s.issuer.Count(latchkeytest.PathJWKS) - calls; n > 1 {
			t.Errorf("%d calls for keys", n)
		}
		live(t, b)
		if s.seen(event.ProviderLogout) > 0 {
			t.Error("an event was told")
		}
		said(t, s.tellToken(good), http.StatusOK)
		dead(t, b)
	})
	both(t, "T-074 no exp with LegacyTokens", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, latchkey.Logout{BackChannel: true, LegacyTokens: true})
		b := s.enter("ada", "a1")
		said(t, s.tell(map[string]any{"sub": "ada", "exp": nil, "iat": s.clock.Now().Add(-3 * time.Minute).Unix()}), http.StatusBadRequest)
		live(t, b)
		said(t, s.tell(map[string]any{"sub": "ada", "exp": nil}), http.StatusOK)
		dead(t, b)
	})
	both(t, "T-075 the same token twice", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		b := s.enter("ada", "a1")
		token := s.issuer.LogoutToken(t, func(c map[string]any) { c["sub"] = "ada" })
		said(t, s.tellToken(token), http.StatusOK)
		dead(t, b)
		s.clock.Advance(time.Second)
		again := s.enter("ada", "a1")
		said(t, s.tellToken(token), http.StatusBadRequest)
		live(t, again)
		if s.seen(event.ProviderLogout) != 1 {
			t.Errorf("%d events", s.seen(event.ProviderLogout))
		}
	})
	both(t, "T-075 a try that failed may come again", func(t *testing.T, strategy latchkey.Strategy) {
		for _, method := range []string{"Revoke", "DeleteProviderSessions"} {
			broken := &failingEnds{}
			s := newLogoutSite(t, strategy, everyWay, func(c *latchkey.Config) {
				broken.Adapter = c.Adapter.(*memoryadapter.Adapter)
				c.Adapter = broken
			})
			if strategy == latchkey.JWTSessions && method != "Revoke" {
				continue // no row is removed
			}
			b := s.enter("ada", "a1")
			token := s.issuer.LogoutToken(t, func(c map[string]any) { c["sid"] = "a1" })
			broken.method.Store(&method)
			first := s.tellToken(token)
			if said(t, first, http.StatusBadRequest); first.Body.String() != `{"error":"temporarily_unavailable"}` || s.seen(event.ProviderLogout) > 0 {
				t.Errorf("%s failed, and the answer is %s", method, first.Body)
			}
			broken.method.Store(nil)
			said(t, s.tellToken(token), http.StatusOK)
			dead(t, b)
			said(t, s.tellToken(token), http.StatusBadRequest)
			if s.seen(event.ProviderLogout) != 1 {
				t.Errorf("%s: %d events", method, s.seen(event.ProviderLogout))
			}
		}
	})
	both(t, "T-078 reads at the same moment leave it dead", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, func(c *latchkey.Config) { c.Session.Cache = latchkey.SessionCache{MaxAge: time.Minute} })
		b := s.enter("ada", "a1")
		race.Run(20, func(i int) error {
			if i == 7 {
				s.tell(map[string]any{"sid": "a1"})
				return nil
			}
			b.copy().session()
			return nil
		})
		dead(t, b)
	})
	both(t, "T-132 a secret was rotated", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		b := s.enter("ada", "a1")
		s.auth = s.withSecrets(append([]string{newSecret}, s.config.Secrets...)...)
		live(t, b)
		said(t, s.tell(map[string]any{"sid": "a1"}), http.StatusOK)
		dead(t, b)
	})
	for name, claims := range map[string]map[string]any{"sid": {"sid": "a1"}, "sub": {"sub": "ada"}} {
		both(t, "R-650 the secret of the sign-in is gone, "+name, func(t *testing.T, strategy latchkey.Strategy) {
			s := newLogoutSite(t, strategy, everyWay)
			old := s.config.Secrets
			b := s.enter("ada", "a1")
			s.auth = s.withSecrets(append([]string{newSecret}, old...)...)
			if !b.isLive() { // a token is sealed under the new secret
				t.Fatal("the session is dead")
			}
			s.auth = s.withSecrets(newSecret)
			live(t, b)
			said(t, s.tell(claims), http.StatusOK)
			dead(t, b)
		})
		both(t, "R-650 the instance that is told knows the older secret alone, "+name, func(t *testing.T, strategy latchkey.Strategy) {
			s := newLogoutSite(t, strategy, everyWay)
			older, newer := s.auth, s.withSecrets(append([]string{newSecret}, s.config.Secrets...)...)
			s.auth = newer
			b := s.enter("ada", "a1")
			s.auth = older
			said(t, s.tell(claims), http.StatusOK)
			s.auth = newer
			dead(t, b)
		})
	}
	both(t, "T-071 a bearer session beside the browser's ends with it", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, takesBearer)
		one, two := s.enter("ada", "a1"), s.enter("ada", "a2")
		app, other := one.shows("Bearer "+appToken(t, one)), two.shows("Bearer "+appToken(t, two))
		if before, _, _ := app.who(); before != "ada@example.com" {
			t.Fatalf("the app is %q", before)
		}
		said(t, s.tell(map[string]any{"sid": "a1"}), http.StatusOK)
		ended, _, _ := app.who()
		if stays, _, _ := other.who(); ended != "" || stays != "ada@example.com" {
			t.Errorf("the app is %q, and that of another session %q", ended, stays)
		}
	})
	both(t, "M1: a sign-in under way is refused", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Email: "ada@example.com", EmailVerified: true, Claims: map[string]any{"sid": "a1"}})
		b := s.newBrowser()
		params := s.authResponse(b, "issuer")
		said(t, s.tell(map[string]any{"sub": "ada", "iat": s.clock.Now().Add(time.Second).Unix()}), http.StatusOK)
		refused(t, b.callback("issuer", params))
	})
	both(t, "no callback changes what the provider calls the session", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, i latchkey.TokenInfo) (latchkey.Claims, error) {
				delete(i.Claims, "op")
				return i.Claims, nil
			}
		})
		b := s.enter("ada", "a1")
		live(t, b)
		said(t, s.tell(map[string]any{"sid": "a1"}), http.StatusOK)
		dead(t, b)
	})
}

func TestLogoutOnOneStore(t *testing.T) {
	both(t, "T-133 one issuer at two sites", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		b := s.enter("ada", "a1")
		other := s.config
		other.Site.URL = "https://other.example"
		there, err := latchkey.New(other)
		if err != nil {
			t.Fatal(err)
		}
		r := s.newBrowser().request(http.MethodPost, "/auth/backchannel-logout/issuer", formContentType, latchkeytest.LogoutForm(s.issuer.LogoutToken(t, func(c map[string]any) { c["sid"] = "a1" })).Encode())
		r.Host = "other.example"
		said(t, s.newBrowser().serve(there, r), http.StatusOK)
		live(t, b)
		said(t, s.tell(map[string]any{"sid": "a1"}), http.StatusOK)
		dead(t, b)
	})
}

func TestLogoutOfOneTenant(t *testing.T) {
	both(t, "T-133 one issuer at two tenants", func(t *testing.T, strategy latchkey.Strategy) {
		s := &logoutSite{oauthSite: newTenantPair(t, withIssuer(func(o *latchkey.OAuth) { o.Logout = everyWay }), func(c *latchkey.Config) { c.Session.Strategy = strategy })}
		s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Email: "ada@example.com", EmailVerified: true, Claims: map[string]any{"sid": "a1"}})
		one, two := s.newBrowser().at("one"), s.newBrowser().at("two")
		s.mustSignIn(one)
		s.mustSignIn(two)
		for _, claims := range []map[string]any{{"sid": "a1"}, {"sub": "ada"}} {
			form := latchkeytest.LogoutForm(s.issuer.LogoutToken(t, func(c map[string]any) { maps.Copy(c, claims) })).Encode()
			said(t, s.newBrowser().at("one").do(http.MethodPost, "/auth/backchannel-logout/issuer", formContentType, form), http.StatusOK)
			if one.isLive() || !two.isLive() {
				t.Errorf("%v at one tenant: its own session lives: %t, that of the other: %t", claims, one.isLive(), two.isLive())
			}
		}
	})
}

// failingEnds is a store one of whose methods fails.
type failingEnds struct {
	*memoryadapter.Adapter
	method atomic.Pointer[string]
}

func (f *failingEnds) fails(method string) error {
	if failing := f.method.Load(); failing != nil && *failing == method {
		return errStore
	}
	return nil
}

func (f *failingEnds) Revoke(ctx context.Context, key string, at, expires time.Time) error {
	if err := f.fails("Revoke"); err != nil {
		return err
	}
	return f.Adapter.Revoke(ctx, key, at, expires)
}

func (f *failingEnds) DeleteProviderSessions(ctx context.Context, sids, subs []string, issued time.Time) ([]storage.StoredSession, error) {
	if err := f.fails("DeleteProviderSessions"); err != nil {
		return nil, err
	}
	return f.Adapter.DeleteProviderSessions(ctx, sids, subs, issued)
}

func TestFrontChannelLogout(t *testing.T) {
	both(t, "T-081 only the right pair ends the session", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay)
		b := s.enter("ada", "a1")
		frame := func(b *browser, query url.Values) {
			t.Helper()
			a := b.get("/auth/frontchannel-logout/issuer?" + query.Encode())
			h := a.Header()
			if a.Code != http.StatusOK || a.Body.Len() > 0 || h.Get("Cache-Control") != "no-store" || h.Get("X-Frame-Options") != "" ||
				h.Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors "+s.issuer.URL {
				t.Errorf("answered %d with %v", a.Code, h)
			}
		}
		right := url.Values{"iss": {s.issuer.URL}, "sid": {"a1"}}
		frame(b, url.Values{"iss": {s.issuer.URL}})
		frame(b, url.Values{"iss": {s.issuer.URL}, "sid": {"a2"}})
		frame(b, url.Values{"iss": {"https://other.example"}, "sid": {"a1"}})
		frame(s.enter("ada", "a2"), right)
		live(t, b)
		frame(b, right)
		dead(t, b)
		if s.seen(event.ProviderLogout) != 1 {
			t.Errorf("%d events", s.seen(event.ProviderLogout))
		}
	})
}

// T-076: a provider ends sessions in the ways that are configured, and in no other.
func TestChannelsThatAreOff(t *testing.T) {
	both(t, "T-076", func(t *testing.T, strategy latchkey.Strategy) {
		frame := func(s *logoutSite, b *browser) {
			b.get("/auth/frontchannel-logout/issuer?" + url.Values{"iss": {s.issuer.URL}, "sid": {"a1"}}.Encode())
		}
		other := second(func(o *latchkey.OAuth) { o.Logout, o.ClientID = everyWay, "client" }) // so that the routes are there
		s := newLogoutSite(t, strategy, latchkey.Logout{AtProvider: true, FrontChannel: true}, other)
		b := s.enter("ada", "a1")
		said(t, s.tell(map[string]any{"sub": "ada"}), http.StatusBadRequest)
		live(t, b)
		frame(s, b)
		dead(t, b)
		s = newLogoutSite(t, strategy, latchkey.Logout{AtProvider: true, BackChannel: true}, other)
		b = s.enter("ada", "a1")
		frame(s, b)
		live(t, b)
		said(t, s.tell(map[string]any{"sub": "ada"}), http.StatusOK)
		dead(t, b)
	})
}

// T-137: New says what a logout needs.
func TestLogoutIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*latchkey.Config)
		want   string
	}{
		"T-137 BackChannel without OIDC": {withIssuer(func(o *latchkey.OAuth) { o.OIDC, o.Logout = false, everyWay }), "need an OpenID Provider"},
		"T-137 BackChannel with JWT sessions and no revocations": {func(c *latchkey.Config) {
			withIssuer(func(o *latchkey.OAuth) { o.Logout = everyWay })(c)
			c.Session.Strategy, c.Session.SkipRevocations = latchkey.JWTSessions, true
		}, "Session.Revocations"},
		"T-137 BackChannel with a store that cannot": {func(c *latchkey.Config) {
			withIssuer(func(o *latchkey.OAuth) { o.Logout = everyWay })(c)
			c.Session.Strategy = latchkey.DatabaseSessions
			c.Adapter = struct {
				storage.Adapter
				storage.SessionAdapter
			}{c.Adapter, c.Adapter.(storage.SessionAdapter)}
		}, "ProviderLogoutAdapter"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			issuer := latchkeytest.NewIssuer(t)
			config := s.config
			config.Providers = append(config.Providers[:len(config.Providers):len(config.Providers)], issuer.Provider())
			c.change(&config)
			if _, err := latchkey.New(config); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New: %v, want %q", err, c.want)
			}
		})
	}
	for what, c := range map[string]struct {
		strategy latchkey.Strategy
		logout   latchkey.Logout
		given    bool // Session.Revocations
		warns    bool
	}{
		"stored sessions":                  {latchkey.DatabaseSessions, latchkey.Logout{BackChannel: true}, false, true},
		"a store of revocations apart":     {latchkey.DatabaseSessions, latchkey.Logout{BackChannel: true}, true, false},
		"no back channel":                  {latchkey.DatabaseSessions, latchkey.Logout{AtProvider: true, FrontChannel: true}, false, false},
		"JWT sessions, which need a store": {latchkey.JWTSessions, latchkey.Logout{BackChannel: true}, true, false},
	} {
		t.Run("R-744 an adapter that remembers no logout, with "+what, func(t *testing.T) {
			s := newLogoutSite(t, c.strategy, c.logout, func(config *latchkey.Config) {
				if c.given {
					config.Session.Revocations = memoryadapter.New(memoryadapter.Options{})
				}
				config.Adapter = withoutRevocations{Adapter: config.Adapter.(*memoryadapter.Adapter)}
			})
			if warned := strings.Contains(s.log.text(), "set Session.Revocations, or an Adapter"); warned != c.warns {
				t.Errorf("warned: %t\n%s", warned, s.log.text())
			}
		})
	}
	t.Run("the routes are off without a logout", func(t *testing.T) {
		s := newOAuthSite(t)
		for _, path := range []string{"signed-out/issuer", "backchannel-logout/issuer", "frontchannel-logout/issuer"} {
			if s.auth.Match(s.newBrowser().request(http.MethodGet, "/auth/"+path, "", "")) {
				t.Errorf("%s is taken from the application", path)
			}
		}
	})
}

// withoutRevocations is an adapter that is no storage.RevocationStore: the methods of the interface,
// which is nil, hide those of the adapter.
type withoutRevocations struct {
	*memoryadapter.Adapter
	storage.RevocationStore
}

// claimsIn returns the claims of a token, unverified.
func claimsIn(t testing.TB, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("no token: %q", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims map[string]any
	if err != nil || json.Unmarshal(raw, &claims) != nil {
		t.Fatalf("no claims: %v", err)
	}
	return claims
}

func TestLogoutWithoutNames(t *testing.T) {
	open := func(t *testing.T) *logoutSite {
		return newLogoutSite(t, latchkey.DatabaseSessions, everyWay, func(c *latchkey.Config) {
			c.Adapter = withoutNames{c.Adapter.(*memoryadapter.Adapter)}
		})
	}
	t.Run("T-080 sub", func(t *testing.T) {
		s := open(t)
		one, two, bob := s.enter("ada", "a1"), s.enter("ada", "a2"), s.enter("bob", "b1")
		said(t, s.tell(map[string]any{"sub": "ada"}), http.StatusOK)
		dead(t, one)
		dead(t, two)
		live(t, bob)
	})
	for what, bare := range map[string]bool{"": false, ", and no times": true} {
		t.Run("R-743 a token that comes again or late ends no newer session"+what, func(t *testing.T) {
			s := newLogoutSite(t, latchkey.DatabaseSessions, everyWay, func(c *latchkey.Config) {
				if c.Adapter = (withoutNames{c.Adapter.(*memoryadapter.Adapter)}); bare {
					c.Adapter = withoutTimes{c.Adapter.(withoutNames)}
				}
			})
			claims := map[string]any{"sub": "ada", "sid": "a1"}
			token := func() string {
				return s.issuer.LogoutToken(t, func(c map[string]any) { maps.Copy(c, claims) })
			}
			first, late, older := token(), token(), s.enter("ada", "a1")
			s.clock.Advance(time.Minute)
			newer := s.enter("ada", "a2")
			if said(t, s.tellToken(first), http.StatusOK); bare { // it cannot be told
				dead(t, newer)
				s.clock.Advance(time.Minute)
				newer = s.enter("ada", "a2")
			}
			dead(t, older)
			live(t, newer)
			said(t, s.tellToken(first), http.StatusBadRequest)
			said(t, s.tellToken(late), http.StatusOK)
			live(t, newer)
			said(t, s.tellToken(token()), http.StatusOK)
			dead(t, newer)
		})
	}
	t.Run("R-743 a try that failed ends them when it comes again", func(t *testing.T) {
		broken := &failingLists{}
		s := newLogoutSite(t, latchkey.DatabaseSessions, everyWay, func(c *latchkey.Config) {
			broken.withoutNames = withoutNames{c.Adapter.(*memoryadapter.Adapter)}
			c.Adapter = broken
		})
		b, token := s.enter("ada", "a1"), s.issuer.LogoutToken(t, func(c map[string]any) { c["sub"] = "ada" })
		broken.fails.Store(true)
		said(t, s.tellToken(token), http.StatusBadRequest)
		broken.fails.Store(false)
		said(t, s.tellToken(token), http.StatusOK)
		dead(t, b)
	})
	t.Run("T-080 sid only", func(t *testing.T) {
		s := open(t)
		one := s.enter("ada", "a1")
		said(t, s.tell(map[string]any{"sid": "a1", "sub": nil}), http.StatusBadRequest)
		live(t, one)
		if !strings.Contains(s.log.text(), "alert") {
			t.Error("no alert")
		}
	})
}

// withoutNames is an adapter whose tables have no columns for what a provider calls a
// session.
type withoutNames struct{ *memoryadapter.Adapter }

// withoutTimes is one whose tables do not say when a session began either.
type withoutTimes struct{ withoutNames }

func (s withoutTimes) ListSessions(ctx context.Context, userID string) ([]storage.StoredSession, error) {
	rows, err := s.withoutNames.ListSessions(ctx, userID)
	for i := range rows {
		rows[i].Created, rows[i].ProviderIssued = time.Time{}, time.Time{}
	}
	return rows, err
}

// failingLists is one whose lists of sessions fail.
type failingLists struct {
	withoutNames
	fails atomic.Bool
}

func (s *failingLists) ListSessions(ctx context.Context, userID string) ([]storage.StoredSession, error) {
	if s.fails.Load() {
		return nil, errStore
	}
	return s.withoutNames.ListSessions(ctx, userID)
}

func (withoutNames) DeleteProviderSessions(context.Context, []string, []string, time.Time) ([]storage.StoredSession, error) {
	return nil, errors.ErrUnsupported
}
