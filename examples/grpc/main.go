// A gRPC server that knows who calls. People sign in over HTTP, where a page of
// theirs gives them a token for the command line. See docs/frameworks.md.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log"
	"net"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/grpcauth"
)

func main() {
	auth, err := latchkey.New(latchkey.Config{
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
	listener, err := net.Listen("tcp", "localhost:3001")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(newServer(auth).Serve(listener)) }()
	log.Fatal(http.ListenAndServe("localhost:3000", newSite(auth)))
}

// newServer lets only people who are signed in call, but for probes and tools.
func newServer(auth *latchkey.Auth) *grpc.Server {
	guard := grpcauth.New(auth).RequireSession("/grpc.health.v1.Health/", "/grpc.reflection.v1.ServerReflection/")
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(guard.Unary), grpc.ChainStreamInterceptor(guard.Stream))
	server.RegisterService(&notesService, notes{})
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	return server
}

type notes struct{}

func (notes) WhoAmI(ctx context.Context, _ *emptypb.Empty) (*wrapperspb.StringValue, error) {
	s := latchkey.SessionFrom(ctx)
	return wrapperspb.String(s.User.Name), nil
}

// newSite is where people sign in, and get a token to paste into a terminal. An
// app that can listen for its answer uses a code instead: see docs/bearer.md.
func newSite(auth *latchkey.Auth) http.Handler {
	site := http.NewServeMux()
	site.Handle("GET /{$}", auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, `<!doctype html><html lang="en"><title>Notes</title><form method="post" action="/token"><button>Get a token</button></form>`)
	})))
	site.Handle("POST /token", http.NewCrossOriginProtection().Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verifier := rand.Text() + rand.Text() // of the person themselves: code and token stay in this answer
		hash := sha256.Sum256([]byte(verifier))
		code, err := auth.BearerCode(r, base64.RawURLEncoding.EncodeToString(hash[:]))
		if err != nil {
			http.Error(w, "Sign in first.", http.StatusUnauthorized)
			return
		}
		token, _, err := auth.BearerToken(r, code, verifier)
		if err != nil {
			http.Error(w, "Try again.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		_, _ = fmt.Fprintln(w, token)
	})))
	return auth.Middleware(site)
}
