package sitetest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// TestWhoseAccount is R-566: callbacks and events are told whose account a magic link
// opens, where the user is known.
func TestWhoseAccount(t *testing.T) {
	got := received{}
	s := newOAuthSite(t, receiving(got))
	for _, name := range []string{"R-566 a new user", "R-566 a user who is known"} {
		t.Run(name, func(t *testing.T) {
			clear(got)
			known, _ := s.store.GetUserByEmail(t.Context(), "ada@example.com")
			if a := s.newBrowser().signInByLink("ada@example.com"); !a.signsIn() {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			user, err := s.store.GetUserByEmail(t.Context(), "ada@example.com")
			if err != nil {
				t.Fatal(err)
			}
			if got["SignIn"].UserID != known.ID || got["Events.SignIn"].UserID != user.ID {
				t.Errorf("the callback gets %q, the event %q, want %q and %q", got["SignIn"].UserID, got["Events.SignIn"].UserID, known.ID, user.ID)
			}
		})
	}
}

// TestLinkedIdentity is R-566: the event of a linked account has what the provider says
// of the person, in the fields of a user, beside the raw profile.
func TestLinkedIdentity(t *testing.T) {
	var linked latchkey.LinkAccountEvent
	s := newOAuthSite(t, func(c *latchkey.Config) {
		c.Events.LinkAccount = func(_ context.Context, e latchkey.LinkAccountEvent) error {
			linked = e
			return nil
		}
	})
	b := s.newBrowser()
	if a := b.callback("issuer", s.authResponse(b, "issuer")); !a.signsIn() {
		t.Fatalf("%d to %q", a.Code, a.location())
	}
	if linked.Identity.Email == "" || linked.Identity.Email != linked.User.Email || linked.Identity.Name != linked.User.Name || linked.Identity.ID != "" {
		t.Errorf("R-566: %+v of %+v", linked.Identity, linked.User)
	}
	if linked.Profile.String("sub") == "" {
		t.Errorf("R-566: the raw profile is %v", linked.Profile)
	}
}

// TestRenewedWhereRead is R-566: a middleware renews the session of no request whose
// handler does not look, and ReadSession in front of a site renews every one.
func TestRenewedWhereRead(t *testing.T) {
	s, b := newEnteredSite(t)
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "public") })
	always := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = s.auth.ReadSession(w, r)
		page.ServeHTTP(w, r)
	})
	for name, row := range map[string]struct {
		h    http.Handler
		want bool
	}{"R-566 Middleware": {s.auth.Middleware(page), false}, "R-566 ReadSession": {s.auth.Middleware(always), true}} {
		t.Run(name, func(t *testing.T) {
			a := httptest.NewRecorder()
			row.h.ServeHTTP(a, b.request(http.MethodGet, "/", "", ""))
			if setsSession(a.Header()) != row.want {
				t.Errorf("%v", a.Header())
			}
		})
	}
}
