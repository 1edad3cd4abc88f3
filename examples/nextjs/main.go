// Command nextjs is the Go program behind a Next.js 15 app, which passes /api/auth on
// to it and asks it for sessions. The password of ada is lovelace.
//
//	npm ci && npm run build && npm start    # the app, http://localhost:3000
//	go run .                                # this program
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

func main() {
	port := flag.String("port", "8080", "to listen on")
	origin := flag.String("url", "http://localhost:3000", "of the Next.js app, where browsers are")
	flag.Parse()
	c := latchkey.Config{
		Site:    latchkey.Site{URL: *origin},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
	}
	if os.Getenv("AUTH_ACME_ISSUER") != "" { // with AUTH_ACME_ID and AUTH_ACME_SECRET: any OpenID provider
		c.Providers = append(c.Providers, &latchkey.OAuth{ID: "acme", Name: "Acme", OIDC: true})
	}
	auth, err := newAuth(c)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "localhost:"+*port) // Next.js alone asks
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, auth))
}

// newAuth returns what answers all of /api/auth, where next-auth/react asks.
func newAuth(c latchkey.Config) (*latchkey.Auth, error) {
	c.Site.BasePath = "/api/auth"
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
	return latchkey.New(c)
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
