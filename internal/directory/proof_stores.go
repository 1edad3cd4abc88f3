package directory

import (
	"context"
	"slices"
	"time"

	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// The stores of an adapter for second factors, challenges, browsers and passwords.
// Every call is guarded as the calls of a [Store] are, and named in errors as
// "Factors.Use". A table that is missing is an error here, never an empty list: a
// factor that cannot be read must not let its user in without it. The caller has
// asked Has before.

// Factors returns the adapter's store of factors, with every call guarded. The caller has
// asked Has first.
func (s *Store) Factors() storage.FactorStore { return guardedFactors{s} }

// Challenges returns the adapter's store of challenges, with every call guarded. The
// caller has asked Has first.
func (s *Store) Challenges() storage.ChallengeStore { return guardedChallenges{s} }

// Browsers returns the adapter's store of known browsers, with every call guarded. The
// caller has asked Has first.
func (s *Store) Browsers() storage.BrowserStore { return guardedBrowsers{s} }

// Passwords returns the adapter's store of passwords, with every call guarded. The caller
// has asked Has first.
func (s *Store) Passwords() storage.PasswordStore { return guardedPasswords{s} }

type (
	guardedFactors    struct{ s *Store }
	guardedChallenges struct{ s *Store }
	guardedBrowsers   struct{ s *Store }
	guardedPasswords  struct{ s *Store }
)

func isPositive(n int) bool { return n > 0 }
func isCount(n int) bool    { return n >= 0 }

// allFit returns a check of a list. The list fits if every element does.
func allFit[T any](fits func(*T) bool) func([]T) bool {
	return func(list []T) bool {
		return !slices.ContainsFunc(list, func(one T) bool { return !fits(&one) })
	}
}

func (g guardedFactors) Create(ctx context.Context, f storage.Factor) error {
	return guarded.Do(ctx, g.s.bounds, "Factors.Create", func(ctx context.Context) error { return g.s.factors.Factors().Create(ctx, f) })
}

func (g guardedFactors) List(ctx context.Context, userID string) ([]storage.Factor, error) {
	fits := func(f *storage.Factor) bool { return f.UserID == userID && f.ID != "" && f.Kind != "" }
	return guarded.CallFor(ctx, g.s.bounds, "Factors.List", allFit(fits), func(ctx context.Context) ([]storage.Factor, error) {
		return g.s.factors.Factors().List(ctx, userID)
	})
}

func (g guardedFactors) Use(ctx context.Context, id string, step int64, secret string, at time.Time) error {
	return guarded.Do(ctx, g.s.bounds, "Factors.Use", func(ctx context.Context) error {
		return g.s.factors.Factors().Use(ctx, id, step, secret, at)
	})
}

func (g guardedFactors) Fail(ctx context.Context, id string) (int, error) {
	return guarded.CallFor(ctx, g.s.bounds, "Factors.Fail", isPositive, func(ctx context.Context) (int, error) { return g.s.factors.Factors().Fail(ctx, id) })
}

func (g guardedFactors) Delete(ctx context.Context, userID, id string) (storage.Factor, error) {
	fits := func(f storage.Factor) bool { return f.UserID == userID && f.ID == id }
	return guarded.CallFor(ctx, g.s.bounds, "Factors.Delete", fits, func(ctx context.Context) (storage.Factor, error) {
		return g.s.factors.Factors().Delete(ctx, userID, id)
	})
}

func (g guardedFactors) ReplaceRecoveryCodes(ctx context.Context, userID string, hashes []string) error {
	return guarded.Do(ctx, g.s.bounds, "Factors.ReplaceRecoveryCodes", func(ctx context.Context) error {
		return g.s.factors.Factors().ReplaceRecoveryCodes(ctx, userID, hashes)
	})
}

func (g guardedFactors) UseRecoveryCode(ctx context.Context, userID, hash string) (int, error) {
	return guarded.CallFor(ctx, g.s.bounds, "Factors.UseRecoveryCode", isCount, func(ctx context.Context) (int, error) {
		return g.s.factors.Factors().UseRecoveryCode(ctx, userID, hash)
	})
}

// isChallenge returns a function that reports whether a challenge has the id, and is
// whole.
func isChallenge(id string) func(storage.Challenge) bool {
	return func(c storage.Challenge) bool { return c.ID == id && c.Purpose != "" && !c.Expires.IsZero() }
}

func (g guardedChallenges) Create(ctx context.Context, c storage.Challenge) error {
	return guarded.Do(ctx, g.s.bounds, "Challenges.Create", func(ctx context.Context) error { return g.s.challenges.Challenges().Create(ctx, c) })
}

func (g guardedChallenges) Get(ctx context.Context, id string) (storage.Challenge, error) {
	return guarded.CallFor(ctx, g.s.bounds, "Challenges.Get", isChallenge(id), func(ctx context.Context) (storage.Challenge, error) {
		return g.s.challenges.Challenges().Get(ctx, id)
	})
}

func (g guardedChallenges) List(ctx context.Context, q storage.ChallengeQuery) ([]storage.Challenge, error) {
	is := func(asked, stored string) bool { return asked == "" || asked == stored }
	fits := func(c *storage.Challenge) bool {
		return c.ID != "" && c.Tenant == q.Tenant && is(q.Purpose, c.Purpose) && is(q.UserID, c.UserID) && is(q.Identifier, c.Identifier)
	}
	return guarded.CallFor(ctx, g.s.bounds, "Challenges.List", allFit(fits), func(ctx context.Context) ([]storage.Challenge, error) {
		return g.s.challenges.Challenges().List(ctx, q)
	})
}

func (g guardedChallenges) Try(ctx context.Context, id string, most int) (storage.Challenge, error) {
	fits := func(c storage.Challenge) bool { return isChallenge(id)(c) && c.Tries > 0 && c.Tries <= most }
	return guarded.CallFor(ctx, g.s.bounds, "Challenges.Try", fits, func(ctx context.Context) (storage.Challenge, error) {
		return g.s.challenges.Challenges().Try(ctx, id, most)
	})
}

func (g guardedChallenges) Take(ctx context.Context, id string) (storage.Challenge, error) {
	return guarded.CallFor(ctx, g.s.bounds, "Challenges.Take", isChallenge(id), func(ctx context.Context) (storage.Challenge, error) {
		return g.s.challenges.Challenges().Take(ctx, id)
	})
}

func (g guardedChallenges) Delete(ctx context.Context, userID string, purposes ...string) (int, error) {
	return guarded.CallFor(ctx, g.s.bounds, "Challenges.Delete", isCount, func(ctx context.Context) (int, error) {
		return g.s.challenges.Challenges().Delete(ctx, userID, purposes...)
	})
}

func (g guardedBrowsers) Put(ctx context.Context, b storage.Browser) error {
	return guarded.Do(ctx, g.s.bounds, "Browsers.Put", func(ctx context.Context) error { return g.s.browsers.Browsers().Put(ctx, b) })
}

func (g guardedBrowsers) Get(ctx context.Context, id, userID string) (storage.Browser, error) {
	fits := func(b storage.Browser) bool { return b.ID == id && b.UserID == userID && !b.Expires.IsZero() }
	return guarded.CallFor(ctx, g.s.bounds, "Browsers.Get", fits, func(ctx context.Context) (storage.Browser, error) {
		return g.s.browsers.Browsers().Get(ctx, id, userID)
	})
}

func (g guardedBrowsers) Renew(ctx context.Context, id, next string, seen time.Time) error {
	return guarded.Do(ctx, g.s.bounds, "Browsers.Renew", func(ctx context.Context) error {
		return g.s.browsers.Browsers().Renew(ctx, id, next, seen)
	})
}

func (g guardedBrowsers) List(ctx context.Context, userID string) ([]storage.Browser, error) {
	fits := func(b *storage.Browser) bool { return b.UserID == userID }
	return guarded.CallFor(ctx, g.s.bounds, "Browsers.List", allFit(fits), func(ctx context.Context) ([]storage.Browser, error) {
		return g.s.browsers.Browsers().List(ctx, userID)
	})
}

func (g guardedBrowsers) Delete(ctx context.Context, userID, publicID string) (int, error) {
	return guarded.CallFor(ctx, g.s.bounds, "Browsers.Delete", isCount, func(ctx context.Context) (int, error) {
		return g.s.browsers.Browsers().Delete(ctx, userID, publicID)
	})
}

func (g guardedPasswords) Get(ctx context.Context, userID string) (storage.PasswordHash, error) {
	fits := func(p storage.PasswordHash) bool { return p.UserID == userID && p.Hash != "" }
	return guarded.CallFor(ctx, g.s.bounds, "Passwords.Get", fits, func(ctx context.Context) (storage.PasswordHash, error) {
		return g.s.passwords.Passwords().Get(ctx, userID)
	})
}

func (g guardedPasswords) Set(ctx context.Context, p storage.PasswordHash, was string) error {
	return guarded.Do(ctx, g.s.bounds, "Passwords.Set", func(ctx context.Context) error { return g.s.passwords.Passwords().Set(ctx, p, was) })
}

func (g guardedPasswords) Fail(ctx context.Context, userID string) (int, error) {
	return guarded.CallFor(ctx, g.s.bounds, "Passwords.Fail", isPositive, func(ctx context.Context) (int, error) {
		return g.s.passwords.Passwords().Fail(ctx, userID)
	})
}

func (g guardedPasswords) Delete(ctx context.Context, userID string) error {
	return guarded.Do(ctx, g.s.bounds, "Passwords.Delete", func(ctx context.Context) error { return g.s.passwords.Passwords().Delete(ctx, userID) })
}
