// Command forms is a site whose pages are html/template with the components of
// package ui: a user button on every page, a sign-in page of its own, and a members'
// page. The password of ada is lovelace.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"html/template"
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
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

func newSite(c latchkey.Config) (http.Handler, error) {
	c.Pages.SignIn = "/login"
	c.Providers = append(c.Providers, &latchkey.Credentials{
		Name:      "your password",
		Fields:    []latchkey.Field{{Name: "name", Label: "Name"}, {Name: "password", Label: "Password", Type: "password"}},
		Authorize: checkPassword,
	})
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	login, home := page(auth, "login"), page(auth, "home")
	site := http.NewServeMux()
	site.Handle("GET /login", login)
	site.Handle("POST /login", auth.SignInAction(login)) // shows the page again if the sign-in failed
	site.Handle("POST /signout", auth.SignOutAction(home))
	site.Handle("GET /style.css", ui.Stylesheet())
	site.Handle("GET /{$}", home)
	site.Handle("GET /members", auth.RequireSession(page(auth, "members")))
	return auth.Middleware(site), nil
}

// checkPassword stands for a look into your table of hashes, and Hasher.Check of
// package password. Never keep a password itself.
func checkPassword(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	if typed["name"] != "ada" || typed["password"] != "lovelace" {
		return latchkey.User{}, latchkey.ErrCredentialsSignin
	}
	return latchkey.User{ID: "1", Name: "Ada"}, nil
}

//go:embed pages.html
var source string

var pages = template.Must(template.New("pages").Parse(source))

// policy lets no other site frame the page, and no script run. Forms may lead to
// providers, which are https.
const policy = "default-src 'none'; style-src 'self'; img-src 'self' https: data:; " +
	"form-action 'self' https:; frame-ancestors 'none'; base-uri 'none'"

// page shows a template: at first, and again with what went wrong.
func page(auth *latchkey.Auth, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts, err := ui.New(auth, w, r) // before the body: it may set a cookie
		if err != nil {
			auth.WriteError(w, r, err) // logs it, and answers with an error page
			return
		}
		var body bytes.Buffer // a template that fails must not leave half a page
		if err := pages.ExecuteTemplate(&body, name, parts); err != nil {
			auth.WriteError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", policy)
		w.WriteHeader(parts.Status())
		_, _ = w.Write(body.Bytes())
	})
}
