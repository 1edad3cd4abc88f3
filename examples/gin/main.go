// Command gin is a site with Gin: templates with the components of package ui, a
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

	"github.com/gin-gonic/gin"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/ginauth"
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

func newSite(c latchkey.Config) (*gin.Engine, error) {
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
	site, sessions := gin.New(), ginauth.New(auth)
	site.SetHTMLTemplate(template.Must(template.New("pages").Parse(pages)))
	site.Use(gin.Recovery())
	sessions.Mount(site) // the routes, /auth/signin and so on

	login, home := page(sessions, "login"), page(sessions, "home")
	site.GET("/", home)
	site.GET("/login", login)
	site.POST("/login", sessions.SignInAction(login)) // shows the page again if the sign-in failed
	site.POST("/signout", sessions.SignOutAction(home))
	site.GET("/style.css", gin.WrapH(ui.Stylesheet()))

	members := site.Group("/members", sessions.RequireSession())
	members.GET("/", page(sessions, "members"))
	members.POST("/name", changeName(sessions))

	api := site.Group("/api", sessions.Authorize(signedIn))
	api.GET("/me", func(c *gin.Context) {
		s := latchkey.SessionFrom(c.Request.Context()) // or sessions.Session(c)
		c.JSON(http.StatusOK, gin.H{"id": s.UserID, "name": s.User.Name})
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
func page(sessions *ginauth.Auth, name string) gin.HandlerFunc {
	return func(c *gin.Context) {
		parts, err := sessions.UI(c) // before the body: it may set a cookie
		if err != nil {
			c.String(http.StatusInternalServerError, "Try again later.")
			return
		}
		c.Header("Cache-Control", "no-store")
		c.HTML(parts.Status(), name, gin.H{"UI": parts})
	}
}

// signedIn refuses in JSON, whatever the request accepts.
func signedIn(_ *gin.Context, s *latchkey.Session) error {
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
func changeName(sessions *ginauth.Auth) gin.HandlerFunc {
	return func(c *gin.Context) {
		if _, err := sessions.UpdateSession(c, c.PostForm("name")); err != nil {
			c.String(http.StatusForbidden, "That did not work.") // it has been logged
			return
		}
		c.Redirect(http.StatusSeeOther, "/members/")
	}
}

func rename(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
	if name, is := t.Update.(string); is && t.Trigger == latchkey.TriggerUpdate && name != "" && len(name) <= 100 {
		t.Claims["name"] = name
	}
	return t.Claims, nil
}
