package vault_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestFaults shows renewals in which a process ends or a store fails (T-024 to T-031,
// T-128).
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		rotation rotation
		try      func(t *testing.T, w *world, v *vault.Vault)
	}{
		"T-024 a holder that ends before the call": {once, func(t *testing.T, w *world, v *vault.Vault) {
			key := vault.LeaseKey(theGrant, "1")
			if _, err := w.store.Adapter.Lease(t.Context(), key, "a process that ended", 35*time.Second); err != nil {
				t.Fatal(err)
			}
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			w.requests(1)
		}},
		"T-025 an answer that is lost, with a window": {window, func(t *testing.T, w *world, v *vault.Vault) {
			w.loseAnswer(t)
			got, err := w.ask(v)
			want(t, got, err, "access-3", nil)
			if len(w.told(event.TokenDisconnected)) != 0 {
				t.Error("disconnected")
			}
		}},
		"T-026 an answer that is lost, without": {once, func(t *testing.T, w *world, v *vault.Vault) {
			w.loseAnswer(t)
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrReconnect)
			if told := w.told(event.TokenDisconnected); len(told) != 1 || told[0] != vault.GrantLost {
				t.Errorf("told %q", told)
			}
		}},
		"T-027 the store fails at the swap": {once, func(t *testing.T, w *world, v *vault.Vault) {
			end := time.Now().Add(3 * time.Second)
			w.store.before = func(call string) error {
				if call == "SwapTokens" && time.Now().Before(end) {
					return errDown
				}
				return nil
			}
			for range 5 {
				got, err := w.ask(v)
				want(t, got, err, "access-2", nil)
				time.Sleep(time.Second)
			}
			v.Wait()
			got, err := w.ask(w.process())
			want(t, got, err, "access-2", nil)
			w.requests(1)
			if !strings.Contains(w.log.String(), "could not be stored") {
				t.Error("nothing is in the log")
			}
		}},
		"T-027 the store fails at the swap, without leases": {once, func(t *testing.T, w *world, _ *vault.Vault) {
			v := w.process(func(c *vault.Config) { c.Leases = nil })
			defer v.Wait()
			end := time.Now().Add(3 * time.Second)
			w.store.before = func(call string) error {
				if call == "SwapTokens" && time.Now().Before(end) {
					return errDown
				}
				return nil
			}
			for range 3 {
				got, err := w.ask(v)
				want(t, got, err, "access-2", nil)
			}
			w.requests(1)
		}},
		"T-027 another process waits for tokens that are not stored yet": {once, func(t *testing.T, w *world, v *vault.Vault) {
			end := time.Now().Add(3 * time.Second)
			w.store.before = func(call string) error {
				if call == "SwapTokens" && time.Now().Before(end) {
					return errDown
				}
				return nil
			}
			for _, p := range []*vault.Vault{v, w.process()} {
				got, err := w.ask(p)
				want(t, got, err, "access-2", nil)
			}
			w.requests(1)
		}},
		"T-028 the store fails at the lease": {once, func(t *testing.T, w *world, v *vault.Vault) {
			w.store.before = func(call string) error {
				if call == "Lease" {
					return errDown
				}
				return nil
			}
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrAdapter)
			w.requests(0)
			w.connect(v, "2")
			time.Sleep(time.Hour - 2*time.Second)
			got, err = v.AccessToken(t.Context(), vault.Ref{UserID: w.user.ID, Provider: "acme", AccountID: "2"}, vault.Options{})
			want(t, got, err, "access-2", nil)
		}},
		"T-029 a sign-in commits during a renewal": {fresh, func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.fail = func() error {
				row, again := w.row("1"), w.issuer.grant(time.Now())
				return w.store.SwapTokens(context.Background(), "acme", "1", row.Tokens, v.Replace(row, again, again))
			}
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			if v.Wait(); len(w.issuer.revoked) != 0 {
				t.Errorf("revoked %q", w.issuer.revoked)
			}
		}},
		"R-673 a sign-in without a refresh token commits during a renewal": {once, func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.fail = func() error { w.issuer.fail = nil; return w.signInWithout(v) }
			got, err := w.ask(v)
			want(t, got, err, "access of a sign-in", nil)
			time.Sleep(2 * time.Hour)
			got, err = w.ask(w.process())
			want(t, got, err, "access-3", nil)
		}},
		"R-673 such a sign-in while the store fails at the swap": {once, func(t *testing.T, w *world, v *vault.Vault) {
			down := true
			w.store.before = func(call string) error {
				if call == "SwapTokens" && down {
					return errDown
				}
				return nil
			}
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			if down = false; w.signInWithout(v) != nil {
				t.Fatal(err)
			}
			v.Wait()
			time.Sleep(2 * time.Hour)
			got, err = w.ask(w.process())
			want(t, got, err, "access-3", nil)
		}},
		"R-846 sign-ins without a refresh token overtake one swap after another": {once, func(t *testing.T, w *world, v *vault.Vault) {
			left, busy := 6, false
			w.store.before = func(call string) error {
				if call != "SwapTokens" || busy || left == 0 {
					return nil
				}
				left--
				busy = true
				defer func() { busy = false }()
				time.Sleep(time.Second) // so that the row is another one
				return w.signInWithout(v)
			}
			got, err := w.ask(v)
			want(t, got, err, "access of a sign-in", nil)
			v.Wait()
			time.Sleep(2 * time.Hour)
			got, err = w.ask(w.process())
			want(t, got, err, "access-3", nil)
		}},
		"T-030 an account is unlinked during a renewal": {once, func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.fail = func() error {
				_, err := w.store.UnlinkAccount(context.Background(), "acme", "1")
				return err
			}
			got, err := w.ask(v)
			want(t, got, err, "", storage.ErrNotFound)
			if v.Wait(); strings.Join(w.issuer.revoked, " ") != "refresh-2" {
				t.Errorf("revoked %q, want the new token", w.issuer.revoked)
			}
		}},
		"T-030 another user has the account when the lease is there": {once, func(t *testing.T, w *world, v *vault.Vault) {
			w.store.before = func(call string) error {
				if call == "Lease" {
					w.giveAway(t, v)
				}
				return nil
			}
			got, err := w.ask(v)
			want(t, got, err, "", storage.ErrNotFound)
			w.requests(0)
		}},
		"T-030 another user has the account when the answer is there": {fresh, func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.fail = func() error { w.giveAway(t, v); return nil }
			got, err := w.ask(v)
			want(t, got, err, "", storage.ErrNotFound)
		}},
		"T-011 a sign-in commits while a refused token is taken away": {once, func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.ended = true
			w.store.before = func(call string) error {
				if call != "SwapTokens" || !w.issuer.hasEnded() {
					return nil
				}
				row, again := w.row("1"), w.issuer.grant(time.Now())
				return w.store.Adapter.SwapTokens(context.Background(), "acme", "1", row.Tokens, v.Replace(row, again, again))
			}
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			if told := w.told(event.TokenDisconnected); len(told) != 0 {
				t.Errorf("told %q", told)
			}
		}},
		"T-128 tokens are revoked during a renewal": {once, func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.fail = func() error {
				return v.Revoke(context.Background(), w.row("1"))
			}
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrReconnect)
			v.Wait()
			if now := w.row("1").Tokens; now.AccessToken != "" || now.RefreshToken != "" {
				t.Error("the row has tokens")
			}
			if n := len(w.issuer.revoked); n != 2 {
				t.Errorf("%d tokens were revoked, want both", n)
			}
		}},
		"T-031 a holder that is slower than its lease": {window, func(t *testing.T, w *world, v *vault.Vault) {
			var first atomic.Bool
			slow := w.process(func(c *vault.Config) {
				renew := c.Providers["acme"].Refresh
				c.Providers["acme"].Refresh = func(_ context.Context, former storage.Tokens) (storage.Tokens, error) {
					got, err := renew(context.Background(), former)
					first.Store(true)
					time.Sleep(2 * time.Minute)
					return got, err
				}
			})
			done := make(chan error)
			var late storage.Tokens
			go func() {
				var err error
				late, err = w.ask(slow)
				done <- err
			}()
			synctest.Wait()
			got, err := w.ask(v)
			want(t, got, err, "access-3", nil)
			if err := <-done; err != nil || !first.Load() {
				t.Fatal(err)
			}
			want(t, late, nil, "access-3", nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, c.rotation)
				v := w.process()
				w.connect(v, "1")
				time.Sleep(2 * time.Hour)
				c.try(t, w, v)
				v.Wait()
			})
		})
	}
}

// signInWithout stores what a sign-in brings whose answer has no refresh token.
func (w *world) signInWithout(v *vault.Vault) error {
	ctx := context.Background()
	row, err := w.store.GetAccount(ctx, "acme", "1")
	if err != nil {
		return err
	}
	brought := storage.Tokens{AccessToken: "access of a sign-in", ExpiresAt: time.Now().Add(time.Hour), ExpiresIn: time.Hour}
	return w.store.SwapTokens(ctx, "acme", "1", row.Tokens, v.Replace(row, brought, brought))
}

// giveAway has another user link account 1.
func (w *world) giveAway(t *testing.T, v *vault.Vault) {
	t.Helper()
	ctx := context.Background()
	other, err := w.store.CreateUser(ctx, storage.User{Email: "eve@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	row, err := w.store.UnlinkAccount(ctx, "acme", "1")
	if err != nil {
		t.Fatal(err)
	}
	theirs := w.issuer.grant(time.Now())
	row.UserID, row.Tokens = other.ID, v.ForRow("acme", "1", theirs, theirs)
	if err := w.store.LinkAccount(ctx, row); err != nil {
		t.Fatal(err)
	}
}

// loseAnswer has a process end between the provider's answer and the swap.
func (w *world) loseAnswer(t *testing.T) {
	t.Helper()
	if _, err := w.store.Adapter.Lease(t.Context(), vault.LeaseKey(theGrant, "1"), "a process that ended", 35*time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := w.issuer.renew(t.Context(), storage.Tokens{RefreshToken: "refresh-1"}); err != nil {
		t.Fatal(err)
	}
}

// TestRevoking shows how often a revocation is tried (T-055, T-058).
func TestRevoking(t *testing.T) {
	for name, c := range map[string]struct {
		fails int // how many tries fail
		keep  bool
		tries int
		err   bool
	}{
		"T-055 at once":                  {tries: 1},
		"T-055 twice 503":                {fails: 2, tries: 3},
		"T-055 always 503":               {fails: 10, tries: 3, err: true},
		"T-055 KeepAtProvider":           {keep: true},
		"T-058 the account stays linked": {tries: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, once)
				v := w.process(func(v *vault.Config) { v.KeepGrants = c.keep })
				w.connect(v, "1")
				tries := 0
				w.issuer.revoking = func() error {
					if tries++; tries <= c.fails {
						return &oauth.StepError{Step: oauth.StepRevocation, Status: 503, Err: errors.New("down")}
					}
					return nil
				}
				begin := time.Now()
				if err := v.Revoke(t.Context(), w.row("1")); err != nil {
					t.Fatal(err)
				}
				if time.Since(begin) != 0 {
					t.Error("the caller waited for the provider")
				}
				v.Wait()
				if took := time.Since(begin); tries != c.tries || took > 30*time.Second {
					t.Errorf("%d tries in %v, want %d", tries, took, c.tries)
				}
				if w.row("1").Tokens.AccessToken != "" {
					t.Error("the row has tokens")
				}
				if len(w.events) != 1 || w.events[0].Detail != vault.GrantRevoked || (w.events[0].Err != nil) != c.err {
					t.Errorf("events %+v", w.told(event.TokenDisconnected))
				}
			})
		})
	}
}

// TestRevokingWaits is R-771: the pauses between two tries are as long as the provider
// asks, within a bound.
func TestRevokingWaits(t *testing.T) {
	for asked, want := range map[string][]int{"": {0, 1, 3}, "0": {0, 1, 3}, "2": {0, 2, 4}, "7": {0, 7, 14}, "3600": {0, 10, 20}, "soon": {0, 1, 3}} {
		for _, body := range []string{"", `{"error":"slow_down"}`} {
			t.Run("R-771 "+asked+" "+body, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begin, at := time.Now(), []int(nil)
					w := newWorld(t, once)
					client, err := oauth.New(oauth.Config{
						ClientID: "client", ClientAuth: oauth.NoClientAuth, Authorization: oauth.Endpoint{URL: "https://issuer.example/a"},
						Token: oauth.Endpoint{URL: "https://issuer.example/t"}, UserInfo: oauth.Endpoint{URL: "https://issuer.example/u"},
						Revocation: oauth.Endpoint{URL: "https://issuer.example/r"}, Time: time.Now,
						HTTP: &http.Client{Transport: roundTripper(func(*http.Request) *http.Response {
							at = append(at, int(time.Since(begin)/time.Second)) // of the bubble's clock
							h := http.Header{"Content-Type": {"application/json"}}
							if asked != "" {
								h.Set("Retry-After", asked)
							}
							return &http.Response{StatusCode: http.StatusTooManyRequests, Header: h, Body: io.NopCloser(strings.NewReader(body))}
						})},
					})
					if err != nil {
						t.Fatal(err)
					}
					v := w.process(func(c *vault.Config) {
						c.Providers["acme"].Revoke = func(ctx context.Context, t storage.Tokens) error {
							return client.Revoke(ctx, t.RefreshToken, "refresh_token")
						}
					})
					w.connect(v, "1")
					if err := v.Revoke(t.Context(), w.row("1")); err != nil {
						t.Fatal(err)
					}
					if v.Wait(); !slices.Equal(at, want) {
						t.Errorf("tries after %d seconds, want %d", at, want)
					}
				})
			})
		}
	}
}

type roundTripper func(*http.Request) *http.Response

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// TestRevokingStops is T-055 of an account that is connected again between two tries: to
// revoke its former tokens might end the grant of the new ones.
func TestRevokingStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, once)
		v := w.process()
		w.connect(v, "1")
		w.issuer.revoking = func() error {
			return &oauth.StepError{Step: oauth.StepRevocation, Status: 503, Err: errors.New("down")}
		}
		if err := v.Revoke(t.Context(), w.row("1")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.issuer.revoking = nil
		if err := w.signInWithout(v); err != nil {
			t.Fatal(err)
		}
		if v.Wait(); len(w.issuer.revoked) != 0 {
			t.Errorf("revoked %q after the account was connected again", w.issuer.revoked)
		}
	})
}
