package sitetest

import (
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

// movedByThief is a site on which a thief with a session has moved Ann's address.
type movedByThief struct {
	*managedSite
	id    string
	thief *browser
	undo  string // path of the link in Ann's mailbox
}

const thiefMail = "thief@evil.example"

func newMovedByThief(t *testing.T, strategy latchkey.Strategy) *movedByThief {
	t.Helper()
	s := newManagedSite(t, strategy)
	m := &movedByThief{managedSite: s, id: s.addUser(annMail, annsPass).ID, thief: s.newBrowser()}
	m.thief.tries(annMail, annsPass)
	m.thief.post("/auth/account?do=email", "email", thiefMail)
	m.undo = path(s.lastMail(latchkey.MessageEmailChange))
	m.thief.post(path(s.lastMail(latchkey.MessageNewEmail)))
	if got := s.address(m.id); got != thiefMail {
		t.Fatalf("the address is %q", got)
	}
	s.clock.Advance(time.Minute)
	return m
}

// a thief who asks for a second change gets a link to undo it, which must not
// outlive the undo of the first.
func TestUndoEndsLaterUndos(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newMovedByThief(t, strategy)
		s.thief.post("/auth/account?do=email", "email", "other@evil.example")
		later := s.lastMail(latchkey.MessageEmailChange)
		if later.To != thiefMail {
			t.Fatalf("the second mail went to %q", later.To)
		}
		s.clock.Advance(time.Hour)
		s.newBrowser().post(s.undo)
		if got := s.address(s.id); got != annMail {
			t.Fatalf("the address after the undo is %q", got)
		}
		s.clock.Advance(time.Hour)
		if a := s.newBrowser().post(path(later)); a.error() != "Verification" || s.address(s.id) != annMail {
			t.Errorf("to %q, the address is %q", a.location(), s.address(s.id))
		}
	})
}
