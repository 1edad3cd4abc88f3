// Command pages has every page of its own: to sign in, to sign out, for errors, for
// "look into your mailbox", and a welcome for new users. Links are printed
// instead of sent.
package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

func main() {
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
		Adapter: memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{&latchkey.Email{
			Send: func(_ context.Context, m latchkey.Message) error {
				fmt.Println("Open", m.URL)
				return nil
			},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

func newSite(c latchkey.Config) (http.Handler, error) {
	c.Pages = latchkey.Pages{SignIn: "/login", SignOut: "/logout", Error: "/oops", VerifyRequest: "/mailed", NewUser: "/welcome"}
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	site := http.NewServeMux()
	for _, name := range []string{"login", "logout", "oops", "mailed"} {
		site.Handle("GET /"+name, page(auth, name))
	}
	site.Handle("GET /welcome", auth.RequireSession(page(auth, "welcome")))
	site.Handle("GET /{$}", auth.RequireSession(page(auth, "home")))
	return auth.Middleware(site), nil
}

//go:embed pages.html
var source string

var pages = template.Must(template.New("pages").Funcs(template.FuncMap{"reason": reason}).Parse(source))

// reason says in the site's own words what the error page is told. What it does not
// know is no less of an error.
func reason(code string) string {
	switch code {
	case "AccessDenied":
		return "You may not come in."
	case "Verification":
		return "That link has been used, or is too old. Ask for another one."
	}
	return "Something is wrong with this site. Please try again later."
}

// page shows a template. Its forms post to the library's own routes.
func page(auth *latchkey.Auth, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forms, err := auth.Forms(w, r) // before the body: it may set a cookie
		if err != nil {
			http.Error(w, "Try again later.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if err := pages.ExecuteTemplate(w, name, map[string]any{"Forms": forms, "Error": r.URL.Query().Get("error")}); err != nil {
			log.Print(err)
		}
	})
}
