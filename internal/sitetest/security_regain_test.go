package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// regain has staff give a user who has lost the mailbox another address, and returns the
// paths of the links in both mailboxes: the one that moves the address, and the one that
// stops that.
func (s *managedSite) regain(userID, to string) (link, stop string) {
	s.t.Helper()
	if err := s.recover(userID, to); err != nil {
		s.t.Fatal(err)
	}
	return path(s.lastMail(latchkey.MessageRecoverEmail)), path(s.lastMail(latchkey.MessageEmailLost))
}

// mailsOf returns how many mails of a kind were sent.
func (s *managedSite) mailsOf(kind latchkey.MessageKind) (n int) {
	for _, m := range s.sent() {
		if m.Kind == kind {
			n++
		}
	}
	return n
}

const regainDelay = 72 * time.Hour

// P-033: the address of a user who has lost the mailbox moves after a delay, once, and
// both mailboxes are told twice.
func TestLostMailbox(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newAddressSite(t, strategy)
		phone, b := s.newBrowser(), s.newBrowser()
		phone.password()
		s.clock.Advance(time.Minute)
		link, _ := s.regain("alice-1", "new@example.com")
		if n, old := s.lastMail(latchkey.MessageRecoverEmail), s.lastMail(latchkey.MessageEmailLost); n.To != "new@example.com" || old.To != "alice@example.com" || !old.Expires.Equal(s.clock.Now().Add(regainDelay)) {
			t.Errorf("P-033 the mails: %+v, %+v", n, old)
		}
		s.clock.Advance(regainDelay / 2)
		for range 3 {
			b.get("/auth/signin")
			s.clock.Advance(6 * time.Minute)
		}
		s.clock.Advance(regainDelay/2 - time.Hour)
		for _, kind := range []latchkey.MessageKind{latchkey.MessageRecoverEmail, latchkey.MessageEmailLost} {
			if n := s.mailsOf(kind); n != 2 {
				t.Errorf("P-033 %d mails %s, want one at once and one half-way", n, kind)
			}
		}
		if a := b.post(link); a.error() != "Verification" || s.address("alice-1") != "alice@example.com" {
			t.Fatalf("P-033 too early: to %q, %q", a.location(), s.address("alice-1"))
		}
		s.clock.Advance(time.Hour)
		if a := b.get(link); a.Code != http.StatusOK || s.address("alice-1") != "alice@example.com" || a.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Fatalf("P-033 looking: %d to %q", a.Code, a.location())
		}
		if a := b.post(link); !strings.Contains(a.location(), "done=address") || s.address("alice-1") != "new@example.com" || b.isLive() || phone.isLive() {
			t.Fatalf("P-033 to %q, %q, live: %t %t\n%s", a.location(), s.address("alice-1"), b.isLive(), phone.isLive(), s.log.text())
		}
		if a := b.post(link); a.error() != "Verification" {
			t.Errorf("P-033 twice: to %q", a.location())
		}
		if err := s.auth.Users().ChangeEmail(t.Context(), "alice-1", users.EmailChange{Email: "third@example.com", Recover: true}); !names(err, "Recover") {
			t.Errorf("P-033 within 30 days: %v", err)
		}
		undo := s.lastMail(latchkey.MessageEmailChanged)
		s.clock.Advance(48 * time.Hour)
		if b.post(path(undo)); undo.To != "alice@example.com" || s.address("alice-1") != "alice@example.com" {
			t.Errorf("P-034 not me: %q", s.address("alice-1"))
		}
	})
}

// names reports whether err is an InputError for a field.
func names(err error, field string) bool {
	in, is := errors.AsType[*users.InputError](err)
	return is && in.Field == field
}

// P-033: what stops the change.
func TestLostMailboxIsStopped(t *testing.T) {
	for name, stop := range map[string]func(s *managedSite, stop string){
		"P-033 the link": func(s *managedSite, stop string) {
			b := s.newBrowser()
			if a := b.get(stop); a.Code != http.StatusOK {
				s.t.Errorf("%d to %q", a.Code, a.location())
			}
			b.post(stop)
		},
		"P-033 a sign-in": func(s *managedSite, _ string) { s.newBrowser().password() },
		"P-033 an end of the sessions": func(s *managedSite, _ string) {
			if err := s.auth.Users().EndSessions(s.t.Context(), "alice-1"); err != nil {
				s.t.Fatal(err)
			}
		},
		"P-033 a suspension": func(s *managedSite, _ string) {
			if err := s.auth.Users().Suspend(s.t.Context(), "alice-1", users.SuspendOptions{}); err != nil {
				s.t.Fatal(err)
			}
		},
		"P-033 another address": func(s *managedSite, _ string) {
			if _, err := s.store.UpdateUser(s.t.Context(), "alice-1", storage.UserChange{Email: new("else@example.com")}); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
				s := newAddressSite(t, strategy)
				link, stopLink := s.regain("alice-1", "new@example.com")
				s.clock.Advance(time.Minute)
				stop(s, stopLink)
				before := s.address("alice-1")
				s.clock.Advance(regainDelay)
				b := s.newBrowser()
				if a := b.post(link); a.error() == "" || s.address("alice-1") != before {
					t.Errorf("to %q, the address is %q", a.location(), s.address("alice-1"))
				}
			})
		})
	}
	t.Run("P-033 the link that stops moves nothing", func(t *testing.T) {
		s := newAddressSite(t, latchkey.JWTSessions)
		_, stop := s.regain("alice-1", "new@example.com")
		s.clock.Advance(regainDelay)
		b := s.newBrowser()
		if a := b.post(strings.Replace(stop, "do=keep", "do=regain", 1)); a.error() != "Verification" || s.address("alice-1") != "alice@example.com" {
			t.Errorf("to %q, the address is %q", a.location(), s.address("alice-1"))
		}
	})
	t.Run("P-033 too late", func(t *testing.T) {
		s := newAddressSite(t, latchkey.JWTSessions)
		link, _ := s.regain("alice-1", "new@example.com")
		s.clock.Advance(regainDelay + 24*time.Hour)
		b := s.newBrowser()
		if a := b.post(link); a.error() != "Verification" || s.address("alice-1") != "alice@example.com" {
			t.Errorf("to %q, the address is %q", a.location(), s.address("alice-1"))
		}
	})
}

// P-033: the second factor and the password stay, and the factor is asked for.
func TestLostMailboxKeepsFactors(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s, f, ann := newGuardedSite(t, strategy)
		link, _ := s.regain(ann.ID, "new@example.com")
		s.moves(link)
		b := s.newBrowser()
		s.clock.Advance(time.Minute)
		if b.tries("new@example.com", annsPass); b.isLive() {
			t.Error("P-033 the factor is not asked for")
		}
		if b.factor("totp", f.code(0)); !b.isLive() {
			t.Errorf("P-033 the user does not get in\n%s", s.log.text())
		}
	})
}

// P-033: what ChangeEmail refuses, and that a change is withdrawn of which a mailbox could
// not be told.
func TestLostMailboxIsRefused(t *testing.T) {
	fails := ""
	s := newAddressSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
		c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
			if m.To == fails {
				return http.ErrServerClosed
			}
			return nil
		}
	})
	if _, err := s.store.CreateUser(t.Context(), storage.User{ID: "bob-1", Email: "bob@example.com", EmailVerified: s.clock.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.CreateUser(t.Context(), storage.User{ID: "eve-1"}); err != nil {
		t.Fatal(err)
	}
	change := func(userID, to string) error {
		return s.auth.Users().ChangeEmail(t.Context(), userID, users.EmailChange{Email: to, Recover: true})
	}
	if err := change("alice-1", "bob@example.com"); !errors.Is(err, latchkey.ErrConflict) {
		t.Errorf("P-033 a taken address: %v", err)
	}
	if err := change("eve-1", "new@example.com"); !errors.Is(err, latchkey.ErrNotFound) {
		t.Errorf("P-033 a user without an address: %v", err)
	}
	if err := change("alice-1", "nothing"); !names(err, "Email") {
		t.Errorf("P-033 no address: %v", err)
	}
	for _, fails = range []string{"alice@example.com", "new@example.com"} {
		if err := change("alice-1", "new@example.com"); !errors.Is(err, latchkey.ErrEmailSignIn) {
			t.Errorf("P-033 no mail to %s: %v", fails, err)
		}
		for _, row := range s.store.Contents().Challenges {
			t.Errorf("P-033 no mail to %s: %s is left", fails, row.Purpose)
		}
	}
}

// the address of a user who has never proven it is replaced by none: what is attached
// to the user may be the work of another person, who was here first.
func TestLostMailboxOfNobody(t *testing.T) {
	s := newAddressSite(t, latchkey.JWTSessions)
	if _, err := s.store.CreateUser(t.Context(), storage.User{ID: "mallory-1", Email: "victim@example.com"}); err != nil {
		t.Fatal(err)
	}
	err := s.auth.Users().ChangeEmail(t.Context(), "mallory-1", users.EmailChange{Email: "new@example.com", Recover: true})
	if !names(err, "Recover") || s.mailsOf(latchkey.MessageRecoverEmail) > 0 {
		t.Errorf("R-723 error %v, %d mails", err, s.mailsOf(latchkey.MessageRecoverEmail))
	}
}

// P-033: a user who proves who they are in a session stops the change as a sign-in does.
func TestLostMailboxIsStoppedByAProof(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s, f, ann := newGuardedSite(t, strategy)
		b := s.newBrowser()
		b.tries(ann.Email, annsPass)
		b.factor("totp", f.code(0))
		link, _ := s.regain(ann.ID, "new@example.com")
		s.clock.Advance(time.Minute)
		b.post("/auth/reauth", "use", "totp", "code", f.code(0))
		s.clock.Advance(regainDelay)
		other := s.newBrowser()
		for range 2 {
			if a := other.post(link); a.error() == "" || s.address(ann.ID) != ann.Email {
				t.Errorf("P-033 to %q, the address is %q\n%s", a.location(), s.address(ann.ID), s.log.text())
			}
		}
	})
}

// a reminder that fails is tried again after hours, and the former mailbox is not
// mailed again and again.
func TestFailingRemindersAreFew(t *testing.T) {
	for _, away := range []string{"new@example.com", "alice@example.com"} {
		fails, told, link := false, map[string]int{}, ""
		s := newAddressSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
			c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
				if told[m.To]++; m.Kind == latchkey.MessageRecoverEmail {
					link = path(m)
				}
				if fails && m.To == away { // it may have been delivered
					return http.ErrServerClosed
				}
				return nil
			}
		})
		if err := s.auth.Users().ChangeEmail(t.Context(), "alice-1", users.EmailChange{Email: "new@example.com", Recover: true}); err != nil {
			t.Fatal(err)
		}
		fails = true
		s.clock.Advance(regainDelay / 2)
		for range 12 * 36 {
			s.clock.Advance(6 * time.Minute)
			s.newBrowser().get("/auth/signin")
		}
		if s.newBrowser().post(link); s.address("alice-1") != "alice@example.com" {
			t.Errorf("R-722 %s is away, and the address moved", away)
		}
		if told["alice@example.com"] > 10 || told["new@example.com"] > 10 {
			t.Errorf("R-722 %s is away, and mails were sent: %v", away, told)
		}
	}
}

// a mail about a delay that fails is due again.
func TestFailedReminderIsSentAgain(t *testing.T) {
	t.Run("P-033 of a lost mailbox", func(t *testing.T) {
		fails, told := false, 0
		s := newAddressSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
			c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
				if fails {
					return http.ErrServerClosed
				}
				told++
				return nil
			}
		})
		if err := s.auth.Users().ChangeEmail(t.Context(), "alice-1", users.EmailChange{Email: "new@example.com", Recover: true}); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(regainDelay / 2)
		b := s.newBrowser()
		fails = true
		b.get("/auth/signin")
		fails = false
		for range 2 {
			s.clock.Advance(6*time.Hour + time.Minute)
			b.get("/auth/signin")
		}
		if told != 4 {
			t.Errorf("R-720 %d mails, want two at once and two later", told)
		}
	})
	t.Run("of lost factors", func(t *testing.T) {
		fails, told := false, map[latchkey.MessageKind]int{}
		s := newLostSite(t, func(c *latchkey.Config) {
			c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
				if fails {
					return http.ErrServerClosed
				}
				told[m.Kind]++
				return nil
			}
		})
		s.t = t
		b := s.asks()
		for _, kind := range []latchkey.MessageKind{latchkey.MessageRecoverySoon, latchkey.MessageRecoveryReady} {
			s.clock.Advance(36 * time.Hour)
			fails = true
			b.get("/auth/signin")
			fails = false
			s.clock.Advance(6 * time.Hour)
			for range 2 {
				s.clock.Advance(6 * time.Minute)
				b.get("/auth/signin")
			}
			if told[kind] != 1 {
				t.Errorf("R-720 %d mails %s", told[kind], kind)
			}
		}
	})
}

// recover has staff ask for another address of a user.
func (s *managedSite) recover(userID, to string) error {
	s.t.Helper()
	return s.auth.Users().ChangeEmail(s.t.Context(), userID, users.EmailChange{Email: to, Recover: true})
}

// the same change again changes and sends nothing. Another address replaces it, and
// the link in each mail to the former mailbox stops what is under way.
func TestLostMailboxIsAskedForTwice(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newAddressSite(t, strategy)
		link, first := s.regain("alice-1", "new@example.com")
		for range 5 {
			s.clock.Advance(time.Hour)
			if err := s.recover("alice-1", "New@example.com"); err != nil {
				t.Fatalf("R-724 the same address: %v", err)
			}
		}
		if n := s.mailsOf(latchkey.MessageEmailLost) + s.mailsOf(latchkey.MessageRecoverEmail); n != 2 {
			t.Errorf("R-724 %d mails, want 2", n)
		}
		b := s.newBrowser()
		s.clock.Advance(regainDelay/2 - 5*time.Hour)
		b.get("/auth/signin")
		s.clock.Advance(regainDelay / 2)
		if a := b.get(link); a.Code != http.StatusOK {
			t.Errorf("R-724 the first link after a second call: %d to %q", a.Code, a.location())
		}
		second, _ := s.regain("alice-1", "other@example.com")
		s.clock.Advance(time.Hour)
		if a := b.post(link); a.error() != "Verification" || s.address("alice-1") != "alice@example.com" {
			t.Errorf("R-724 the replaced link: to %q, the address is %q", a.location(), s.address("alice-1"))
		}
		if a := b.post(first); !strings.Contains(a.location(), "done=kept") {
			t.Errorf("R-724 the stop link of the first mail: to %q", a.location())
		}
		s.clock.Advance(regainDelay / 2)
		b.get("/auth/signin")
		s.clock.Advance(regainDelay / 2)
		if a := b.post(second); a.error() != "Verification" || s.address("alice-1") != "alice@example.com" {
			t.Errorf("R-724 the stopped link: to %q, the address is %q", a.location(), s.address("alice-1"))
		}
		if a := b.post(first); a.error() != "Verification" {
			t.Errorf("R-724 the stop link once more: to %q", a.location())
		}
	})
}

// a change whose mails failed leaves the one that has replaced it alone.
func TestWithdrawnChangeStopsNoOther(t *testing.T) {
	var s *managedSite
	inner := false
	s = newAddressSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
		c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
			if m.To != "new@example.com" {
				return nil
			}
			inner = true
			if err := s.recover("alice-1", "other@example.com"); err != nil {
				t.Error(err)
			}
			return http.ErrServerClosed
		}
	})
	if err := s.recover("alice-1", "new@example.com"); !errors.Is(err, latchkey.ErrEmailSignIn) || !inner {
		t.Fatalf("R-724 %v, %t", err, inner)
	}
	pending := 0
	for _, row := range s.store.Contents().Challenges {
		if row.Purpose == "regain" && row.Identifier == "other@example.com" || row.Purpose == "keep" {
			pending++
		}
	}
	if pending != 2 {
		t.Errorf("R-724 %d rows of the other change are left, want 2", pending)
	}
}

// of many changes to many addresses few reach the former mailbox.
func TestLostMailboxIsNotFlooded(t *testing.T) {
	s := newAddressSite(t, latchkey.JWTSessions)
	var last error
	for i := range 20 {
		last = s.recover("alice-1", fmt.Sprintf("new%d@example.com", i))
		s.clock.Advance(time.Minute)
	}
	limited, is := errors.AsType[*latchkey.Error](last)
	if n := s.mailsOf(latchkey.MessageEmailLost); n != 3 || !is || limited.Code != "limit" || !errors.Is(last, latchkey.ErrEmailSignIn) {
		t.Errorf("R-725 %d mails, error %v", n, last)
	}
	s.clock.Advance(24 * time.Hour)
	if err := s.recover("alice-1", "next@example.com"); err != nil {
		t.Errorf("R-725 a day later: %v", err)
	}
}

// the account page shows the change, and a button stops it in an old session.
func TestAccountPageStopsRecovery(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newAddressSite(t, strategy)
		b := s.newBrowser()
		b.password()
		s.clock.Advance(time.Hour) // too old to change anything
		link, _ := s.regain("alice-1", "new@example.com")
		shown := b.get("/auth/account").Body.String()
		if !strings.Contains(shown, "new@example.com") || !strings.Contains(shown, "do=keep") {
			t.Errorf("R-726 the page does not show the change\n%s", shown)
		}
		if a := b.post("/auth/account?do=keep"); !strings.HasSuffix(a.location(), "/auth/account") {
			t.Errorf("R-726 to %q, %d", a.location(), a.Code)
		}
		if shown := b.get("/auth/account").Body.String(); strings.Contains(shown, "new@example.com") || !strings.Contains(shown, "stays as it is") {
			t.Errorf("R-726 the page after it\n%s", shown)
		}
		s.clock.Advance(regainDelay / 2)
		b.get("/auth/signin")
		s.clock.Advance(regainDelay / 2)
		if a := s.newBrowser().post(link); a.error() != "Verification" || s.address("alice-1") != "alice@example.com" {
			t.Errorf("R-726 to %q, the address is %q", a.location(), s.address("alice-1"))
		}
		if a := b.post("/auth/account?do=keep"); !strings.HasSuffix(a.location(), "/auth/account") {
			t.Errorf("R-726 without a change: to %q, %d", a.location(), a.Code)
		}
	})
}

// withRequiredLog returns a change of a configuration to one that requires its audit log,
// and a switch that breaks the log.
func withRequiredLog() (change func(*latchkey.Config), broken *atomic.Bool) {
	desk := newAuditDesk()
	return func(c *latchkey.Config) {
		desk.Adapter, _ = c.Adapter.(*memoryadapter.Adapter)
		c.Adapter, c.Operations.Audit.Store, c.Operations.Audit.Required = desk, true, true
	}, desk.broken
}

// what defends a user does not wait for an audit log that is required and away.
func TestStopsNeedNoAuditLog(t *testing.T) {
	for name, stop := range map[string]func(s *managedSite, session *browser, link string) *answer{
		"R-727 the link": func(s *managedSite, _ *browser, link string) *answer {
			b := s.newBrowser()
			return b.post(link)
		},
		"R-727 the account page": func(_ *managedSite, session *browser, _ string) *answer {
			return session.post("/auth/account?do=keep")
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
				change, broken := withRequiredLog()
				s := newAddressSite(t, strategy, change)
				session := s.newBrowser()
				session.password()
				link, stopLink := s.regain("alice-1", "new@example.com")
				broken.Store(true)
				if a := stop(s, session, stopLink); a.error() != "" {
					t.Errorf("to %q", a.location())
				}
				broken.Store(false)
				s.clock.Advance(regainDelay / 2)
				s.newBrowser().get("/auth/signin")
				s.clock.Advance(regainDelay / 2)
				if s.newBrowser().post(link); s.address("alice-1") != "alice@example.com" {
					t.Error("the change was not stopped")
				}
			})
		})
	}
	t.Run("R-727 the undo", func(t *testing.T) {
		change, broken := withRequiredLog()
		s := newAddressSite(t, latchkey.JWTSessions, change)
		b := s.newBrowser()
		link, _ := s.regain("alice-1", "new@example.com")
		s.moves(link)
		undo := path(s.lastMail(latchkey.MessageEmailChanged))
		broken.Store(true)
		if a := b.post(undo); a.error() != "" || s.address("alice-1") != "alice@example.com" {
			t.Errorf("to %q, the address is %q", a.location(), s.address("alice-1"))
		}
	})
	for name, stop := range map[string]func(s *lostSite, session *browser) *answer{
		"R-727 the link about lost factors": func(s *lostSite, _ *browser) *answer {
			b := s.newBrowser()
			return b.post(path(s.mails(latchkey.MessageRecoveryStarted)[0]))
		},
		"R-727 the account page about lost factors": func(_ *lostSite, session *browser) *answer {
			return session.post("/auth/account?do=stop")
		},
	} {
		t.Run(name, func(t *testing.T) {
			change, broken := withRequiredLog()
			s := newLostSite(t, change)
			s.t = t
			session := s.newBrowser()
			session.challenge()
			session.factor("totp", s.code(0))
			s.clock.Advance(time.Minute)
			s.asks()
			broken.Store(true)
			if a := stop(s, session); a.error() != "" {
				t.Errorf("to %q", a.location())
			}
			for _, row := range s.store.Contents().Challenges {
				if row.Purpose == "lost" && row.Expires.After(s.clock.Now().Add(72*time.Hour)) && row.Expires.Before(s.clock.Now().Add(5*24*time.Hour)) {
					t.Error("the removal was not stopped")
				}
			}
		})
	}
}

// moves lets the delay of a change pass, and opens its link.
func (s *managedSite) moves(link string) {
	s.t.Helper()
	b := s.newBrowser()
	s.clock.Advance(regainDelay / 2)
	b.get("/auth/signin")
	s.clock.Advance(regainDelay / 2)
	if a := b.post(link); !strings.Contains(a.location(), "done=address") {
		s.t.Fatalf("the address does not move: to %q\n%s", a.location(), s.log.text())
	}
}

// who takes over an account by two calls to staff is heard of in the old mailbox.
func TestFormerMailboxHearsOfReset(t *testing.T) {
	s, _, ann := newGuardedSite(t, latchkey.JWTSessions)
	link, _ := s.regain(ann.ID, "new@example.com")
	s.moves(link)
	told := func() (to []string) {
		for _, m := range s.sent() {
			if m.Kind == latchkey.MessageFactorsReset {
				to = append(to, m.To)
			}
		}
		return to
	}
	if err := s.auth.Users().ResetFactors(t.Context(), ann.ID); err != nil {
		t.Fatal(err)
	}
	if to := told(); !slices.Equal(to, []string{"new@example.com", ann.Email}) {
		t.Errorf("R-728 told: %v", to)
	}
	s.clock.Advance(73 * time.Hour) // the undo is over
	if err := s.auth.Users().ResetFactors(t.Context(), ann.ID); err != nil {
		t.Fatal(err)
	}
	if to := told(); len(to) != 3 {
		t.Errorf("R-728 told in the end: %v", to)
	}
}

// whatever ends a change under way is an event, once.
func TestEndOfRecoveryIsAnEvent(t *testing.T) {
	for name, end := range map[string]func(u *users.Users) error{
		"R-751 an end of the sessions": func(u *users.Users) error { return u.EndSessions(t.Context(), "alice-1") },
		"R-751 a suspension": func(u *users.Users) error {
			return u.Suspend(t.Context(), "alice-1", users.SuspendOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
				stopped := 0
				s := newAddressSite(t, strategy, func(c *latchkey.Config) {
					c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
						if e.Type == event.EmailStopped && e.UserID == "alice-1" {
							stopped++
						}
						return nil
					}
				})
				s.regain("alice-1", "new@example.com")
				s.clock.Advance(time.Minute)
				for range 2 {
					if err := end(s.auth.Users()); err != nil {
						t.Fatal(err)
					}
				}
				if stopped != 1 {
					t.Errorf("%d events, want 1", stopped)
				}
				for _, row := range s.store.Contents().Challenges {
					if row.Purpose == "regain" || row.Purpose == "keep" {
						t.Errorf("%s is left", row.Purpose)
					}
				}
			})
		})
	}
}

// a reminder that leaves late delays the change, and the mails say until when.
func TestReminderComesADayBefore(t *testing.T) {
	s := newAddressSite(t, latchkey.JWTSessions)
	link, stop := s.regain("alice-1", "new@example.com")
	b := s.newBrowser()
	s.clock.Advance(regainDelay + time.Hour)
	for range 2 { // the first request sends the reminder
		if a := b.post(link); a.error() != "Verification" || s.address("alice-1") != "alice@example.com" {
			t.Fatalf("R-729 at once: to %q, the address is %q", a.location(), s.address("alice-1"))
		}
	}
	until := s.lastMail(latchkey.MessageEmailLost).Expires
	if s.mailsOf(latchkey.MessageEmailLost) != 2 || s.clock.Now().Add(23*time.Hour).After(until) || !s.lastMail(latchkey.MessageRecoverEmail).Expires.Equal(until) {
		t.Errorf("R-729 the reminder: %v", until)
	}
	s.clock.Advance(23 * time.Hour)
	if a := b.get(stop); a.Code != http.StatusOK {
		t.Errorf("R-729 the stop link: %d", a.Code)
	}
	if a := b.post(link); a.error() != "Verification" {
		t.Errorf("R-729 before a day: to %q", a.location())
	}
	s.clock.Advance(time.Hour)
	if a := b.post(link); !strings.Contains(a.location(), "done=address") {
		t.Errorf("R-729 after a day: to %q\n%s", a.location(), s.log.text())
	}
}

// a change whose reminder left late is under way as long as its link works, and not
// a moment longer.
func TestLateChangeIsUnderWay(t *testing.T) {
	s := newAddressSite(t, latchkey.DatabaseSessions)
	b := s.newBrowser()
	b.password()
	link, _ := s.regain("alice-1", "new@example.com")
	s.clock.Advance(regainDelay + 23*time.Hour)
	s.newBrowser().get("/auth/signin") // sends the reminder
	shown := func() bool { return strings.Contains(b.get("/auth/account").Body.String(), "new@example.com") }
	mails := s.mailsOf(latchkey.MessageEmailLost)
	s.clock.Advance(24 * time.Hour)
	if err := s.recover("alice-1", "new@example.com"); err != nil || s.mailsOf(latchkey.MessageEmailLost) != mails || !shown() {
		t.Errorf("R-749 asked for again: %v, %d mails, want %d", err, s.mailsOf(latchkey.MessageEmailLost), mails)
	}
	if a := s.newBrowser().get(link); a.Code != http.StatusOK {
		t.Errorf("R-749 the link: %d to %q", a.Code, a.location())
	}
	s.clock.Advance(24 * time.Hour)
	if a := s.newBrowser().post(link); a.error() != "Verification" || shown() {
		t.Errorf("R-749 after its end: to %q, shown: %t", a.location(), shown())
	}
	s.moves(func() string { link, _ := s.regain("alice-1", "new@example.com"); return link }())
}

// a change that cannot happen is not shown: no mailbox was reminded in time.
func TestVoidChangeIsNotShown(t *testing.T) {
	s := newAddressSite(t, latchkey.DatabaseSessions)
	b := s.newBrowser()
	b.password()
	s.regain("alice-1", "new@example.com")
	s.clock.Advance(regainDelay + 24*time.Hour)
	if strings.Contains(b.get("/auth/account").Body.String(), "new@example.com") {
		t.Error("R-749 the page shows a change that cannot happen")
	}
}

// without a reminder in time nothing moves, and staff can begin anew.
func TestNoReminderNoChange(t *testing.T) {
	s := newAddressSite(t, latchkey.JWTSessions)
	link, _ := s.regain("alice-1", "new@example.com")
	b := s.newBrowser()
	s.clock.Advance(regainDelay + 24*time.Hour)
	for range 3 {
		if a := b.post(link); a.error() != "Verification" || s.mailsOf(latchkey.MessageEmailLost) != 1 {
			t.Errorf("R-729 to %q, %d mails", a.location(), s.mailsOf(latchkey.MessageEmailLost))
		}
		s.clock.Advance(20 * time.Hour)
	}
	link, _ = s.regain("alice-1", "new@example.com")
	s.moves(link)
}

// a mailbox that is gone does not stop the change, and an event says so. A mailbox
// that takes no mail for any other reason does.
func TestMailboxThatIsGone(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		var unheard []string
		fails := error(nil)
		link := ""
		s := newAddressSite(t, strategy, func(c *latchkey.Config) {
			c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
				switch {
				case m.To == "alice@example.com":
					return fails
				case m.Kind == latchkey.MessageRecoverEmail:
					link = path(m)
				}
				return nil
			}
			c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
				if e.Type == event.EmailUnheard {
					unheard = append(unheard, e.UserID)
				}
				return nil
			}
		})
		fails = http.ErrServerClosed
		if err := s.recover("alice-1", "new@example.com"); !errors.Is(err, latchkey.ErrEmailSignIn) || len(unheard) > 0 {
			t.Errorf("R-750 another failure: %v, %v", err, unheard)
		}
		fails = fmt.Errorf("mail: refused: %w", latchkey.ErrMailboxGone)
		if err := s.recover("alice-1", "new@example.com"); err != nil || !slices.Equal(unheard, []string{"alice-1"}) {
			t.Fatalf("R-750 %v, %v", err, unheard)
		}
		if a := s.newBrowser().post(link); a.error() != "Verification" {
			t.Errorf("R-750 at once: to %q", a.location())
		}
		s.moves(link)
		if len(unheard) != 2 {
			t.Errorf("R-750 %d events, want one for each mail", len(unheard))
		}
	})
	t.Run("R-750 the new mailbox", func(t *testing.T) {
		s := newAddressSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
			c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
				if m.To == "new@example.com" {
					return latchkey.ErrMailboxGone
				}
				return nil
			}
		})
		if err := s.recover("alice-1", "new@example.com"); !errors.Is(err, latchkey.ErrEmailSignIn) {
			t.Errorf("R-750 %v", err)
		}
	})
	t.Run("R-750 an audit log that is required and away", func(t *testing.T) {
		change, broken := withRequiredLog()
		s := newAddressSite(t, latchkey.JWTSessions, change, func(c *latchkey.Config) {
			c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
				if m.To == "alice@example.com" {
					broken.Store(true)
					return latchkey.ErrMailboxGone
				}
				return nil
			}
		})
		if err := s.recover("alice-1", "new@example.com"); !errors.Is(err, latchkey.ErrAudit) {
			t.Errorf("R-750 %v", err)
		}
		for _, row := range s.store.Contents().Challenges {
			t.Errorf("R-750 %s is left", row.Purpose)
		}
	})
}

// the mail after the change says so, and the link of the first mail undoes
// it, too.
func TestStopLinkLeadsToTheUndo(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newAddressSite(t, strategy)
		link, stop := s.regain("alice-1", "new@example.com")
		s.moves(link)
		if n := s.mailsOf(latchkey.MessageEmailChange); n != 0 || s.lastMail(latchkey.MessageEmailChanged).To != "alice@example.com" {
			t.Errorf("R-752 %d mails say that it is about to change", n)
		}
		b := s.newBrowser()
		for _, a := range []*answer{b.get(stop), b.post(stop)} {
			if !strings.Contains(a.location(), "do=undo") || s.address("alice-1") != "new@example.com" {
				t.Fatalf("R-753 to %q, the address is %q", a.location(), s.address("alice-1"))
			}
		}
		undo := strings.TrimPrefix(b.get(stop).location(), siteOrigin)
		if a := b.get(undo); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "alice@example.com") {
			t.Errorf("R-753 the page: %d", a.Code)
		}
		if a := b.post(undo); s.address("alice-1") != "alice@example.com" {
			t.Errorf("R-753 to %q, the address is %q", a.location(), s.address("alice-1"))
		}
		if a := b.get(stop); a.error() != "Verification" {
			t.Errorf("R-753 afterwards: to %q", a.location())
		}
	})
}
