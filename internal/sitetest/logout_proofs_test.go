package sitetest

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// Names that a provider gives a session in which its user has proven their identity there
// once more.

// proves has the user of a browser sign in at a provider again, for the page /pay.
func (s *logoutSite) proves(b *browser, provider, sub, sid string) *answer {
	s.t.Helper()
	s.clock.Advance(time.Second)
	a := b.post("/auth/reauth?for=recent&callbackUrl="+siteOrigin+"/pay", "use", "provider", "provider", provider)
	s.idToken(map[string]any{"auth_time": s.clock.Now().Unix()})
	s.issuer.SignInAs(latchkeytest.Person{Subject: sub, Name: sub, Email: sub + "@example.com", EmailVerified: true, Claims: map[string]any{"sid": sid}})
	return b.callback(provider, s.consent(a))
}

// mustProve is proves, of a proof that has to be one.
func (s *logoutSite) mustProve(b *browser, provider, sub, sid string) {
	s.t.Helper()
	if a := s.proves(b, provider, sub, sid); a.location() != siteOrigin+"/pay" {
		s.t.Fatalf("the proof leads to %q\n%s", a.location(), s.log.text())
	}
}

func TestProvenSessionsEndAtTheProvider(t *testing.T) {
	for what, change := range map[string]func(*latchkey.Config){
		"":                              func(*latchkey.Config) {},
		" in a store that cannot renew": func(c *latchkey.Config) { c.Adapter = unrenewing{Adapter: c.Adapter.(*memoryadapter.Adapter)} },
	} {
		for name, claims := range map[string]map[string]any{
			"old sid": {"sid": "s1"}, "new sid": {"sid": "s2"}, "newest sid": {"sid": "s3"}, "sub": {"sub": "ada"}, "sub and sid": {"sub": "ada", "sid": "s2"},
		} {
			both(t, "R-742 "+name+what, func(t *testing.T, strategy latchkey.Strategy) {
				s := newLogoutSite(t, strategy, everyWay, withFactors, change)
				b, other := s.enter("ada", "s1"), s.enter("bob", "b1")
				for _, sid := range []string{"s2", "s3"} {
					s.mustProve(b, "issuer", "ada", sid)
				}
				said(t, s.tell(map[string]any{"sid": "b2"}), 200)
				said(t, s.tell(map[string]any{"sub": "eve"}), 200)
				live(t, b)
				said(t, s.tell(claims), 200)
				dead(t, b)
				live(t, other)
			})
		}
	}
	both(t, "R-742 the first name and the latest stay, however many proofs there are", func(t *testing.T, strategy latchkey.Strategy) {
		for _, sid := range []string{"s0", "s7"} {
			s := newLogoutSite(t, strategy, everyWay, withFactors)
			b := s.enter("ada", "s0")
			for _, n := range "1234567" {
				s.mustProve(b, "issuer", "ada", "s"+string(n))
			}
			said(t, s.tell(map[string]any{"sid": sid}), 200)
			dead(t, b)
		}
	})
	both(t, "R-742 a proof at another provider than the one that opened the session", func(t *testing.T, strategy latchkey.Strategy) {
		for route, sid := range map[string]string{"issuer": "s1", "second": "s2"} {
			s := newLogoutSite(t, strategy, everyWay, withFactors, second(unchanged))
			b := s.enter("ada", "s0")
			s.joins(b, "second", "work", "w0")
			b = s.enter("ada", "s1")
			s.mustProve(b, "second", "work", "s2")
			frame := "/auth/frontchannel-logout/" + route + "?iss=" + s.issuer.URL + "&sid="
			b.get(frame + "s0")
			live(t, b)
			b.get(frame + sid)
			dead(t, b)
		}
	})
	both(t, "R-742 the frame of the provider ends it by the new sid", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, withFactors)
		b := s.enter("ada", "s1")
		s.mustProve(b, "issuer", "ada", "s2")
		b.get("/auth/frontchannel-logout/issuer?iss=" + s.issuer.URL + "&sid=b1")
		live(t, b)
		b.get("/auth/frontchannel-logout/issuer?iss=" + s.issuer.URL + "&sid=s2")
		dead(t, b)
	})
	both(t, "R-742 a sign-out sends the ID token of the proof", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, withFactors)
		b := s.enter("ada", "s1")
		s.mustProve(b, "issuer", "ada", "s2")
		if sid := claimsIn(t, s.leave(b).Query().Get("id_token_hint"))["sid"]; sid != "s2" {
			t.Errorf("the hint is of %v", sid)
		}
	})
	both(t, "R-742 a provider without a logout leaves the names as they are", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, withFactors, untracked)
		b := s.enter("ada", "s1")
		s.joins(b, "plain", "home", "h1")
		s.mustProve(b, "plain", "home", "h2")
		said(t, s.tell(map[string]any{"sid": "h2"}), 200)
		live(t, b)
		said(t, s.tell(map[string]any{"sid": "s1"}), 200)
		dead(t, b)
	})
	both(t, "R-742 a logout that came before the proof was complete ends it", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, withFactors)
		b := s.enter("ada", "s1")
		said(t, s.tell(map[string]any{"sid": "s2", "iat": s.clock.Now().Add(time.Second).Unix()}), 200)
		live(t, b)
		if a := s.proves(b, "issuer", "ada", "s2"); a.location() == siteOrigin+"/pay" && b.isLive() {
			t.Error("the session is alive")
		}
		dead(t, b)
	})
	both(t, "R-742 a proof in another way keeps the names", func(t *testing.T, strategy latchkey.Strategy) {
		for _, sid := range []string{"s1", "s2"} {
			s := newLogoutSite(t, strategy, everyWay, withFactors)
			b := s.enter("ada", "s1")
			f := &factorSite{testSite: s.testSite}
			f.enrol(s.sessionOf(b).UserID)
			s.signIn(b)
			b.factor("totp", f.code(0))
			s.mustProve(b, "issuer", "ada", "s2")
			s.clock.Advance(time.Minute)
			if a := b.post("/auth/reauth?callbackUrl="+siteOrigin+"/pay", "use", "totp", "code", f.code(0)); a.location() != siteOrigin+"/pay" {
				t.Fatalf("leads to %q\n%s", a.location(), s.log.text())
			}
			said(t, s.tell(map[string]any{"sid": sid}), 200)
			dead(t, b)
		}
	})
}

// unrenewing is an adapter that cannot give a session another token: the method of the
// interface, which is nil, hides that of the adapter.
type unrenewing struct {
	*memoryadapter.Adapter
	storage.SessionRenewalAdapter
}
