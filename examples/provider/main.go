// Command provider signs people in with two providers that no catalogue has: one
// that speaks OpenID Connect, and one with OAuth 2 and a profile of its own. Where
// they are comes from AUTH_ACME_ISSUER and LEGACY_URL; their keys from AUTH_ACME_ID,
// AUTH_ACME_SECRET, AUTH_LEGACY_ID and AUTH_LEGACY_SECRET. What is not set is left out.
package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"

	"github.com/latchkeyhq/latchkey"
)

func main() {
	c := latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
	}
	if os.Getenv("AUTH_ACME_ISSUER") != "" {
		c.Providers = append(c.Providers, acme(latchkey.OAuth{}))
	}
	if at := os.Getenv("LEGACY_URL"); at != "" {
		c.Providers = append(c.Providers, legacy(at, latchkey.OAuth{}))
	}
	site, err := newSite(c)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

// acme is an OpenID Provider: its endpoints and keys are discovered at the issuer, and
// what it says of people is proven by a signature. o wins over what stands here.
func acme(o latchkey.OAuth) *latchkey.OAuth {
	return o.Or(latchkey.OAuth{
		ID:     "acme",
		Name:   "Acme",
		OIDC:   true,
		Scopes: []string{"openid", "profile", "email"},
		Authorization: latchkey.Endpoint{
			Params: url.Values{"prompt": {"select_account"}},
		},
		Checks: []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState, latchkey.CheckNonce},
		Style:  latchkey.Style{Color: "#1d4ed8"},
	})
}

// legacy has OAuth 2 alone: endpoints are written down, and a profile is what the
// userinfo endpoint says.
func legacy(at string, o latchkey.OAuth) *latchkey.OAuth {
	return o.Or(latchkey.OAuth{
		ID:            "legacy",
		Name:          "Legacy",
		Issuer:        at, // compared, should an answer name it (RFC 9207)
		Authorization: latchkey.Endpoint{URL: at + "/authorize"},
		Token:         latchkey.Endpoint{URL: at + "/token"},
		UserInfo:      latchkey.Endpoint{URL: at + "/userinfo"},
		Scopes:        []string{"profile"},
		ClientAuth:    latchkey.ClientSecretPost,
		Identify:      identify,
	})
}

// identify says what a profile means. Without a subject that never changes no user is
// known again, so there is no sign-in.
func identify(g latchkey.Grant) (latchkey.Identity, error) {
	id := latchkey.Identity{
		Subject: g.Profile.String("employee_number"),
		Name:    g.Profile.String("display_name", "login"),
		Email:   g.Profile.String("mail"),
	}
	if id.Subject == "" {
		return id, errors.New("the profile has no employee_number")
	}
	return id, nil
}

func newSite(c latchkey.Config) (http.Handler, error) {
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	return auth.Middleware(auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s (%s)", s.User.Name, s.User.Email)
	}))), nil
}
