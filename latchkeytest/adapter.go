package latchkeytest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// Adapter proves that a store keeps every promise of [latchkey.Adapter] and of
// the optional abilities it has: one sub-test for each promise, in a group for
// each ability. Of an ability that is absent it only says so.
//
//	func TestAdapter(t *testing.T) {
//		latchkeytest.Adapter(t, func(t *testing.T) latchkey.Adapter {
//			return mystore.New(emptyDatabase(t))
//		})
//	}
//
// open is called for each promise anew and returns an empty store that allows
// at least 100 calls at once, waiting or not. Run it with the race detector
// too. The variable LATCHKEY_RACES says how often a race between two is tried;
// without it 20 times.
//
// A store whose engine removes what has expired by itself need not find expired
// sessions and verification tokens. One whose engine ends a transaction at a
// conflict may refuse every further call in it.
//
// except names what a store cannot keep because its schema is somebody else's:
// promises, as "ability/promise", or whole abilities. They are logged and not
// tried. A name that is neither fails the test. Each field that a store need
// not keep, such as [latchkey.StoredSession].Tenant, is in a promise of its
// own.
func Adapter(t *testing.T, open func(t *testing.T) latchkey.Adapter, except ...string) {
	t.Helper()
	s := newSuite(func(t *testing.T) any { return open(t) }, except)
	prove(t, s, "Adapter", slices.Concat(userPromises, linkPromises))
	prove(t, s, "SessionAdapter", slices.Concat(sessionPromises, sessionFieldPromises))
	prove(t, s, "SessionListAdapter", sessionListPromises)
	prove(t, s, "VerificationTokenAdapter", slices.Concat(verificationTokenPromises, tokenFieldPromises))
	prove(t, s, "AccountAdapter", slices.Concat(accountPromises, accountFieldPromises, unlinkPromises))
	prove(t, s, "UserDeletionAdapter", deletionPromises)
	prove(t, s, "AuthenticatorAdapter", slices.Concat(authenticatorPromises, authenticatorFieldPromises))
	prove(t, s, "TxAdapter", slices.Concat(txPromises, lockPromises))
	prove(t, s, "SignUpAdapter", signUpPromises)
	prove(t, s, "SweepAdapter", sweepPromises)
	prove(t, s, "RevocationStore", revocationPromises)
	s.end(t)
}

// suite is one run of [Adapter] or [Stores].
type suite struct {
	open   func(*testing.T) any
	except map[string]bool // what is left of it at the end was misspelled
}

func newSuite(open func(*testing.T) any, except []string) *suite {
	s := &suite{open: open, except: map[string]bool{}}
	for _, name := range except {
		s.except[name] = true
	}
	return s
}

func (s *suite) end(t *testing.T) {
	t.Helper()
	for name := range s.except {
		t.Errorf("there is no promise called %q", name)
	}
}

// promise is one sentence of the contract, kept by stores that have the
// abilities A.
type promise[A any] struct {
	name string
	keep func(t *testing.T, a A)
}

// prove tries all promises of one ability, if the store has it.
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
	t.Run(ability, func(t *testing.T) {
		for _, p := range promises {
			if name := ability + "/" + p.name; s.except[name] {
				delete(s.except, name)
				t.Logf("not tried: %s", p.name)
				continue
			}
			t.Run(p.name, func(t *testing.T) { p.keep(t, s.open(t).(A)) })
		}
	})
}

// What the promises of an optional ability need beside it.
type (
	sessionStore interface {
		latchkey.Adapter
		latchkey.SessionAdapter
	}
	sessionListStore interface {
		sessionStore
		latchkey.SessionListAdapter
	}
	accountStore interface {
		latchkey.Adapter
		latchkey.AccountAdapter
	}
	deletionStore interface {
		latchkey.Adapter
		latchkey.UserDeletionAdapter
	}
	authenticatorStore interface {
		latchkey.Adapter
		latchkey.AuthenticatorAdapter
	}
	txStore interface {
		latchkey.Adapter
		latchkey.TxAdapter
	}
	sweepStore interface {
		latchkey.Adapter
		latchkey.SweepAdapter
	}
)
