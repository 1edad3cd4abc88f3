package fiberauth

import (
	"context"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// ReadBufferSize is a good one for [fiber.Config]: Fiber takes no request whose
// header is longer, and its own 4 KiB are less than a long session with a sign-in
// under way. What is too long gets status 431 from Fiber's error handler, and
// nobody gets to see the request.
const ReadBufferSize = 32 << 10

// Auth is a [latchkey.Auth] in Fiber's types. Make one with [New] or [NewFunc]. It
// is safe for concurrent use.
type Auth struct {
	auth     *latchkey.Auth
	core     *latchkey.Core
	remember func(context.Context, fiber.Ctx) context.Context // nil: the configuration needs no fiber.Ctx
}

// New returns auth in Fiber's types.
func New(auth *latchkey.Auth) *Auth { return &Auth{auth: auth, core: auth.Core()} }

// NewFunc returns an Auth that asks configure for its configuration, once for each
// request. It is [latchkey.NewFunc] with Fiber's request: return the same pointer
// again for the same settings, and keep nothing of c, whose strings are only good
// for its handler.
func NewFunc(configure func(c fiber.Ctx) (*latchkey.Config, error), options ...latchkey.CacheOption) *Auth {
	auth, remember := latchkey.NewFuncOf(configure, options...)
	return &Auth{auth: auth, core: auth.Core(), remember: remember}
}

// Auth is the way out of Fiber: users, sweeping, and what else needs no request.
func (a *Auth) Auth() *latchkey.Auth { return a.auth }

// attach has the context of c remember its session, and finds the request.
func (a *Auth) attach(c fiber.Ctx) (context.Context, *latest) {
	e, ctx := latestOf(c), c.Context()
	if a.remember != nil {
		ctx = a.remember(ctx, c)
	}
	ctx = a.core.Attach(ctx, e.request)
	c.SetContext(ctx)
	return ctx, e
}
