// Command one is a site with a single provider, to see what of the catalogue
// ends up in such a program.
package main

import (
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

func main() {
	auth, err := latchkey.New(latchkey.Config{Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{})}})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:8080", auth))
}
