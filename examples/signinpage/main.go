// Command signinpage has a sign-in page of its own: a password form and a form
// for magic links, with what went wrong and what was typed. The password of ada
// is lovelace; links are printed instead of sent.
package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"html/template"
	"log"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

func main() {
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
		Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Adapter: memoryadapter.New(memoryadapter.Options{}),
	}, func(_ context.Context, m latchkey.Message) error {
		fmt.Println("Open", m.URL)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

func newSite(c latchkey.Config, send func(context.Context, latchkey.Message) error) (http.Handler, error) {
	c.Pages = latchkey.Pages{SignIn: "/login", VerifyRequest: "/mailed"}
	c.Providers = []latchkey.Provider{
		&latchkey.Credentials{
			Fields:    []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
			Authorize: checkPassword,
		},
		&latchkey.Email{Send: send},
	}
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	site := http.NewServeMux()
	site.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) { showLogin(auth, w, r) })
	site.HandleFunc("GET /mailed", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Look into your mailbox.") })
	site.Handle("GET /{$}", auth.RequireSession(http.HandlerFunc(home)))
	return auth.Middleware(site), nil
}

// checkPassword stands for a look into your table of hashes, and Hasher.Check of
// package password. Never keep a password itself.
func checkPassword(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	if typed["name"] != "ada" || typed["password"] != "lovelace" {
		return latchkey.User{}, latchkey.ErrCredentialsSignin // the page is shown again, with error=CredentialsSignin
	}
	return latchkey.User{ID: "1", Name: "Ada"}, nil
}

//go:embed login.html
var loginPage string

var login = template.Must(template.New("login").Parse(loginPage))

// showLogin writes the page. Its forms post to the library's own routes.
func showLogin(auth *latchkey.Auth, w http.ResponseWriter, r *http.Request) {
	token, err := auth.CSRFToken(w, r) // before the body: it may set a cookie
	if err != nil {
		auth.WriteError(w, r, err) // logs it, and answers with an error page
		return
	}
	query := r.URL.Query()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = login.Execute(w, map[string]string{
		"CSRFToken":   token,
		"CallbackURL": query.Get("callbackUrl"),
		"Problem":     problem(query),
	})
}

// problem says in the site's own words what the error in the query means.
func problem(query url.Values) string {
	switch query.Get("error") {
	case "":
		return ""
	case "CredentialsSignin":
		return "That name and password do not go together."
	case "EmailSignin":
		return "We could not send you a link."
	case "OAuthAccountNotLinked":
		return "Sign in the way you did the first time."
	case "SessionRequired":
		return "Please sign in first."
	}
	return "That did not work. Please try again."
}

func home(w http.ResponseWriter, r *http.Request) {
	s := latchkey.SessionFrom(r.Context())
	fmt.Fprintf(w, "Hello, %s%s", s.User.Name, s.User.Email)
}
