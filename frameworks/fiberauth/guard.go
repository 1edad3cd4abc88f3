package fiberauth

import (
	"sync"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// Mount answers all routes of Latchkey on r: an app, a group, or an app that is mounted
// below another one. Site.BasePath is the whole path, as browsers see it, with that of
// the group. Mount passes on the requests that [Auth.Match] does not know, also those
// below the base path. Mount before any guard, and before any handler that takes every
// path.
//
// If r is an app, Mount also refuses, there and in the apps that r is mounted in later,
// with status 400, every request for a target that does not begin with a slash, such as
// "GET private/x HTTP/1.1", or that is two or more slashes alone. For those Fiber runs no
// other middleware and no guard, but gives them to routes with a star.
func (a *Auth) Mount(r fiber.Router) {
	app, ok := r.(*fiber.App)
	if !ok {
		r.Use(a.inFront(a.handle))
		return
	}
	app.Use(everyTarget, a.inFront(a.handle))
	refuseInParents(a, app)
}

// handle answers a request for a route of Latchkey's own, and passes on any other.
func (a *Auth) handle(c fiber.Ctx) error {
	if !a.Match(c) {
		return c.Next()
	}
	return a.respond(c)
}

// Handler returns a handler that answers every request as one for Latchkey. A path that
// is none of its routes gets Latchkey's own error. Use Handler in place of [Auth.Mount]
// if the application has no path of its own below the base path: app.Use("/auth",
// site.Handler()). It does not refuse the targets that Mount refuses.
func (a *Auth) Handler() fiber.Handler { return a.respond }

// respond answers every request as one for Latchkey, or with a refusal of its body.
func (a *Auth) respond(c fiber.Ctx) error {
	ctx, l := a.attach(c)
	r, refused := a.withBody(ctx, c, l)
	if refused != nil {
		return a.send(ctx, c, refused)
	}
	return a.send(ctx, c, a.core.Respond(ctx, r))
}

// Match reports whether c is for Latchkey: below the base path, and a route of its own
// that is switched on. It returns false after the handler of c has returned. Give it to
// middleware that must not touch those routes, such as Fiber's csrf: csrf.Config{Next:
// site.Match}.
func (a *Auth) Match(c fiber.Ctx) bool {
	if isOver(c) {
		return false
	}
	ctx := c.Context()
	if a.configOf != nil {
		ctx, _ = a.attach(c)
	}
	return a.core.MatchPath(ctx, string(c.Request().URI().PathOriginal()), func() *latchkey.Request { return latestOf(c).head(c) })
}

// Middleware returns what serves a whole site, as app.Use takes it: the path "*" and a
// handler. Give app.Use nothing else: app.Use(site.Middleware()). The handler answers
// the routes of Latchkey. All other requests go on with the session in their context,
// as with [Auth.LoadSession]. Use it before any guard. It refuses with status 400 the
// request targets that [Auth.Mount] refuses, such as those that do not begin with a slash,
// but only in the app that it is used in.
func (a *Auth) Middleware() (path string, h fiber.Handler) {
	return everyTarget, a.inFront(func(c fiber.Ctx) error {
		if a.Match(c) {
			return a.respond(c)
		}
		ctx, _ := a.attach(c)
		return a.next(ctx, c, c.Next)
	})
}

// LoadSession returns a handler that makes the session available to what follows,
// through [Auth.Session] and, from c.Context(), [latchkey.SessionFrom]. The first of
// these calls reads the session and renews it: the renewed cookie goes into the
// response. Call one before SendStreamWriter, whose function runs beside the response.
func (a *Auth) LoadSession() fiber.Handler {
	return a.inFront(func(c fiber.Ctx) error {
		ctx, _ := a.attach(c)
		return a.next(ctx, c, c.Next)
	})
}

// RequireSession returns a guard that lets only requests of signed-in users pass. Others are
// led to the sign-in page, or get status 401: see [latchkey.Auth.RequireSession]. A guard
// in front of a route with a star needs [Auth.Mount] or [Auth.Middleware] before it, or the
// path "*": app.Use("*", site.RequireSession()). Without one of them it lets no request
// pass and answers with status 500, because request targets that do not begin with a slash
// would get around it.
func (a *Auth) RequireSession() fiber.Handler {
	return a.Authorize(func(_ fiber.Ctx, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession
		}
		return nil
	})
}

// Authorize returns a guard that calls decide for each request. decide gets a nil
// session for a request without one. The request passes if decide returns nil. Any
// error is answered as by [latchkey.Auth.Authorize]. In front of a route with a star
// the guard needs what [Auth.RequireSession] needs.
func (a *Auth) Authorize(decide func(c fiber.Ctx, s *latchkey.Session) error) fiber.Handler {
	var known sync.Map
	return a.inFront(func(c fiber.Ctx) error {
		if a.Match(c) {
			return a.respond(c)
		}
		if a.leaks(c, &known) {
			return a.WriteError(c, errStrays)
		}
		ctx, l := a.attach(c)
		access := a.core.Authorize(ctx, l.head(c), func(_ *latchkey.Request, s *latchkey.Session) error { return decide(c, s) })
		if access.Response != nil {
			return a.send(ctx, c, access.Response)
		}
		return a.next(ctx, c, c.Next)
	})
}

// ErrorHandler returns an error handler for [fiber.Config]. It answers an error of a
// handler for which [latchkey.IsRefusal] returns true, such as [latchkey.ErrNoSession],
// [latchkey.ErrAccessDenied] or [latchkey.NeedRecent], by [Auth.WriteError]. All other
// errors go to next, and so do those of Latchkey's own routes. A nil next is
// [fiber.DefaultErrorHandler].
func (a *Auth) ErrorHandler(next fiber.ErrorHandler) fiber.ErrorHandler {
	if next == nil {
		next = fiber.DefaultErrorHandler
	}
	return func(c fiber.Ctx, err error) error {
		if !latchkey.IsRefusal(err) || a.Match(c) {
			return next(c, err)
		}
		return a.WriteError(c, err)
	}
}

// WriteError answers a request with err, for a handler that has no other answer, as
// [latchkey.Auth.WriteError] does: return site.WriteError(c, err). It returns nil, or
// an error if the handler of c has returned already.
func (a *Auth) WriteError(c fiber.Ctx, err error) error {
	if isOver(c) {
		return errOver
	}
	ctx, l := a.attach(c)
	res := a.core.ErrorResponse(ctx, l.head(c), err)
	for _, name := range []string{fiber.HeaderContentEncoding, fiber.HeaderETag, fiber.HeaderLastModified} {
		c.Response().Header.Del(name)
	}
	c.Set(fiber.HeaderCacheControl, "private") // unless res knows better
	return a.send(ctx, c, res)
}
