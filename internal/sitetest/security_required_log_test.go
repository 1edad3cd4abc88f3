package sitetest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// written returns what a form may have written: addresses, factors, sessions and what waits.
func written(s *memoryadapter.Adapter) (all []string) {
	c := s.Contents()
	for _, u := range c.Users {
		all = append(all, "user "+u.ID+" "+u.Email)
	}
	for _, f := range c.Factors {
		all = append(all, "factor "+f.ID)
	}
	for _, row := range c.Sessions {
		all = append(all, "session "+row.Token)
	}
	for _, row := range c.Challenges {
		if row.Purpose != "back" && row.Purpose != "due" { // counts
			all = append(all, row.Purpose+" "+row.ID)
		}
	}
	slices.Sort(all)
	return all
}

// forms that regain an account, or move its address, write nothing while an audit
// log that is required takes no events, and the same form does it afterwards.
func TestFormsWaitForARequiredAuditLog(t *testing.T) {
	mails := func(s *testSite) (n map[latchkey.MessageKind]int) {
		n = map[latchkey.MessageKind]int{}
		for _, m := range s.sent() {
			n[m.Kind]++
		}
		return n
	}
	refuses := func(t *testing.T, s *testSite, form func() *answer, status int) {
		t.Helper()
		before, sent := written(s.store), mails(s)
		if a := form(); status != 0 && a.Code != status || status == 0 && a.error() != "Configuration" || a.signsIn() {
			t.Errorf("R-660 without the log: %d to %q", a.Code, a.location())
		}
		if after := written(s.store); !slices.Equal(before, after) {
			t.Errorf("R-660 something was written: %q, and before %q", after, before)
		}
		if !maps.Equal(sent, mails(s)) {
			t.Errorf("R-660 a mail was sent: %v, and before %v", mails(s), sent)
		}
	}
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		t.Run("R-660 to report factors as lost", func(t *testing.T) {
			change, broken := withRequiredLog()
			s := newLostSite(t, with, change)
			s.t = t
			b := s.newBrowser()
			b.challenge()
			broken.Store(true)
			// The answer does not tell whether the removal begins.
			refuses(t, s.testSite, func() *answer { return b.post("/auth/factor?do=lost") }, http.StatusFound)
			if !strings.Contains(s.log.text(), "audit.store") {
				t.Error("R-660 the log has no word of it")
			}
			broken.Store(false)
			if b.post("/auth/factor?do=lost"); len(s.mails(latchkey.MessageRecoveryStarted)) != 1 {
				t.Errorf("R-660 afterwards: %v", mails(s.testSite))
			}
		})
		t.Run("R-660 to remove lost factors", func(t *testing.T) {
			change, broken := withRequiredLog()
			s := newLostSite(t, with, change)
			s.t = t
			b := s.asks()
			link := s.readyLink(b)
			b.post("/auth/callback/crew", "username", "alice", "password", "wonderland", "callbackUrl", siteOrigin+link)
			broken.Store(true)
			refuses(t, s.testSite, func() *answer { return b.post(link) }, 0)
			broken.Store(false)
			if a := b.post(link); !strings.Contains(a.location(), "done=recovery") || s.hasFactors() {
				t.Errorf("R-660 afterwards: %d to %q", a.Code, a.location())
			}
		})
	})
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		t.Run("R-660 to move to another mailbox, with staff", func(t *testing.T) {
			change, broken := withRequiredLog()
			s := newAddressSite(t, strategy, change)
			link, _ := s.regain("alice-1", "new@example.com")
			b := s.newBrowser()
			s.clock.Advance(regainDelay / 2)
			b.get("/auth/signin")
			s.clock.Advance(regainDelay / 2)
			broken.Store(true)
			refuses(t, s.testSite, func() *answer { return b.post(link) }, 0)
			broken.Store(false)
			if a := b.post(link); !strings.Contains(a.location(), "done=address") || s.address("alice-1") != "new@example.com" {
				t.Errorf("R-660 afterwards: %d to %q", a.Code, a.location())
			}
		})
		t.Run("R-660 to ask for another address, and to move there", func(t *testing.T) {
			change, broken := withRequiredLog()
			s := newAddressSite(t, strategy, change)
			b := s.newBrowser()
			b.password()
			broken.Store(true)
			refuses(t, s.testSite, func() *answer { return b.post("/auth/account?do=email", "email", "new@example.com") }, http.StatusServiceUnavailable)
			broken.Store(false)
			s.clock.Advance(time.Minute)
			b.post("/auth/account?do=email", "email", "new@example.com")
			link := path(s.lastMail(latchkey.MessageNewEmail))
			broken.Store(true)
			refuses(t, s.testSite, func() *answer { return b.post(link) }, http.StatusServiceUnavailable)
			broken.Store(false)
			if a := b.post(link); !strings.HasSuffix(a.location(), "/auth/account") || s.address("alice-1") != "new@example.com" || !b.isLive() {
				t.Errorf("R-660 afterwards: %d to %q", a.Code, a.location())
			}
		})
	})
}
