// An API with Huma: the security of an operation is what it says in its OpenAPI
// description, and what a middleware holds it to. See docs/frameworks.md.
package main

import (
	"context"
	"crypto/rand"
	"log"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/latchkeyhq/latchkey"
)

func main() {
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
		Session: latchkey.SessionConfig{Bearer: true},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if typed["name"] != "ada" || typed["password"] != "lovelace" {
					return latchkey.User{}, latchkey.ErrCredentialsSignin
				}
				return latchkey.User{ID: "1", Name: "Ada"}, nil
			},
		}},
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
	site := http.NewServeMux()
	config := huma.DefaultConfig("Notes", "1.0") // also /openapi.json and /docs
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"session": {Type: "apiKey", In: "cookie", Name: "authjs.session-token"},
		"bearer":  {Type: "http", Scheme: "bearer"},
	}
	api := humago.New(site, config)
	api.UseMiddleware(requireSession(api))
	huma.Register(api, huma.Operation{OperationID: "version", Method: http.MethodGet, Path: "/api/version"}, version)
	huma.Register(api, huma.Operation{OperationID: "me", Method: http.MethodGet, Path: "/api/me", Security: members}, me)
	return auth.Middleware(http.NewCrossOriginProtection().Handler(site)), nil // the routes, and the session for all others
}

// members: a session, by cookie or by bearer token.
var members = []map[string][]string{{"session": {}}, {"bearer": {}}}

// requireSession refuses requests without a session for operations that have a security.
func requireSession(api huma.API) func(huma.Context, func(huma.Context)) {
	return func(c huma.Context, next func(huma.Context)) {
		if latchkey.SessionFrom(c.Context()) == nil && len(c.Operation().Security) > 0 {
			c.SetHeader("WWW-Authenticate", "Bearer realm=\"notes\"")
			_ = huma.WriteErr(api, c, http.StatusUnauthorized, "sign in first") // the client is gone
			return
		}
		next(c)
	}
}

type named struct {
	Body struct {
		Name string `json:"name"`
	}
}

func version(context.Context, *struct{}) (*named, error) {
	out := &named{}
	out.Body.Name = "1.0"
	return out, nil
}

func me(ctx context.Context, _ *struct{}) (*named, error) {
	s := latchkey.SessionFrom(ctx)
	out := &named{}
	out.Body.Name = s.User.Name
	return out, nil
}
