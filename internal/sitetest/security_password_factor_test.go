package sitetest

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// newGuardedSite is a site whose user has a password and an authenticator app.
func newGuardedSite(t *testing.T, strategy latchkey.Strategy, change ...func(*latchkey.Config)) (*managedSite, *factorSite, storage.User) {
	t.Helper()
	s := newManagedSite(t, strategy, append([]func(*latchkey.Config){withFactors}, change...)...)
	u := s.addUser(annMail, annsPass)
	f := &factorSite{testSite: s.testSite}
	s.clock.Advance(time.Minute)
	f.enrol(u.ID)
	return s, f, u
}

// F-084: a mailbox alone sets no password of a user who has a second factor.
func TestResetRespectsTheFactor(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		t.Run("F-084 with a code of the app", func(t *testing.T) {
			s, f, _ := newGuardedSite(t, strategy)
			link, b := s.resetLink(annMail), s.newBrowser()
			if form := b.get(link); !strings.Contains(form.Body.String(), `name="code"`) || !strings.Contains(form.Body.String(), "one-time-code") {
				t.Errorf("the form has no field for the code: %d", form.Code)
			}
			for name, code := range map[string]string{"none": "", "wrong": wrongCode(f.code(0)), "letters": "abcdef"} {
				if a := b.post(link, "password", newPass, "code", code); a.Code != http.StatusUnprocessableEntity || a.signsIn() {
					t.Errorf("%s: %d to %q", name, a.Code, a.location())
				}
			}
			if a := b.post(link, "password", newPass, "code", f.code(0)); !strings.Contains(a.location(), "done=reset") || a.signsIn() {
				t.Fatalf("%d to %q: %s", a.Code, a.location(), s.log.text())
			}
			s.clock.Advance(time.Minute)
			if a := s.newBrowser().tries(annMail, newPass); a.signsIn() || !strings.HasSuffix(a.location(), "/auth/factor") {
				t.Errorf("the factor is gone: %q", a.location())
			}
			if a := s.newBrowser().tries(annMail, annsPass); !strings.Contains(a.location(), "CredentialsSignin") {
				t.Errorf("the old password leads to %q", a.location())
			}
		})
		t.Run("F-084 with a recovery code, once", func(t *testing.T) {
			s, f, _ := newGuardedSite(t, strategy)
			first, second := s.resetLink(annMail), s.resetLink(annMail)
			var set atomic.Int64
			var all sync.WaitGroup
			for _, link := range []string{first, second, first, second} {
				b := s.newBrowser()
				all.Go(func() {
					if strings.Contains(b.post(link, "password", newPass, "code", f.codes[0]).location(), "done=reset") {
						set.Add(1)
					}
				})
			}
			all.Wait()
			if set.Load() != 1 {
				t.Errorf("set %d times", set.Load())
			}
		})
		t.Run("R-675 a factor of long ago does not do, whatever was proven since", func(t *testing.T) {
			for name, proof := range map[string]func(f *factorSite) []string{
				"a password": func(*factorSite) []string { return []string{"use", "password", "password", annsPass} },
				"the app":    func(f *factorSite) []string { return []string{"use", "totp", "code", f.code(0)} },
			} {
				s, f, _ := newGuardedSite(t, strategy)
				b := s.newBrowser()
				b.tries(annMail, annsPass)
				b.factor("totp", f.code(0))
				s.clock.Advance(24 * time.Hour)
				if a := b.post("/auth/reauth", proof(f)...); strings.Contains(a.location(), "error=") || !b.isLive() {
					t.Fatalf("%s: %d to %q", name, a.Code, a.location())
				}
				asked := strings.Contains(b.get(s.resetLink(annMail)).Body.String(), `name="code"`)
				if asked != (name == "a password") {
					t.Errorf("after %s a code is asked for: %t", name, asked)
				}
			}
		})
		t.Run("F-084 five tries end the link", func(t *testing.T) {
			s, f, _ := newGuardedSite(t, strategy)
			link, b := s.resetLink(annMail), s.newBrowser()
			for range 5 {
				b.post(link, "password", newPass, "code", wrongCode(f.code(0)))
			}
			if a := b.post(link, "password", newPass, "code", f.code(0)); a.error() != "Verification" {
				t.Errorf("%d to %q", a.Code, a.location())
			}
			if a := s.newBrowser().get(link); a.error() != "Verification" {
				t.Errorf("it lives: %d to %q", a.Code, a.location())
			}
		})
		for _, call := range []string{"Challenges.Try", "InTx"} {
			t.Run("R-709 an outage ends no link, and counts no code: "+call, func(t *testing.T) {
				plan := newFaultyStore()
				s, f, _ := newGuardedSite(t, strategy, func(c *latchkey.Config) {
					inner, _ := c.Adapter.(*memoryadapter.Adapter)
					c.Adapter, c.Runtime.Logger = proofFaults{inner, plan}, quiet
				})
				link, b := s.resetLink(annMail), s.newBrowser()
				for _, link := range []string{s.resetLink(annMail), s.resetLink(annMail), link} {
					plan.fail(call, faultAway)
					for range 6 {
						if a := b.post(link, "password", newPass, "code", f.code(0)); a.error() != "Configuration" {
							t.Fatalf("an outage: %d to %q", a.Code, a.location())
						}
					}
					plan.mend()
				}
				if a := b.post(link, "password", newPass, "code", f.code(0)); !strings.Contains(a.location(), "done=reset") {
					t.Errorf("afterwards: %d to %q", a.Code, a.location())
				}
			})
		}
		t.Run("F-072 links do not multiply guesses", func(t *testing.T) {
			s, f, _ := newGuardedSite(t, strategy)
			var links []string
			for range 4 {
				links = append(links, s.resetLink(annMail))
			}
			for _, link := range links[:3] {
				b := s.newBrowser()
				for range 4 {
					b.post(link, "password", newPass, "code", wrongCode(f.code(0)))
				}
			}
			if a := s.newBrowser().post(links[3], "password", newPass, "code", f.code(0)); a.Code != http.StatusUnprocessableEntity {
				t.Errorf("the 13th code is compared: %d to %q", a.Code, a.location())
			}
		})
	})
}

// F-092, F-093: the mail of a sign-up has a code for the browser that has begun it, and
// code and link are one proof.
func TestSignUpByCode(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		begin := func(s *managedSite) (b *browser, code, link string) {
			b = s.newBrowser()
			b.post("/auth/password?do=signup", "email", annMail, "password", annsPass)
			m := s.lastMail(latchkey.MessageVerify)
			return b, m.Code, path(m)
		}
		t.Run("F-092 a code signs in, and its link is dead", func(t *testing.T) {
			s := newManagedSite(t, strategy)
			b, code, link := begin(s)
			if form := b.get("/auth/verify-request?provider=password&type=email"); !strings.Contains(form.Body.String(), `name="code"`) {
				t.Errorf("no field for the code: %d", form.Code)
			}
			if a := b.post("/auth/password?do=verify", "code", code[:4]+" "+code[4:]); len(code) != 8 || !a.signsIn() || !b.isLive() {
				t.Fatalf("%d to %q: %s", a.Code, a.location(), s.log.text())
			}
			if a := s.newBrowser().post(link, "password", newPass); a.error() != "Verification" {
				t.Errorf("the link: %d to %q", a.Code, a.location())
			}
			s.clock.Advance(time.Minute)
			if !s.newBrowser().tries(annMail, annsPass).signsIn() {
				t.Error("the password does not work")
			}
		})
		t.Run("F-092 the link was used, and its code is wrong", func(t *testing.T) {
			s := newManagedSite(t, strategy)
			b, code, link := begin(s)
			if a := s.newBrowser().post(link, "password", newPass); !a.signsIn() {
				t.Fatalf("the link: %d to %q", a.Code, a.location())
			}
			if a := b.post("/auth/password?do=verify", "code", code); a.signsIn() || a.error() != "Verification" {
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
		t.Run("F-093 in another browser", func(t *testing.T) {
			s := newManagedSite(t, strategy)
			b, code, _ := begin(s)
			if a := s.newBrowser().post("/auth/password?do=verify", "code", code); a.signsIn() || a.error() != "Verification" {
				t.Errorf("%d to %q", a.Code, a.location())
			}
			if a := b.post("/auth/password?do=verify", "code", code); !a.signsIn() {
				t.Errorf("the other browser has counted: %d to %q", a.Code, a.location())
			}
		})
		t.Run("F-094 five wrong ones end the code, and the link lives", func(t *testing.T) {
			s := newManagedSite(t, strategy)
			b, code, link := begin(s)
			for range 5 {
				if a := b.post("/auth/password?do=verify", "code", wrongCode(code)); a.error() != "Verification" || !strings.Contains(a.location(), "/auth/verify-request?") {
					t.Errorf("%d to %q", a.Code, a.location())
				}
			}
			if a := b.post("/auth/password?do=verify", "code", code); a.signsIn() {
				t.Error("the code lives")
			}
			if a := b.post(link); !a.signsIn() {
				t.Errorf("the link: %d to %q", a.Code, a.location())
			}
		})
		t.Run("F-077 the address of a user looks alike", func(t *testing.T) {
			s := newManagedSite(t, strategy)
			s.addUser("bob@example.com", annsPass)
			known, free := s.newBrowser(), s.newBrowser()
			known.post("/auth/password?do=signup", "email", "bob@example.com", "password", newPass)
			free.post("/auth/password?do=signup", "email", annMail, "password", newPass)
			for _, b := range []*browser{known, free} {
				if a := b.post("/auth/password?do=verify", "code", "00000000"); a.error() != "Verification" {
					t.Errorf("%d to %q", a.Code, a.location())
				}
			}
			if m := s.lastMail(latchkey.MessageAccountExists); m.Code != "" {
				t.Error("a user is mailed a code")
			}
		})
	})
}
