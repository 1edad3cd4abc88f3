package sitetest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/storage"
)

// lostSite is a site on which lost factors are removed after three days.
type lostSite struct {
	*factorSite
	events []event.Type
}

func newLostSite(t *testing.T, change ...func(*latchkey.Config)) *lostSite {
	t.Helper()
	s := &lostSite{}
	s.factorSite = newFactorSite(t, append([]func(*latchkey.Config){mailsAtOnce, withAccountPage, func(c *latchkey.Config) {
		c.Factors.RecoveryDelay = 72 * time.Hour
		c.Events.Observe = func(_ context.Context, e event.Event) error {
			s.events = append(s.events, e.Type)
			return nil
		}
	}}, change...)...)
	return s
}

// mails returns the mails of a kind.
func (s *lostSite) mails(kind latchkey.MessageKind) (all []latchkey.Message) {
	for _, m := range s.sent() {
		if m.Kind == kind {
			all = append(all, m)
		}
	}
	return all
}

// asks reports Alice's factors as lost, in a browser that has proven the first factor.
func (s *lostSite) asks() *browser {
	s.t.Helper()
	b := s.newBrowser()
	b.challenge()
	if page := b.get("/auth/factor").Body.String(); !strings.Contains(page, "/auth/factor?do=lost") {
		s.t.Error("the page does not offer it")
	}
	if a := b.get("/auth/factor?do=lost"); a.Code != http.StatusOK {
		s.t.Errorf("%d to %q", a.Code, a.location())
	}
	if a := b.post("/auth/factor?do=lost"); a.location() != siteOrigin+"/auth/factor?do=lost&done=lost" {
		s.t.Fatalf("%d to %q\n%s", a.Code, a.location(), s.log.text())
	}
	return b
}

// readyLink waits for the delay and returns the path of the link that is mailed then.
func (s *lostSite) readyLink(b *browser) string {
	s.t.Helper()
	s.clock.Advance(72 * time.Hour)
	b.get("/auth/signin")
	all := s.mails(latchkey.MessageRecoveryReady)
	if len(all) == 0 {
		s.t.Fatalf("no mail\n%s", s.log.text())
	}
	return path(all[len(all)-1])
}

// hasFactors reports whether Alice has her app.
func (s *lostSite) hasFactors() bool {
	return len(factorsOf(s.t.(*testing.T), s.testSite, "alice-1")) > 0
}

func TestLostFactorsAreRemovedAfterADelay(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		s := newLostSite(t, with)
		s.t = t
		phone := s.inSession()
		b := s.asks()
		started := s.mails(latchkey.MessageRecoveryStarted)
		if len(started) != 1 || started[0].To != "alice@example.com" || !strings.Contains(started[0].URL, "/auth/factor?do=stop&token=") || !started[0].Expires.Equal(s.clock.Now().Add(72*time.Hour)) {
			t.Fatalf("%+v\n%s", started, s.log.text())
		}
		if page := phone.get("/auth/account").Body.String(); !strings.Contains(page, "reported as lost") {
			t.Error("a session of the user is not told")
		}
		s.clock.Advance(36 * time.Hour)
		for range 3 {
			b.get("/auth/signin")
			s.clock.Advance(6 * time.Minute)
		}
		if n := len(s.mails(latchkey.MessageRecoverySoon)); n != 1 {
			t.Errorf("%d reminders", n)
		}
		s.clock.Advance(-18 * time.Minute)
		s.clock.Advance(-36 * time.Hour)
		link := s.readyLink(b)
		s.clock.Advance(10 * time.Minute)
		b.get("/auth/signin")
		if n := len(s.mails(latchkey.MessageRecoveryReady)); n != 1 {
			t.Errorf("%d mails with the link", n)
		}
		if a := b.get(link); !strings.HasPrefix(a.location(), siteOrigin+"/auth/signin?") || !s.hasFactors() {
			t.Errorf("without the first factor: %d to %q", a.Code, a.location())
		}
		b.post("/auth/callback/crew", "username", "alice", "password", "wonderland", "callbackUrl", siteOrigin+link)
		if a := b.get("/auth/factor"); a.location() != siteOrigin+link {
			t.Errorf("the sign-in leads to %q", a.location())
		}
		if a := b.get(link); a.Code != http.StatusOK || !s.hasFactors() || a.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Fatalf("looking: %d to %q", a.Code, a.location())
		}
		a := b.post(link)
		if !strings.Contains(a.location(), "done=recovery") || s.hasFactors() || b.isLive() || phone.isLive() {
			t.Fatalf("%d to %q, factors: %t, live: %t %t\n%s", a.Code, a.location(), s.hasFactors(), b.isLive(), phone.isLive(), s.log.text())
		}
		if n := len(s.mails(latchkey.MessageFactorRemoved)); n != 1 {
			t.Errorf("the owner gets %d notices", n)
		}
		for _, want := range []event.Type{event.RecoveryAsked, event.RecoveryDone} {
			if !slices.Contains(s.events, want) {
				t.Errorf("no %s among %v", want, s.events)
			}
		}
		s.clock.Advance(time.Minute)
		if b.post(link); b.isLive() {
			t.Error("F-201 the link works twice")
		}
		if b.password(); !b.isLive() {
			t.Errorf("the user does not get in\n%s", s.log.text())
		}
	})
}

func TestRemovalOfLostFactorsIsStopped(t *testing.T) {
	ways := map[string]func(s *lostSite){
		"by the link, in any browser": func(s *lostSite) {
			link, b := path(s.mails(latchkey.MessageRecoveryStarted)[0]), s.newBrowser()
			if a := b.get(link); a.Code != http.StatusOK || slices.Contains(s.events, event.RecoveryStopped) {
				s.t.Errorf("looking: %d to %q", a.Code, a.location())
			}
			b.post(link)
			if a := b.get("/auth/factor?do=stop&done=stop"); a.Code != http.StatusOK {
				s.t.Errorf("%d to %q", a.Code, a.location())
			}
		},
		"in a session": func(s *lostSite) {
			b := s.inSession() // which stops it
			b.post("/auth/account?do=stop")
		},
		"by a second factor": func(s *lostSite) { s.inSession() },
		"F-201 by an end of the sessions": func(s *lostSite) {
			if err := s.auth.Users().EndSessions(s.t.Context(), "alice-1"); err != nil {
				s.t.Fatal(err)
			}
		},
	}
	t.Run("a sweep mails what is due", func(t *testing.T) {
		s := newLostSite(t)
		s.t = t
		s.asks()
		s.clock.Advance(40 * time.Hour)
		if _, err := s.auth.Sweep(t.Context()); err != nil || len(s.mails(latchkey.MessageRecoverySoon)) != 1 {
			t.Errorf("%v, %d mails", err, len(s.mails(latchkey.MessageRecoverySoon)))
		}
	})
	for name, stop := range ways {
		t.Run(name, func(t *testing.T) {
			s := newLostSite(t)
			s.t = t
			b := s.asks()
			s.clock.Advance(time.Minute)
			stop(s)
			s.clock.Advance(73 * time.Hour)
			b.get("/auth/signin")
			if n := len(s.mails(latchkey.MessageRecoveryReady)); n != 0 {
				t.Errorf("%d mails with a link", n)
			}
			b.password()
			if b.isLive() || !s.hasFactors() {
				t.Error("the factors are gone")
			}
		})
	}
}

func TestLinkThatRemovesLostFactorsIsBound(t *testing.T) {
	for name, use := range map[string]func(s *lostSite, b *browser, link string){
		"another browser": func(s *lostSite, _ *browser, link string) {
			b := s.newBrowser()
			b.challenge()
			b.get(link)
			b.post(link)
		},
		"F-204 the secret of the other link": func(s *lostSite, b *browser, _ string) {
			b.challenge()
			b.post(strings.Replace(path(s.mails(latchkey.MessageRecoveryStarted)[0]), "do=stop", "do=remove", 1))
		},
		"too late": func(s *lostSite, b *browser, link string) {
			s.clock.Advance(24 * time.Hour)
			b.challenge()
			b.post(link)
		},
		"without a first factor": func(_ *lostSite, b *browser, link string) { b.post(link) },
		"another user": func(s *lostSite, b *browser, link string) {
			s.addUser("bob-1", "bob@example.com")
			own := s.secret
			s.enrol("bob-1")
			s.secret = own
			b.post("/auth/signin/post", "email", "bob@example.com")
			sent := s.mails(latchkey.MessageSignIn)
			b.get(strings.TrimPrefix(sent[len(sent)-1].URL, siteOrigin))
			b.post(link)
		},
		"a foreign page": func(_ *lostSite, b *browser, link string) {
			b.challenge()
			b.do(http.MethodPost, link, formContentType, "csrfToken=wrong")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newLostSite(t)
			s.t = t
			b := s.asks()
			use(s, b, s.readyLink(b))
			if !s.hasFactors() || b.isLive() {
				t.Error("the factors are gone")
			}
		})
	}
	t.Run("too early", func(t *testing.T) {
		s := newLostSite(t)
		s.t = t
		b := s.asks()
		link := s.readyLink(b)
		s.clock.Advance(-2 * time.Minute)
		b.challenge()
		if b.post(link); !s.hasFactors() {
			t.Error("the factors are gone")
		}
	})
}

func TestWhoCanReportLostFactors(t *testing.T) {
	refuses := func(t *testing.T, s *lostSite, before int) {
		t.Helper()
		s.t = t
		s.asks()
		if n := len(s.mails(latchkey.MessageRecoveryStarted)); n != before {
			t.Errorf("%d mails, want %d", n, before)
		}
	}
	t.Run("off", func(t *testing.T) {
		s := newFactorSite(t)
		b := s.newBrowser()
		b.challenge()
		if a := b.post("/auth/factor?do=lost"); strings.Contains(a.location(), "do=lost") || len(s.store.Contents().Challenges) != 1 {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
	t.Run("an address that is not proven", func(t *testing.T) {
		s := newLostSite(t)
		unproven := time.Time{}
		if _, err := s.store.UpdateUser(t.Context(), "alice-1", storage.UserChange{EmailVerified: &unproven}); err != nil {
			t.Fatal(err)
		}
		refuses(t, s, 0)
	})
	t.Run("an address that has moved", func(t *testing.T) {
		s := newLostSite(t)
		box := challenge.NewBox(s.config.Secrets, "")
		_, row, err := box.Make(challenge.Draft{Purpose: challenge.Moved, UserID: "alice-1", Life: 30 * 24 * time.Hour}, s.clock.Now())
		if err == nil {
			err = s.store.Challenges().Create(t.Context(), row)
		}
		if err != nil {
			t.Fatal(err)
		}
		refuses(t, s, 0)
		s.clock.Advance(30 * 24 * time.Hour)
		refuses(t, s, 1)
	})
	t.Run("three in thirty days, and one a day", func(t *testing.T) {
		s := newLostSite(t)
		refuses(t, s, 1)
		s.clock.Advance(23 * time.Hour)
		refuses(t, s, 1)
		s.clock.Advance(2 * time.Hour)
		refuses(t, s, 2)
		s.clock.Advance(25 * time.Hour)
		refuses(t, s, 3)
		s.clock.Advance(25 * time.Hour)
		refuses(t, s, 3)
		s.clock.Advance(28 * 24 * time.Hour)
		refuses(t, s, 4)
	})
	t.Run("no mail, no removal", func(t *testing.T) {
		s := newLostSite(t, func(c *latchkey.Config) {
			c.Mail.Send = func(context.Context, latchkey.Message) error { return http.ErrServerClosed }
		})
		s.t = t
		b := s.asks()
		s.clock.Advance(73 * time.Hour)
		b.get("/auth/signin")
		if page := s.inSession().get("/auth/account").Body.String(); strings.Contains(page, "reported as lost") {
			t.Error("it goes on")
		}
		if asked, stopped := slices.Index(s.events, event.RecoveryAsked), slices.Index(s.events, event.RecoveryStopped); asked < 0 || stopped < asked {
			t.Errorf("told: %v", s.events)
		}
	})
	t.Run("configuration", func(t *testing.T) {
		s := newSite(t)
		for _, delay := range []time.Duration{time.Hour, -1, 31 * 24 * time.Hour} {
			c := s.config
			withFactors(&c)
			c.Factors.RecoveryDelay = delay
			if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), "Factors.RecoveryDelay") {
				t.Errorf("%v: %v", delay, err)
			}
		}
	})
}
