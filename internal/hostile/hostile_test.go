package hostile

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// play runs a site with these callbacks in every world.
func play(t *testing.T, change func(*latchkey.Config)) map[string]Report {
	t.Helper()
	if err := current.start(); err != nil {
		t.Fatal(err)
	}
	current.address = "ada@example.com"
	reports := map[string]Report{}
	for world := range Worlds {
		current.forget(world)
		auth, err := newSite(change)
		if err != nil {
			t.Fatal(err)
		}
		var r Report
		current.run(auth.Middleware(auth.RequireSession(showSession(auth))), &r)
		reports[world] = r
	}
	return reports
}

func TestWorlds(t *testing.T) {
	t.Run("R-587 a safe site gives nothing away", func(t *testing.T) {
		reports := play(t, func(*latchkey.Config) {})
		for world, r := range reports {
			if comes := world != "fresh" && world != "first" && world != "alone"; comes && !r.VictimIn || len(r.Faults) > 0 {
				t.Errorf("world %s: the victim is in: %t, faults %v", world, r.VictimIn, r.Faults)
			}
		}
		for _, world := range []string{"stranger", "latecomer", "fresh", "elsewhere"} {
			if !reports[world].In {
				t.Errorf("world %s: a stranger cannot sign in", world)
			}
		}
	})
	t.Run("R-587 a role by an address shows", func(t *testing.T) {
		reports := play(t, func(c *latchkey.Config) {
			c.Session.Strategy, c.Adapter, c.Providers = latchkey.JWTSessions, nil, nil
			c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
				r.Session.Extra = latchkey.Claims{"admin": r.Session.User.Email == current.address}
				return r.Session, nil
			}
		})
		if r, plain := reports["alone"], reports["first"]; !r.In || len(r.Log) == 0 || r.Log[0] == plain.Log[0] {
			t.Errorf("the intruder sees %q, a stranger %q", r.Log, plain.Log)
		}
	})
	t.Run("R-587 an account by an address shows", func(t *testing.T) {
		faults := 0
		for _, r := range play(t, func(c *latchkey.Config) {
			c.Providers = append(c.Providers, &latchkey.OAuth{ID: "acme", OIDC: true, AllowDangerousEmailAccountLinking: true, TrustUnverifiedEmail: true})
		}) {
			faults += len(r.Faults)
		}
		if faults == 0 {
			t.Error("the intruder in the victim's user is no fault")
		}
	})
	t.Run("R-587 a mail to an unproven address shows", func(t *testing.T) {
		r := play(t, func(c *latchkey.Config) {
			c.Events.CreateUser = func(ctx context.Context, u latchkey.User) error { return Queue{}.Put(ctx, u.Email, "", "", "") }
		})["alone"]
		if len(r.Faults) == 0 {
			t.Error("a mail to an address that is only claimed is no fault")
		}
	})
	for again, want := range map[bool]int{true: 0, false: 1} {
		t.Run(fmt.Sprintf("R-587 what Events have lost shows, done again: %t", again), func(t *testing.T) {
			r := play(t, func(c *latchkey.Config) {
				join := argument(reflect.TypeFor[func(string) error](), nil).Interface().(func(string) error)
				c.Events.SignIn = func(_ context.Context, e latchkey.SignInEvent) error {
					if again || e.IsNewUser {
						return join(e.User.ID)
					}
					return nil
				}
			})["setback"]
			if len(r.Faults) != want {
				t.Errorf("faults %v, want %d", r.Faults, want)
			}
		})
	}
}

func TestServeFindsTheSite(t *testing.T) {
	site := http.NotFoundHandler()
	for name, server := range map[string]any{"a handler": site, "a server": &http.Server{Handler: site}, "a copy of one": struct{ http.Handler }{site}} {
		if handlerOf(server) == nil {
			t.Errorf("%s has no site", name)
		}
	}
}

// TestInvitedVictim invites the victim with mails that the site sends by itself: they have to
// arrive in the victim's mailbox, not where the program keeps its mails.
func TestInvitedVictim(t *testing.T) {
	lost, accepted := 0, false
	play(t, func(c *latchkey.Config) {
		c.Invitations = true
		c.Mail.Send = func(context.Context, latchkey.Message) error {
			lost++
			return nil
		}
		c.Events.SignIn = func(_ context.Context, e latchkey.SignInEvent) error {
			accepted = accepted || e.Invitation != nil
			return nil
		}
	})
	if lost > 0 || !accepted {
		t.Errorf("R-587: %d mails did not arrive; the invitation was accepted: %t", lost, accepted)
	}
}
