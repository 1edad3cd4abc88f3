package connectauth_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/connectauth"
)

const hello = "/acme.v1.Greeter/Hello"

func exampleAuth() *latchkey.Auth {
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for examples, long enough"},
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

func greet(ctx context.Context, _ *connect.Request[emptypb.Empty]) (*connect.Response[wrapperspb.StringValue], error) {
	name := "stranger"
	if s := latchkey.SessionFrom(ctx); s != nil {
		name = s.User.Name
	}
	return connect.NewResponse(wrapperspb.String("Hello, " + name)), nil
}

// serve is a procedure behind an interceptor, and what a caller without a session
// gets.
func serve(interceptor connect.Interceptor) (string, error) {
	site := http.NewServeMux()
	site.Handle(hello, connect.NewUnaryHandler(hello, greet, connect.WithInterceptors(interceptor)))
	srv := httptest.NewServer(site)
	defer srv.Close()
	client := connect.NewClient[emptypb.Empty, wrapperspb.StringValue](srv.Client(), srv.URL+hello)
	res, err := client.CallUnary(context.Background(), connect.NewRequest(&emptypb.Empty{}))
	if err != nil {
		return "", err
	}
	return res.Msg.Value, nil
}

// Every procedure is for people who are signed in, but for those that are named.
func ExampleAuth_RequireSession() {
	sessions := connectauth.New(exampleAuth())
	_, err := serve(sessions.RequireSession())
	fmt.Println(err)
	said, err := serve(sessions.RequireSession("/acme.v1.Greeter/")) // a whole service
	fmt.Println(said, err)
	// Output:
	// unauthenticated: Sign in to call this.
	// Hello, stranger <nil>
}

// A policy for each procedure.
func ExampleAuth_Authorize() {
	sessions := connectauth.New(exampleAuth())
	_, err := serve(sessions.Authorize(func(_ context.Context, procedure string, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession
		}
		if procedure == "/acme.v1.Admin/Delete" && s.Extra.String("role") != "admin" {
			return latchkey.ErrAccessDenied
		}
		return nil
	}))
	fmt.Println(connect.CodeOf(err))
	// Output: unauthenticated
}

// Everybody may call, and procedures know who does.
func ExampleAuth_LoadSession() {
	said, err := serve(connectauth.New(exampleAuth()).LoadSession())
	fmt.Println(said, err)
	// Output: Hello, stranger <nil>
}
