package latchkeytest_test

import (
	"fmt"
	"log"
	"net/http"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// newApp is the application under test: it greets whoever is signed in.
func newApp(p latchkey.Provider) (http.Handler, error) {
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{p},
		Secrets:   []string{"a secret of a good length for all tests"},
		Site:      latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s", s.User.Name)
	})))
	return mux, nil
}

func ExampleNewIssuer() {
	_ = func(t *testing.T) { // a test of your own
		issuer := latchkeytest.NewIssuer(t)
		issuer.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace"})
		app, err := newApp(issuer.Provider())
		if err != nil {
			t.Fatal(err)
		}
		browser := latchkeytest.NewClient(t, app)
		browser.SignIn(issuer)
		if page := browser.Get("/"); string(page.Body) != "Hello, Grace" {
			t.Errorf("greeted with %s", page.Body)
		}
	}
}

func ExampleIssuer_Misbehave() {
	_ = func(t *testing.T) { // a token for somebody else must not sign anybody in
		issuer := latchkeytest.NewIssuer(t)
		issuer.Misbehave(latchkeytest.Misbehaviour{
			IDToken: func(claims map[string]any) { claims["aud"] = "another client" },
		})
		app, err := newApp(issuer.Provider())
		if err != nil {
			t.Fatal(err)
		}
		browser := latchkeytest.NewClient(t, app)
		browser.TrySignIn(issuer)
		if browser.Session() != nil || issuer.Count(latchkeytest.PathUserInfo) != 0 {
			t.Error("the token was believed")
		}
	}
}

// Outside a test: a provider for a demonstration, at which users choose who
// they are.
func ExampleStartIssuer() {
	issuer, err := latchkeytest.StartIssuer(latchkeytest.IssuerConfig{
		Algorithm: "ES256",
		People:    []latchkeytest.Person{{Subject: "ada", Name: "Ada"}, {Subject: "grace", Name: "Grace"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer issuer.Close()
	app, err := newApp(issuer.Provider())
	fmt.Println(app != nil, err)
	// Output: true <nil>
}

func TestExample(t *testing.T) {
	issuer := latchkeytest.NewIssuer(t)
	issuer.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace"})
	app, err := newApp(issuer.Provider())
	if err != nil {
		t.Fatal(err)
	}
	browser := latchkeytest.NewClient(t, app)
	if page := browser.Get("/"); page.Location() == nil || page.Location().Path != "/auth/signin" {
		t.Errorf("a stranger was sent to %v", page.Location())
	}
	browser.SignIn(issuer)
	if page := browser.Get("/"); string(page.Body) != "Hello, Grace" {
		t.Errorf("greeted with %s", page.Body)
	}
}
