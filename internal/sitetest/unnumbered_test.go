package sitetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// unnumbered is a store whose sessions have no ID, which is optional.
type unnumbered struct{ *memoryadapter.Adapter }

func (s unnumbered) GetSession(ctx context.Context, token string) (storage.StoredSession, error) {
	row, err := s.Adapter.GetSession(ctx, token)
	row.ID = ""
	return row, err
}

func (s unnumbered) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, storage.User, error) {
	row, u, err := s.Adapter.GetSessionAndUser(ctx, token)
	row.ID = ""
	return row, u, err
}

func (s unnumbered) ListSessions(ctx context.Context, userID string) ([]storage.StoredSession, error) {
	rows, err := s.Adapter.ListSessions(ctx, userID)
	for i := range rows {
		rows[i].ID = ""
	}
	return rows, err
}

func (s unnumbered) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return s.Adapter.InTx(ctx, func(tx storage.Adapter) error { return f(unnumbered{tx.(*memoryadapter.Adapter)}) })
}

// newUnnumberedSite returns a site whose sessions have no ID, and a browser in which Ann
// has signed in.
func newUnnumberedSite(t *testing.T, change ...func(*latchkey.Config)) (*managedSite, storage.User, *browser) {
	s := newManagedSite(t, latchkey.DatabaseSessions, append(change, func(c *latchkey.Config) {
		inner, _ := c.Adapter.(*memoryadapter.Adapter)
		c.Adapter = unnumbered{inner}
	})...)
	u, b := s.addUser(annMail, annsPass), s.newBrowser()
	if !b.tries(annMail, annsPass).signsIn() {
		t.Fatal(s.log.text())
	}
	return s, u, b
}

func TestChangesInASessionWithoutID(t *testing.T) {
	t.Run("R-735 a new password", func(t *testing.T) {
		s, _, b := newUnnumberedSite(t)
		s.clock.Advance(time.Minute)
		a := b.post("/auth/account?do=password", "current", annsPass, "password", newPass)
		if !strings.HasSuffix(a.location(), "/auth/account") || b.isLive() {
			t.Errorf("%d to %q, the session is alive: %t\n%s", a.Code, a.location(), b.isLive(), s.log.text())
		}
		cleared(t, a, "session-token")
		s.clock.Advance(time.Minute)
		if !s.newBrowser().tries(annMail, newPass).signsIn() {
			t.Error("the new password does not work")
		}
		s.lastMail(latchkey.MessagePasswordChanged)
	})
	t.Run("R-735 a new address", func(t *testing.T) {
		s, u, b := newUnnumberedSite(t)
		b.post("/auth/account?do=email", "email", "new@example.com")
		a := b.post(path(s.lastMail(latchkey.MessageNewEmail)))
		if got, _ := s.store.GetUser(t.Context(), u.ID); got.Email != "new@example.com" || b.isLive() {
			t.Errorf("%d to %q, the address is %q\n%s", a.Code, a.location(), got.Email, s.log.text())
		}
	})
	t.Run("R-736 second factors", func(t *testing.T) {
		s, ann, b := newUnnumberedSite(t, withFactors)
		f := &factorSite{testSite: s.testSite}
		b.post("/auth/account?do=totp")
		f.secret = secretOn(t, b.get("/auth/account?do=totp"))
		a := b.post("/auth/account?do=confirm", "code", f.code(0), "name", "phone")
		if len(codesOn(a)) == 0 || b.isLive() {
			t.Errorf("no recovery codes are shown: %d to %q\n%s", a.Code, a.location(), s.log.text())
		}
		s.lastMail(latchkey.MessageFactorAdded)
		s.clock.Advance(time.Minute)
		again := s.newBrowser()
		again.tries(annMail, annsPass)
		if a := again.factor("totp", f.code(0)); !a.signsIn() {
			t.Fatalf("%d to %q", a.Code, a.location())
		}
		again.post("/auth/account?do=remove", "factor", factorsOf(t, s.testSite, ann.ID)[0].ID)
		if len(factorsOf(t, s.testSite, ann.ID)) != 0 {
			t.Error("the factor is still there")
		}
		s.lastMail(latchkey.MessageFactorRemoved)
	})
}
