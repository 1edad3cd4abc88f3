package ui_test

import (
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
	"github.com/latchkeyhq/latchkey/ui"
)

var exampleHome = template.Must(template.New("home").Parse(`<body>
{{.SignIn "github" "signInPage" "/signin" "redirectTo" "/shop" "authorizationParams-prompt" "login" "submitButton" "Come in"}}
{{with .SignInSlot "github"}}{{.Open}}<button><img src="/octocat.svg" alt="GitHub"></button>{{.Close}}{{end}}
{{.SignOut "signOutPage" "/signout" "redirectTo" "/" "submitButton" "Leave"}}
{{with .SignOutSlot}}{{.Open}}<button>A button of my own</button>{{.Close}}{{end}}
`))

// The components of a page: a form that signs in with one provider, one that signs
// out, and both with buttons of the page's own.
func ExamplePage() {
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	home := func(w http.ResponseWriter, r *http.Request) {
		parts, err := ui.New(auth, w, r) // before the body: it may set a cookie
		if err != nil {
			http.Error(w, "Try again later.", http.StatusInternalServerError)
			return
		}
		_ = exampleHome.Execute(w, parts)
	}
	answer := httptest.NewRecorder()
	home(answer, httptest.NewRequest(http.MethodGet, "/", nil))
	page := answer.Body.String()
	for _, part := range []string{`action="/signin"`, `action="https://app.example/auth/signin/github"`, `action="/signout"`, "Come in", "/octocat.svg", "Leave", "A button of my own"} {
		fmt.Println(part, strings.Contains(page, part))
	}
	// Output:
	// action="/signin" true
	// action="https://app.example/auth/signin/github" true
	// action="/signout" true
	// Come in true
	// /octocat.svg true
	// Leave true
	// A button of my own true
}
