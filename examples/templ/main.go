// Command templ is a site whose pages are templ components with those of module
// templui. The password of ada is lovelace.
package main

import (
	"context"
	"crypto/rand"
	"log"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/ui"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate

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
	show := func(component func(*ui.Page) templ.Component) http.Handler { return page(auth, component) }
	site := http.NewServeMux()
	site.Handle("GET /login", show(login))
	site.Handle("POST /login", auth.SignInAction(show(login))) // shows the page again if the sign-in failed
	site.Handle("POST /signout", auth.SignOutAction(show(home)))
	site.Handle("GET /style.css", ui.Stylesheet())
	site.Handle("GET /{$}", show(home))
	site.Handle("GET /members", auth.RequireSession(show(members)))
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

// policy lets no other site frame the page, and no script run. Forms may lead to
// providers, which are https.
const policy = "default-src 'none'; style-src 'self'; img-src 'self' https: data:; " +
	"form-action 'self' https:; frame-ancestors 'none'; base-uri 'none'"

// page shows a component: at first, and again with what went wrong.
func page(auth *latchkey.Auth, component func(*ui.Page) templ.Component) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parts, err := ui.New(auth, w, r) // before the body: it may set a cookie
		if err != nil {
			auth.WriteError(w, r, err) // logs it, and answers with an error page
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", policy)
		templ.Handler(component(parts), templ.WithStatus(parts.Status())).ServeHTTP(w, r)
	})
}
