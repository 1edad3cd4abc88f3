package sitetest

import (
	"context"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	people "github.com/latchkeyhq/latchkey/users"
)

// TestLinksOfStaffAreTold: R-775, a link that Users mails is an event with the user and
// the actor, and a verbose audit log keeps it.
func TestLinksOfStaffAreTold(t *testing.T) {
	var heard []event.Event
	s := newManagedSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
		c.Adapter = memoryadapter.New(memoryadapter.Options{})
		c.Operations.Audit = latchkey.Audit{Store: true, Verbose: true}
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			if e.Type == event.LinkSent {
				heard = append(heard, e)
			}
			return nil
		}
	})
	staff := event.Actor{Kind: event.ActorAdmin, ID: "boss"}
	ctx, users := event.WithActor(t.Context(), staff), s.auth.Users()
	u, err := users.Create(ctx, people.NewUser{Email: annMail})
	if err != nil {
		t.Fatal(err)
	}
	for i, send := range []func() error{
		func() error { return users.SendPasswordReset(ctx, u.ID) },
		func() error { return users.SendSignInLink(ctx, u.ID, "") },
	} {
		if err := send(); err != nil {
			t.Fatal(err)
		}
		if len(heard) != i+1 || heard[i].UserID != u.ID || heard[i].By != staff || heard[i].Outcome != event.Succeeded {
			t.Errorf("R-775 %d: told as %+v", i, heard)
		}
	}
	kept, err := s.auth.Audit().List(ctx, latchkey.AuditQuery{UserID: u.ID, Type: event.LinkSent})
	if err != nil || len(kept.Events) != 2 || kept.Events[0].By != staff {
		t.Errorf("R-775 kept as %+v, error %v", kept.Events, err)
	}
	if users.SendSignInLink(ctx, u.ID, "https://evil.example") == nil || len(heard) != 2 {
		t.Error("R-775 a call that was refused is told")
	}
}
