package oauth_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/latchkeyhq/latchkey/internal/oauth"
)

// One sign-in at a plain OAuth provider, from the redirect to the profile.
func Example() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/token":
			fmt.Fprint(w, `{"access_token":"opaque","token_type":"Bearer"}`)
		case "/me":
			fmt.Fprint(w, `{"id":7,"name":"Ada"}`)
		}
	}))
	defer provider.Close()

	client, err := oauth.New(oauth.Config{
		ClientID:      "my-app",
		ClientSecret:  func(context.Context) (string, error) { return "from the vault", nil },
		Authorization: oauth.Endpoint{URL: provider.URL + "/authorize"},
		Token:         oauth.Endpoint{URL: provider.URL + "/token"},
		UserInfo:      oauth.Endpoint{URL: provider.URL + "/me"},
		Scopes:        []string{"profile"},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()

	const redirectURI = "https://app.example/callback"
	verifier, state := oauth.NewVerifier(), oauth.NewVerifier()
	endpoint, err := client.AuthorizationURL(ctx, oauth.AuthRequest{RedirectURI: redirectURI, State: state, Verifier: verifier})
	if err != nil {
		log.Fatal(err)
	}
	u, _ := url.Parse(endpoint)
	fmt.Println("ask for", u.Query().Get("scope"), "with", u.Query().Get("code_challenge_method"))

	// The browser comes back.
	back, err := oauth.ParseCallback(url.Values{"code": {"c"}, "state": {state}})
	if err != nil || back.State != state {
		log.Fatal("not the sign-in that was begun here")
	}
	if err := client.CheckResponse(ctx, back); err != nil {
		log.Fatal(err)
	}
	token, err := client.Exchange(ctx, back.Code, redirectURI, verifier, nil)
	if err != nil {
		log.Fatal(err)
	}
	profile, err := client.UserInfo(ctx, token.AccessToken, "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("hello", profile["name"], profile["id"])
	// Output:
	// ask for profile with S256
	// hello Ada 7
}
