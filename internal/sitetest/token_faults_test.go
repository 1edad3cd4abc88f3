package sitetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// faultyTokens is a faulty store that keeps provider tokens and gives leases.
type faultyTokens struct{ *faultyStore }

func (s faultyTokens) SwapTokens(ctx context.Context, provider, id string, old, next storage.Tokens) error {
	return act(ctx, s.faultyStore, "SwapTokens", func(ctx context.Context) error { return s.store().SwapTokens(ctx, provider, id, old, next) })
}

func (s faultyTokens) Lease(ctx context.Context, key, holder string, life time.Duration) (storage.Lease, error) {
	return attempt(ctx, s.faultyStore, "Lease", func(ctx context.Context) (storage.Lease, error) { return s.store().Lease(ctx, key, holder, life) })
}

func (s faultyTokens) Release(ctx context.Context, key, holder string) error {
	return act(ctx, s.faultyStore, "Release", func(ctx context.Context) error { return s.store().Release(ctx, key, holder) })
}

func (s faultyTokens) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return s.faultyStore.InTx(ctx, func(a storage.Adapter) error { return f(faultyTokens{a.(*faultyStore)}) })
}

// stated are the errors that a caller may get while the store fails.
var stated = []error{latchkey.ErrAdapter, latchkey.ErrRefresh, latchkey.ErrReconnect, latchkey.ErrNotFound}

// TestTokensWhileTheStoreFails has each call of the store that a renewal makes fail in
// each way. Callers get a token or an error that is listed, and a process that asks
// afterwards has a token that the provider takes (T-036). A store that says it has
// stored tokens and has not is the exception: it has lost them, and callers are told to
// reconnect.
//
// Without the check of the answer in takeLease, "Lease, nil without error" never ends.
// Without the release after a lease that failed, "Lease, error after effect" takes as
// long as a lease lasts.
func TestTokensWhileTheStoreFails(t *testing.T) {
	for _, method := range []string{"ListAccounts", "GetAccount", "SwapTokens", "Lease", "Release"} {
		for _, kind := range []fault{faultBefore, faultAfter, faultHang, faultPanic, faultLie} {
			t.Run("T-036 "+method+", "+string(kind), func(t *testing.T) {
				t.Parallel()
				store := faultyTokens{newFaultyStore()}
				s := newTokenSite(t, func(c *latchkey.Config) {
					c.Adapter, c.Limits.StoreTimeout = store, patienceFor(kind)
				})
				s.clock.Advance(2 * time.Hour)
				store.plan.called = map[string]bool{}
				store.fail(method, kind)
				got, err := s.ask(latchkey.TokenOptions{})
				if !store.plan.called[method] {
					t.Fatalf("%s was not called", method)
				}
				if err == nil && !s.works(got.AccessToken) || err != nil && !isStated(err) {
					t.Errorf("while the store fails: %v", err)
				}
				store.mend()
				if method == "SwapTokens" && kind == faultLie {
					if _, err := s.ask(latchkey.TokenOptions{}); !errors.Is(err, latchkey.ErrReconnect) {
						t.Errorf("tokens that the store has lost: %v, want ErrReconnect", err)
					}
					return
				}
				other, err := latchkey.New(s.config)
				if err != nil {
					t.Fatal(err)
				}
				for _, auth := range []*latchkey.Auth{s.auth, other} {
					got, err := auth.Users().AccessToken(t.Context(), latchkey.AccountRef{UserID: s.user, Provider: "issuer"}, latchkey.TokenOptions{})
					if err != nil || !s.works(got.AccessToken) {
						t.Errorf("afterwards: %v\n%s", err, s.log.text())
					}
				}
				if n := s.tokenRequests(); n != 1 {
					t.Errorf("%d token requests, want 1", n)
				}
			})
		}
	}
}

func isStated(err error) bool {
	for _, one := range stated {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}
