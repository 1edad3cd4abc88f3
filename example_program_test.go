package latchkey_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
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

// A sign-out goes on to the provider, and a logout at the provider ends sessions here.
// Register the URLs that the example prints at the provider.
func ExampleLogout() {
	auth, err := latchkey.New(latchkey.Config{
		Site:    latchkey.Site{URL: "https://app.example"},
		Secrets: []string{"a secret from AUTH_SECRET, of 32 characters or more"},
		Adapter: memoryadapter.New(memoryadapter.Options{}), // sqladapter in production
		Providers: []latchkey.Provider{providers.Keycloak(latchkey.OAuth{
			ClientID: "id", ClientSecret: "secret", Issuer: "https://id.example/realms/staff",
			Logout: latchkey.Logout{AtProvider: true, BackChannel: true},
		})},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{"/auth/signed-out/keycloak", "/auth/backchannel-logout/keycloak", "/auth/frontchannel-logout/keycloak"} {
		if auth.Match(httptest.NewRequest(http.MethodGet, path, nil)) {
			fmt.Println("https://app.example" + path)
		}
	}
	// Output:
	// https://app.example/auth/signed-out/keycloak
	// https://app.example/auth/backchannel-logout/keycloak
}
