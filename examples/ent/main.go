// Command ent signs people in to a program whose users are models of Ent. Nothing
// is sent: the link to sign in with is printed.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
)

//go:generate go tool ent generate ./ent/schema
//go:generate rm -r ent/enttest ent/hook

func main() {
	db, err := open("ent.db")
	if err != nil {
		log.Fatal(err)
	}
	store, err := newStore(context.Background(), db, welcome)
	if err != nil {
		log.Fatal(err)
	}
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{URL: "http://localhost:3000"}, Adapter: store, Secrets: []string{"a secret for this example, long enough"},
		Providers: []latchkey.Provider{&latchkey.Email{Send: func(_ context.Context, m latchkey.Message) error {
			fmt.Println("Open", m.URL)
			return nil
		}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Print(http.ListenAndServe("localhost:3000", auth.Middleware(auth.RequireSession(http.HandlerFunc(hello)))))
}

func hello(w http.ResponseWriter, r *http.Request) {
	s := latchkey.SessionFrom(r.Context())
	fmt.Fprintf(w, "Hello, %s", s.User.Email)
}
