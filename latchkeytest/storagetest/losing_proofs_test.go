package storagetest_test

import (
	"context"

	"github.com/latchkeyhq/latchkey/storage"
)

// What follows are the stores of a losing adapter.

type (
	losingFactors struct {
		storage.FactorStore
		loss loss
	}
	losingChallenges struct {
		storage.ChallengeStore
		loss loss
	}
	losingBrowsers struct {
		storage.BrowserStore
		loss loss
	}
	losingPasswords struct {
		storage.PasswordStore
		loss loss
	}
)

func (a losing) Factors() storage.FactorStore { return losingFactors{a.Adapter.Factors(), a.loss} }

func (a losing) Challenges() storage.ChallengeStore {
	return losingChallenges{a.Adapter.Challenges(), a.loss}
}

func (a losing) Browsers() storage.BrowserStore { return losingBrowsers{a.Adapter.Browsers(), a.loss} }

func (a losing) Passwords() storage.PasswordStore {
	return losingPasswords{a.Adapter.Passwords(), a.loss}
}

func (s losingFactors) Create(ctx context.Context, f storage.Factor) error {
	return s.FactorStore.Create(ctx, lose(s.loss, "Factors.Create", f))
}

func (s losingFactors) List(ctx context.Context, userID string) ([]storage.Factor, error) {
	list, err := s.FactorStore.List(ctx, userID)
	return loseAll(s.loss, "Factors.List", list), err
}

func (s losingFactors) Delete(ctx context.Context, userID, id string) (storage.Factor, error) {
	f, err := s.FactorStore.Delete(ctx, userID, id)
	return lose(s.loss, "Factors.Delete", f), err
}

func (s losingChallenges) Create(ctx context.Context, c storage.Challenge) error {
	return s.ChallengeStore.Create(ctx, lose(s.loss, "Challenges.Create", c))
}

func (s losingChallenges) Get(ctx context.Context, id string) (storage.Challenge, error) {
	c, err := s.ChallengeStore.Get(ctx, id)
	return lose(s.loss, "Challenges.Get", c), err
}

func (s losingChallenges) List(ctx context.Context, q storage.ChallengeQuery) ([]storage.Challenge, error) {
	list, err := s.ChallengeStore.List(ctx, q)
	return loseAll(s.loss, "Challenges.List", list), err
}

func (s losingChallenges) Try(ctx context.Context, id string, most int) (storage.Challenge, error) {
	c, err := s.ChallengeStore.Try(ctx, id, most)
	return lose(s.loss, "Challenges.Try", c), err
}

func (s losingChallenges) Take(ctx context.Context, id string) (storage.Challenge, error) {
	c, err := s.ChallengeStore.Take(ctx, id)
	return lose(s.loss, "Challenges.Take", c), err
}

func (s losingBrowsers) Put(ctx context.Context, b storage.Browser) error {
	return s.BrowserStore.Put(ctx, lose(s.loss, "Browsers.Put", b))
}

func (s losingBrowsers) Get(ctx context.Context, id, userID string) (storage.Browser, error) {
	b, err := s.BrowserStore.Get(ctx, id, userID)
	return lose(s.loss, "Browsers.Get", b), err
}

func (s losingBrowsers) List(ctx context.Context, userID string) ([]storage.Browser, error) {
	list, err := s.BrowserStore.List(ctx, userID)
	return loseAll(s.loss, "Browsers.List", list), err
}

func (s losingPasswords) Get(ctx context.Context, userID string) (storage.PasswordHash, error) {
	p, err := s.PasswordStore.Get(ctx, userID)
	return lose(s.loss, "Passwords.Get", p), err
}

func (s losingPasswords) Set(ctx context.Context, p storage.PasswordHash, was string) error {
	return s.PasswordStore.Set(ctx, lose(s.loss, "Passwords.Set", p), was)
}
