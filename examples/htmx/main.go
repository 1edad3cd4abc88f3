// Command htmx is a to-do list with chi and htmx: pages for browsers, fragments
// for htmx, and a guard that both understand. The password of ada is lovelace.
//
//	go run . -htmx htmx.min.js    # the file that htmx.org offers; without it everything works, by whole pages
package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"flag"
	"html/template"
	"log"
	"net/http"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/latchkeyhq/latchkey"
)

func main() {
	script := flag.String("htmx", "", "file with htmx")
	flag.Parse()
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if typed["name"] != "ada" || typed["password"] != "lovelace" {
					return latchkey.User{}, latchkey.ErrCredentialsSignin
				}
				return latchkey.User{ID: "1", Name: "Ada"}, nil
			},
		}},
	}, *script)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

func newSite(c latchkey.Config, script string) (http.Handler, error) {
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	list := &todos{}
	r := chi.NewRouter()
	r.Use(auth.Middleware, http.NewCrossOriginProtection().Handler)
	r.Get("/htmx.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, script) })
	r.Group(func(r chi.Router) {
		r.Use(auth.RequireSession) // browsers are redirected, htmx gets HX-Redirect
		r.Get("/", list.show)
		r.Post("/todos", list.add)
	})
	return r, nil
}

//go:embed page.html
var page string

var templates = template.Must(template.New("page").Parse(page))

// todos stands for your database.
type todos struct {
	mu    sync.Mutex
	items []string
}

func (l *todos) show(w http.ResponseWriter, r *http.Request) { l.render(w, r, "page") }

func (l *todos) add(w http.ResponseWriter, r *http.Request) {
	if item := r.PostFormValue("item"); item != "" {
		l.mu.Lock()
		l.items = append(l.items, item)
		l.mu.Unlock()
	}
	if r.Header.Get("HX-Request") == "" {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	l.render(w, r, "list")
}

// render writes the whole page, or the part of it that htmx swaps.
func (l *todos) render(w http.ResponseWriter, r *http.Request, part string) {
	s := latchkey.SessionFrom(r.Context())
	l.mu.Lock()
	defer l.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = templates.ExecuteTemplate(w, part, map[string]any{"Name": s.User.Name, "Items": l.items})
}
