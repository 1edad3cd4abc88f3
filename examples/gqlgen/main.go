// A GraphQL server made by gqlgen: resolvers know who asks. See
// docs/frameworks.md.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log"
	"net/http"
	"sync"

	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/transport"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/examples/gqlgen/graph"
)

//go:generate go tool gqlgen generate

func main() {
	site, err := newSite(latchkey.Config{
		Site:    latchkey.Site{URL: "http://localhost:3000"},
		Secrets: []string{rand.Text() + rand.Text()}, // for this run; yours is AUTH_SECRET
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
	server := handler.New(graph.NewExecutableSchema(graph.Config{Resolvers: &resolvers{}}))
	server.AddTransport(transport.POST{})
	site := http.NewServeMux()
	site.Handle("POST /query", http.NewCrossOriginProtection().Handler(server)) // other sites' pages cannot ask
	return auth.Middleware(site), nil                                           // the routes, and the session for all others
}

// resolvers ask the context who is there; a query that asks for public data
// costs no look at a session.
type resolvers struct {
	mu    sync.Mutex
	notes map[string][]string // by user id
}

var errSignIn = errors.New("sign in first")

func (r *resolvers) Query() graph.QueryResolver       { return r }
func (r *resolvers) Mutation() graph.MutationResolver { return r }

func (*resolvers) Version(context.Context) (string, error) { return "1.0", nil }

func (*resolvers) Me(ctx context.Context) (*graph.User, error) {
	s := latchkey.SessionFrom(ctx)
	if s == nil {
		return nil, errSignIn
	}
	return &graph.User{Name: s.User.Name}, nil
}

func (r *resolvers) Notes(ctx context.Context) ([]string, error) {
	s := latchkey.SessionFrom(ctx)
	if s == nil {
		return nil, errSignIn
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notes[s.UserID], nil
}

func (r *resolvers) AddNote(ctx context.Context, text string) ([]string, error) {
	s := latchkey.SessionFrom(ctx)
	if s == nil {
		return nil, errSignIn
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.notes == nil {
		r.notes = map[string][]string{}
	}
	r.notes[s.UserID] = append(r.notes[s.UserID], text)
	return r.notes[s.UserID], nil
}
