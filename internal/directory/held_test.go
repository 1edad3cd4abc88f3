package directory

import (
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/sessionref"
	"github.com/latchkeyhq/latchkey/storage"
)

// also if a caller names the session of another user as the one in which a sign-in
// was begun, that session does not hide the end of the sessions of the sign-in's user.
func TestHeldSessionCountsForItsUserAlone(t *testing.T) {
	for name, own := range map[string]bool{"another user's session": false, "the user's own session": true} {
		t.Run("R-813 "+name, func(t *testing.T) {
			s := newBoundSite(t)
			current := s.add(t, "ben", "ben@example.com")
			begun := s.clock.Now()
			s.end(t)
			if own {
				current = s.ada
			}
			row := storage.StoredSession{Token: "former", ID: "former", UserID: current.ID, Expires: s.clock.Now().Add(time.Hour)}
			if err := s.Store.CreateSession(t.Context(), row); err != nil {
				t.Fatal(err)
			}
			in := Assertion{
				Account: storage.Account{Provider: "password", Type: storage.TypeCredentials}, UserID: s.ada.ID, Started: begun,
				BegunIn: &sessionref.Ref{UserID: current.ID, SessionID: row.ID},
			}
			plan := &SessionPlan{Row: storage.StoredSession{Token: "new", ID: "new", Expires: row.Expires}, Former: row.Token}
			_, err := s.CommitSignIn(t.Context(), s.q, in, &current, plan)
			if own && err != nil || !own && !errors.Is(err, ErrEnded) {
				t.Errorf("%v", err)
			}
		})
	}
}
