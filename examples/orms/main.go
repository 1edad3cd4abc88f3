// Command orms signs people in to a program whose users are models of GORM, with
// columns of their own, and shows the same with Bun. Nothing is sent: the link to
// sign in with is printed.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"

	"github.com/latchkeyhq/latchkey"
)

func main() {
	db, err := openGorm("orms.db")
	if err != nil {
		log.Fatal(err)
	}
	store, err := newGormStore(context.Background(), db, func(*Membership) error { return nil })
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

func openGorm(file string) (*gorm.DB, error) {
	return gorm.Open(sqlite.Open("file:"+file+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_txlock=immediate"), &gorm.Config{})
}
