package fiberauth_test

import (
	"bufio"
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/recover"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/fiberauth"
	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
	"github.com/latchkeyhq/latchkey/ui"
)

// Fiber behaves as net/http does. It has no HTTP/2, and its handlers are
// done before their streams begin; TestStream is about who looks then.
func TestFramework(t *testing.T) {
	frameworktest.Test(t, serveSite, "HTTP/2", "a session that is looked at when the stream has begun")
}

func serveSite(t *testing.T, site frameworktest.Site) string {
	auth := fiberauth.New(site.Auth)
	if site.Auth == nil {
		var err error
		auth, err = fiberauth.NewFunc(fiberauth.Func{Config: func(c fiber.Ctx) (*latchkey.Config, error) { return site.ByHost(c.Host()) }})
		if err != nil {
			t.Fatal(err)
		}
	}
	app := fiber.New(fiber.Config{ReadBufferSize: fiberauth.ReadBufferSize})
	app.Use(recover.New())
	if site.StripPrefix != "" {
		app.Use(func(c fiber.Ctx) error {
			below, ok := strings.CutPrefix(c.Path(), site.StripPrefix)
			if !ok {
				return c.Next()
			}
			c.Path(below)
			return c.RestartRouting()
		})
	}
	if site.WholeSite {
		app.Use(auth.Middleware())
	}
	var group fiber.Router = app
	if site.Group != "" {
		group = app.Group(site.Group)
	}
	if !site.WholeSite {
		auth.Mount(group)
	}
	if site.Guarded {
		group.Use(auth.RequireSession())
	}
	for _, p := range site.Pages {
		chain := handlers(auth, p)
		group.Add([]string{p.Method}, p.Path, chain[0], chain[1:]...)
	}
	if site.CatchAll != nil {
		group.All("/*", handlers(auth, frameworktest.Page{Serve: site.CatchAll})[0])
	}
	return serve(t, app)
}

func handlers(auth *fiberauth.Auth, p frameworktest.Page) (chain []any) {
	var page fiber.Handler
	if p.Serve != nil {
		page = func(c fiber.Ctx) error {
			v := &visit{auth: auth, c: c}
			p.Serve(v)
			return v.err
		}
	}
	if p.ReadsForm {
		chain = append(chain, func(c fiber.Ctx) error {
			c.FormValue("any")
			return c.Next()
		})
	}
	switch p.Guard {
	case frameworktest.LoadSession:
		chain = append(chain, auth.LoadSession())
	case frameworktest.RequireSession:
		chain = append(chain, auth.RequireSession())
	case frameworktest.Authorize:
		chain = append(chain, auth.Authorize(func(c fiber.Ctx, s *latchkey.Session) error { return p.Decide(c.Path(), s) }))
	case frameworktest.SignInAction:
		return append(chain, auth.SignInAction(page))
	case frameworktest.SignOutAction:
		return append(chain, auth.SignOutAction(page))
	}
	return append(chain, page)
}

// visit is a request as the suite sees it.
type visit struct {
	auth *fiberauth.Auth
	c    fiber.Ctx
	err  error // what the handler returns
}

func (v *visit) Session() (*latchkey.Session, error)       { return v.auth.Session(v.c) }
func (v *visit) CurrentUser() (latchkey.User, error)       { return v.auth.CurrentUser(v.c) }
func (v *visit) CSRFToken() (string, error)                { return v.auth.CSRFToken(v.c) }
func (v *visit) ActionURL(action string) (*url.URL, error) { return v.auth.ActionURL(v.c, action) }
func (v *visit) Forms() (*latchkey.Forms, error)           { return v.auth.Forms(v.c) }
func (v *visit) UI() (*ui.Page, error)                     { return v.auth.UI(v.c) }
func (v *visit) Context() context.Context                  { return v.c.Context() }
func (v *visit) FormValue(name string) string              { return v.c.FormValue(name) }

func (v *visit) SetCookie(name, value string) {
	v.c.Cookie(&fiber.Cookie{Name: name, Value: value})
}

func (v *visit) Write(status int, html string) {
	v.err = v.c.Status(status).Type("html").SendString(html)
}

func (v *visit) SignIn(provider string, o latchkey.SignInOptions) error {
	return v.auth.SignIn(v.c, provider, o)
}

func (v *visit) AccessToken(provider string, o latchkey.TokenOptions) (latchkey.Tokens, error) {
	return v.auth.AccessToken(v.c, provider, o)
}

func (v *visit) LinkURL(provider string, o latchkey.LinkOptions) (string, error) {
	return v.auth.LinkURL(v.c, provider, o)
}

func (v *visit) SignInURL(provider string, o latchkey.SignInOptions) (string, error) {
	return v.auth.SignInURL(v.c, provider, o)
}

func (v *visit) WriteError(err error) { _ = v.auth.WriteError(v.c, err) }

func (v *visit) SignOut(o latchkey.SignOutOptions) error { return v.auth.SignOut(v.c, o) }

func (v *visit) SignOutURL(o latchkey.SignOutOptions) (string, error) {
	return v.auth.SignOutURL(v.c, o)
}

func (v *visit) UpdateSession(data any) (*latchkey.Session, error) {
	return v.auth.UpdateSession(v.c, data)
}

func (v *visit) Stream(parts ...func() string) {
	v.err = v.c.SendStreamWriter(func(w *bufio.Writer) {
		for _, part := range parts {
			_, _ = w.WriteString(part())
			_ = w.Flush()
		}
	})
}
