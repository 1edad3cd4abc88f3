package main

import (
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestService(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com"})
	site, err := newSite(latchkey.Config{
		Site: latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}}, Secrets: []string{"a secret for tests that is long enough"},
		Providers: []latchkey.Provider{issuer.Provider()},
	})
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, site)
	call := func(procedure string) (string, error) {
		client := connect.NewClient[emptypb.Empty, wrapperspb.StringValue](http.DefaultClient, browser.URL+procedure)
		r := connect.NewRequest(&emptypb.Empty{})
		for _, c := range browser.Cookies() {
			r.Header().Add("Cookie", c.Name+"="+c.Value)
		}
		res, err := client.CallUnary(t.Context(), r)
		if err != nil {
			return "", err
		}
		return res.Msg.Value, nil
	}
	if said, err := call(version); said != "1.0" || err != nil {
		t.Errorf("the version: %q, %v", said, err)
	}
	if _, err := call(whoAmI); connect.CodeOf(err) != connect.CodeUnauthenticated {
		t.Errorf("nobody: %v", err)
	}
	browser.SignIn(issuer)
	if name, err := call(whoAmI); name != "Ada" || err != nil {
		t.Errorf("Ada: %q, %v", name, err)
	}
	if _, err := call(erase); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("erasing: %v", err)
	}
	if p := browser.Fetch("POST", whoAmI, map[string]any{}, nil); p.Status != http.StatusOK || !strings.Contains(string(p.Body), "Ada") {
		t.Errorf("from a page: %d %s", p.Status, p.Body)
	}
	if p := browser.Fetch("POST", whoAmI, map[string]any{}, http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}); p.Status != http.StatusForbidden {
		t.Errorf("from a page of another site: %d", p.Status)
	}
	stream, err := connect.NewClient[wrapperspb.Int32Value, wrapperspb.Int32Value](http.DefaultClient, browser.URL+count).CallServerStream(t.Context(), connect.NewRequest(wrapperspb.Int32(3)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	if stream.Receive() || connect.CodeOf(stream.Err()) != connect.CodeUnauthenticated {
		t.Errorf("a stream for nobody: %v", stream.Err())
	}
}
