package directory

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

func storeOf(a storage.Adapter) *Store {
	return NewStore(a, &guarded.Bounds{Timeout: 10 * time.Second})
}

// proofCalls are the calls of the stores of proofs, by the name that an error has.
var proofCalls = map[string]func(context.Context, *Store) error{
	"Factors.Create": func(ctx context.Context, s *Store) error { return s.Factors().Create(ctx, storage.Factor{}) },
	"Factors.List":   func(ctx context.Context, s *Store) error { _, err := s.Factors().List(ctx, "u"); return err },
	"Factors.Use": func(ctx context.Context, s *Store) error {
		return s.Factors().Use(ctx, "f", 1, "", time.Now())
	},
	"Factors.Fail":   func(ctx context.Context, s *Store) error { _, err := s.Factors().Fail(ctx, "f"); return err },
	"Factors.Delete": func(ctx context.Context, s *Store) error { _, err := s.Factors().Delete(ctx, "u", "f"); return err },
	"Factors.ReplaceRecoveryCodes": func(ctx context.Context, s *Store) error {
		return s.Factors().ReplaceRecoveryCodes(ctx, "u", nil)
	},
	"Factors.UseRecoveryCode": func(ctx context.Context, s *Store) error {
		_, err := s.Factors().UseRecoveryCode(ctx, "u", "h")
		return err
	},
	"Challenges.Create": func(ctx context.Context, s *Store) error { return s.Challenges().Create(ctx, storage.Challenge{}) },
	"Challenges.Get":    func(ctx context.Context, s *Store) error { _, err := s.Challenges().Get(ctx, "c"); return err },
	"Challenges.List": func(ctx context.Context, s *Store) error {
		_, err := s.Challenges().List(ctx, storage.ChallengeQuery{UserID: "u"})
		return err
	},
	"Challenges.Try":    func(ctx context.Context, s *Store) error { _, err := s.Challenges().Try(ctx, "c", 5); return err },
	"Challenges.Take":   func(ctx context.Context, s *Store) error { _, err := s.Challenges().Take(ctx, "c"); return err },
	"Challenges.Delete": func(ctx context.Context, s *Store) error { _, err := s.Challenges().Delete(ctx, "u"); return err },
	"Browsers.Put":      func(ctx context.Context, s *Store) error { return s.Browsers().Put(ctx, storage.Browser{}) },
	"Browsers.Get":      func(ctx context.Context, s *Store) error { _, err := s.Browsers().Get(ctx, "b", "u"); return err },
	"Browsers.Renew": func(ctx context.Context, s *Store) error {
		return s.Browsers().Renew(ctx, "b", "c", time.Now())
	},
	"Browsers.List":    func(ctx context.Context, s *Store) error { _, err := s.Browsers().List(ctx, "u"); return err },
	"Browsers.Delete":  func(ctx context.Context, s *Store) error { _, err := s.Browsers().Delete(ctx, "u", ""); return err },
	"Passwords.Get":    func(ctx context.Context, s *Store) error { _, err := s.Passwords().Get(ctx, "u"); return err },
	"Passwords.Set":    func(ctx context.Context, s *Store) error { return s.Passwords().Set(ctx, storage.PasswordHash{}, "") },
	"Passwords.Fail":   func(ctx context.Context, s *Store) error { _, err := s.Passwords().Fail(ctx, "u"); return err },
	"Passwords.Delete": func(ctx context.Context, s *Store) error { return s.Passwords().Delete(ctx, "u") },
}

// without has none of the optional interfaces.
type without struct{ storage.Adapter }

// absent returns no stores.
type absent struct{ storage.Adapter }

func (absent) Factors() storage.FactorStore       { return nil }
func (absent) Challenges() storage.ChallengeStore { return nil }
func (absent) Browsers() storage.BrowserStore     { return nil }
func (absent) Passwords() storage.PasswordStore   { return nil }

// lying answers other questions than it is asked.
type lying struct{ storage.Adapter }

type (
	lyingFactors    struct{ storage.FactorStore }
	lyingChallenges struct{ storage.ChallengeStore }
	lyingBrowsers   struct{ storage.BrowserStore }
	lyingPasswords  struct{ storage.PasswordStore }
)

func (lying) Factors() storage.FactorStore       { return lyingFactors{} }
func (lying) Challenges() storage.ChallengeStore { return lyingChallenges{} }
func (lying) Browsers() storage.BrowserStore     { return lyingBrowsers{} }
func (lying) Passwords() storage.PasswordStore   { return lyingPasswords{} }

var (
	foreignFactor    = storage.Factor{ID: "f", UserID: "v", Kind: storage.FactorTOTP}
	foreignChallenge = storage.Challenge{ID: "d", Purpose: "signin", UserID: "v", Expires: time.Now()}
)

func (lyingFactors) List(context.Context, string) ([]storage.Factor, error) {
	return []storage.Factor{{ID: "f", UserID: "u", Kind: storage.FactorTOTP}, foreignFactor}, nil
}
func (lyingFactors) Fail(context.Context, string) (int, error) { return 0, nil }
func (lyingFactors) Delete(context.Context, string, string) (storage.Factor, error) {
	return foreignFactor, nil
}
func (lyingFactors) UseRecoveryCode(context.Context, string, string) (int, error) { return -1, nil }
func (lyingChallenges) Get(context.Context, string) (storage.Challenge, error) {
	return foreignChallenge, nil
}

func (lyingChallenges) List(context.Context, storage.ChallengeQuery) ([]storage.Challenge, error) {
	return []storage.Challenge{foreignChallenge}, nil
}

func (lyingChallenges) Try(context.Context, string, int) (storage.Challenge, error) {
	return storage.Challenge{ID: "c", Purpose: "signin", Expires: time.Now(), Tries: 6}, nil
}

func (lyingChallenges) Take(context.Context, string) (storage.Challenge, error) {
	return foreignChallenge, nil
}
func (lyingChallenges) Delete(context.Context, string, ...string) (int, error) { return -1, nil }
func (lyingBrowsers) Get(context.Context, string, string) (storage.Browser, error) {
	return storage.Browser{ID: "b", UserID: "v", Expires: time.Now()}, nil
}

func (lyingBrowsers) List(context.Context, string) ([]storage.Browser, error) {
	return []storage.Browser{{ID: "b", UserID: "v"}}, nil
}
func (lyingBrowsers) Delete(context.Context, string, string) (int, error) { return -1, nil }
func (lyingPasswords) Get(context.Context, string) (storage.PasswordHash, error) {
	return storage.PasswordHash{UserID: "u"}, nil
}
func (lyingPasswords) Fail(context.Context, string) (int, error) { return 0, nil }

func isAdapterError(t *testing.T, name string, err error) {
	t.Helper()
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Type != fault.ErrAdapter {
		t.Errorf("%s: %v, want an AdapterError", name, err)
	} else if !strings.Contains(err.Error(), name) {
		if p, panicked := errors.AsType[*guarded.Panic](err); !panicked || p == nil {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

// TestProofStoresAreGuarded: a store that is missing, or that answers another question than
// it is asked, is an AdapterError that names the call.
func TestProofStoresAreGuarded(t *testing.T) {
	for kind, a := range map[string]storage.Adapter{"no stores": without{}, "absent stores": absent{}, "lying stores": lying{}} {
		t.Run(kind, func(t *testing.T) {
			for name, call := range proofCalls {
				isAdapterError(t, name, call(t.Context(), storeOf(a)))
			}
		})
	}
	t.Run("no time", func(t *testing.T) {
		for name, call := range proofCalls {
			s := NewStore(memoryadapter.New(memoryadapter.Options{}), &guarded.Bounds{})
			isAdapterError(t, name, call(t.Context(), s))
		}
	})
	t.Run("an empty store", func(t *testing.T) {
		for name, call := range proofCalls {
			err := call(t.Context(), storeOf(memoryadapter.New(memoryadapter.Options{})))
			if err != nil && !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestRequireNamesStoresOfProofs(t *testing.T) {
	for _, ability := range []Ability{AbilityFactors, AbilityChallenges, AbilityBrowsers, AbilityPasswords} {
		err := storeOf(without{}).Require("Config.Factors", ability)
		if err == nil || !strings.Contains(err.Error(), "Config.Factors needs an Adapter that is a "+string(ability)) {
			t.Errorf("%s: %v", ability, err)
		}
		if err := storeOf(memoryadapter.New(memoryadapter.Options{})).Require("Config.Factors", ability); err != nil {
			t.Error(err)
		}
	}
}

// TestProofStoresInTransactions: the stores of a transaction are bound to it.
func TestProofStoresInTransactions(t *testing.T) {
	a := memoryadapter.New(memoryadapter.Options{})
	u, err := a.CreateUser(t.Context(), storage.User{Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	err = storeOf(a).InTx(t.Context(), func(ctx context.Context, s *Store) error {
		return errors.Join(
			s.Factors().Create(ctx, storage.Factor{ID: "f", UserID: u.ID, Kind: storage.FactorTOTP}),
			s.Challenges().Create(ctx, storage.Challenge{ID: "c", Purpose: "signin"}),
			s.Browsers().Put(ctx, storage.Browser{ID: "b", UserID: u.ID, PublicID: "p"}),
			s.Passwords().Set(ctx, storage.PasswordHash{UserID: u.ID, Hash: "h"}, ""), stop)
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	c := a.Contents()
	if n := len(c.Factors) + len(c.Challenges) + len(c.Browsers) + len(c.Passwords); n != 0 {
		t.Errorf("%d rows outlived the transaction", n)
	}
}
