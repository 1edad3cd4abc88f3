package vault_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/oauth"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/internal/vault"
	"github.com/latchkeyhq/latchkey/storage"
)

// walk does things at random to one account, by three processes of its client and one
// of another client.
type walk struct {
	*world
	random    *rand.Rand
	delays    *rand.Rand // of calls at the same time; guarded by mu
	processes []*mortal
	foreign   *vault.Vault
	loses     bool // the next answer of the provider is lost
	linked    bool
	connected bool
	healthy   atomic.Int64 // in Unix nanoseconds: from then on the store works
	killed    sync.WaitGroup
}

func newWalk(t *testing.T, r rotation, seed uint64) *walk {
	k := &walk{world: newWorld(t, r), random: rand.New(rand.NewPCG(seed, 0)), delays: rand.New(rand.NewPCG(seed, 1)), linked: true, connected: true}
	for range 3 {
		k.processes = append(k.processes, k.newProcess())
	}
	k.foreign = k.process(func(c *vault.Config) {
		reached := func() error { t.Error("a token reached another client"); return nil }
		c.Providers["acme"] = &vault.Provider{
			Grant:   vault.Grant{Issuer: theGrant.Issuer, Client: "another client"},
			Refresh: func(context.Context, storage.Tokens) (storage.Tokens, error) { return storage.Tokens{}, reached() },
			Revoke:  func(context.Context, storage.Tokens) error { return reached() },
			Keep:    func(t storage.Tokens) (storage.Tokens, error) { return t, nil },
		}
	})
	k.connect(k.processes[0].Vault, "1")
	k.issuer.delay = 200 * time.Millisecond // so that processes meet
	k.store.before = func(string) error {
		if time.Now().UnixNano() < k.healthy.Load() {
			return errDown
		}
		return nil
	}
	return k
}

// mortal is a process that can be killed: nothing that it does afterwards has an effect.
// What it has sent to the provider before goes on there.
type mortal struct {
	*vault.Vault
	store *rows
	delay func() time.Duration // of the calls for a lease
	dead  atomic.Bool
}

func (k *walk) newProcess() *mortal {
	p := &mortal{store: k.store, delay: k.delay}
	p.Vault = k.process(func(c *vault.Config) {
		c.Rows, c.Leases = p, p
		c.Providers["acme"].Refresh = func(ctx context.Context, former storage.Tokens) (storage.Tokens, error) {
			if p.dead.Load() {
				return storage.Tokens{}, errDown
			}
			return k.renew(ctx, former)
		}
	})
	return p
}

// delay returns how long a call for a lease takes.
func (k *walk) delay() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return time.Duration(k.delays.IntN(int(800 * time.Millisecond)))
}

func (p *mortal) try() error {
	if p.dead.Load() {
		return errDown
	}
	return nil
}

func (p *mortal) GetAccount(ctx context.Context, provider, id string) (storage.Account, error) {
	if err := p.try(); err != nil {
		return storage.Account{}, err
	}
	return p.store.GetAccount(ctx, provider, id)
}

func (p *mortal) ListAccounts(ctx context.Context, userID string) ([]storage.Account, error) {
	return p.store.ListAccounts(ctx, userID)
}

func (p *mortal) SwapTokens(ctx context.Context, provider, id string, old, next storage.Tokens) error {
	if err := p.try(); err != nil {
		return err
	}
	return p.store.SwapTokens(ctx, provider, id, old, next)
}

func (p *mortal) Lease(ctx context.Context, key, holder string, life time.Duration) (storage.Lease, error) {
	time.Sleep(p.delay()) // for which others may have the lease
	if err := p.try(); err != nil {
		return storage.Lease{}, err
	}
	return p.store.Lease(ctx, key, holder, life)
}

func (p *mortal) Release(ctx context.Context, key, holder string) error {
	if err := p.try(); err != nil {
		return err
	}
	return p.store.Release(ctx, key, holder)
}

// renew asks the provider, and loses the answer if that is due.
func (k *walk) renew(ctx context.Context, former storage.Tokens) (storage.Tokens, error) {
	t, err := k.issuer.renew(ctx, former)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.loses && err == nil {
		k.loses = false
		return storage.Tokens{}, &oauth.StepError{Step: oauth.StepToken, Err: errors.New("the line was cut")}
	}
	return t, err
}

// mended waits until the store works.
func (k *walk) mended() { time.Sleep(time.Until(time.Unix(0, k.healthy.Load()))) }

// quiet waits until nothing is under way and the store works.
func (k *walk) quiet() {
	k.mended()
	for _, p := range k.processes {
		p.Wait()
	}
}

func (k *walk) any() *vault.Vault { return k.processes[k.random.IntN(len(k.processes))].Vault }

// step does one thing.
func (k *walk) step() {
	switch k.random.IntN(15) {
	case 0, 1, 2:
		k.askAtOnce(1 + k.random.IntN(4))
	case 3, 13, 14:
		time.Sleep(time.Duration(k.random.IntN(int(2 * time.Hour))))
		k.askAtOnce(2 + k.random.IntN(4))
	case 4, 11, 12:
		k.signIn()
	case 5:
		k.disconnect()
	case 6:
		k.mu.Lock()
		k.loses = k.issuer.rotation != once // where nothing can bring the grant back
		k.mu.Unlock()
	case 7:
		k.healthy.Store(time.Now().Add(time.Duration(k.random.IntN(int(15 * time.Second)))).UnixNano())
	case 8:
		k.kill()
	case 9:
		k.unlink()
	case 10:
		if got, err := k.ask(k.foreign); err == nil && got.AccessToken != "" {
			k.t.Error("another client was given a token")
		}
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

// kill kills a process while it serves a caller, and starts another one.
func (k *walk) kill() {
	if k.issuer.rotation == once { // a lost answer ends the grant there
		return
	}
	i := k.random.IntN(len(k.processes))
	p := k.processes[i]
	k.killed.Go(func() { _, _ = k.ask(p.Vault) })
	time.Sleep(time.Duration(k.random.IntN(int(700 * time.Millisecond))))
	p.dead.Store(true)
	k.processes[i] = k.newProcess()
	k.askAtOnce(2)
	k.killed.Wait()
	p.Wait()
}

// signIn has the user sign in again, which brings a grant.
func (k *walk) signIn() {
	k.quiet()
	if !k.linked {
		k.connect(k.any(), "1")
		k.linked, k.connected = true, true
		return
	}
	fresh, row := k.issuer.grant(time.Now()), k.row("1")
	if err := k.store.SwapTokens(k.t.Context(), "acme", "1", row.Tokens, k.any().Replace(row, fresh, fresh)); err != nil {
		k.t.Fatal(err)
	}
	k.connected = true
}

// disconnect revokes the tokens, while a caller asks. Nothing from before is stored
// afterwards.
func (k *walk) disconnect() {
	if !k.linked {
		return
	}
	k.mended()
	k.connected = false
	k.askMeanwhile(func() {
		if err := k.any().Revoke(k.t.Context(), k.row("1")); err != nil {
			k.t.Fatal(err)
		}
	})
	k.askAtOnce(3)
	k.quiet()
	if now := k.row("1").Tokens; now.AccessToken != "" || now.RefreshToken != "" {
		k.t.Error("tokens are stored after a disconnect")
	}
}

// unlink removes the account, while a caller asks. It is not stored again.
func (k *walk) unlink() {
	if !k.linked {
		return
	}
	k.mended()
	k.linked, k.connected = false, false
	k.askMeanwhile(func() {
		row, err := k.store.UnlinkAccount(k.t.Context(), "acme", "1")
		if err != nil {
			k.t.Fatal(err)
		}
		k.any().LetGo(row, vault.GrantUnlinked)
	})
	k.quiet()
	if _, err := k.ask(k.any()); !errors.Is(err, storage.ErrNotFound) {
		k.t.Errorf("after unlinking: %v", err)
	}
}

// askMeanwhile runs f at some time while a caller waits for a token.
func (k *walk) askMeanwhile(f func()) {
	v := k.any()
	var wait sync.WaitGroup
	wait.Go(func() { _, _ = k.ask(v) })
	time.Sleep(time.Duration(k.random.IntN(int(600 * time.Millisecond))))
	f()
	wait.Wait()
}

// TestGrantsSurvive shows that no stored grant is lost that was not ended, that an account
// has one token request at a time, that a disconnect is final, and that no token reaches
// another client (P-A). In each of the four worlds 500 things happen, times
// LATCHKEY_STEPS. Without a guard it fails at once:
//   - lease: "3 token requests at one time";
//   - reading again: "a grant is lost that was not ended: … invalid_grant";
//   - compare-and-set: "tokens are stored after a disconnect";
//   - client in the seal: "another client was given a token".
func TestGrantsSurvive(t *testing.T) {
	for _, r := range []rotation{never, fresh, once, window} {
		t.Run("P-A "+string(r), func(t *testing.T) {
			seed, steps := race.Steps(t, 500)
			for at := 0; at < steps; at += 500 {
				synctest.Test(t, func(t *testing.T) { newWalk(t, r, seed+uint64(at)).run(min(steps-at, 500)) })
			}
		})
	}
}

func (k *walk) run(steps int) {
	for range steps {
		k.step()
		if k.connected && k.issuer.hasEnded() {
			k.t.Fatal("the provider has ended a grant, because a refresh token was used twice")
		}
	}
	k.quiet()
	k.loses = false
	time.Sleep(3 * time.Hour)
	for _, p := range k.processes {
		if _, err := k.ask(p.Vault); k.connected && err != nil {
			k.t.Errorf("in the end: %v", err)
		}
	}
	if k.issuer.most > 1 {
		k.t.Errorf("%d token requests at one time", k.issuer.most)
	}
	k.quiet()
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
