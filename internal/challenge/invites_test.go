package challenge_test

import (
	"errors"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/storage"
)

func (s *site) invite(t *testing.T, in challenge.Invitation) (token string) {
	t.Helper()
	token, earlier, err := s.Invite(t.Context(), in, 0)
	if err == nil {
		err = s.EndRows(t.Context(), earlier)
	}
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// F-095: looking spends nothing, and an invitation is taken once.
func TestInvitationIsTakenOnce(t *testing.T) {
	s := newSite("", newSecret)
	token := s.invite(t, challenge.Invitation{Email: "ann@example.com", CallbackURL: "/team", Data: `{"team":7}`, Mailed: true})
	id := ""
	for _, accepted := range []bool{false, false, true} {
		if accepted {
			if err := s.AcceptInvitation(t.Context(), token); err != nil {
				t.Fatal(err)
			}
		}
		in, err := s.Invitation(t.Context(), token)
		if err != nil || in.Email != "ann@example.com" || in.CallbackURL != "/team" || in.Data != `{"team":7}` || !in.Mailed || in.Accepted != accepted {
			t.Fatalf("%+v, %v", in, err)
		}
		id = in.ID
	}
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if s.TakeInvitation(t.Context(), id) == nil {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Errorf("taken %d times", taken.Load())
	}
}

// F-095: an invitation that has expired, was revoked or replaced is none.
func TestInvitationsEnd(t *testing.T) {
	gone := func(t *testing.T, s *site, token string) {
		t.Helper()
		if _, err := s.Invitation(t.Context(), token); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("looked at: %v", err)
		}
		if err := s.AcceptInvitation(t.Context(), token); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("accepted: %v", err)
		}
	}
	t.Run("F-095 after seven days", func(t *testing.T) {
		s := newSite("", newSecret)
		token := s.invite(t, challenge.Invitation{Email: "ann@example.com"})
		s.now = s.now.Add(challenge.InvitationLife)
		gone(t, s, token)
	})
	t.Run("F-095 replaced by another for the address", func(t *testing.T) {
		s := newSite("", newSecret)
		first := s.invite(t, challenge.Invitation{Email: "ann@example.com"})
		other := s.invite(t, challenge.Invitation{Email: "bob@example.com"})
		second := s.invite(t, challenge.Invitation{Email: "ann@example.com"})
		gone(t, s, first)
		for _, token := range []string{other, second} {
			if _, err := s.Invitation(t.Context(), token); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("F-095 revoked by its id", func(t *testing.T) {
		s := newSite("", newSecret)
		token := s.invite(t, challenge.Invitation{Email: "ann@example.com"})
		listed, err := s.Invitations(t.Context(), "")
		if err != nil || len(listed) != 1 {
			t.Fatal(listed, err)
		}
		if err := s.RevokeInvitation(t.Context(), listed[0].ID); err != nil {
			t.Fatal(err)
		}
		if err := s.RevokeInvitation(t.Context(), listed[0].ID); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("twice: %v", err)
		}
		gone(t, s, token)
	})
}

// F-204: an invitation is one of its tenant, and revoking ends nothing else.
func TestInvitationsStayInTheirTenant(t *testing.T) {
	red, blue := newSite("red", newSecret), newSite("blue", newSecret)
	blue.table, blue.Store = red.table, red.table
	token := red.invite(t, challenge.Invitation{Email: "ann@example.com"})
	reset := red.make(t, challenge.Draft{Purpose: challenge.Reset, UserID: "1"})
	if listed, err := blue.Invitations(t.Context(), ""); err != nil || len(listed) != 0 {
		t.Errorf("%v, %v", listed, err)
	}
	if err := blue.AcceptInvitation(t.Context(), token); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("accepted by another tenant: %v", err)
	}
	for id := range red.table.rows {
		if err := blue.RevokeInvitation(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("revoked by another tenant: %v", err)
		}
	}
	if err := red.RevokeInvitation(t.Context(), red.Box.ID(challenge.Reset, reset)); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a reset was revoked: %v", err)
	}
}

// a call that takes an invitation by an id removes nothing else.
func TestTakingAnInvitationLeavesOthersAlone(t *testing.T) {
	red, blue := newSite("red", newSecret), newSite("blue", newSecret)
	blue.table, blue.Store = red.table, red.table
	blue.invite(t, challenge.Invitation{Email: "ann@example.com"})
	red.make(t, challenge.Draft{Purpose: challenge.Reset, UserID: "1"})
	for id := range maps.Clone(red.table.rows) {
		if err := red.TakeInvitation(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("taken: %v", err)
		}
	}
	if left := len(red.table.rows); left != 2 {
		t.Errorf("%d rows are left, want 2", left)
	}
}

func TestInvitationsThatAskForTooMuch(t *testing.T) {
	s := newSite("", newSecret)
	for name, c := range map[string]struct {
		in   challenge.Invitation
		life time.Duration
		want string
	}{
		"no address":   {challenge.Invitation{}, 0, "Email"},
		"31 days":      {challenge.Invitation{Email: "a@example.com"}, 31 * 24 * time.Hour, "Expires"},
		"the past":     {challenge.Invitation{Email: "a@example.com"}, -time.Second, "Expires"},
		"4097 of data": {challenge.Invitation{Email: "a@example.com", Data: strings.Repeat("x", 4097)}, 0, "Data"},
	} {
		if _, _, err := s.Invite(t.Context(), c.in, c.life); err == nil || !strings.Contains(err.Error(), "Invitation."+c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(s.table.rows) != 0 {
		t.Error("a refused invitation was stored")
	}
}
