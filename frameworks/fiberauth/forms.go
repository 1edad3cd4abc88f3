package fiberauth

import (
	"cmp"
	"context"
	"net/url"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/ui"
)

// CSRFToken returns the token that the application's own form must post as csrfToken to
// the routes below the base path. All calls for one response return the same token. It
// sets the cookie if the browser has none yet. See [latchkey.Auth.CSRFToken].
func (a *Auth) CSRFToken(c fiber.Ctx) (string, error) {
	ctx, l := a.attach(c)
	token, cookies, err := a.core.CSRFToken(ctx, l.head(c))
	return token, cmp.Or(err, a.decide(ctx, c, cookies))
}

// ActionURL returns the absolute URL of an action, such as "signin" or
// "callback/github", as the browser that sent the request sees the site. See
// [latchkey.Auth.ActionURL].
func (a *Auth) ActionURL(c fiber.Ctx, action string) (*url.URL, error) {
	ctx, l := a.attach(c)
	return a.core.ActionURL(ctx, l.head(c), action)
}

// Forms returns what a page needs to render its own forms. See [latchkey.Auth.Forms].
func (a *Auth) Forms(c fiber.Ctx) (*latchkey.Forms, error) {
	ctx, l := a.attach(c)
	forms, cookies, err := a.core.Forms(ctx, l.head(c))
	return forms, cmp.Or(err, a.decide(ctx, c, cookies))
}

// UI returns the components of package ui for the page of c. It may set a cookie, and
// its errors are those of [Auth.Forms]. Give the components to Fiber's renderer for
// templates of html/template.
//
//	page, err := site.UI(c)
//	…
//	return c.Render("index", fiber.Map{"UI": page}) // {{.UI.SignInBox}}
func (a *Auth) UI(c fiber.Ctx) (*ui.Page, error) {
	forms, err := a.Forms(c)
	if err != nil {
		return nil, err
	}
	return ui.From(forms), nil
}

// BindUI returns a handler that gives the components of [Auth.UI] to all views that are
// rendered after it, under the name UI, for layouts with a user button on every page.
// It reads the session of each request and may set a cookie, so use it for pages alone.
// If UI fails, it returns the error and does not go on to the next handler.
func (a *Auth) BindUI() fiber.Handler {
	return func(c fiber.Ctx) error {
		page, err := a.UI(c)
		if err != nil {
			return err
		}
		if err := c.ViewBind(fiber.Map{"UI": page}); err != nil {
			return err
		}
		return c.Next()
	}
}

// SignInAction returns a handler that answers the posts of the application's own
// sign-in forms, as [latchkey.Auth.SignInAction] says: app.Post("/signin",
// site.SignInAction(page)). After a failure it calls page, which shows the form again.
// page finds the reason in latchkey.FormFailureFrom(c.Context()), and what was typed in
// c.FormValue. If page is nil, the browser is redirected to the sign-in page.
func (a *Auth) SignInAction(page fiber.Handler) fiber.Handler {
	return a.action(page, (*latchkey.Core).SignInAction)
}

// SignOutAction returns a handler that answers the posts of the application's own
// sign-out forms, as [latchkey.Auth.SignOutAction] says. page is as with
// [Auth.SignInAction].
func (a *Auth) SignOutAction(page fiber.Handler) fiber.Handler {
	return a.action(page, (*latchkey.Core).SignOutAction)
}

// run is the type of a form action of [latchkey.Core], such as its SignOutAction.
type run func(*latchkey.Core, context.Context, *latchkey.Request) (*latchkey.Response, *latchkey.FormFailure)

// action returns a handler that answers posts by run. After a failure page, unless it is nil,
// answers in place of run. For other methods the handler returns an error of status 405.
func (a *Auth) action(page fiber.Handler, run run) fiber.Handler {
	return func(c fiber.Ctx) error {
		if c.Method() != fiber.MethodPost {
			c.Set(fiber.HeaderAllow, fiber.MethodPost)
			return fiber.ErrMethodNotAllowed
		}
		ctx, l := a.attach(c)
		r, refused := a.withBody(ctx, c, l)
		if refused != nil {
			return a.send(ctx, c, refused)
		}
		res, failure := run(a.core, ctx, r)
		if failure == nil || page == nil {
			return a.send(ctx, c, res)
		}
		if err := a.decide(ctx, c, res.Cookies); err != nil {
			return err
		}
		c.SetContext(latchkey.ContextWithFormFailure(ctx, failure))
		return a.next(ctx, c, func() error { return page(c) })
	}
}
