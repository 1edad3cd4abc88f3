package sitetest

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
)

// TestObserveWhatUsersEnd: R-564, an audit log hears of magic links that were asked for and
// of sessions that Users and the account page end.
func TestObserveWhatUsersEnd(t *testing.T) {
	var heard []event.Event
	s := newSite(t, stored, func(c *latchkey.Config) {
		c.AccountPage.Enabled = true
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			heard = append(heard, e)
			return nil
		}
	})
	of := func(kind event.Type) (found []event.Event) {
		for _, e := range heard {
			if e.Type == kind {
				found = append(found, e)
			}
		}
		return found
	}
	b, other := s.newBrowser(), s.newBrowser()
	b.signInByLink("ada@example.com")
	other.signInByLink("ada@example.com")
	if got := of(event.LinkSent); len(got) != 2 || got[0].UserID != "" || got[0].Provider == "" {
		t.Fatalf("R-564: links are told as %+v", got)
	}
	id := ""
	b.serve(s.auth.LoadSession(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		id = latchkey.SessionFrom(r.Context()).UserID
	})), b.request(http.MethodGet, "/", "", ""))
	b.post("/auth/account?do=others")
	if other.isLive() {
		t.Fatal("the other session goes on")
	}
	if got := of(event.SessionsEnded); len(got) != 1 || got[0].UserID != id || got[0].By.Kind != event.ActorUser {
		t.Errorf("R-564: the account page is told as %+v", got)
	}
	if err := s.auth.Users().EndSessions(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := of(event.SessionsEnded); len(got) != 2 || got[1].By.Kind != event.ActorSystem {
		t.Errorf("R-564: Users is told as %+v", got)
	}
	if err := s.auth.Users().EndSession(t.Context(), id, "none"); err == nil || len(of(event.SessionsEnded)) != 2 {
		t.Errorf("R-564: a session that is not there: %v", err)
	}
	if !slices.ContainsFunc(heard, func(e event.Event) bool { return e.Type == event.SignIn }) {
		t.Error("no sign-in is told")
	}
}
