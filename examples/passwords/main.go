// Command passwords has every page about passwords of its own: to sign up, to sign in,
// for a mail that was sent, for a link, and for a new password. Links and codes are
// printed instead of sent.
//
//	go run .    # then http://localhost:3000
package main

import (
	"bytes"
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
	"github.com/latchkeyhq/latchkey/password"
)

func main() {
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
		Adapter: memoryadapter.New(memoryadapter.Options{}),
		Mail: latchkey.Mail{Send: func(_ context.Context, m latchkey.Message) error {
			fmt.Println("To", m.To, "open", m.URL, m.Code)
			return nil
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

func newSite(c latchkey.Config) (http.Handler, error) {
	c.Pages = latchkey.Pages{SignIn: "/login", VerifyRequest: "/mailed", Password: "/password", Error: "/oops"}
	c.Providers = []latchkey.Provider{password.Provider(latchkey.Password{}, password.Options{})}
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	site := http.NewServeMux()
	for _, name := range []string{"login", "mailed", "oops"} {
		site.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { write(auth, w, r, name, nil) })
	}
	site.HandleFunc("GET /password", func(w http.ResponseWriter, r *http.Request) { passwordPage(auth, w, r) })
	site.Handle("GET /{$}", auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		write(auth, w, r, "home", nil)
	})))
	return auth.Middleware(site), nil
}

// step is what the page about passwords asks for. Its form posts to the library's own
// route.
type step struct {
	Title, Submit         string
	Email, Password, Code bool   // the fields
	Action, Wrong         string // where the form is posted, and what is wrong with what was typed
}

// steps are the pages by the query parameter do.
var steps = map[string]step{
	"signup": {Title: "Create an account", Submit: "Create account", Email: true, Password: true},
	"forgot": {Title: "Forgot your password?", Submit: "Send me a link", Email: true},
	"verify": {Title: "One more step", Submit: "Open my account"},
	"reset":  {Title: "Choose a new password", Submit: "Save", Password: true},
	"undo":   {Title: "Take back your former address", Submit: "Take it back"},
}

func passwordPage(auth *latchkey.Auth, w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s, known := steps[query.Get("do")]
	if !known {
		http.NotFound(w, r)
		return
	}
	action, err := auth.ActionURL(r, "password")
	if err != nil {
		auth.WriteError(w, r, err)
		return
	}
	action.RawQuery = url.Values{"do": {query.Get("do")}, "token": {query.Get("token")}}.Encode()
	s.Action = action.String()
	if query.Get("error") == string(latchkey.ErrPassword) {
		s.Wrong = problem(query.Get("code"))
		s.Code = query.Get("code") == "factor"
		if query.Get("do") == "verify" { // the link was opened in another browser than that of the sign-up
			s.Password = true
		}
	}
	write(auth, w, r, "password", s)
}

// problem says in the site's own words what a code means. The pages show no text of
// the query itself.
func problem(code string) string {
	switch code {
	case "address":
		return "That is no e-mail address."
	case "short":
		return "Choose a password of at least 8 characters."
	case "common", "breached":
		return "Many people know that password. Choose another one."
	case "factor":
		return "Enter a code of your authenticator app, too."
	}
	return "Choose another password."
}

//go:embed pages.html
var source string

var pages = template.Must(template.New("pages").Parse(source))

// write shows a template. The URL of a page may hold the secret of a link, so no other
// site is told it, and no cache keeps the page.
func write(auth *latchkey.Auth, w http.ResponseWriter, r *http.Request, name string, step any) {
	forms, err := auth.Forms(w, r) // before the body: it may set a cookie
	if err != nil {
		auth.WriteError(w, r, err)
		return
	}
	query := r.URL.Query()
	var body bytes.Buffer // a template that fails must not leave half a page
	err = pages.ExecuteTemplate(&body, name, map[string]any{
		"Forms": forms, "Step": step, "Saved": query.Get("done") == "reset", "Reset": query.Get("type") == "reset",
	})
	if err != nil {
		auth.WriteError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	_, _ = w.Write(body.Bytes())
}
