package sitetest

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// Sessions that a provider can end by more than one name.

// joins signs the browser in at a provider as a person whose account it links.
func (s *logoutSite) joins(b *browser, provider, sub, sid string) {
	s.t.Helper()
	s.issuer.SignInAs(latchkeytest.Person{Subject: sub, Name: sub, Email: sub + "@example.com", EmailVerified: true, Claims: map[string]any{"sid": sid}})
	s.clock.Advance(time.Second)
	if a := b.callback(provider, s.authResponse(b, provider)); !a.signsIn() || a.error() != "" {
		s.t.Fatalf("linking failed: %d to %q\n%s", a.Code, a.location(), s.log.text())
	}
	if n := len(s.store.Contents().Users); n != 1 {
		s.t.Fatalf("%d users", n)
	}
}

// untracked adds a provider whose sessions no logout ends.
var untracked = second(func(o *latchkey.OAuth) { o.ID, o.Logout = "plain", latchkey.Logout{} })

func TestLinkedSessionsEndAtEachProvider(t *testing.T) {
	for what, claims := range map[string]map[string]any{
		"sid of the first": {"sid": "s1"}, "sub of the first": {"sub": "ada"}, "both of the first": {"sub": "ada", "sid": "s1"},
		"sid of the second": {"sid": "s2"}, "sub of the second": {"sub": "work"},
	} {
		both(t, "R-700 "+what, func(t *testing.T, strategy latchkey.Strategy) {
			s := newLogoutSite(t, strategy, everyWay, untracked, second(unchanged), func(c *latchkey.Config) { c.Session.Bearer = true })
			b := s.enter("ada", "s1")
			s.joins(b, "second", "work", "s2")
			s.joins(b, "plain", "home", "s3")
			app := "Bearer " + appToken(t, b)
			other := s.enter("ada", "s4") // by the name of the user there, or not at all
			said(t, s.tell(map[string]any{"sid": "s3"}), 200)
			live(t, b)
			if got := s.newBrowser().shows(app).session(); !strings.Contains(got, "ada") {
				t.Error("the session of the app is dead: " + got)
			}
			said(t, s.tell(claims), 200)
			if got := s.newBrowser().shows(app).session(); strings.Contains(got, "ada") {
				t.Error("the session of the app is alive: " + got)
			}
			dead(t, b)
			if rows := s.store.Contents().Sessions; len(rows) > 1 {
				t.Errorf("%d rows are left", len(rows))
			}
			if _, bySession := claims["sid"]; bySession {
				live(t, other)
			}
		})
	}
	both(t, "R-700 the first name stays, however many accounts are linked", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, untracked, second(unchanged))
		b := s.enter("ada", "s1")
		for i := range 8 {
			n := strconv.Itoa(i)
			s.joins(b, "second", "work"+n, "w"+n)
			s.joins(b, "plain", "home"+n, "h"+n)
		}
		said(t, s.tell(map[string]any{"sid": "s1"}), 200)
		dead(t, b)
	})
	both(t, "R-700 an older logout does not end it", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, second(unchanged))
		early := s.clock.Now().Add(-2 * time.Second).Unix()
		b := s.enter("ada", "s1")
		s.joins(b, "second", "work", "s2")
		said(t, s.tell(map[string]any{"sid": "s1", "iat": early}), 200)
		live(t, b)
	})
	both(t, "R-700 the frame of the first ends it", func(t *testing.T, strategy latchkey.Strategy) {
		s := newLogoutSite(t, strategy, everyWay, second(unchanged))
		b := s.enter("ada", "s1")
		s.joins(b, "second", "work", "s2")
		b.get("/auth/frontchannel-logout/issuer?iss=" + s.issuer.URL + "&sid=s1")
		dead(t, b)
	})
}

func TestFramesEndSessionsOfTheirProvider(t *testing.T) {
	both(t, "R-741 two providers of one issuer and client", func(t *testing.T, strategy latchkey.Strategy) {
		frame := func(s *logoutSite, b *browser, provider, sid string) {
			b.get("/auth/frontchannel-logout/" + provider + "?iss=" + s.issuer.URL + "&sid=" + sid)
		}
		opened := func() (*logoutSite, *browser) {
			s := newLogoutSite(t, strategy, everyWay, untracked, second(unchanged))
			return s, s.enter("ada", "s1")
		}
		s, b := opened()
		frame(s, b, "second", "s1")
		live(t, b)
		frame(s, b, "issuer", "s1")
		dead(t, b)
		for _, end := range [][2]string{{"issuer", "s1"}, {"second", "s2"}} {
			s, b := opened()
			s.joins(b, "second", "work", "s2")
			frame(s, b, "issuer", "s2")
			frame(s, b, "second", "s1")
			live(t, b)
			frame(s, b, end[0], end[1])
			dead(t, b)
		}
		s, b = opened()
		s.joins(b, "plain", "home", "s3") // whose logout is off: the session is found by its former name
		frame(s, b, "second", "s1")
		live(t, b)
		frame(s, b, "issuer", "s1")
		dead(t, b)
	})
}

func TestActingEndsWithLogoutOfTheAdministrator(t *testing.T) {
	for name, strategy := range strategies {
		t.Run("R-701 "+name, func(t *testing.T) {
			s := newActingSite(t, strategy, withIssuer(func(o *latchkey.OAuth) { o.Logout = everyWay }), second(unchanged))
			l := &logoutSite{oauthSite: s.oauthSite}
			for _, sid := range []string{"b1", "b2"} {
				s.boss = l.enter("chief", "b1")
				s.boss.callback("second", s.authResponseAs(s.boss, "second", "chief"+sid, sid))
				acting := s.acts(t)
				link, err := s.link(s.boss, s.adaID, actingReason)
				if err != nil {
					t.Fatal(err)
				}
				live(t, acting)
				said(t, l.tell(map[string]any{"sid": sid}), 200)
				dead(t, acting)
				if a := s.newBrowser().open(link); a.signsIn() {
					t.Error("a link from before the logout opens a session")
				}
				s.clock.Advance(time.Minute)
			}
		})
	}
}

// authResponseAs is authResponse of a person whose session the issuer calls sid.
func (s *oauthSite) authResponseAs(b *browser, provider, sub, sid string) (back map[string][]string) {
	s.t.Helper()
	s.issuer.SignInAs(latchkeytest.Person{Subject: sub, Name: sub, Email: sub + "@example.com", EmailVerified: true, Claims: map[string]any{"sid": sid}})
	return s.authResponse(b, provider)
}

// Whatever a site has configured, its sessions can be read, with callbacks and without: each
// of these keeps claims that no callback may change.
func TestEverythingTogetherIsRead(t *testing.T) {
	all := []func(*latchkey.Config){
		func(c *latchkey.Config) { c.Session.ActAs = latchkey.ActAs{Max: time.Hour} },
		func(c *latchkey.Config) { c.Factors.Kinds = []latchkey.FactorKind{latchkey.FactorTOTP} },
		withIssuer(func(o *latchkey.OAuth) { o.Logout = everyWay }),
		func(c *latchkey.Config) {
			c.AccountPage = latchkey.AccountPage{Enabled: true, Edit: latchkey.EditEmail}
		},
		func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, info latchkey.TokenInfo) (latchkey.Claims, error) { return info.Claims, nil }
		},
	}
	both(t, "with", func(t *testing.T, strategy latchkey.Strategy) {
		for chosen := range 1 << len(all) {
			var some []func(*latchkey.Config)
			for i, change := range all {
				if chosen&(1<<i) != 0 {
					some = append(some, change)
				}
			}
			s := newOAuthSite(t, append(some, func(c *latchkey.Config) {
				c.Session.Strategy, c.Session.Bearer = strategy, true
				c.Mail.Send = func(context.Context, latchkey.Message) error { return nil }
			})...)
			b := s.newBrowser()
			s.mustSignIn(b)
			if app := "Bearer " + appToken(t, b); !b.isLive() || !strings.Contains(s.newBrowser().shows(app).session(), "user") {
				t.Errorf("the choices %05b: %s", chosen, s.log.text())
			}
		}
	})
}

// a sign-out that an instance with the old secret alone records is one after that
// secret has left the list. So is the end of all sessions that the adapter records. Other
// ends hold for as long as the old secret is listed.
func TestEndsOutliveTheSecret(t *testing.T) {
	const old, later = "the first secret, which is long enough", newSecret
	for what, c := range map[string]struct {
		end            func(s *logoutSite, with *latchkey.Auth, b *browser)
		lasts, inStore bool // without the old secret, and in a store apart
	}{
		"sign-out": {func(_ *logoutSite, _ *latchkey.Auth, b *browser) {
			b.post("/auth/signout")
		}, true, true},
		"back-channel logout": {func(s *logoutSite, with *latchkey.Auth, _ *browser) {
			token := s.issuer.LogoutToken(s.t, func(c map[string]any) { c["sid"] = "s1" })
			b := s.newBrowser()
			b.serve(with, b.request("POST", "/auth/backchannel-logout/issuer", formContentType, latchkeytest.LogoutForm(token).Encode()))
		}, false, false},
		"end of all sessions": {func(s *logoutSite, with *latchkey.Auth, _ *browser) {
			if err := with.Users().EndSessions(s.t.Context(), s.store.Contents().Users[0].ID); err != nil {
				s.t.Fatal(err)
			}
		}, true, false},
	} {
		for name, apart := range map[string]bool{"in the adapter": false, "in a store apart": true} {
			t.Run("R-703 "+what+", "+name, func(t *testing.T) {
				s := newLogoutSite(t, latchkey.JWTSessions, everyWay, func(c *latchkey.Config) {
					c.Secrets = []string{old}
					if apart {
						c.Session.Revocations = memoryadapter.New(memoryadapter.Options{})
					}
				})
				b := s.enter("ada", "s1")
				kept := b.copy()
				both := s.withSecrets(later, old)
				b.serve(both, b.request("GET", "/auth/session", "", "")) // sealed anew
				live(t, kept)
				s.clock.Advance(time.Minute)
				c.end(s, s.auth, kept)
				if s.auth = both; c.lasts && (c.inStore || !apart) {
					s.auth = s.withSecrets(later)
				}
				dead(t, b)
			})
		}
	}
}
