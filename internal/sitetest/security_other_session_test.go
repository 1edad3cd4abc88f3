package sitetest

import (
	"context"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	benMail  = "ben@example.com"
	bensPass = "another horse battery"
)

// newOthersSite has Ann, and Ben with an authenticator app. In the browser Ann is signed
// in, and Ben's sign-in waits for his code.
func newOthersSite(t *testing.T, strategy latchkey.Strategy, change ...func(*latchkey.Config)) (s *managedSite, f *factorSite, b *browser, ann, ben storage.User, told *[]event.Event) {
	t.Helper()
	told = &[]event.Event{}
	s = newManagedSite(t, strategy, append([]func(*latchkey.Config){withFactors, func(c *latchkey.Config) {
		c.Events.Observe = func(_ context.Context, e event.Event) error { *told = append(*told, e); return nil }
	}}, change...)...)
	ann, ben = s.addUser(annMail, annsPass), s.addUser(benMail, bensPass)
	f = &factorSite{testSite: s.testSite}
	s.clock.Advance(time.Minute)
	f.enrol(ben.ID)
	b = s.newBrowser()
	if a := b.tries(annMail, annsPass); !a.signsIn() {
		t.Fatalf("Ann is not signed in: %d to %q", a.Code, a.location())
	}
	if a := b.tries(benMail, bensPass); a.signsIn() || a.location() != siteOrigin+"/auth/factor" {
		t.Fatalf("Ben's password leads to %q", a.location())
	}
	s.clock.Advance(time.Second)
	return s, f, b, ann, ben, told
}

// the session of one user says nothing about the end of another one's sessions.
func TestEndReachesSignInBesideAnother(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s, f, b, _, ben, _ := newOthersSite(t, strategy)
		if err := s.auth.Users().EndSessions(t.Context(), ben.ID); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Second)
		if a := b.factor("totp", f.code(0)); a.signsIn() {
			t.Errorf("R-813 Ben is signed in: %s", b.session())
		}
		if a := b.tries(benMail, bensPass); a.signsIn() {
			t.Fatalf("the password leads to %q", a.location())
		}
		s.clock.Advance(time.Minute)
		if a := b.factor("totp", f.code(0)); !a.signsIn() {
			t.Errorf("R-813 begun anew: %d to %q: %s", a.Code, a.location(), s.log.text())
		}
	})
}

// what a sign-in of Ben does is done by Ben, whoever was signed in before.
func TestActorOfSignInBesideAnother(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s, f, b, ann, ben, told := newOthersSite(t, strategy)
		*told = nil
		if a := b.factor("recovery", f.codes[0]); !a.signsIn() {
			t.Fatalf("%d to %q: %s", a.Code, a.location(), s.log.text())
		}
		var signedIn bool
		for _, e := range *told {
			signedIn = signedIn || e.Type == event.SignIn && e.UserID == ben.ID
			if e.By.ID == ann.ID {
				t.Errorf("R-814 %s of %s is by Ann", e.Type, e.UserID)
			}
		}
		if !signedIn {
			t.Errorf("no sign-in among %v", *told)
		}
	})
}
