package latchkey_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/providers"
)

// The first program: sign in with GitHub, greet who comes. It takes its keys
// from AUTH_GITHUB_ID, AUTH_GITHUB_SECRET and AUTH_SECRET, and the site's
// address from AUTH_URL.
func Example() {
	auth, err := latchkey.New(latchkey.Config{
		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{})},
	})
	if err != nil {
		log.Println(err) // every fault, each with its cure
		return
	}
	home := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, _ := latchkey.SessionFrom(r.Context())
		fmt.Fprintf(w, "Hello, %s", s.User.Name)
	})
	http.Handle("/auth/", auth)
	http.Handle("/", auth.RequireSession(home))
	log.Println(http.ListenAndServe("localhost:3000", nil))
}

// A provider of one's own is the same struct that package providers fills in.
func ExampleOAuth() {
	acme := &latchkey.OAuth{
		ID:     "acme", // AUTH_ACME_ID, AUTH_ACME_SECRET
		Name:   "Acme",
		OIDC:   true,
		Issuer: "https://id.acme.example", // endpoints and keys are discovered here
		Identify: func(g latchkey.Grant) (latchkey.Identity, error) {
			return latchkey.Identity{
				Subject: g.Profile.String("sub"),
				Name:    g.Profile.String("display_name", "email"),
				Email:   g.Profile.String("email"),
			}, nil
		},
	}
	_, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Providers: []latchkey.Provider{acme},
	})
	fmt.Println(errors.Is(err, latchkey.ErrInvalidEndpoints)) // the client id is missing
	// Output: true
}

// Callbacks decide who comes in and what a session holds.
func ExampleCallbacks() {
	_ = latchkey.Callbacks{
		SignIn: func(_ context.Context, a latchkey.SignInAttempt) error {
			switch {
			case !strings.HasSuffix(a.User.Email, "@acme.example"):
				return latchkey.ErrAccessDenied
			case a.User.Name == "":
				return latchkey.RedirectTo("/complete-your-profile")
			}
			return nil
		},
		Token: func(_ context.Context, t latchkey.TokenUpdate) (latchkey.Claims, error) {
			if t.Trigger == latchkey.TriggerSignIn || t.Trigger == latchkey.TriggerSignUp {
				t.Claims["role"] = roleOf(t.User.ID)
			}
			return t.Claims, nil
		},
		Session: func(_ context.Context, r latchkey.SessionRead) (*latchkey.Session, error) {
			role, err := latchkey.Value[string](r.Claims, "role")
			if err != nil {
				return nil, err
			}
			r.Session.Extra = map[string]any{"role": role}
			return r.Session, nil
		},
	}
}

func roleOf(string) string { return "editor" }

// Value reads what callbacks have added to a session, without type assertions.
func ExampleValue() {
	type address struct{ City, Street string }
	s := latchkey.Session{Extra: map[string]any{
		"role":    "editor",
		"address": map[string]any{"City": "Turin", "Street": "Via Po"},
	}}
	role, _ := latchkey.Value[string](s.Extra, "role")
	home, _ := latchkey.Value[address](s.Extra, "address")
	_, err := latchkey.Value[int](s.Extra, "role")
	fmt.Println(role, home.City, err)
	// Output: editor Turin latchkey: "role" holds a string, which does not fit in a int
}

// A guard with a say of its own.
func ExampleAuth_Authorize() {
	auth := exampleAuth()
	editors := auth.Authorize(func(_ context.Context, s *latchkey.Session, _ *http.Request) error {
		if s == nil {
			return latchkey.ErrNoSession // to the sign-in page, and back here afterwards
		}
		if role, _ := latchkey.Value[string](s.Extra, "role"); role != "editor" {
			return latchkey.RedirectTo("/ask-for-access")
		}
		return nil
	})
	site := editors(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "edit") }))

	answer := httptest.NewRecorder()
	site.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/edit", nil))
	fmt.Println(answer.Code, answer.Header().Get("Location"))
	// Output: 302 https://app.example/auth/signin?callbackUrl=https%3A%2F%2Fapp.example%2Fedit
}

// One middleware for a whole site: Latchkey's routes are answered, everything
// else is passed on with the session in its context.
func ExampleAuth_Middleware() {
	site := exampleAuth().Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s, ok := latchkey.SessionFrom(r.Context()); ok {
			fmt.Fprintf(w, "Hello, %s", s.User.Name)
			return
		}
		fmt.Fprint(w, "Hello, stranger")
	}))
	for _, path := range []string{"/", "/auth/session"} {
		answer := httptest.NewRecorder()
		site.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(answer.Body)
	}
	// Output:
	// Hello, stranger
	// null
}

// The application's own form signs in through SignIn and shows what went wrong.
func ExampleAuth_SignIn() {
	auth := exampleAuth()
	_ = func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			http.Error(w, "bad form", http.StatusBadRequest)
			return
		}
		_, err := auth.SignIn(w, r, "credentials", latchkey.SignInOptions{Form: r.PostForm, RedirectTo: "/"}, nil)
		if errors.Is(err, latchkey.ErrCredentialsSignin) {
			http.Error(w, "Wrong name or password.", http.StatusForbidden)
		}
	}
}

// Magic links need an Adapter to keep their hashes, and something to send mail with.
func ExampleEmail() {
	auth, err := latchkey.New(latchkey.Config{
		Site:    latchkey.Site{URL: "https://app.example"},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Adapter: memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{&latchkey.Email{
			Send: func(_ context.Context, l latchkey.SignInLink) error {
				fmt.Fprintln(os.Stderr, "mail to", l.To, ":", l.URL)
				return nil
			},
		}},
	})
	fmt.Println(auth != nil, err)
	// Output: true <nil>
}

// Each tenant has a configuration of its own.
func ExampleNewFunc() {
	tenants := map[string]*latchkey.Config{
		"a.example": {Site: latchkey.Site{URL: "https://a.example"}, Secrets: []string{"the first tenant's secret, long enough"}},
		"b.example": {Site: latchkey.Site{URL: "https://b.example"}, Secrets: []string{"the other tenant's secret, long enough"}},
	}
	auth := latchkey.NewFunc(func(_ context.Context, r *latchkey.Request) (*latchkey.Config, error) {
		c, ok := tenants[r.Host]
		if !ok {
			return nil, fmt.Errorf("no such tenant: %q", r.Host)
		}
		return c, nil // the same pointer each time: it is prepared once
	})
	r := httptest.NewRequest(http.MethodGet, "/auth/providers", nil)
	r.Host = "a.example"
	answer := httptest.NewRecorder()
	auth.ServeHTTP(answer, r)
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 {}
}

func exampleAuth() *latchkey.Auth {
	auth, err := latchkey.New(latchkey.Config{
		Site:    latchkey.Site{URL: "https://app.example"},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Runtime: latchkey.Runtime{Logger: quiet},
		Providers: []latchkey.Provider{&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (*latchkey.User, error) {
				if typed["username"] != "ada" || typed["password"] != "lovelace" {
					return nil, nil // back to the form; the visitor is not told which was wrong
				}
				return &latchkey.User{ID: "1", Name: "Ada"}, nil
			},
		}},
	})
	if err != nil {
		panic(err)
	}
	return auth
}
