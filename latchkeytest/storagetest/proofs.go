package storagetest

import (
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/storage"
)

// The promises of this file are about factors, recovery codes, challenges, browsers and
// passwords together, as far as a store keeps them.

// proofs stores a factor, a recovery code, a challenge, a browser and a password of a user.
// It leaves out what the store does not keep, and returns how many it has stored.
func proofs(t *testing.T, a storage.Adapter, u storage.User) (n int) {
	t.Helper()
	if able, can := a.(storage.FactorAdapter); can && keeps(t, able.Factors().Create(t.Context(), filledFactor(u, "f of "+u.ID))) {
		ok(t, able.Factors().ReplaceRecoveryCodes(t.Context(), u.ID, []string{"h"}))
		n += 2
	}
	if able, can := a.(storage.ChallengeAdapter); can {
		c := filledChallenge("c of " + u.ID)
		c.UserID = u.ID
		if keeps(t, able.Challenges().Create(t.Context(), c)) {
			n++
		}
	}
	if able, can := a.(storage.BrowserAdapter); can && keeps(t, able.Browsers().Put(t.Context(), filledBrowser(u, "b"))) {
		n++
	}
	if able, can := a.(storage.PasswordAdapter); can && keeps(t, able.Passwords().Set(t.Context(), filledPassword(u), "")) {
		n++
	}
	return n
}

// countProofs counts what proofs gave to a user. It spends the code and fails the factor once.
func countProofs(t *testing.T, a storage.Adapter, u storage.User) (n int) {
	t.Helper()
	found := func(err error) {
		if err == nil {
			n++
		} else if !errors.Is(err, storage.ErrNotFound) && !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("unexpected error: %v", err)
		}
	}
	if able, can := a.(storage.FactorAdapter); can {
		_, err := able.Factors().Fail(t.Context(), "f of "+u.ID)
		found(err)
		_, err = able.Factors().UseRecoveryCode(t.Context(), u.ID, "h")
		found(err)
	}
	if able, can := a.(storage.ChallengeAdapter); can {
		_, err := able.Challenges().Get(t.Context(), "c of "+u.ID)
		found(err)
	}
	if able, can := a.(storage.BrowserAdapter); can {
		_, err := able.Browsers().Get(t.Context(), "b", u.ID)
		found(err)
	}
	if able, can := a.(storage.PasswordAdapter); can {
		_, err := able.Passwords().Get(t.Context(), u.ID)
		found(err)
	}
	return n
}

// hasProofs fails the test unless want of what proofs stored are there. It uses the
// recovery code up.
func hasProofs(t *testing.T, a storage.Adapter, u storage.User, want int) {
	t.Helper()
	if n := countProofs(t, a, u); n != want {
		t.Errorf("%d of the user's factors, recovery codes, challenges, browsers and passwords are there, want %d", n, want)
	}
}

var proofDeletionPromises = []promise[deletionStore]{
	{"DeleteUser removes factors, recovery codes, challenges, browsers and passwords", func(t *testing.T, a deletionStore) {
		ada, eve := newUser(t, a, "ada@example.com"), newUser(t, a, "eve@example.com")
		proofs(t, a, ada)
		all := proofs(t, a, eve)
		_, err := a.DeleteUser(t.Context(), ada.ID)
		ok(t, err)
		hasProofs(t, a, ada, 0)
		hasProofs(t, a, eve, all)
	}},
}

var proofTxPromises = []promise[txStore]{
	{"R-185 an error rolls back what was stored of proofs", func(t *testing.T, a txStore) {
		u := newUser(t, a, "ada@example.com")
		err := a.InTx(t.Context(), func(tx storage.Adapter) error {
			hasProofs(t, tx, u, proofs(t, tx, u))
			return errRollback
		})
		is(t, "InTx", err, errRollback)
		hasProofs(t, a, u, 0)
	}},
	{"R-185 an error rolls back what was used, counted and removed of proofs", func(t *testing.T, a txStore) {
		u := newUser(t, a, "ada@example.com")
		all := proofs(t, a, u)
		err := a.InTx(t.Context(), func(tx storage.Adapter) error {
			spendProofs(t, tx, u)
			if n := countProofs(t, tx, u); all > 0 && n > 1 {
				t.Errorf("%d proofs are left in the transaction that spent them", n)
			}
			return errRollback
		})
		is(t, "InTx", err, errRollback)
		if able, can := a.(storage.FactorAdapter); can && all > 0 {
			same(t, "factor", factorOf(t, able, u.ID, "f of "+u.ID), filledFactor(u, "f of "+u.ID))
		}
		if able, can := a.(storage.BrowserAdapter); can && all > 0 {
			readBrowser(t, able, filledBrowser(u, "b"))
		}
		hasProofs(t, a, u, all)
	}},
	{"what was used in a transaction is used once", func(t *testing.T, a txStore) {
		u := newUser(t, a, "ada@example.com")
		if proofs(t, a, u) < 5 {
			t.Log("the store does not keep all of them")
			return
		}
		before := filledFactor(u, "f of "+u.ID).Step
		oneWins(t, "a sign-in", race.Run(16, func(int) error {
			return a.InTx(t.Context(), func(tx storage.Adapter) error {
				if _, err := tx.(storage.ChallengeAdapter).Challenges().Take(t.Context(), "c of "+u.ID); err != nil {
					return err
				}
				return tx.(storage.FactorAdapter).Factors().Use(t.Context(), "f of "+u.ID, before+1, "", instant)
			})
		}), storage.ErrNotFound)
	}},
	{"a proof that is not found leaves the transaction usable", func(t *testing.T, a txStore) {
		u := newUser(t, a, "")
		var stored int
		ok(t, a.InTx(t.Context(), func(tx storage.Adapter) error {
			hasProofs(t, tx, u, 0)
			stored = proofs(t, tx, u)
			return nil
		}))
		hasProofs(t, a, u, stored)
	}},
	{"a renewal of a session is rolled back", func(t *testing.T, a txStore) {
		able, can := storage.Adapter(a).(renewalStore)
		if !can {
			return
		}
		u := newUser(t, a, "")
		want := newSession(t, able, u, "t", instant)
		err := a.InTx(t.Context(), func(tx storage.Adapter) error {
			ok(t, tx.(storage.SessionRenewalAdapter).RenewSession(t.Context(), "t", storage.StoredSession{Token: "new", Expires: instant.Add(time.Hour)}))
			return errRollback
		})
		is(t, "InTx", err, errRollback)
		readSession(t, able, want, u)
		_, _, err = able.GetSessionAndUser(t.Context(), "new")
		is(t, "GetSessionAndUser", err, storage.ErrNotFound)
	}},
}

// spendProofs changes or removes everything that proofs made.
func spendProofs(t *testing.T, tx storage.Adapter, u storage.User) {
	t.Helper()
	if able, can := tx.(storage.FactorAdapter); can {
		f := filledFactor(u, "f of "+u.ID)
		keeps(t, able.Factors().Use(t.Context(), f.ID, f.Step+1, "resealed", instant))
		_, err := able.Factors().UseRecoveryCode(t.Context(), u.ID, "h")
		keeps(t, err)
	}
	if able, can := tx.(storage.ChallengeAdapter); can {
		_, err := able.Challenges().Try(t.Context(), "c of "+u.ID, 5)
		keeps(t, err)
		_, err = able.Challenges().Take(t.Context(), "c of "+u.ID)
		keeps(t, err)
	}
	if able, can := tx.(storage.BrowserAdapter); can {
		keeps(t, able.Browsers().Renew(t.Context(), "b", "renewed", instant))
	}
	if able, can := tx.(storage.PasswordAdapter); can {
		keeps(t, able.Passwords().Delete(t.Context(), u.ID))
	}
}

// proofReopenPromises returns the promises about proofs in stores that are opened again.
func proofReopenPromises(reopen func(*testing.T, storage.Adapter) storage.Adapter) []promise[storage.Adapter] {
	return []promise[storage.Adapter]{
		{"proofs are there when the store is opened again", func(t *testing.T, a storage.Adapter) {
			u := newUser(t, a, "ada@example.com")
			all := proofs(t, a, u)
			hasProofs(t, reopen(t, a), u, all)
		}},
	}
}

// perishableProofs stores a challenge and a browser that expire at at, if the store keeps
// them, and returns how many these are.
func perishableProofs(t *testing.T, a storage.Adapter, u storage.User, id string, at time.Time) (n int) {
	t.Helper()
	if able, can := a.(storage.ChallengeAdapter); can && keeps(t, able.Challenges().Create(t.Context(), storage.Challenge{ID: id, Purpose: "signin", Created: at, Expires: at})) {
		n++
	}
	if able, can := a.(storage.BrowserAdapter); can && keeps(t, able.Browsers().Put(t.Context(), storage.Browser{ID: id, UserID: u.ID, PublicID: id, Created: at, Seen: at, Expires: at})) {
		n++
	}
	return n
}

// proofsAlive expects the error want (nil: it is there) for all that perishableProofs stored.
// It accepts ErrUnsupported, too. It renames the browser.
func proofsAlive(t *testing.T, a storage.Adapter, id string, want error) {
	t.Helper()
	if able, can := a.(storage.ChallengeAdapter); can {
		_, err := able.Challenges().Get(t.Context(), id)
		isKept(t, "Challenges.Get "+id, err, want)
	}
	if able, can := a.(storage.BrowserAdapter); can {
		isKept(t, "Browsers.Renew "+id, able.Browsers().Renew(t.Context(), id, "renewed "+id, instant), want)
	}
}

// isKept fails the test unless err is want, or ErrUnsupported of a store that has no room
// for the record.
func isKept(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, errors.ErrUnsupported) {
		is(t, what, err, want)
	}
}
