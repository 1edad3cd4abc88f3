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
	"github.com/latchkeyhq/latchkey/storage"
)

// newResetSite is a site that obliges everybody to have a second factor, and whose
// administrator has just removed those of Alice.
func newResetSite(t *testing.T, change ...func(*latchkey.Config)) (*factorSite, *[]event.Event) {
	t.Helper()
	told := &[]event.Event{}
	s := newFactorSite(t, append([]func(*latchkey.Config){mailsAtOnce, withAccountPage, func(c *latchkey.Config) {
		c.Factors.Require = func(context.Context, latchkey.FactorQuestion) (latchkey.FactorDemand, error) {
			return latchkey.FactorDemand{Need: latchkey.FactorRequired}, nil
		}
		c.Events.Observe = func(_ context.Context, e event.Event) error { *told = append(*told, e); return nil }
	}}, change...)...)
	ctx := event.WithActor(t.Context(), event.Actor{Kind: event.ActorAdmin, ID: "boss"})
	if err := s.auth.Users().ResetFactors(ctx, "alice-1"); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(time.Minute)
	return s, told
}

func (s *factorSite) mailsOf(kind latchkey.MessageKind) (all []latchkey.Message) {
	for _, m := range s.sent() {
		if m.Kind == kind {
			all = append(all, m)
		}
	}
	return all
}

func TestOwnerIsToldOfAReset(t *testing.T) {
	s, told := newResetSite(t)
	mails := s.mailsOf(latchkey.MessageFactorsReset)
	if len(mails) != 1 || mails[0].To != "alice@example.com" || mails[0].URL != siteOrigin+"/auth/account" {
		t.Errorf("%+v", mails)
	}
	i := slices.IndexFunc(*told, func(e event.Event) bool { return e.Type == event.FactorReset })
	if i < 0 || (*told)[i].By.ID != "boss" || (*told)[i].By.Kind != event.ActorAdmin || (*told)[i].UserID != "alice-1" {
		t.Errorf("the event does not say who has reset them: %+v", *told)
	}
}

// A password alone, which may be stolen, sets up no app after a reset.
func TestEnrolmentAfterAResetTakesTheMailbox(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		s, _ := newResetSite(t, with)
		b := s.newBrowser()
		b.challenge()
		page := b.get("/auth/factor")
		if body := page.Body.String(); strings.Contains(body, "otpauth:") || !strings.Contains(body, "do=send") || strings.Contains(body, `name="remember"`) {
			t.Fatalf("%d to %q: an app is set up at once, or no code is offered", page.Code, page.location())
		}
		for range 2 {
			b.factor("email", "00000000")
		}
		if b.get("/auth/factor").Body.Len(); b.isLive() || strings.Contains(b.get("/auth/factor").Body.String(), "otpauth:") {
			t.Error("wrong codes lead on")
		}
		b.post("/auth/factor?do=send")
		sent := s.mailsOf(latchkey.MessageFactorCode)
		if len(sent) != 1 || sent[0].To != "alice@example.com" {
			t.Fatalf("%+v\n%s", sent, s.log.text())
		}
		thief := b.copy()
		if a := b.factor("email", sent[0].Code); a.location() != siteOrigin+"/auth/factor" || b.isLive() {
			t.Fatalf("the code leads to %q, live: %t\n%s", a.location(), b.isLive(), s.log.text())
		}
		if a := thief.factor("email", sent[0].Code); a.location() == siteOrigin+"/auth/factor" || strings.Contains(thief.get("/auth/factor").Body.String(), "otpauth:") {
			t.Errorf("the code works twice: %q", a.location())
		}
		s.secret = secretOn(t, b.get("/auth/factor"))
		a := b.factor("", s.code(0))
		if !strings.Contains(a.location(), "do=codes") || !b.isLive() {
			t.Fatalf("the app leads to %q, live: %t\n%s", a.location(), b.isLive(), s.log.text())
		}
		if session := s.sessionOf(b); session == nil || session.ACR != "aal2" {
			t.Errorf("%+v", session)
		}
		// The user has a factor again: a removal by the user asks for no mailbox.
		s.clock.Advance(time.Minute)
		if err := s.auth.Users().RemoveFactor(t.Context(), "alice-1", factorsOf(t, s.testSite, "alice-1")[0].ID); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Minute)
		b = s.newBrowser()
		b.challenge()
		secretOn(t, b.get("/auth/factor"))
	})
}

func TestEnrolmentAfterAResetWithoutAnotherMail(t *testing.T) {
	t.Run("after a magic link", func(t *testing.T) {
		s, _ := newResetSite(t)
		b := s.newBrowser()
		b.post("/auth/signin/post", "email", "alice@example.com")
		sent := s.mailsOf(latchkey.MessageSignIn)
		if a := b.get(path(sent[len(sent)-1])); a.location() != siteOrigin+"/auth/factor" {
			t.Fatalf("%d to %q", a.Code, a.location())
		}
		secretOn(t, b.get("/auth/factor"))
	})
	t.Run("without a proven address", func(t *testing.T) {
		s := newFactorSite(t, mailsAtOnce, func(c *latchkey.Config) {
			c.Factors.Require = func(context.Context, latchkey.FactorQuestion) (latchkey.FactorDemand, error) {
				return latchkey.FactorDemand{Need: latchkey.FactorRequired}, nil
			}
		})
		none := ""
		if _, err := s.store.UpdateUser(t.Context(), "alice-1", storage.UserChange{Email: &none, EmailVerified: new(time.Time{})}); err != nil {
			t.Fatal(err)
		}
		if err := s.auth.Users().ResetFactors(t.Context(), "alice-1"); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Minute)
		b := s.newBrowser()
		b.challenge()
		secretOn(t, b.get("/auth/factor"))
		if len(s.mailsOf(latchkey.MessageFactorsReset)) != 0 {
			t.Error("a mail was sent to nobody")
		}
	})
	t.Run("a script is told", func(t *testing.T) {
		s, _ := newResetSite(t)
		b := s.newBrowser()
		b.challenge()
		b.post("/auth/factor?do=send")
		b.header.Set("Accept", "application/json")
		a := b.factor("email", s.mailsOf(latchkey.MessageFactorCode)[0].Code)
		if a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"url":"https://app.example/auth/factor"`) {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	})
}
