// Command tenants is two sites in one program that share nothing, at
// http://red.localhost:3000 and http://blue.localhost:3000. Links are printed
// instead of sent.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

func main() {
	hosts := map[string]string{"red.localhost:3000": "red", "blue.localhost:3000": "blue"}
	site, err := newSite(hosts, func(tenant string) *latchkey.Config {
		return &latchkey.Config{
			Site:    latchkey.Site{URL: "http://" + tenant + ".localhost:3000"},
			Secrets: []string{rand.Text() + rand.Text()}, // for this run; keep them with the tenant
			Adapter: memoryadapter.New(memoryadapter.Options{}),
			Providers: []latchkey.Provider{&latchkey.Email{
				Send: func(_ context.Context, m latchkey.Message) error {
					fmt.Println("Open", m.URL)
					return nil
				},
			}},
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

// newSite is all tenants. hosts has the tenant of each host, and configure makes the
// Config of one, once.
func newSite(hosts map[string]string, configure func(tenant string) *latchkey.Config) (http.Handler, error) {
	auth, err := latchkey.NewTenants(latchkey.Tenants{
		Name: func(_ context.Context, r *latchkey.Request) (string, error) {
			if tenant, ok := hosts[r.Host]; ok {
				return tenant, nil
			}
			return "", fmt.Errorf("no site is called %q: %w", r.Host, latchkey.ErrNotFound)
		},
		Config: func(_ context.Context, tenant string) (*latchkey.Config, error) { return configure(tenant), nil },
	})
	if err != nil {
		return nil, err
	}
	home := func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s, at %s", s.User.Email, s.Tenant)
	}
	return auth.Middleware(auth.RequireSession(http.HandlerFunc(home))), nil
}
