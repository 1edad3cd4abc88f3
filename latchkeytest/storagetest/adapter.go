package storagetest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/latchkeyhq/latchkey/storage"
)

// TestAdapter tests that a store keeps every promise of [storage.Adapter] and of
// the optional interfaces that it has. It runs one subtest for each promise, in a
// group for each interface. It logs the interfaces that the store lacks.
//
//	func TestAdapter(t *testing.T) {
//		storagetest.TestAdapter(t, func(t *testing.T) storage.Adapter {
//			return mystore.New(emptyDatabase(t))
//		})
//	}
//
// TestAdapter calls open for each promise. open returns an empty store that
// serves at least 100 concurrent calls; calls may wait for each other. Run the
// test with the race detector too. The variable LATCHKEY_RACES says how often a
// race between two calls is repeated; the default is 20.
//
// If the engine of a store removes expired rows, the store need not find expired
// sessions, verification tokens and challenges. If the engine ends a transaction at a
// conflict, the store may refuse every further call in that transaction.
//
// except names what a store cannot keep because its schema belongs to another
// program: promises as "interface/promise", or whole interfaces. They are logged
// and not run. A name that does not exist fails the test. The optional fields of a
// record, such as [storage.StoredSession].Tenant, are together in promises of their own.
func TestAdapter(t *testing.T, open func(t *testing.T) storage.Adapter, except ...string) {
	t.Helper()
	Suite{Open: open, Except: except}.TestAdapter(t)
}

// Suite holds what [TestAdapter] is called with, and how the store is opened again.
type Suite struct {
	// Open returns an empty store, as for [TestAdapter].
	Open func(t *testing.T) storage.Adapter
	// Reopen opens the data of a again, as a program does that is started anew: the
	// result shares no memory with a. nil: the promises about reopening are not tried.
	Reopen func(t *testing.T, a storage.Adapter) storage.Adapter
	// Except names what the store cannot keep, as for [TestAdapter]. The group of
	// the promises about reopening is "Reopen".
	Except []string
}

// TestAdapter tests the store of Open as the function [TestAdapter] does. With Reopen it
// also tests that what was stored is there when the store is opened again.
func (u Suite) TestAdapter(t *testing.T) {
	t.Helper()
	s := newSuite(func(t *testing.T) any { return u.Open(t) }, u.Except)
	if u.Reopen != nil {
		prove(t, s, "Reopen", slices.Concat(reopenPromises(u.Reopen), proofReopenPromises(u.Reopen)))
	}
	prove(t, s, "Adapter", slices.Concat(userPromises, linkPromises))
	prove(t, s, "SessionAdapter", slices.Concat(sessionPromises, sessionFieldPromises))
	prove(t, s, "SessionListAdapter", sessionListPromises)
	prove(t, s, "SessionRenewalAdapter", renewalPromises)
	prove(t, s, "ProviderLogoutAdapter", providerLogoutPromises)
	prove(t, s, "VerificationTokenAdapter", slices.Concat(verificationTokenPromises, tokenFieldPromises))
	prove(t, s, "AccountAdapter", slices.Concat(accountPromises, accountFieldPromises))
	prove(t, s, "UserDeletionAdapter", slices.Concat(deletionPromises, proofDeletionPromises))
	prove(t, s, "AuthenticatorAdapter", slices.Concat(authenticatorPromises, authenticatorFieldPromises))
	prove(t, s, "TxAdapter", slices.Concat(txPromises, lockPromises, proofTxPromises))
	prove(t, s, "SignUpAdapter", signUpPromises)
	prove(t, s, "SweepAdapter", slices.Concat(sweepPromises, leaseSweepPromises))
	prove(t, s, "RevocationStore", revocationPromises)
	prove(t, s, "FactorAdapter", slices.Concat(factorPromises, recoveryPromises))
	prove(t, s, "ChallengeAdapter", challengePromises)
	prove(t, s, "BrowserAdapter", browserPromises)
	prove(t, s, "PasswordAdapter", passwordPromises)
	prove(t, s, "TokenAdapter", swapPromises)
	prove(t, s, "AccountWalker", walkPromises)
	prove(t, s, "LeaseStore", leasePromises)
	prove(t, s, "DirectoryAdapter", directoryPromises)
	prove(t, s, "SuspensionAdapter", suspensionPromises)
	prove(t, s, "ActivityAdapter", activityPromises)
	prove(t, s, "AuditAdapter", auditPromises)
	s.end(t)
}

// suite is one run of [TestAdapter] or [TestStores].
type suite struct {
	open   func(*testing.T) any
	except map[string]bool // a name that is left at the end does not exist
}

func newSuite(open func(*testing.T) any, except []string) *suite {
	s := &suite{open: open, except: map[string]bool{}}
	for _, name := range except {
		s.except[name] = true
	}
	return s
}

// end fails the test for each name of except that does not exist. Call it after all
// promises.
func (s *suite) end(t *testing.T) {
	t.Helper()
	for name := range s.except {
		t.Errorf("there is no promise called %q", name)
	}
}

// promise is one rule of the contract of A. keep fails the test if a store breaks it.
type promise[A any] struct {
	name string
	keep func(t *testing.T, a A)
}

// prove runs all promises of one interface if the store implements it, each on an empty
// store and but for those in except. ability names the interface. It removes the names
// that it has met from except.
func prove[A any](t *testing.T, s *suite, ability string, promises []promise[A]) {
	t.Helper()
	if _, able := s.open(t).(A); !able {
		t.Run(ability+" is absent", func(t *testing.T) {
			t.Logf("the store does not have %v: %d promises not tried", reflect.TypeFor[A](), len(promises))
			delete(s.except, ability)
			for _, p := range promises {
				delete(s.except, ability+"/"+p.name)
			}
		})
		return
	}
	if s.except[ability] {
		delete(s.except, ability)
		t.Logf("not tried: %s", ability)
		return
	}
	names := map[string]bool{}
	t.Run(ability, func(t *testing.T) {
		for _, p := range promises {
			if names[p.name] {
				t.Errorf("two promises are called %q", p.name)
			}
			names[p.name] = true
			if name := ability + "/" + p.name; s.except[name] {
				delete(s.except, name)
				t.Logf("not tried: %s", p.name)
				continue
			}
			t.Run(p.name, func(t *testing.T) { p.keep(t, s.open(t).(A)) })
		}
	})
}

// The interfaces that the promises of an optional interface need.
type (
	sessionStore interface {
		storage.Adapter
		storage.SessionAdapter
	}
	sessionListStore interface {
		sessionStore
		storage.SessionListAdapter
	}
	accountStore interface {
		storage.Adapter
		storage.AccountAdapter
	}
	deletionStore interface {
		storage.Adapter
		storage.UserDeletionAdapter
	}
	authenticatorStore interface {
		storage.Adapter
		storage.AuthenticatorAdapter
	}
	txStore interface {
		storage.Adapter
		storage.TxAdapter
	}
	sweepStore interface {
		storage.Adapter
		storage.SweepAdapter
	}
)
