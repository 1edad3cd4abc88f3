package fiberauth

import (
	"errors"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// Fiber compares the request target as it came. A target that does not begin with a
// slash, such as "private/x", "*" or "?x" (RFC 9112, section 3.2), is a stray, and so
// is "//", from which Fiber takes all slashes: no handler of app.Use(handler) runs for
// it, while a route with a star takes it.

// everyTarget is the path to mount a handler with that has to see strays, too. Fiber
// calls its route everyRoute.
const (
	everyTarget = "*"
	everyRoute  = "/*"
)

// isStray reports whether c is for a stray: a request target that does not begin with a
// slash, or is of several slashes alone. Fiber runs no middleware for it. isStray looks
// at the path as it came and as Fiber has unescaped it.
func isStray(c fiber.Ctx) bool {
	return isStrayPath(string(c.Request().URI().PathOriginal())) || isStrayPath(c.Path())
}

func isStrayPath(path string) bool {
	return path != "/" && (!strings.HasPrefix(path, "/") || strings.Trim(path, "/") == "")
}

// checkedKey marks a request that inFront has checked in a route for every target.
type checkedKey struct{}

// inFront returns a handler that refuses strays with status 400 and calls h for all
// other requests. In a route for every target it also marks the request as checked; see
// leaks.
func (a *Auth) inFront(h fiber.Handler) fiber.Handler {
	return func(c fiber.Ctx) error {
		if isStray(c) {
			return a.refuseStray(c)
		}
		if c.Route().Path == everyRoute {
			c.RequestCtx().SetUserValue(checkedKey{}, true)
		}
		return h(c)
	}
}

// refuseStray answers with status 400 and the body that Latchkey has for such a target.
func (a *Auth) refuseStray(c fiber.Ctx) error {
	ctx, l := a.attach(c)
	res := a.core.Respond(ctx, l.head(c))
	res.Status = fiber.StatusBadRequest
	return a.send(ctx, c, res)
}

// refuseInParents has strays refused in every app that app will be mounted in, and in
// the parents of these. There the refusal stands behind app and in front of what is
// added later. It is needed because Fiber gives strays to no app below another one.
func refuseInParents(a *Auth, app *fiber.App) {
	app.Hooks().OnMount(func(parent *fiber.App) error {
		parent.Use(everyTarget, a.inFront(fiber.Ctx.Next))
		a.parents.Store(parent, true)
		refuseInParents(a, parent)
		return nil
	})
}

// errStrays is the fault of an app with a guard that strays get around.
var errStrays = &latchkey.Error{Type: latchkey.ErrInvalidConfig, Err: errors.New(`fiberauth: the app has a route with a star behind this guard, ` +
	`which Fiber also gives request targets without a slash, and no guard: call Mount(app) or app.Use(site.Middleware()) before any guard, or app.Use("*", guard)`)}

// leaks reports whether a stray would get past the guard that serves c: the guard was
// added by app.Use without "*", a route with a star follows it, and nothing in front
// refuses strays. known caches the answer for each *fiber.Route.
func (a *Auth) leaks(c fiber.Ctx, known *sync.Map) bool {
	if c.RequestCtx().UserValue(checkedKey{}) != nil {
		return false
	}
	here, app := c.Route(), c.App()
	leaks, ok := known.Load(here)
	if !ok {
		_, refused := a.parents.Load(app)
		leaks = !refused && isInFront(app, here.Path) && takesStraysBehind(app, here.Path)
		known.Store(here, leaks)
	}
	return leaks == true
}

// isInFront reports whether app has a route with this path for every method, as app.Use
// makes them.
func isInFront(app *fiber.App, path string) bool {
	for _, routes := range app.Stack() {
		if len(behind(routes, path)) == 0 {
			return false
		}
	}
	return true
}

// takesStraysBehind reports whether any method has a route for strays that comes
// after the one with this path.
func takesStraysBehind(app *fiber.App, path string) bool {
	for _, routes := range app.Stack() {
		for _, r := range behind(routes, path) {
			if takesStrays(r.Path) {
				return true
			}
		}
	}
	return false
}

// behind returns the routes from the first one with this path on.
func behind(routes []*fiber.Route, path string) []*fiber.Route {
	for i, r := range routes {
		if r.Path == path {
			return routes[i:]
		}
	}
	return nil
}

// takesStrays reports whether a route may match a path that does not begin with a
// slash: one with a star, and one of optional parts alone, which matches the empty
// path.
func takesStrays(path string) bool {
	for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if part != "*" && (!strings.HasPrefix(part, ":") || !strings.HasSuffix(part, "?")) {
			return false
		}
	}
	return true
}
