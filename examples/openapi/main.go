// An API that is generated from its OpenAPI description: what needs a session is
// said there. See docs/frameworks.md.
package main

import (
	"context"
	"crypto/rand"
	"log"
	"net/http"

	"github.com/latchkeyhq/latchkey"
)

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.yaml

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
	guard := auth.Authorize(func(r *http.Request, s *latchkey.Session) error {
		if s != nil || r.URL.Path == "/api/version" { // whose security is empty in openapi.yaml
			return nil
		}
		return unauthorized()
	})
	site := http.NewServeMux()
	HandlerFromMux(NewStrictHandler(api{}, nil), site)
	return auth.Middleware(http.NewCrossOriginProtection().Handler(guard(site))), nil
}

// unauthorized is the answer that openapi.yaml promises.
func unauthorized() error {
	return latchkey.RespondWith(&latchkey.Response{Status: http.StatusUnauthorized})
}

// api is what the generated server calls.
type api struct{}

func (api) GetVersion(context.Context, GetVersionRequestObject) (GetVersionResponseObject, error) {
	return GetVersion200JSONResponse{Version: "1.0"}, nil
}

func (api) GetMe(ctx context.Context, _ GetMeRequestObject) (GetMeResponseObject, error) {
	s := latchkey.SessionFrom(ctx)
	if s == nil {
		return GetMe401Response{}, nil
	}
	return GetMe200JSONResponse{Name: s.User.Name}, nil
}
