package redisadapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/redisadapter"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// killer is a client's hook that ends the process, as kill -9 does, at one of the
// commands it sends: before, or when the answer is there.
type killer struct {
	sent   atomic.Int64
	at     int64 // 0: nobody is killed
	before bool
}

func (k *killer) process(next func() error) error {
	n := k.sent.Add(1)
	if n == k.at && k.before {
		die()
	}
	err := next()
	if n == k.at {
		die()
	}
	return err
}

func die() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {} // until it is done
}

// DialHook implements [redis.Hook].
func (k *killer) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook implements [redis.Hook].
func (k *killer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return k.process(func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (k *killer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return k.process(func() error { return next(ctx, cmds) })
	}
}

// newSite is a site with everything in Redis.
func newSite(t *testing.T, addr string, p *latchkey.OAuth, k *killer) (*latchkey.Auth, *redisadapter.Adapter) {
	t.Helper()
	c := closing(t, redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true}))
	a := on(t, c, redisadapter.Options{})
	auth, err := latchkey.New(latchkey.Config{
		Adapter: a, Providers: []latchkey.Provider{p}, Secrets: []string{"a secret of a good length for all tests"},
		Site:    latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Session: latchkey.SessionConfig{Strategy: latchkey.DatabaseSessions},
		Limits:  latchkey.Limits{Limiter: a, Replay: a},
		Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
	})
	ok(t, err)
	if k != nil {
		c.AddHook(k)
	}
	return auth, a
}

// order is what a process that is going to be killed is told, in the variable
// orders.
type order struct {
	Addr, Issuer, ClientID, ClientSecret string
	At                                   int64
	Before                               bool
}

const orders = "LATCHKEY_REDIS_KILLED"

// TestKilledProcess is such a process; nothing by itself.
func TestKilledProcess(t *testing.T) {
	told := os.Getenv(orders)
	if told == "" {
		return
	}
	var o order
	ok(t, json.Unmarshal([]byte(told), &o))
	p := &latchkey.OAuth{ID: "issuer", OIDC: true, Issuer: o.Issuer, ClientID: o.ClientID, ClientSecret: o.ClientSecret}
	auth, _ := newSite(t, o.Addr, p, &killer{at: o.At, before: o.Before})
	browser := latchkeytest.NewClient(t, auth)
	browser.Complete(browser.Begin("issuer"))
}

// TestSignUpKilledAnywhere: S-052. A process is killed at 200 random points of
// a sign-up. R-186: the next sign-in brings the same person in, whole and once.
func TestSignUpKilledAnywhere(t *testing.T) {
	const sides, each = 4, 50
	server := realservers.NewRedis(t)
	steps := stepsOfSignUp(t, server.Addr)
	var alive atomic.Int64
	t.Run("sides", func(t *testing.T) {
		for side := range sides {
			t.Run(strconv.Itoa(side), func(t *testing.T) {
				t.Parallel()
				issuer := latchkeytest.NewIssuer(t)
				p := issuer.Provider()
				p.ID = "issuer"
				auth, a := newSite(t, server.Addr, p, nil)
				for i := range each {
					person := fmt.Sprintf("p%d-%d", side, i)
					issuer.SignInAs(latchkeytest.Person{Subject: person, Name: person, Email: person + "@example.com", EmailVerified: true})
					o := order{server.Addr, p.Issuer, p.ClientID, p.ClientSecret, 1 + rand.Int64N(steps), rand.IntN(2) == 0}
					if killed := o.carryOut(t); !killed {
						alive.Add(1)
					}
					browser := latchkeytest.NewClient(t, auth)
					browser.Complete(browser.Begin("issuer"))
					if s := browser.Session(); s == nil || s.User.Email != person+"@example.com" || !isWhole(t, a, person) {
						t.Errorf("R-186 %s, killed at step %d of %d (before it: %v), is not in: %+v", person, o.At, steps, o.Before, s)
					}
				}
			})
		}
	})
	if alive.Load() > sides*each/4 {
		t.Errorf("%d of %d processes lived to the end", alive.Load(), sides*each)
	}
	t.Logf("a sign-up is %d calls; %d of %d processes lived to the end", steps, alive.Load(), sides*each)
}

// carryOut starts a process and tells whether it was killed.
func (o order) carryOut(t *testing.T) bool {
	t.Helper()
	told, err := json.Marshal(o)
	ok(t, err)
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcess$")
	c.Env = append(os.Environ(), orders+"="+string(told))
	out, err := c.CombinedOutput()
	if err == nil {
		return false
	}
	if c.ProcessState.Exited() {
		t.Errorf("it failed before it was killed: %v\n%s", err, out)
	}
	return !c.ProcessState.Exited()
}

// stepsOfSignUp counts the calls of a sign-up that nobody disturbs.
func stepsOfSignUp(t *testing.T, addr string) int64 {
	t.Helper()
	k := &killer{}
	issuer := latchkeytest.NewIssuer(t)
	p := issuer.Provider()
	p.ID = "issuer"
	auth, _ := newSite(t, addr, p, k)
	browser := latchkeytest.NewClient(t, auth)
	browser.Complete(browser.Begin("issuer"))
	steps := k.sent.Load()
	if browser.Session() == nil {
		t.Fatal("an undisturbed sign-up fails")
	}
	return steps
}

// isWhole tells whether a user is found in every way, as one.
func isWhole(t *testing.T, a *redisadapter.Adapter, person string) bool {
	t.Helper()
	byEmail, err := a.GetUserByEmail(t.Context(), person+"@example.com")
	byAccount, errA := a.GetUserByAccount(t.Context(), "issuer", person)
	accounts, errL := a.ListAccounts(t.Context(), byEmail.ID)
	return err == nil && errA == nil && errL == nil && byEmail.Name == person && byEmail.ID == byAccount.ID && len(accounts) == 1 &&
		slices.ContainsFunc(accounts, func(a storage.Account) bool { return a.ProviderAccountID == person })
}
