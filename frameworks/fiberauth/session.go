package fiberauth

import (
	"context"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// Session returns who is signed in, or ErrNoSession. Any other error is a fault:
// nothing is known, so treat the request as nobody's. It is read once a request,
// and kept alive: the renewed cookie goes into the response.
func (a *Auth) Session(c fiber.Ctx) (*latchkey.Session, error) {
	ctx, l := a.attach(c)
	defer a.renew(ctx, c)
	s, _, err := a.core.ReadSession(ctx, l.head(c)) // its cookies are the renewal's
	return s, err
}

// CurrentUser returns the user who is signed in, as the Adapter has them. It is
// [latchkey.Auth.CurrentUser].
func (a *Auth) CurrentUser(c fiber.Ctx) (latchkey.User, error) {
	ctx, _ := a.attach(c)
	defer a.renew(ctx, c)
	return a.auth.CurrentUser(ctx)
}

// SignIn starts signing in with a provider, or, with an empty or unknown one, leads
// to the sign-in page. It redirects, or returns the URL with NoRedirect. See
// [latchkey.Auth.SignIn] for params and the error.
func (a *Auth) SignIn(c fiber.Ctx, provider string, o latchkey.SignInOptions, params url.Values) (string, error) {
	ctx, l := a.attach(c)
	o.RedirectTo, o.Form = strings.Clone(o.RedirectTo), kept(o.Form) // they may be Fiber's
	res, err := a.core.SignIn(ctx, l.head(c), provider, o, params)
	if err != nil {
		return "", err
	}
	return a.finish(ctx, c, res, o.NoRedirect)
}

// SignOut ends the session. It redirects, or returns the URL with NoRedirect. See
// [latchkey.Auth.SignOut].
func (a *Auth) SignOut(c fiber.Ctx, o latchkey.SignOutOptions) (string, error) {
	ctx, l := a.attach(c)
	o.RedirectTo = strings.Clone(o.RedirectTo)
	res, err := a.core.SignOut(ctx, l.head(c), o)
	if err != nil {
		return "", err
	}
	return a.finish(ctx, c, res, o.NoRedirect)
}

// finish gives the browser what the route answered.
func (a *Auth) finish(ctx context.Context, c fiber.Ctx, res *latchkey.Response, noRedirect bool) (string, error) {
	if noRedirect {
		a.decide(ctx, c, res.Cookies)
		return res.Redirect, nil
	}
	return res.Redirect, a.send(ctx, c, res)
}

// kept is a copy of values whose texts may be parts of the request.
func kept(values url.Values) url.Values {
	if values == nil {
		return nil
	}
	own := make(url.Values, len(values))
	for name, all := range values {
		for _, value := range all {
			own.Add(strings.Clone(name), strings.Clone(value))
		}
	}
	return own
}

// UpdateSession hands data to the token callback (or, with stored sessions, the
// session callback) as a browser's update would, and returns the new session. See
// [latchkey.Auth.UpdateSession].
func (a *Auth) UpdateSession(c fiber.Ctx, data any) (*latchkey.Session, error) {
	ctx, l := a.attach(c)
	s, cookies, err := a.core.UpdateSession(ctx, l.head(c), data)
	a.decide(ctx, c, cookies)
	return s, err
}
