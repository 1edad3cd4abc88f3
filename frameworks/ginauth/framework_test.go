package ginauth_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/ginauth"
	"github.com/latchkeyhq/latchkey/latchkeytest/frameworktest"
	"github.com/latchkeyhq/latchkey/ui"
)

// Gin behaves as net/http does.
func TestFramework(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	frameworktest.Test(t, serve)
}

func serve(t *testing.T, site frameworktest.Site) string {
	sessions := ginauth.New(site.Auth)
	if site.Auth == nil {
		var err error
		sessions, err = ginauth.NewFunc(ginauth.Func{Config: func(c *gin.Context) (*latchkey.Config, error) { return site.ByHost(c.Request.Host) }})
		if err != nil {
			t.Fatal(err)
		}
	}
	router := gin.New()
	router.Use(gin.CustomRecoveryWithWriter(io.Discard, func(c *gin.Context, _ any) { c.AbortWithStatus(http.StatusInternalServerError) }))
	if site.WholeSite {
		router.Use(sessions.Middleware())
	}
	group := router.Group(site.Group)
	if !site.WholeSite {
		sessions.Mount(group)
	}
	if site.Guarded {
		router.Use(sessions.RequireSession())
	}
	if site.CatchAll != nil {
		router.NoRoute(handlers(sessions, frameworktest.Page{Serve: site.CatchAll})...)
	}
	for _, p := range site.Pages {
		group.Handle(p.Method, p.Path, handlers(sessions, p)...)
	}
	return site.Serve(t, router)
}

func handlers(sessions *ginauth.Auth, p frameworktest.Page) (chain []gin.HandlerFunc) {
	var page gin.HandlerFunc
	if p.Serve != nil {
		page = func(c *gin.Context) { p.Serve(&visit{sessions, c}) }
	}
	if p.ReadsForm {
		chain = append(chain, func(c *gin.Context) { c.PostForm("any") })
	}
	switch p.Guard {
	case frameworktest.LoadSession:
		chain = append(chain, sessions.LoadSession())
	case frameworktest.RequireSession:
		chain = append(chain, sessions.RequireSession())
	case frameworktest.Authorize:
		chain = append(chain, sessions.Authorize(func(c *gin.Context, s *latchkey.Session) error { return p.Decide(c.Request.URL.Path, s) }))
	case frameworktest.SignInAction:
		return append(chain, sessions.SignInAction(page))
	case frameworktest.SignOutAction:
		return append(chain, sessions.SignOutAction(page))
	}
	return append(chain, page)
}

// visit is a request as the suite sees it.
type visit struct {
	auth *ginauth.Auth
	c    *gin.Context
}

func (v *visit) Session() (*latchkey.Session, error)       { return v.auth.Session(v.c) }
func (v *visit) CurrentUser() (latchkey.User, error)       { return v.auth.CurrentUser(v.c) }
func (v *visit) CSRFToken() (string, error)                { return v.auth.CSRFToken(v.c) }
func (v *visit) ActionURL(action string) (*url.URL, error) { return v.auth.ActionURL(v.c, action) }
func (v *visit) Forms() (*latchkey.Forms, error)           { return v.auth.Forms(v.c) }
func (v *visit) UI() (*ui.Page, error)                     { return v.auth.UI(v.c) }
func (v *visit) Context() context.Context                  { return v.c.Request.Context() }
func (v *visit) FormValue(name string) string              { return v.c.PostForm(name) }
func (v *visit) SetCookie(name, value string)              { v.c.SetCookie(name, value, 60, "/", "", false, true) }

func (v *visit) Write(status int, html string) {
	v.c.Data(status, "text/html; charset=utf-8", []byte(html))
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

func (v *visit) WriteError(err error) { v.auth.WriteError(v.c, err) }

func (v *visit) SignOut(o latchkey.SignOutOptions) error { return v.auth.SignOut(v.c, o) }

func (v *visit) SignOutURL(o latchkey.SignOutOptions) (string, error) {
	return v.auth.SignOutURL(v.c, o)
}

func (v *visit) UpdateSession(data any) (*latchkey.Session, error) {
	return v.auth.UpdateSession(v.c, data)
}

func (v *visit) Stream(parts ...func() string) {
	next := 0
	v.c.Stream(func(w io.Writer) bool {
		_, _ = io.WriteString(w, parts[next]())
		next++
		return next < len(parts)
	})
}
