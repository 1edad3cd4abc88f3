package fiberauth

import (
	"context"
	"errors"
	"sync"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// ReadBufferSize is a good one for [fiber.Config]: Fiber takes no request whose
// header is longer, and its own 4 KiB are less than a long session with a sign-in
// under way. What is too long gets status 431 from Fiber's error handler, and
// no handler gets to see the request.
const ReadBufferSize = 32 << 10

// Auth is a [latchkey.Auth] in Fiber's types. Make one with [New] or [NewFunc]. It
// is safe for concurrent use.
type Auth struct {
	auth     *latchkey.Auth
	core     *latchkey.Core
	configOf func(c fiber.Ctx) (*latchkey.Config, error) // nil: the configuration needs no fiber.Ctx
	parents  sync.Map                                    // apps in which refuseInParents refuses strays
}

// New returns auth in Fiber's types.
func New(auth *latchkey.Auth) *Auth { return &Auth{auth: auth, core: auth.Core()} }

// Func says how [NewFunc] finds the configuration of a request.
type Func struct {
	// Config is that of [latchkey.Func] with Fiber's request. It is called once for
	// each request that reaches one of the handlers. Keep nothing of c, whose strings are only good for its handler.
	Config    func(c fiber.Ctx) (*latchkey.Config, error)
	CacheSize int // as in [latchkey.Func]
}

// NewFunc returns an Auth that learns its settings from Fiber's request. It returns
// ErrInvalidConfig if f.Config is nil. See [latchkey.NewFunc].
func NewFunc(f Func) (a *Auth, err error) {
	if f.Config == nil {
		return nil, &latchkey.Error{Type: latchkey.ErrInvalidConfig, Err: errors.New("fiberauth: Func.Config is nil")}
	}
	a = &Auth{configOf: f.Config}
	if a.auth, err = latchkey.NewFunc(latchkey.Func{Config: a.config, CacheSize: f.CacheSize}); err != nil {
		return nil, err
	}
	a.core = a.auth.Core()
	return a, nil
}

// configKey is where a context has the answer of an Auth's configOf.
type configKey struct{ of *Auth }

// config returns what configOf answered for the request that ctx belongs to.
func (a *Auth) config(ctx context.Context, _ *latchkey.Request) (*latchkey.Config, error) {
	if answer, ok := ctx.Value(configKey{a}).(func() (*latchkey.Config, error)); ok {
		return answer()
	}
	return nil, errors.New("fiberauth: the configuration depends on a request of Fiber, and this is none")
}

// remember returns ctx with the answer of configOf. It asks at once and keeps no c,
// which Fiber uses again.
func (a *Auth) remember(ctx context.Context, c fiber.Ctx) context.Context {
	if a.configOf == nil || ctx.Value(configKey{a}) != nil {
		return ctx
	}
	answer := sync.OnceValues(func() (*latchkey.Config, error) { return a.configOf(c) })
	func() {
		defer func() { _ = recover() }() // config repeats the panic, and the root contains it
		_, _ = answer()
	}()
	return context.WithValue(ctx, configKey{a}, answer)
}

// Auth is the way out of Fiber: users, sweeping, and what else needs no request.
func (a *Auth) Auth() *latchkey.Auth { return a.auth }

// attach has the context of c remember its session, and finds the request.
func (a *Auth) attach(c fiber.Ctx) (context.Context, *latest) {
	e, ctx := latestOf(c), c.Context()
	ctx = a.remember(ctx, c)
	ctx = a.core.Attach(ctx, e.request)
	c.SetContext(ctx)
	return ctx, e
}
