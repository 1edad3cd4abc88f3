package echoauth_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/echoauth"
	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
	"github.com/latchkeyhq/latchkey/ui"
)

// Echo behaves as net/http does.
func TestFramework(t *testing.T) { frameworktest.Test(t, serve) }

func serve(t *testing.T, site frameworktest.Site) string {
	sessions := echoauth.New(site.Auth)
	if site.Auth == nil {
		var err error
		sessions, err = echoauth.NewFunc(echoauth.Func{Config: func(c *echo.Context) (*latchkey.Config, error) { return site.ByHost(c.Request().Host) }})
		if err != nil {
			t.Fatal(err)
		}
	}
	router := quiet()
	router.Use(middleware.Recover())
	if site.WholeSite {
		router.Use(sessions.Middleware())
	}
	group := router.Group(site.Group)
	if !site.WholeSite {
		sessions.Mount(group, site.Group)
	}
	for _, p := range site.Pages {
		h, in := handler(sessions, p)
		group.Add(p.Method, p.Path, h, in...)
	}
	if site.Guarded {
		router.Use(sessions.RequireSession())
	}
	if site.CatchAll != nil {
		page, _ := handler(sessions, frameworktest.Page{Serve: site.CatchAll})
		router.Any("/*", page)
	}
	return site.Serve(t, router)
}

// handler is a page, and what is in front of it.
func handler(sessions *echoauth.Auth, p frameworktest.Page) (page echo.HandlerFunc, front []echo.MiddlewareFunc) {
	if p.Serve != nil {
		page = func(c *echo.Context) error {
			v := &visit{auth: sessions, c: c}
			p.Serve(v)
			return v.err
		}
	}
	if p.ReadsForm {
		front = append(front, func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c *echo.Context) error {
				_ = c.FormValue("any")
				return next(c)
			}
		})
	}
	switch p.Guard {
	case frameworktest.LoadSession:
		front = append(front, sessions.LoadSession())
	case frameworktest.RequireSession:
		front = append(front, sessions.RequireSession())
	case frameworktest.Authorize:
		front = append(front, sessions.Authorize(func(c *echo.Context, s *latchkey.Session) error { return p.Decide(c.Request().URL.Path, s) }))
	case frameworktest.SignInAction:
		page = sessions.SignInAction(page)
	case frameworktest.SignOutAction:
		page = sessions.SignOutAction(page)
	}
	return page, front
}

// visit is a request as the suite sees it.
type visit struct {
	auth *echoauth.Auth
	c    *echo.Context
	err  error
}

func (v *visit) Session() (*latchkey.Session, error)       { return v.auth.Session(v.c) }
func (v *visit) CurrentUser() (latchkey.User, error)       { return v.auth.CurrentUser(v.c) }
func (v *visit) CSRFToken() (string, error)                { return v.auth.CSRFToken(v.c) }
func (v *visit) ActionURL(action string) (*url.URL, error) { return v.auth.ActionURL(v.c, action) }
func (v *visit) Forms() (*latchkey.Forms, error)           { return v.auth.Forms(v.c) }
func (v *visit) UI() (*ui.Page, error)                     { return v.auth.UI(v.c) }
func (v *visit) Context() context.Context                  { return v.c.Request().Context() }
func (v *visit) FormValue(name string) string              { return v.c.FormValue(name) }
func (v *visit) Write(status int, html string)             { v.err = v.c.HTML(status, html) }

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

func (v *visit) SetCookie(name, value string) {
	v.c.SetCookie(&http.Cookie{Name: name, Value: value, Path: "/", MaxAge: 60, HttpOnly: true, Secure: true})
}

func (v *visit) Stream(parts ...func() string) {
	for _, part := range parts {
		if _, v.err = v.c.Response().Write([]byte(part())); v.err != nil {
			return
		}
		if v.err = http.NewResponseController(v.c.Response()).Flush(); v.err != nil {
			return
		}
	}
}
