package storagetest_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

// What follows are adapters whose stores of proofs break one promise each, for
// TestAdapterNotices.

// brokenProofs hands out a store of its own where it has one.
type brokenProofs struct {
	*memoryadapter.Adapter
	factors    func(*memoryadapter.Adapter) storage.FactorStore
	challenges func(*memoryadapter.Adapter) storage.ChallengeStore
	browsers   func(*memoryadapter.Adapter) storage.BrowserStore
	passwords  func(*memoryadapter.Adapter) storage.PasswordStore
	unbound    bool // the stores of a transaction are not bound to it
}

func (a *brokenProofs) Factors() storage.FactorStore {
	if a.factors != nil {
		return a.factors(a.Adapter)
	}
	return a.Adapter.Factors()
}

func (a *brokenProofs) Challenges() storage.ChallengeStore {
	if a.challenges != nil {
		return a.challenges(a.Adapter)
	}
	return a.Adapter.Challenges()
}

func (a *brokenProofs) Browsers() storage.BrowserStore {
	if a.browsers != nil {
		return a.browsers(a.Adapter)
	}
	return a.Adapter.Browsers()
}

func (a *brokenProofs) Passwords() storage.PasswordStore {
	if a.passwords != nil {
		return a.passwords(a.Adapter)
	}
	return a.Adapter.Passwords()
}

func (a *brokenProofs) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	if !a.unbound {
		return a.Adapter.InTx(ctx, f)
	}
	return errors.Join(ctx.Err(), f(a))
}

// replayed accepts a step that was accepted before.
type replayed struct{ storage.FactorStore }

func (s replayed) Use(ctx context.Context, id string, step int64, secret string, at time.Time) error {
	err := s.FactorStore.Use(ctx, id, step, secret, at)
	if errors.Is(err, storage.ErrConflict) {
		return nil
	}
	return err
}

// keptFailures does not clear failures.
type keptFailures struct {
	storage.FactorStore
	a *memoryadapter.Adapter
}

func (s keptFailures) Use(ctx context.Context, id string, step int64, secret string, at time.Time) error {
	before := 0
	for _, f := range s.a.Contents().Factors {
		if f.ID == id {
			before = f.Failures
		}
	}
	err := s.FactorStore.Use(ctx, id, step, secret, at)
	for range before {
		_, _ = s.FactorStore.Fail(ctx, id)
	}
	return err
}

// hoarding keeps the old recovery codes.
type hoarding struct {
	storage.FactorStore
	a *memoryadapter.Adapter
}

func (s hoarding) ReplaceRecoveryCodes(ctx context.Context, userID string, hashes []string) error {
	all := slices.Clone(hashes)
	for _, code := range s.a.Contents().RecoveryCodes {
		if code.UserID == userID {
			all = append(all, code.Hash)
		}
	}
	return s.FactorStore.ReplaceRecoveryCodes(ctx, userID, all)
}

// readFirst reads a challenge, and then takes or tries it.
type readFirst struct{ storage.ChallengeStore }

func (s readFirst) Take(ctx context.Context, id string) (storage.Challenge, error) {
	c, err := s.Get(ctx, id)
	if err == nil {
		time.Sleep(time.Millisecond)
		_, _ = s.ChallengeStore.Take(ctx, id)
	}
	return c, err
}

// unlimited counts tries without end.
type unlimited struct{ storage.ChallengeStore }

func (s unlimited) Try(ctx context.Context, id string, _ int) (storage.Challenge, error) {
	return s.ChallengeStore.Try(ctx, id, 1<<20)
}

// tenantBlind lists challenges of every tenant.
type tenantBlind struct {
	storage.ChallengeStore
	a *memoryadapter.Adapter
}

func (s tenantBlind) List(ctx context.Context, q storage.ChallengeQuery) (all []storage.Challenge, err error) {
	tenants := map[string]bool{}
	for _, c := range s.a.Contents().Challenges {
		tenants[c.Tenant] = true
	}
	for q.Tenant = range tenants {
		list, failed := s.ChallengeStore.List(ctx, q)
		all, err = append(all, list...), errors.Join(err, failed)
	}
	return all, errors.Join(err, ctx.Err())
}

// copying leaves the old handle of a browser good.
type copying struct {
	storage.BrowserStore
	a *memoryadapter.Adapter
}

func (s copying) Renew(ctx context.Context, id, next string, seen time.Time) error {
	rows := s.a.Contents().Browsers
	err := s.BrowserStore.Renew(ctx, id, next, seen)
	for _, b := range rows {
		if b.ID == id && err == nil {
			b.PublicID += " again"
			_ = s.Put(ctx, b)
		}
	}
	return err
}

// overwritingHash stores a password whatever was read.
type overwritingHash struct {
	storage.PasswordStore
	a *memoryadapter.Adapter
}

func (s overwritingHash) Set(ctx context.Context, p storage.PasswordHash, was string) error {
	for _, stored := range s.a.Contents().Passwords {
		if stored.UserID == p.UserID {
			was = stored.Hash
		}
	}
	return s.PasswordStore.Set(ctx, p, was)
}

// leavingChallenges deletes users and leaves their challenges.
type leavingChallenges struct{ *memoryadapter.Adapter }

func (a *leavingChallenges) DeleteUser(ctx context.Context, id string) (storage.User, error) {
	kept := a.Contents().Challenges
	u, err := a.Adapter.DeleteUser(ctx, id)
	for _, c := range kept {
		if err == nil && c.UserID == id {
			_ = a.Challenges().Create(ctx, c)
		}
	}
	return u, err
}

// duplicating renews a session and leaves the old token good.
type duplicating struct{ *memoryadapter.Adapter }

func (a *duplicating) RenewSession(ctx context.Context, token string, next storage.StoredSession) error {
	s, _, err := a.GetSessionAndUser(ctx, token)
	if err != nil {
		return err
	}
	s.Token, s.Expires, s.Proved, s.AMR, s.ACR = next.Token, next.Expires, next.Proved, next.AMR, next.ACR
	return a.CreateSession(ctx, s)
}

// brokenProofStores are the adapters above, each with the sub-test that must notice.
var brokenProofStores = map[string]struct {
	open    func() storage.Adapter
	noticed string
}{
	"a step is accepted twice": {func() storage.Adapter {
		return &brokenProofs{Adapter: memory(), factors: func(a *memoryadapter.Adapter) storage.FactorStore { return replayed{a.Factors()} }}
	}, "F-023_F-024_a_step_is_accepted_once"},
	"a right code clears no failures": {func() storage.Adapter {
		return &brokenProofs{Adapter: memory(), factors: func(a *memoryadapter.Adapter) storage.FactorStore { return keptFailures{a.Factors(), a} }}
	}, "F-071_every_failure_is_counted"},
	"old recovery codes stay": {func() storage.Adapter {
		return &brokenProofs{Adapter: memory(), factors: func(a *memoryadapter.Adapter) storage.FactorStore { return hoarding{a.Factors(), a} }}
	}, "F-036_new_recovery_codes_end"},
	"a challenge is read, then taken": {func() storage.Adapter {
		return &brokenProofs{Adapter: memory(), challenges: func(a *memoryadapter.Adapter) storage.ChallengeStore { return readFirst{a.Challenges()} }}
	}, "F-011_of_100_callers"},
	"tries have no end": {func() storage.Adapter {
		return &brokenProofs{Adapter: memory(), challenges: func(a *memoryadapter.Adapter) storage.ChallengeStore { return unlimited{a.Challenges()} }}
	}, "F-071_a_try_is_counted_until"},
	"a list ignores the tenant": {func() storage.Adapter {
		return &brokenProofs{Adapter: memory(), challenges: func(a *memoryadapter.Adapter) storage.ChallengeStore { return tenantBlind{a.Challenges(), a} }}
	}, "List_compares_what_the_query_names"},
	"a browser's old handle stays good": {func() storage.Adapter {
		return &brokenProofs{Adapter: memory(), browsers: func(a *memoryadapter.Adapter) storage.BrowserStore { return copying{a.Browsers(), a} }}
	}, "F-061_Renew_moves_all_rows"},
	"a password is set blindly": {func() storage.Adapter {
		return &brokenProofs{Adapter: memory(), passwords: func(a *memoryadapter.Adapter) storage.PasswordStore { return overwritingHash{a.Passwords(), a} }}
	}, "a_password_is_replaced_where"},
	"stores of a transaction are not bound to it": {func() storage.Adapter { return &brokenProofs{Adapter: memory(), unbound: true} }, "R-185_an_error_rolls_back_what_was_stored"},
	"challenges outlive their user":               {func() storage.Adapter { return &leavingChallenges{memory()} }, "DeleteUser_removes_factors"},
	"a renewed session leaves the old token":      {func() storage.Adapter { return &duplicating{memory()} }, "F-066_a_renewed_session_has_another_token"},
}

func init() {
	for name, store := range brokenProofStores {
		stores[name] = store
	}
}
