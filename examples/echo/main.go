// Command echo is a site with Echo: templates with the components of package ui, a
// sign-in page of its own, a group for members and a JSON API. The password of ada
// is lovelace.
package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"html/template"
	"log"
	"net/http"

	"github.com/labstack/echo/v5"
	"github.com/labstack/echo/v5/middleware"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/echoauth"
	"github.com/latchkeyhq/latchkey/ui"
)

func main() {
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

//go:embed pages.html
var pages string

func newSite(c latchkey.Config) (*echo.Echo, error) {
	c.Pages.SignIn = "/login"
	c.Callbacks.Token = rename
	c.Providers = append(c.Providers, &latchkey.Credentials{
		Name:      "your password",
		Fields:    []latchkey.Field{{Name: "name", Label: "Name"}, {Name: "password", Label: "Password", Type: "password"}},
		Authorize: checkPassword,
	})
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	site, sessions := echo.New(), echoauth.New(auth)
	site.Renderer = &echo.TemplateRenderer{Template: template.Must(template.New("pages").Parse(pages))}
	site.Use(middleware.Recover())
	sessions.Mount(site) // the routes, /auth/signin and so on

	login, home := page(sessions, "login"), page(sessions, "home")
	site.GET("/", home)
	site.GET("/login", login)
	site.POST("/login", sessions.SignInAction(login)) // shows the page again if the sign-in failed
	site.POST("/signout", sessions.SignOutAction(home))
	site.GET("/style.css", echo.WrapHandler(ui.Stylesheet()))

	members := site.Group("/members", sessions.RequireSession())
	members.GET("/", page(sessions, "members"))
	members.POST("/name", changeName(sessions))

	api := site.Group("/api", sessions.Authorize(signedIn))
	api.GET("/me", func(c *echo.Context) error {
		s := latchkey.SessionFrom(c.Request().Context()) // or sessions.Session(c)
		return c.JSON(http.StatusOK, map[string]string{"id": s.UserID, "name": s.User.Name})
	})
	return site, nil
}

// checkPassword stands for the table in which you keep password hashes.
func checkPassword(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	if typed["name"] != "ada" || typed["password"] != "lovelace" {
		return latchkey.User{}, latchkey.ErrCredentialsSignin
	}
	return latchkey.User{ID: "1", Name: "Ada"}, nil
}

// page shows a template, the first time and again with what went wrong.
func page(sessions *echoauth.Auth, name string) echo.HandlerFunc {
	return func(c *echo.Context) error {
		parts, err := sessions.UI(c) // before the body: it may set a cookie
		if err != nil {
			return c.String(http.StatusInternalServerError, "Try again later.")
		}
		c.Response().Header().Set("Cache-Control", "no-store")
		return c.Render(parts.Status(), name, map[string]any{"UI": parts})
	}
}

// signedIn refuses in JSON, whatever the request accepts.
func signedIn(_ *echo.Context, s *latchkey.Session) error {
	if s == nil {
		return latchkey.RespondWith(&latchkey.Response{
			Status: http.StatusUnauthorized,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   []byte(`{"error":"sign in first"}`),
		})
	}
	return nil
}

// changeName hands what was typed to the callback below.
func changeName(sessions *echoauth.Auth) echo.HandlerFunc {
	return func(c *echo.Context) error {
		if _, err := sessions.UpdateSession(c, c.FormValue("name")); err != nil {
			return c.String(http.StatusForbidden, "That did not work.") // it has been logged
		}
		return c.Redirect(http.StatusSeeOther, "/members/")
	}
}

func rename(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
	if name, is := t.Update.(string); is && t.Trigger == latchkey.TriggerUpdate && name != "" && len(name) <= 100 {
		t.Claims["name"] = name
	}
	return t.Claims, nil
}
