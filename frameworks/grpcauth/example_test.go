package grpcauth_test

import (
	"context"
	"fmt"
	"log"

	"google.golang.org/grpc"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/grpcauth"
)

func exampleAuth() *latchkey.Auth {
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{URL: "https://app.example"}, Secrets: []string{"a secret for examples, long enough"},
		Session: latchkey.SessionConfig{Bearer: true},
		Providers: []latchkey.Provider{&latchkey.OAuth{
			ID: "acme", ClientID: "id", ClientSecret: "secret",
			Authorization: latchkey.Endpoint{URL: "https://id.acme.example/authorize"},
			Token:         latchkey.Endpoint{URL: "https://id.acme.example/token"},
			UserInfo:      latchkey.Endpoint{URL: "https://id.acme.example/me"},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	return auth
}

// Every method is for people who are signed in, but for those that are named.
func ExampleAuth_RequireSession() {
	guard := grpcauth.New(exampleAuth()).RequireSession("/grpc.health.v1.Health/")
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(guard.Unary), grpc.ChainStreamInterceptor(guard.Stream))
	defer server.Stop()
	for _, method := range []string{"/grpc.health.v1.Health/Check", "/acme.v1.Notes/List"} {
		_, err := guard.Unary(context.Background(), nil, &grpc.UnaryServerInfo{FullMethod: method}, func(context.Context, any) (any, error) { return "served", nil })
		fmt.Println(method, err)
	}
	// Output:
	// /grpc.health.v1.Health/Check <nil>
	// /acme.v1.Notes/List Sign in to call this.
}

// A policy for each method.
func ExampleAuth_Authorize() {
	guard := grpcauth.New(exampleAuth()).Authorize(func(_ context.Context, method string, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession
		}
		if method == "/acme.v1.Admin/Delete" && s.Extra.String("role") != "admin" {
			return latchkey.ErrAccessDenied
		}
		return nil
	})
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(guard.Unary), grpc.ChainStreamInterceptor(guard.Stream))
	defer server.Stop()
}

// Everybody may call, and methods know who does.
func ExampleAuth_LoadSession() {
	guard := grpcauth.New(exampleAuth()).LoadSession()
	hello := func(ctx context.Context, _ any) (any, error) {
		if s := latchkey.SessionFrom(ctx); s != nil {
			return "Hello, " + s.User.Name, nil
		}
		return "Hello, stranger", nil
	}
	said, err := guard.Unary(context.Background(), nil, &grpc.UnaryServerInfo{FullMethod: "/acme.v1.Greeter/Hello"}, hello)
	fmt.Println(said, err)
	// Output: Hello, stranger <nil>
}
