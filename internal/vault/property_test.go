package vault_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// walk does things at random to one account, by three processes.
type walk struct {
	*world
	random    *rand.Rand
	processes []*vault.Vault
	loses     bool // the next answer of the provider is lost
	connected bool
	healthy   time.Time // from then on the store works
}

func newWalk(t *testing.T, r rotation, seed uint64) *walk {
	k := &walk{world: newWorld(t, r), random: rand.New(rand.NewPCG(seed, 0)), connected: true}
	for range 3 {
		k.processes = append(k.processes, k.process(func(c *vault.Config) { c.Providers["acme"].Refresh = k.renew }))
	}
	k.connect(k.processes[0], "1")
	k.issuer.delay = 200 * time.Millisecond // so that processes meet
	k.store.before = func(string) error {
		if time.Now().Before(k.healthy) {
			return errDown
		}
		return nil
	}
	return k
}

// renew asks the provider, and loses the answer if that is due.
func (k *walk) renew(ctx context.Context, former storage.Tokens) (storage.Tokens, error) {
	t, err := k.issuer.renew(ctx, former)
	if k.loses && err == nil {
		k.loses = false
		return storage.Tokens{}, &oauth.StepError{Step: oauth.StepToken, Err: errors.New("the line was cut")}
	}
	return t, err
}

// quiet waits until nothing is under way and the store works.
func (k *walk) quiet() {
	time.Sleep(time.Until(k.healthy))
	for _, v := range k.processes {
		v.Wait()
	}
}

func (k *walk) any() *vault.Vault { return k.processes[k.random.IntN(len(k.processes))] }

// step does one thing.
func (k *walk) step() {
	switch k.random.IntN(8) {
	case 0, 1, 2:
		k.askAtOnce(1 + k.random.IntN(4))
	case 3:
		time.Sleep(time.Duration(k.random.IntN(int(90 * time.Minute))))
	case 4:
		k.signIn()
	case 5:
		k.disconnect()
	case 6:
		k.loses = k.issuer.rotation != once // where nothing can bring the grant back
	case 7:
		k.healthy = time.Now().Add(time.Duration(k.random.IntN(int(15 * time.Second))))
	}
}

// askAtOnce has several callers ask. A grant that was not ended is never lost.
func (k *walk) askAtOnce(n int) {
	var wait sync.WaitGroup
	for range n {
		v := k.any()
		wait.Go(func() {
			if _, err := k.ask(v); k.connected && errors.Is(err, fault.ErrReconnect) {
				k.t.Errorf("a grant is lost that was not ended: %v", err)
			}
		})
	}
	wait.Wait()
}

// signIn has the user sign in again, which brings a grant.
func (k *walk) signIn() {
	k.quiet()
	fresh, row := k.issuer.grant(time.Now()), k.row("1")
	if err := k.store.SwapTokens(k.t.Context(), "acme", "1", row.Tokens, k.any().Replace(row, fresh, fresh)); err != nil {
		k.t.Fatal(err)
	}
	k.connected = true
}

// disconnect revokes the tokens. Nothing from before is stored afterwards.
func (k *walk) disconnect() {
	k.quiet()
	if err := k.any().Revoke(k.t.Context(), k.row("1")); err != nil {
		k.t.Fatal(err)
	}
	k.connected = false
	k.askAtOnce(3)
	k.quiet()
	if now := k.row("1").Tokens; now.AccessToken != "" || now.RefreshToken != "" {
		k.t.Error("tokens are stored after a disconnect")
	}
}

// TestGrantsSurvive shows that no stored grant is lost that was not ended, that an account
// has one token request at a time, and that a disconnect is final (P-A).
func TestGrantsSurvive(t *testing.T) {
	for _, r := range []rotation{never, fresh, once, window} {
		t.Run("P-A "+string(r), func(t *testing.T) {
			seed, steps := race.Steps(t, 150)
			synctest.Test(t, func(t *testing.T) {
				k := newWalk(t, r, seed)
				for range steps {
					k.step()
				}
				k.quiet()
				k.loses = false
				time.Sleep(3 * time.Hour)
				for _, v := range k.processes {
					if _, err := k.ask(v); k.connected && err != nil {
						t.Errorf("in the end: %v", err)
					}
				}
				if k.issuer.most > 1 {
					t.Errorf("%d token requests at one time", k.issuer.most)
				}
				k.quiet()
			})
		})
	}
}

// TestEveryCallMayFail shows that a call of the store that fails, whichever it is, loses
// no token that the store has acknowledged (T-036).
func TestEveryCallMayFail(t *testing.T) {
	for _, name := range []string{"GetAccount", "SwapTokens", "Lease"} {
		for nth := range 4 {
			t.Run("T-036 "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, once)
					v, other := w.process(), w.process()
					w.connect(v, "1")
					time.Sleep(2 * time.Hour)
					var mu sync.Mutex
					calls := 0
					w.store.before = func(call string) error {
						mu.Lock()
						defer mu.Unlock()
						if call != name {
							return nil
						}
						if calls++; calls == nth+1 {
							return errDown
						}
						return nil
					}
					if _, err := w.ask(v); err != nil && !errors.Is(err, fault.ErrRefresh) && !errors.Is(err, errDown) {
						t.Errorf("%v", err)
					}
					time.Sleep(2 * time.Minute)
					v.Wait()
					w.store.before = nil
					for _, p := range []*vault.Vault{v, other} {
						if _, err := w.ask(p); err != nil {
							t.Errorf("afterwards: %v", err)
						}
					}
					v.Wait()
				})
			})
		}
	}
}
