// A Connect service: procedures for who is signed in, one for everybody, and one
// for some. See docs/frameworks.md.
package main

import (
	"context"
	"crypto/rand"
	"log"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frameworks/connectauth"
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
	server := http.Server{Addr: "localhost:3000", Handler: site, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true) // which gRPC clients speak
	log.Fatal(server.ListenAndServe())
}

// The procedures. With a .proto these names are generated.
const (
	version = "/notes.v1.Notes/Version"
	whoAmI  = "/notes.v1.Notes/WhoAmI"
	count   = "/notes.v1.Notes/Count"
	erase   = "/notes.v1.Notes/Erase"
)

func newSite(c latchkey.Config) (http.Handler, error) {
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	guard := connect.WithInterceptors(connectauth.New(auth).Authorize(mayCall, version))
	site := http.NewServeMux()
	site.Handle("/auth/", auth)
	site.Handle(version, connect.NewUnaryHandler(version, sayVersion, guard))
	site.Handle(whoAmI, connect.NewUnaryHandler(whoAmI, sayName, guard))
	site.Handle(count, connect.NewServerStreamHandler(count, countForever, guard))
	site.Handle(erase, connect.NewUnaryHandler(erase, sayVersion, guard))
	protection := http.NewCrossOriginProtection() // pages of other sites cannot call
	protection.AddInsecureBypassPattern("/auth/") // has a protection of its own, and takes posts of providers
	return protection.Handler(site), nil
}

// mayCall is the policy: a session for everything, and no caller erases.
func mayCall(_ context.Context, procedure string, s *latchkey.Session) error {
	switch {
	case s == nil:
		return latchkey.ErrNoSession
	case procedure == erase:
		return latchkey.ErrAccessDenied
	}
	return nil
}

func sayVersion(context.Context, *connect.Request[emptypb.Empty]) (*connect.Response[wrapperspb.StringValue], error) {
	return connect.NewResponse(wrapperspb.String("1.0")), nil
}

func sayName(ctx context.Context, _ *connect.Request[emptypb.Empty]) (*connect.Response[wrapperspb.StringValue], error) {
	s := latchkey.SessionFrom(ctx)
	return connect.NewResponse(wrapperspb.String(s.User.Name)), nil
}

// countForever streams until it is enough.
func countForever(_ context.Context, to *connect.Request[wrapperspb.Int32Value], stream *connect.ServerStream[wrapperspb.Int32Value]) error {
	for i := range to.Msg.Value {
		if err := stream.Send(wrapperspb.Int32(i + 1)); err != nil {
			return err
		}
	}
	return nil
}
