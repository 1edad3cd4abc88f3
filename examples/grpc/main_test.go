package main

import (
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestServer(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com"})
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Session:   latchkey.SessionConfig{Bearer: true},
		Providers: []latchkey.Provider{issuer.Provider()},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(auth)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	call := func(token string) (string, error) {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
		name := new(wrapperspb.StringValue)
		err := conn.Invoke(ctx, whoAmI, &emptypb.Empty{}, name)
		return name.Value, err
	}
	if _, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Errorf("a probe: %v", err)
	}
	if _, err := call("nonsense"); status.Code(err) != codes.Unauthenticated {
		t.Errorf("nonsense: %v", err)
	}

	browser := latchkeytest.NewClient(t, newSite(auth))
	if p := browser.Post("/token", nil); p.Status != 401 {
		t.Errorf("a token for nobody: %d", p.Status)
	}
	browser.SignIn(issuer)
	token := strings.TrimSpace(string(browser.Post("/token", nil).Body))
	if name, err := call(token); name != "Ada" || err != nil {
		t.Errorf("Ada: %q, %v", name, err)
	}
}
