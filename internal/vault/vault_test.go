package vault_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// want checks an answer: the access token, or the error.
func want(t *testing.T, got storage.Tokens, err error, access string, wanted error) {
	t.Helper()
	if !errors.Is(err, wanted) {
		t.Fatalf("error %v, want %v", err, wanted)
	}
	if got.AccessToken != access {
		t.Errorf("access token %q, want %q", got.AccessToken, access)
	}
	if got.RefreshToken != "" {
		t.Error("the refresh token left the vault")
	}
}

func (w *world) requests(n int) {
	w.t.Helper()
	if got := w.issuer.count(); got != n {
		w.t.Errorf("%d token requests, want %d", got, n)
	}
}

// TestReading shows what a caller gets without and with a renewal (T-001 to T-017).
func TestReading(t *testing.T) {
	for name, try := range map[string]func(t *testing.T, w *world, v *vault.Vault){
		"T-001 a valid token costs no call and no write": func(t *testing.T, w *world, v *vault.Vault) {
			before := w.row("1")
			got, err := w.ask(v)
			want(t, got, err, "access-1", nil)
			w.requests(0)
			if after := w.row("1"); !reflect.DeepEqual(after, before) {
				t.Error("the row was written")
			}
		},
		"T-002 an expired token is renewed": func(t *testing.T, w *world, v *vault.Vault) {
			old := w.row("1").Tokens
			time.Sleep(2 * time.Hour)
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			got, err = w.ask(v)
			want(t, got, err, "access-2", nil)
			w.requests(1)
			if now := w.row("1").Tokens; now.RefreshToken == old.RefreshToken || now.AccessToken == old.AccessToken || now.ExpiresAt.Before(time.Now()) {
				t.Error("the row has old tokens")
			}
			if n := w.told(event.TokenRefreshed); len(n) != 1 {
				t.Errorf("token.refreshed was told %d times", len(n))
			}
		},
		"T-003 what the answer leaves out stays": func(t *testing.T, w *world, _ *vault.Vault) {
			w.issuer.rotation = never
			w.issuer.answer = func(t *storage.Tokens) { t.Scope, t.ExpiresIn, t.ExpiresAt = "", 0, time.Time{} }
			v := w.process(func(c *vault.Config) { c.Providers["acme"].Lifetime = 10 * time.Minute })
			time.Sleep(2 * time.Hour)
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			if got.Scope != "one two" || time.Until(got.ExpiresAt).Round(time.Minute) != 10*time.Minute {
				t.Errorf("scope %q, expiry %v", got.Scope, got.ExpiresAt)
			}
			time.Sleep(11 * time.Minute)
			got, err = w.ask(v)
			want(t, got, err, "access-3", nil)
		},
		"T-004 inside Early nobody waits": func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.delay = 5 * time.Second
			time.Sleep(time.Hour - 30*time.Second)
			begin := time.Now()
			for range 10 {
				got, err := w.ask(v)
				want(t, got, err, "access-1", nil)
			}
			if waited := time.Since(begin); waited != 0 {
				t.Errorf("callers waited %v", waited)
			}
			v.Wait()
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			w.requests(1)
		},
		"T-004 with Foreground they do": func(t *testing.T, w *world, _ *vault.Vault) {
			v := w.process(func(c *vault.Config) { c.Foreground = true })
			w.issuer.delay = 5 * time.Second
			time.Sleep(time.Hour - 30*time.Second)
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
		},
		"T-005 a rejected token is renewed": func(t *testing.T, w *world, v *vault.Vault) {
			got, err := w.ask(v, vault.Options{Rejected: "access-1"})
			want(t, got, err, "access-2", nil)
			got, err = w.ask(v, vault.Options{Rejected: "access-1"})
			want(t, got, err, "access-2", nil)
			w.requests(1)
		},
		"T-005 R-823 who read the row before the renewal gets the new token": func(t *testing.T, w *world, v *vault.Vault) {
			var reads atomic.Int64
			var late storage.Tokens
			var failed error
			renewed, done := make(chan struct{}), make(chan struct{})
			w.store.read = func() {
				if reads.Add(1) == 1 {
					<-renewed
				}
			}
			go func() {
				defer close(done)
				late, failed = w.ask(v, vault.Options{Rejected: "access-1"})
			}()
			synctest.Wait()
			got, err := w.ask(v, vault.Options{Rejected: "access-1"})
			want(t, got, err, "access-2", nil)
			close(renewed)
			<-done
			want(t, late, failed, "access-2", nil)
			got, err = w.ask(v, vault.Options{Rejected: "access-2"})
			want(t, got, err, "", fault.ErrRefresh)
			w.requests(1)
		},
		"T-006 without a refresh token only the user can help": func(t *testing.T, w *world, v *vault.Vault) {
			row := w.row("1")
			next := row.Tokens
			next.RefreshToken = ""
			if err := w.store.SwapTokens(t.Context(), "acme", "1", row.Tokens, next); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrReconnect)
			w.requests(0)
		},
		"T-007 accounts of others, and several": func(t *testing.T, w *world, v *vault.Vault) {
			ask := func(user, id string) error {
				_, err := v.AccessToken(t.Context(), vault.Ref{UserID: user, Provider: "acme", AccountID: id}, vault.Options{})
				return err
			}
			w.connect(v, "2")
			for _, c := range []struct {
				user, id string
				want     error
			}{{"eve", "1", storage.ErrNotFound}, {"eve", "", storage.ErrNotFound}, {w.user.ID, "3", storage.ErrNotFound}, {w.user.ID, "", fault.ErrAmbiguousAccount}, {w.user.ID, "2", nil}} {
				if err := ask(c.user, c.id); !errors.Is(err, c.want) {
					t.Errorf("%q %q: %v, want %v", c.user, c.id, err, c.want)
				}
			}
		},
		"T-008 scopes": func(t *testing.T, w *world, v *vault.Vault) {
			got, err := w.ask(v, vault.Options{Scopes: []string{"two", "one"}})
			want(t, got, err, "access-1", nil)
			row := w.row("1").Tokens
			commas := row
			commas.Scope = "one,two"
			if err := w.store.SwapTokens(t.Context(), "acme", "1", row, commas); err != nil {
				t.Fatal(err)
			}
			got, err = w.ask(v, vault.Options{Scopes: []string{"two"}})
			want(t, got, err, "access-1", nil)
			_, err = w.ask(v, vault.Options{Scopes: []string{"two", "three"}})
			told, _ := errors.AsType[*fault.TokenError](err)
			if !errors.Is(err, fault.ErrScopeMissing) || told == nil || strings.Join(told.Missing, " ") != "three" {
				t.Errorf("%v", err)
			}
		},
		"T-010 a dead grant": func(t *testing.T, w *world, v *vault.Vault) {
			time.Sleep(2 * time.Hour)
			w.issuer.ended = true
			for range 3 {
				got, err := w.ask(v)
				want(t, got, err, "", fault.ErrReconnect)
			}
			w.requests(1)
			if now := w.row("1").Tokens; now.RefreshToken != "" {
				t.Error("the dead refresh token is still there")
			}
			if told := w.told(event.TokenDisconnected); len(told) != 1 || told[0] != vault.GrantRefused {
				t.Errorf("told %q", told)
			}
		},
		"T-011 refused, but the row has changed": func(t *testing.T, w *world, v *vault.Vault) {
			time.Sleep(2 * time.Hour)
			w.issuer.fail = func() error {
				row := w.row("1")
				again := w.issuer.grant(time.Now())
				if err := w.store.SwapTokens(context.Background(), "acme", "1", row.Tokens, v.Replace(row, again, again)); err != nil {
					t.Error(err)
				}
				return refusal("invalid_grant", 400)
			}
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			if told := w.told(event.TokenDisconnected); len(told) != 0 {
				t.Errorf("told %q", told)
			}
		},
		"T-012 a client that the provider does not know": func(t *testing.T, w *world, v *vault.Vault) {
			time.Sleep(2 * time.Hour)
			before := w.row("1")
			w.issuer.fail = func() error { return refusal("invalid_client", 401) }
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrRefresh)
			if after := w.row("1"); !reflect.DeepEqual(after, before) || len(w.told(event.TokenDisconnected)) != 0 {
				t.Error("the row was changed, or an event was told")
			}
			if !strings.Contains(w.log.String(), "refuses to renew") {
				t.Error("nothing is in the log")
			}
		},
		"T-013 passing failures pause": func(t *testing.T, w *world, v *vault.Vault) {
			time.Sleep(2 * time.Hour)
			before := w.row("1")
			w.issuer.fail = func() error { return &oauth.StepError{Step: oauth.StepToken, Status: 502, Err: errors.New("HTML")} }
			for range 5 {
				got, err := w.ask(v)
				want(t, got, err, "", fault.ErrRefresh)
				if told, _ := errors.AsType[*fault.TokenError](err); told == nil {
					t.Errorf("no TokenError in %v", err)
				}
			}
			w.requests(1)
			time.Sleep(time.Second)
			_, _ = w.ask(v)
			_, _ = w.ask(v)
			w.requests(2)
			time.Sleep(time.Second)
			_, _ = w.ask(v)
			w.requests(2)
			time.Sleep(time.Minute)
			w.issuer.fail = nil
			if after := w.row("1"); !reflect.DeepEqual(after, before) {
				t.Error("the row was changed")
			}
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
		},
		"T-013 an outage takes no refresh token away, whatever it says": func(t *testing.T, w *world, v *vault.Vault) {
			time.Sleep(2 * time.Hour)
			before := w.row("1")
			for _, status := range []int{429, 500, 503} {
				w.issuer.fail = func() error { return refusal("invalid_grant", status) }
				got, err := w.ask(v)
				want(t, got, err, "", fault.ErrRefresh)
				time.Sleep(time.Minute)
			}
			if after := w.row("1"); !reflect.DeepEqual(after, before) || len(w.told(event.TokenDisconnected)) != 0 {
				t.Error("the row was changed, or an event was told")
			}
		},
		"T-014 a valid token is better than a passing failure": func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.fail = func() error { return refusal("temporarily_unavailable", 503) }
			time.Sleep(time.Hour - 20*time.Second)
			for range 3 {
				got, err := w.ask(v)
				want(t, got, err, "access-1", nil)
				v.Wait()
			}
			time.Sleep(17 * time.Second)
			got, err := w.ask(v)
			want(t, got, err, "access-1", nil)
		},
		"T-015 codes of the provider's own": func(t *testing.T, w *world, _ *vault.Vault) {
			v := w.process(func(c *vault.Config) {
				c.Providers["acme"].Refused = []string{"bad_refresh_token", "unauthorized_client"}
			})
			time.Sleep(2 * time.Hour)
			w.issuer.fail = func() error { return refusal("bad_refresh_token", 200) }
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrReconnect)
			if told := w.told(event.TokenDisconnected); len(told) != 1 {
				t.Errorf("told %q", told)
			}
		},
		"T-015 a refusal with status 403": func(t *testing.T, w *world, v *vault.Vault) {
			time.Sleep(2 * time.Hour)
			w.issuer.fail = func() error { return refusal("invalid_grant", 403) }
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrReconnect)
		},
		"T-016 a token of unknown life lasts until it is refused": func(t *testing.T, w *world, v *vault.Vault) {
			w.issuer.life = 0
			w.connect(v, "2")
			time.Sleep(1000 * time.Hour)
			of := vault.Ref{UserID: w.user.ID, Provider: "acme", AccountID: "2"}
			got, err := v.AccessToken(t.Context(), of, vault.Options{})
			want(t, got, err, "access-2", nil)
			got, err = v.AccessToken(t.Context(), of, vault.Options{Rejected: "access-2"})
			want(t, got, err, "access-3", nil)
		},
		"T-017 a caller that gives up stops nothing": func(t *testing.T, w *world, v *vault.Vault) {
			time.Sleep(2 * time.Hour)
			w.issuer.delay = 5 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := v.AccessToken(ctx, vault.Ref{UserID: w.user.ID, Provider: "acme", AccountID: "1"}, vault.Options{})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			v.Wait()
			got, err := w.ask(v)
			want(t, got, err, "access-2", nil)
			w.requests(1)
		},
		"T-044 nothing is renewed that could not be kept": func(t *testing.T, w *world, v *vault.Vault) {
			time.Sleep(2 * time.Hour)
			got, err := w.ask(v, vault.Options{ReadOnly: true})
			want(t, got, err, "", fault.ErrRefresh)
			w.requests(0)
		},
		"T-126 tokens of another client are not sent": func(t *testing.T, w *world, _ *vault.Vault) {
			v := w.process(func(c *vault.Config) { c.Providers["acme"].Grant.Client = "another" })
			before := w.row("1")
			time.Sleep(2 * time.Hour)
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrReconnect)
			w.requests(0)
			if after := w.row("1"); !reflect.DeepEqual(after, before) || len(w.events) != 0 {
				t.Error("the row was changed, or an event was told")
			}
		},
		"T-126 a sign-in with another client takes over no refresh token": func(t *testing.T, w *world, _ *vault.Vault) {
			v := w.process(func(c *vault.Config) { c.Providers["acme"].Grant.Client = "another" })
			if err := w.signInWithout(v); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Hour)
			got, err := w.ask(v)
			want(t, got, err, "", fault.ErrReconnect)
			w.requests(0)
		},
		"T-127 an API that always refuses causes no storm": func(t *testing.T, w *world, v *vault.Vault) {
			for range 1000 {
				got, err := w.ask(v)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.ask(v, vault.Options{Rejected: got.AccessToken}); err != nil && !errors.Is(err, fault.ErrRefresh) {
					t.Fatal(err)
				}
			}
			w.requests(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, once)
				v := w.process()
				w.connect(v, "1")
				try(t, w, v)
				v.Wait()
			})
		})
	}
}

// crowd is how many callers ask at once.
const crowd = 100

// TestHerd shows one token request for any number of callers and processes (T-021,
// T-022), and no error without leases where the provider has a window (T-023).
func TestHerd(t *testing.T) {
	for _, c := range []struct {
		name      string
		rotation  rotation
		processes int
		leases    bool
	}{
		{"T-021 one process", once, 1, true},
		{"T-021 one process without leases", once, 1, false},
		{"T-022 four processes", once, 4, true},
		{"T-023 four processes without leases", window, 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, c.rotation)
				w.issuer.delay = 200 * time.Millisecond
				var all []*vault.Vault
				for range c.processes {
					all = append(all, w.process(func(v *vault.Config) {
						if !c.leases {
							v.Leases = nil
						}
					}))
				}
				w.connect(all[0], "1")
				time.Sleep(2 * time.Hour)
				got := make([]storage.Tokens, crowd)
				for i, err := range race.Run(crowd, func(i int) (err error) {
					got[i], err = w.ask(all[i%len(all)])
					return err
				}) {
					if err != nil {
						t.Fatal(err)
					}
					if c.leases && got[i].AccessToken != "access-2" {
						t.Errorf("caller %d got %q", i, got[i].AccessToken)
					}
				}
				if c.leases {
					w.requests(1)
				}
				if w.issuer.ended {
					t.Error("the grant was lost")
				}
				last, err := w.ask(all[0])
				if err != nil || last.AccessToken == "" {
					t.Errorf("afterwards: %v", err)
				}
			})
		})
	}
}
