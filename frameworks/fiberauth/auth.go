package fiberauth

import (
	"context"
	"errors"
	"sync"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// ReadBufferSize is a good ReadBufferSize for [fiber.Config], in bytes. Fiber refuses a
// request with a longer header: its error handler answers 431, and no handler gets the
// request. Its own 4 KiB are too few for a long session with a sign-in under way.
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
	// Config returns the configuration, as that of [latchkey.Func] does. It is called
	// once for each request that reaches one of the handlers. It must not keep c or its
	// strings, which are only good for its handler.
	Config    func(c fiber.Ctx) (*latchkey.Config, error)
	CacheSize int // as in [latchkey.Func]
}

// NewFunc returns an Auth whose configuration f.Config finds for each request of Fiber.
// It returns ErrInvalidConfig if f.Config is nil. See [latchkey.NewFunc].
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

// configKey is the context key of a function that returns what configOf answered. Each
// Auth has a key of its own.
type configKey struct{ of *Auth }

// config returns what configOf returned for the request that ctx belongs to. It panics
// with the panic of configOf. It returns an error if ctx does not come from remember.
func (a *Auth) config(ctx context.Context, _ *latchkey.Request) (*latchkey.Config, error) {
	if answer, ok := ctx.Value(configKey{a}).(func() (*latchkey.Config, error)); ok {
		return answer()
	}
	return nil, errors.New("fiberauth: the configuration depends on a request of Fiber, and this is none")
}

// remember calls configOf once for each request, and returns ctx with the result for
// config. A panic of configOf is kept for config, too. Without configOf remember
// returns ctx. It does not use c after it has returned, because Fiber reuses c.
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

// Auth returns the [latchkey.Auth], for users, sweeping, and what else needs no request.
func (a *Auth) Auth() *latchkey.Auth { return a.auth }

// attach gives c a context in which the session is read on first use and remembered. It
// returns that context and the request of c. After the handler of c has returned, no
// session is read.
func (a *Auth) attach(c fiber.Ctx) (context.Context, *latest) {
	e, ctx := latestOf(c), c.Context()
	ctx = a.remember(ctx, c)
	ctx = a.core.Attach(ctx, e.request)
	c.SetContext(ctx)
	return ctx, e
}
