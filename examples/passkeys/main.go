// Passkeys are the only way in here: sign up with an e-mail address, and from
// then on with a finger. They work on localhost without TLS.
//
//	go run .    # then http://localhost:3000
package main

import (
	"crypto/rand"
	"fmt"
	"html"
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/webauthn"
)

func main() {
	site, err := newSite(latchkey.Config{
		Site:      latchkey.Site{URL: "http://localhost:3000"},
		Secrets:   []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
		Adapter:   memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{webauthn.Passkey(latchkey.WebAuthn{})},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

func newSite(c latchkey.Config) (http.Handler, error) {
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	return auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, `<p>Hello, %s. <a href="/auth/signout">Sign out</a>`, html.EscapeString(s.User.Email))
	})), nil
}
