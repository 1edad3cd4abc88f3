package sitetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
)

// hears has a site remember its events.
func hears(list *[]latchkey.Event) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error { *list = append(*list, e); return nil }
	}
}

// ofType returns the events of a type that succeeded or failed.
func ofType(list []latchkey.Event, t event.Type, o event.Outcome) (found []latchkey.Event) {
	for _, e := range list {
		if e.Type == t && e.Outcome == o {
			found = append(found, e)
		}
	}
	return found
}

// O-026: a failed sign-in has the user's id, or a hash of the name that was typed.
func TestNamesInEvents(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		var heard []latchkey.Event
		s := newManagedSite(t, strategy, hears(&heard))
		ann := s.addUser(annMail, annsPass)
		b := s.newBrowser()
		for _, email := range []string{"unknown@example.com", "Unknown@example.com", "other@example.com", annMail} {
			b.tries(email, "wrong password")
		}
		b.post("/auth/callback/crew", "username", "canary-name", "password", "canary-password")
		failed := ofType(heard, event.SignIn, event.Failed)
		if len(failed) != 5 {
			t.Fatalf("O-026 %d failures: %+v", len(failed), failed)
		}
		one, two, other, known, crew := failed[0], failed[1], failed[2], failed[3], failed[4]
		if one.Name == "" || one.Name != two.Name || one.Name == other.Name || one.UserID != "" || strings.Contains(one.Name, "@") {
			t.Errorf("O-026 unknown names: %q, %q, %q of user %q", one.Name, two.Name, other.Name, one.UserID)
		}
		if known.UserID != ann.ID || known.Name != "" {
			t.Errorf("O-026 a known name: %q of user %q", known.Name, known.UserID)
		}
		if crew.Name == "" || strings.Contains(crew.Name, "canary") || crew.UserID != "" {
			t.Errorf("O-026 a name of the application's own form: %q of user %q", crew.Name, crew.UserID)
		}
	})
	t.Run("O-026 a key of one's own", func(t *testing.T) {
		hash := func(key []byte) string {
			var heard []latchkey.Event
			s := newManagedSite(t, latchkey.JWTSessions, hears(&heard), func(c *latchkey.Config) { c.Operations.Audit.HashKey = key })
			s.newBrowser().tries("unknown@example.com", "wrong password")
			return heard[0].Name
		}
		if own := hash([]byte("a key of 16 bytes")); own == hash(nil) || own != hash([]byte("a key of 16 bytes")) {
			t.Errorf("O-026 %q", own)
		}
	})
	t.Run("O-026 a short key is refused", func(t *testing.T) {
		config := newSite(t).config
		config.Operations.Audit.HashKey = []byte("short")
		if _, err := latchkey.New(config); err == nil || !strings.Contains(err.Error(), "Operations.Audit.HashKey") {
			t.Errorf("O-026 %v", err)
		}
	})
}

// O-026: calls of an administrator have the actor that the context names.
func TestActorsOfCalls(t *testing.T) {
	var heard []latchkey.Event
	s := newManagedSite(t, latchkey.DatabaseSessions, hears(&heard))
	ann := s.addUser(annMail, annsPass)
	admin := event.Actor{Kind: event.ActorAdmin, ID: "boss"}
	for _, c := range []struct {
		ctx  context.Context
		want event.Actor
	}{{t.Context(), event.Actor{Kind: event.ActorSystem}}, {event.WithActor(t.Context(), admin), admin}} {
		heard = nil
		if err := s.auth.Users().EndSessions(c.ctx, ann.ID); err != nil {
			t.Fatal(err)
		}
		if len(heard) != 1 || heard[0].By != c.want || heard[0].UserID != ann.ID {
			t.Errorf("O-026 want %+v: %+v", c.want, heard)
		}
	}
}

// O-030: a sign-in is told once, at its end, with what it has proven.
func TestProofsInEvents(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		var heard []latchkey.Event
		s := newFactorSite(t, with, hears(&heard))
		b := s.newBrowser()
		heard = nil
		b.challenge()
		if in := ofType(heard, event.SignIn, event.Succeeded); in != nil || len(ofType(heard, event.SignInChallenged, event.Succeeded)) != 1 {
			t.Errorf("O-030 after the first factor: %+v", heard)
		}
		b.factor("totp", s.code(0))
		in := ofType(heard, event.SignIn, event.Succeeded)
		if len(in) != 1 || strings.Join(in[0].AMR, " ") != "pwd otp mfa" || in[0].ACR != "aal2" || in[0].UserID != "alice-1" {
			t.Fatalf("O-030 a second factor: %+v", in)
		}
		s.clock.Advance(time.Hour)
		heard = nil
		b.post("/auth/reauth", "use", "totp", "code", s.code(0))
		up := ofType(heard, event.StepUp, event.Succeeded)
		if len(up) != 1 || !strings.Contains(strings.Join(up[0].AMR, " "), "otp") || ofType(heard, event.SignIn, event.Succeeded) != nil {
			t.Errorf("O-030 a step-up: %+v", heard)
		}
	})
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		var heard []latchkey.Event
		s := newManagedSite(t, strategy, hears(&heard))
		s.addUser(annMail, annsPass)
		s.newBrowser().tries(annMail, annsPass)
		if in := ofType(heard, event.SignIn, event.Succeeded); len(in) != 1 || strings.Join(in[0].AMR, " ") != "pwd" || in[0].ACR != "" {
			t.Errorf("O-030 a password: %+v", in)
		}
		link := s.resetLink(annMail)
		heard = nil
		s.newBrowser().post(link, "password", newPass)
		if reset := ofType(heard, event.PasswordReset, event.Succeeded); len(reset) != 1 || len(ofType(heard, event.SignIn, event.Succeeded)) > 1 {
			t.Errorf("O-030 a reset: %+v", heard)
		}
	})
}

// O-025: another's wrong passwords are no activity of the user, which visitors could fill.
func TestGuessesAreNoActivity(t *testing.T) {
	s := newManagedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) { c.AccountPage.Activity = true })
	ann := s.addUser(annMail, annsPass)
	s.newBrowser().tries(annMail, "wrong password")
	if list, err := s.auth.Users().Activity(t.Context(), ann.ID); err != nil || len(list) != 0 {
		t.Errorf("O-025 %+v, %v", list, err)
	}
	s.newBrowser().tries(annMail, annsPass)
	if list, err := s.auth.Users().Activity(t.Context(), ann.ID); err != nil || len(list) != 1 {
		t.Errorf("O-025 %+v, %v", list, err)
	}
}
