// Command fiber is a site with Fiber: templates with the components of package ui,
// a sign-in page of its own, a group for members and a JSON API. The password of
// ada is lovelace.
package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"html/template"
	"io"
	"log"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/recover"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/fiberauth"
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
	log.Fatal(site.Listen("localhost:3000"))
}

//go:embed pages.html
var pages string

// views are templates as Fiber asks for them; gofiber/template/html is the same
// with folders and reloading.
type views struct{ *template.Template }

func (views) Load() error { return nil }

func (v views) Render(w io.Writer, name string, data any, _ ...string) error {
	return v.ExecuteTemplate(w, name, data)
}

func newSite(c latchkey.Config) (*fiber.App, error) {
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
	sessions := fiberauth.New(auth)
	site := fiber.New(fiber.Config{
		ReadBufferSize: fiberauth.ReadBufferSize, // Fiber's own is too small for long sessions
		ErrorHandler:   sessions.ErrorHandler(nil),
		Views:          views{template.Must(template.New("pages").Parse(pages))},
	})
	site.Use(recover.New())
	sessions.Mount(site) // the routes, /auth/signin and so on

	login, home := page(sessions, "login"), page(sessions, "home")
	site.Get("/", home)
	site.Get("/login", login)
	site.Post("/login", sessions.SignInAction(login)) // shows the page again if the sign-in failed
	site.Post("/signout", sessions.SignOutAction(home))
	site.Get("/style.css", func(c fiber.Ctx) error { return c.Type("css").SendString(ui.CSS()) })

	members := site.Group("/members", sessions.RequireSession())
	members.Get("/", page(sessions, "members"))
	members.Post("/name", changeName(sessions))

	site.Get("/api/me", func(c fiber.Ctx) error {
		s, err := sessions.Session(c)
		if err != nil {
			return err // ErrNoSession, which the error handler answers: scripts get status 401
		}
		return c.JSON(fiber.Map{"id": s.UserID, "name": s.User.Name})
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
func page(sessions *fiberauth.Auth, name string) fiber.Handler {
	return func(c fiber.Ctx) error {
		parts, err := sessions.UI(c)
		if err != nil {
			return err
		}
		c.Status(parts.Status())
		c.Set(fiber.HeaderCacheControl, "no-store")
		return c.Render(name, fiber.Map{"UI": parts})
	}
}

// changeName hands what was typed to the callback below.
func changeName(sessions *fiberauth.Auth) fiber.Handler {
	return func(c fiber.Ctx) error {
		if _, err := sessions.UpdateSession(c, c.FormValue("name")); err != nil {
			return fiber.NewError(fiber.StatusForbidden, "That did not work.") // it has been logged
		}
		return c.Redirect().To("/members")
	}
}

func rename(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
	if name, is := t.Update.(string); is && t.Trigger == latchkey.TriggerUpdate && name != "" && len(name) <= 100 {
		t.Claims["name"] = name
	}
	return t.Claims, nil
}
