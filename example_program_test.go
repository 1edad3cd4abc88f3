package latchkey_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

// The first program: sign-in by GitHub, and a page for signed-in users. AUTH_SECRET,
// AUTH_GITHUB_ID and AUTH_GITHUB_SECRET come from the environment.
func Example() {
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{})},
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/auth/", auth)
	http.Handle("/", auth.RequireSession(http.HandlerFunc(home)))
	log.Fatal(http.ListenAndServe("localhost:3000", nil))
}

func home(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "Hello, %s", latchkey.SessionFrom(r.Context()).User.Name)
}

// A visitor of the first program is led to the sign-in page.
func Example_visitor() {
	auth := exampleAuth()
	w := httptest.NewRecorder()
	auth.RequireSession(http.HandlerFunc(home)).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://app.example/", nil))
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output: 302 https://app.example/auth/signin?callbackUrl=https%3A%2F%2Fapp.example%2F
}
