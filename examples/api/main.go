// Command api is a single-page app and its JSON API on one origin. The page is a
// handful of lines of JavaScript without a library: what it does, any front end
// does. The password of ada is lovelace.
package main

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
)

func main() {
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
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

//go:embed index.html
var page []byte

func newSite(c latchkey.Config) (http.Handler, error) {
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	api := http.NewServeMux()
	api.HandleFunc("GET /api/notes", listNotes)
	api.HandleFunc("POST /api/notes", addNote)

	site := http.NewServeMux()
	site.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page)
	})
	guarded := auth.Authorize(signedIn)(api)
	site.Handle("/api/", http.NewCrossOriginProtection().Handler(guarded)) // other sites' pages cannot post
	return auth.Middleware(site), nil
}

// signedIn refuses in JSON, also to a browser that opens the address.
func signedIn(_ *http.Request, s *latchkey.Session) error {
	if s == nil {
		return latchkey.RespondWith(&latchkey.Response{
			Status: http.StatusUnauthorized,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   []byte(`{"error":"sign in first"}`),
		})
	}
	return nil
}

var notes = newNotebook() // stands for your database

func listNotes(w http.ResponseWriter, r *http.Request) {
	s := latchkey.SessionFrom(r.Context())
	answer(w, http.StatusOK, notes.of(s.UserID))
}

func addNote(w http.ResponseWriter, r *http.Request) {
	s := latchkey.SessionFrom(r.Context())
	var note struct{ Text string }
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 10_000)).Decode(&note)
	if err == nil && note.Text == "" {
		err = errors.New("a note needs a text")
	}
	if err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	notes.add(s.UserID, note.Text)
	answer(w, http.StatusCreated, notes.of(s.UserID))
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
