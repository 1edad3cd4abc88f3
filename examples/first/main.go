// Command first is the first program: sign in with GitHub, greet who comes. Its
// keys come from AUTH_GITHUB_ID, AUTH_GITHUB_SECRET, AUTH_SECRET and AUTH_URL.
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

func main() {
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{})},
	})
	if err != nil {
		log.Fatal(err) // names everything that is missing, and what to set
	}
	http.Handle("/auth/", auth)
	http.Handle("/", auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s", s.User.Name) // the login, for users without a name at GitHub
	})))
	log.Fatal(http.ListenAndServe("localhost:3000", nil))
}
