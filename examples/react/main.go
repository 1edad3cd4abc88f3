// Command react is the Go program behind a React app that uses next-auth/react as
// it is published: SessionProvider, useSession, signIn, signOut. The password of ada
// is lovelace.
//
//	make react    # in the root of the repository: builds the app, starts this
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

func main() {
	port := flag.String("port", "3000", "to listen on")
	origin := flag.String("url", "", "of the site, where something is in front: with npm run dev http://localhost:5173")
	flag.Parse()
	listener, err := net.Listen("tcp", "localhost:"+*port)
	if err != nil {
		log.Fatal(err)
	}
	if *origin == "" {
		*origin = fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	}
	c := latchkey.Config{
		Site:    latchkey.Site{URL: *origin},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
	}
	if os.Getenv("AUTH_ACME_ISSUER") != "" { // with AUTH_ACME_ID and AUTH_ACME_SECRET: any OpenID provider
		c.Providers = append(c.Providers, &latchkey.OAuth{ID: "acme", Name: "Acme", OIDC: true})
	}
	site, err := newSite(c, os.DirFS("dist"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*origin)
	log.Fatal(http.Serve(listener, site))
}

// newSite is the app in front, the API and the routes of the library on one origin.
func newSite(c latchkey.Config, front fs.FS) (http.Handler, error) {
	if _, err := fs.Stat(front, "index.html"); err != nil {
		return nil, errors.New("there is no dist/index.html: run npm ci && npm run build here, or make react in the root of the repository")
	}
	c.Site.BasePath = "/api/auth" // where next-auth/react looks, unless it is told otherwise
	c.Callbacks.Token = rename
	c.Providers = append(c.Providers, &latchkey.Credentials{
		Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
		Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
			if typed["name"] != "ada" || typed["password"] != "lovelace" {
				return latchkey.User{}, latchkey.ErrCredentialsSignin
			}
			return latchkey.User{ID: "1", Name: "Ada"}, nil
		},
	})
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	site := http.NewServeMux()
	site.Handle("GET /api/notes", auth.RequireSession(http.HandlerFunc(notes))) // scripts get status 401
	site.Handle("GET /", app(front))
	return auth.Middleware(site), nil
}

// rename lets a visitor change one thing: update({name}) in the browser.
func rename(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
	if t.Trigger != latchkey.TriggerUpdate {
		return t.Claims, nil
	}
	update, _ := t.Update.(map[string]any) // whatever a browser sent
	name, _ := update["name"].(string)
	if name = strings.TrimSpace(name); name != "" && len(name) <= 100 {
		t.Claims["name"] = name
	}
	return t.Claims, nil
}

// notes is all of the API.
func notes(w http.ResponseWriter, r *http.Request) {
	s := latchkey.SessionFrom(r.Context())
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"text": "The notes of user " + s.UserID})
}

// app serves what Vite has built, and the page for every path that is no file.
func app(front fs.FS) http.Handler {
	files := http.FileServerFS(front)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, err := fs.Stat(front, strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil || info.IsDir() {
			w.Header().Set("Cache-Control", "no-cache") // a new build has files of new names, and the page names them
			http.ServeFileFS(w, r, front, "index.html")
			return
		}
		files.ServeHTTP(w, r)
	})
}
