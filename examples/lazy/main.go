// Command lazy has settings that depend on the request: the site at
// http://localhost:3000 sends links, which are printed, and its preview at
// http://preview.localhost:3000 lets testers in by a name. It is one site still, with
// one secret.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

func main() {
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{AllowedHosts: []string{"localhost:3000", "preview.localhost:3000"}},
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
	live, preview := c, c
	live.Providers = []latchkey.Provider{&latchkey.Email{Send: send}}
	preview.Providers = append([]latchkey.Provider{testers()}, live.Providers...)
	auth, err := latchkey.NewFunc(latchkey.Func{Config: func(_ context.Context, r *latchkey.Request) (*latchkey.Config, error) {
		if strings.HasPrefix(r.Host, "preview.") { // AllowedHosts says which hosts there are
			return &preview, nil
		}
		return &live, nil // the same pointer each time: it is made ready once
	}})
	if err != nil {
		return nil, err
	}
	home := func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s", s.User.Email)
	}
	return auth.Middleware(auth.RequireSession(http.HandlerFunc(home))), nil
}

// testers have a name and nothing to prove.
func testers() *latchkey.Credentials {
	return &latchkey.Credentials{
		Name:   "a tester's name",
		Fields: []latchkey.Field{{Name: "name"}},
		Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
			if typed["name"] == "" {
				return latchkey.User{}, latchkey.ErrCredentialsSignin
			}
			return latchkey.User{ID: "tester " + typed["name"], Email: typed["name"] + "@preview.example"}, nil
		},
	}
}
