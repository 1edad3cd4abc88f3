package fiberauth

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v3"
	"github.com/latchkeyhq/latchkey"
)

// Session returns the session of the request, or ErrNoSession. Any other error is a
// fault, which has been logged: treat the request as one without a session. The session
// is read once a request and renewed: the cookie goes into the response.
func (a *Auth) Session(c fiber.Ctx) (*latchkey.Session, error) {
	ctx, l := a.attach(c)
	defer a.renew(ctx, c)
	s, _, err := a.core.ReadSession(ctx, l.head(c)) // its cookies are the renewal's
	return s, err
}

// CurrentUser returns the signed-in user, as the Adapter has it, or ErrNoSession. It needs no
// middleware in front. Any other error is a fault: see [latchkey.Auth.CurrentUser].
func (a *Auth) CurrentUser(c fiber.Ctx) (latchkey.User, error) {
	ctx, _ := a.attach(c)
	defer a.renew(ctx, c)
	return a.auth.CurrentUser(ctx)
}

// SignIn starts signing in with a provider, and redirects. If it returns an error it has
// sent nothing, and the handler has to answer. See [latchkey.Auth.SignIn].
func (a *Auth) SignIn(c fiber.Ctx, provider string, o latchkey.SignInOptions) error {
	ctx, res, err := a.signIn(c, provider, o)
	return a.sendTo(ctx, c, res, err)
}

// SignInURL does what SignIn does, but returns the URL to redirect to. See
// [latchkey.Auth.SignInURL].
func (a *Auth) SignInURL(c fiber.Ctx, provider string, o latchkey.SignInOptions) (string, error) {
	ctx, res, err := a.signIn(c, provider, o)
	return a.urlFor(ctx, c, res, err)
}

// signIn starts the sign-in with copies of o's texts, and returns the response to send.
func (a *Auth) signIn(c fiber.Ctx, provider string, o latchkey.SignInOptions) (context.Context, *latchkey.Response, error) {
	ctx, l := a.attach(c)
	o.RedirectTo, o.Form, o.Params = strings.Clone(o.RedirectTo), kept(o.Form), kept(o.Params) // they may be Fiber's
	res, err := a.core.SignIn(ctx, l.head(c), provider, o)
	return ctx, res, err
}

// AccessToken returns a usable access token of the signed-in user at a provider. Without a
// session it returns the error of [Auth.Session]. See [latchkey.Auth.AccessToken].
func (a *Auth) AccessToken(c fiber.Ctx, provider string, o latchkey.TokenOptions) (latchkey.Tokens, error) {
	if _, err := a.Session(c); err != nil {
		return latchkey.Tokens{}, err
	}
	ctx, l := a.attach(c)
	t, _, err := a.core.AccessToken(ctx, l.head(c), strings.Clone(provider), o)
	if !c.IsAbandoned() {
		addRenewal(c, a.core.Renewal(ctx)) // the tokens that the browser keeps, of which the last count
	}
	return t, err
}

// Link sends the signed-in user to a provider, to link an account there or to grant the site
// more scopes. Without a session it returns ErrNoSession. See [latchkey.Auth.Link].
func (a *Auth) Link(c fiber.Ctx, provider string, o latchkey.LinkOptions) error {
	ctx, res, err := link(a, c, provider, o)
	return a.sendTo(ctx, c, res, err)
}

// LinkURL does what Link does, but returns the URL to redirect to. See
// [latchkey.Auth.LinkURL].
func (a *Auth) LinkURL(c fiber.Ctx, provider string, o latchkey.LinkOptions) (string, error) {
	ctx, res, err := link(a, c, provider, o)
	return a.urlFor(ctx, c, res, err)
}

// link starts the linking with copies of o's texts, and returns the response to send.
func link(a *Auth, c fiber.Ctx, provider string, o latchkey.LinkOptions) (context.Context, *latchkey.Response, error) {
	ctx, l := a.attach(c)
	o.RedirectTo, o.Form, o.Params = strings.Clone(o.RedirectTo), kept(o.Form), kept(o.Params) // they may be Fiber's
	o.ProviderAccountID = strings.Clone(o.ProviderAccountID)
	res, err := a.core.Link(ctx, l.head(c), provider, o)
	return ctx, res, err
}

// SignOut ends the session, and redirects. See [latchkey.Auth.SignOut].
func (a *Auth) SignOut(c fiber.Ctx, o latchkey.SignOutOptions) error {
	ctx, res, err := a.signOut(c, o)
	return a.sendTo(ctx, c, res, err)
}

// SignOutURL does what SignOut does, but returns the URL to redirect to. Where SignOut sends
// status 500, the error is ErrSignOut. See [latchkey.Auth.SignOutURL].
func (a *Auth) SignOutURL(c fiber.Ctx, o latchkey.SignOutOptions) (string, error) {
	ctx, res, err := a.signOut(c, o)
	to, err := a.urlFor(ctx, c, res, err)
	if err == nil && res.Status == fiber.StatusInternalServerError { // a strict site, and a store that failed
		err = &latchkey.Error{Type: latchkey.ErrSignOut}
	}
	return to, err
}

// signOut ends the session, and returns the response to send.
func (a *Auth) signOut(c fiber.Ctx, o latchkey.SignOutOptions) (context.Context, *latchkey.Response, error) {
	ctx, l := a.attach(c)
	o.RedirectTo = strings.Clone(o.RedirectTo)
	res, err := a.core.SignOut(ctx, l.head(c), o)
	return ctx, res, err
}

// sendTo returns err, or sends res if err is nil.
func (a *Auth) sendTo(ctx context.Context, c fiber.Ctx, res *latchkey.Response, err error) error {
	if err != nil {
		return err
	}
	return a.send(ctx, c, res)
}

// urlFor returns err, or puts the cookies of res into the response and returns
// res.Redirect if err is nil.
func (a *Auth) urlFor(ctx context.Context, c fiber.Ctx, res *latchkey.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return res.Redirect, a.decide(ctx, c, res.Cookies)
}

// kept returns a deep copy of values, because their texts may lie in the memory of
// Fiber's request. For nil it returns nil.
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
	return s, cmp.Or(err, a.decide(ctx, c, cookies))
}
