package sitetest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// runsTwice is the environment variable with which newSite makes sites whose database
// runs each transaction twice, and whose sessions are in a store apart.
const runsTwice = "LATCHKEY_TWICE"

// twiceStore rolls the first run of each transaction back and runs it again, as
// databases do after a serialization failure.
type twiceStore struct{ *memoryadapter.Adapter }

var errRunAgain = errors.New("the transaction has to run again")

func (s twiceStore) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	err := s.Adapter.InTx(ctx, func(a storage.Adapter) error {
		if err := f(a); err != nil {
			return err
		}
		return errRunAgain
	})
	if !errors.Is(err, errRunAgain) {
		return err
	}
	return s.Adapter.InTx(ctx, f)
}

// runTwice changes a configuration as runsTwice says.
func runTwice(c *latchkey.Config) {
	if os.Getenv(runsTwice) == "" {
		return
	}
	if inner, ok := c.Adapter.(*memoryadapter.Adapter); ok {
		c.Adapter = twiceStore{inner}
	}
	if c.Session.Strategy != latchkey.JWTSessions && c.Session.Store == nil {
		c.Session.Store = newApartStore()
	}
}

// actions have the same results, which the tests of each check, where the database
// runs their transactions twice and sessions take no part in them.
func TestTransactionsRunTwice(t *testing.T) {
	t.Setenv(runsTwice, "1")
	for name, test := range map[string]func(*testing.T){
		"a new password":        TestChangeOfPassword,
		"no password":           TestRemovalOfPassword,
		"a reset":               TestResetLinks,
		"a new address":         TestChangeOfAddress,
		"a new address by code": TestAddressMovesByCode,
		"an undone address":     TestUndoFreesTheAddress,
		"a proof":               TestRecentProof,
		"a proof for a change":  TestFactorsChangeAfterAProof,
		"a second factor":       TestSecondFactor,
		"recovery codes":        TestRecoveryCodes,
		"the last factor":       TestTheLastObligatoryFactorStays,
		"lost factors":          TestLostFactorsAreRemovedAfterADelay,
		"a known browser":       TestRememberedBrowsers,
		"an unlinked account":   TestUnlinkAccount,
		"a sign-up":             TestSignUpWithPassword,
		"an invitation":         TestInvitations,
		"acting as a user":      TestActing,
		"a suspension":          TestSuspension,
		"the calls of Users":    TestUsersAndPasswords,
	} {
		t.Run("R-670 "+name, test)
	}
}

// unsure is a store whose transactions are rolled back at their end while fails is set.
type unsure struct {
	*memoryadapter.Adapter
	fails *bool
}

func (s unsure) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return s.Adapter.InTx(ctx, func(a storage.Adapter) error {
		err := f(a)
		if err == nil && *s.fails {
			err = errStore
		}
		return err
	})
}

// a session in a store apart gets its new token after the change that it outlives:
// one that is rolled back leaves the session as it was, and if the token cannot be stored,
// the change stands and the session ends.
func TestKeptSessionApart(t *testing.T) {
	newSite := func(t *testing.T) (s *managedSite, own, other *browser, fails *bool, sessions apartStore) {
		fails, sessions = new(bool), newApartStore()
		s = newManagedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) {
			inner, _ := c.Adapter.(*memoryadapter.Adapter)
			c.Adapter, c.Session.Store = unsure{inner, fails}, sessions
		})
		s.addUser(annMail, annsPass)
		own, other = s.newBrowser(), s.newBrowser()
		own.tries(annMail, annsPass)
		other.tries(annMail, annsPass)
		s.clock.Advance(time.Minute)
		return s, own, other, fails, sessions
	}
	t.Run("R-671 rolled back", func(t *testing.T) {
		s, own, _, fails, _ := newSite(t)
		*fails = true
		own.post("/auth/account?do=password", "current", annsPass, "password", newPass)
		if *fails = false; !own.isLive() {
			t.Error("the session is gone")
		}
		if s.newBrowser().tries(annMail, newPass).signsIn() || !s.newBrowser().tries(annMail, annsPass).signsIn() {
			t.Error("the password has changed")
		}
	})
	t.Run("R-671 no new token", func(t *testing.T) {
		s, own, other, _, sessions := newSite(t)
		former := own.copy()
		sessions.fail("CreateSession", faultBefore)
		own.post("/auth/account?do=password", "current", annsPass, "password", newPass)
		sessions.mend()
		if own.isLive() || former.isLive() || other.isLive() {
			t.Errorf("own %v, with the former token %v, other %v", own.isLive(), former.isLive(), other.isLive())
		}
		s.clock.Advance(time.Minute)
		if s.newBrowser().tries(annMail, annsPass).signsIn() || !s.newBrowser().tries(annMail, newPass).signsIn() {
			t.Error("the password has not changed")
		}
		s.lastMail(latchkey.MessagePasswordChanged)
	})
	t.Run("R-671 a session that is gone changes nothing", func(t *testing.T) {
		s, own, _, _, sessions := newSite(t)
		sessions.afterwards("DeleteSessions", func() {
			for _, row := range sessions.inner.Contents().Sessions {
				_, _ = sessions.inner.DeleteSessions(t.Context(), row.UserID, "")
			}
		})
		own.post("/auth/account?do=password", "current", annsPass, "password", newPass)
		if !s.newBrowser().tries(annMail, annsPass).signsIn() {
			t.Error("the password has changed")
		}
	})
}
