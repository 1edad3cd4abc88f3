package latchkey_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/providers"
)

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
				// Not proven unless the profile says so: email_verified.
				EmailTrust: latchkey.EmailTrustUnknown,
			}, nil
		},
		// The secret is made when it is needed, and may be fetched from somewhere.
		NewClientSecret: func(_ context.Context, now time.Time) (string, error) {
			return os.Getenv("ACME_SECRET_OF_" + now.Format("2006")), nil
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

// Value reads what callbacks have added to a session, without type assertions.
func ExampleValue() {
	type address struct{ City, Street string }
	s := latchkey.Session{Extra: latchkey.Claims{
		"role":    "editor",
		"address": map[string]any{"City": "Turin", "Street": "Via Po"},
	}}
	home, _ := latchkey.Value[address](s.Extra, "address")
	_, err := latchkey.Value[int](s.Extra, "role")
	fmt.Println(s.Extra.String("role"), home.City, err)
	_, err = latchkey.Value[string](s.Extra, "team")
	fmt.Println(errors.Is(err, latchkey.ErrNoValue))
	// Output:
	// editor Turin latchkey: "role" holds a string, which does not fit in a int
	// true
}

// A guard with a say of its own.
func ExampleAuth_Authorize() {
	auth := exampleAuth()
	editors := auth.Authorize(func(_ *http.Request, s *latchkey.Session) error {
		if s == nil {
			return latchkey.ErrNoSession // to the sign-in page, and back here afterwards
		}
		if s.Extra.String("role") != "editor" {
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
		if s := latchkey.SessionFrom(r.Context()); s != nil {
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
// It carries a token, which SignIn checks: otherwise a page of another site
// could sign your visitors in to an account of its own.
func ExampleAuth_SignIn() {
	auth := exampleAuth()
	form := func(w http.ResponseWriter, r *http.Request, status int, message string) {
		token, err := auth.CSRFToken(w, r) // sets a cookie, so before the body
		if err != nil {
			http.Error(w, "out of order", http.StatusInternalServerError)
			return
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `%s<form method="post"><input type="hidden" name="csrfToken" value="%s">…</form>`, message, token)
	}
	login := func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			form(w, r, http.StatusOK, "")
			return
		}
		if err := r.ParseForm(); err != nil {
			form(w, r, http.StatusBadRequest, "That was no form.")
			return
		}
		err := auth.SignIn(w, r, "credentials", latchkey.SignInOptions{Form: r.PostForm, RedirectTo: "/"})
		switch {
		case err == nil: // the browser is on its way
		case errors.Is(err, latchkey.ErrCredentialsSignin):
			form(w, r, http.StatusForbidden, "Wrong name or password.")
		case errors.Is(err, latchkey.ErrMissingCSRF): // another site's, or open since yesterday
			form(w, r, http.StatusForbidden, "Please send the form again.")
		default: // it has been logged
			form(w, r, http.StatusInternalServerError, "Signing in does not work right now.")
		}
	}

	for _, from := range []string{"same-origin", "cross-site"} {
		r := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader("username=ada&password=lovelace"))
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {from}}
		answer := httptest.NewRecorder()
		login(answer, r)
		fmt.Println(from, answer.Code, answer.Header().Get("Location"))
	}
	// Output:
	// same-origin 302 https://app.example/
	// cross-site 403
}

// A handler of the application's own signs out and redirects.
func ExampleAuth_SignOut() {
	auth := exampleAuth()
	handler := func(w http.ResponseWriter, r *http.Request) {
		if err := auth.SignOut(w, r, latchkey.SignOutOptions{RedirectTo: "/goodbye"}); err != nil {
			http.Error(w, "still signed in", http.StatusInternalServerError)
		}
	}
	answer := httptest.NewRecorder()
	handler(answer, httptest.NewRequest(http.MethodPost, "/leave", nil))
	fmt.Println(answer.Code, answer.Header().Get("Location"))
	// Output: 302 https://app.example/goodbye
}

// A handler that answers a script tells where the sign-out leads, instead of
// redirecting: redirect: false.
func ExampleAuth_SignOutURL() {
	auth := exampleAuth()
	handler := func(w http.ResponseWriter, r *http.Request) {
		to, err := auth.SignOutURL(w, r, latchkey.SignOutOptions{RedirectTo: "/goodbye"})
		if err != nil {
			http.Error(w, "still signed in", http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "Go to %s", to)
	}
	answer := httptest.NewRecorder()
	handler(answer, httptest.NewRequest(http.MethodPost, "/leave", nil))
	fmt.Println(answer.Body)
	// Output: Go to https://app.example/goodbye
}

// Magic links need an Adapter to keep their hashes, and something to send mail with.
func ExampleEmail() {
	auth, err := latchkey.New(latchkey.Config{
		Site:    latchkey.Site{URL: "https://app.example"},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Adapter: memoryadapter.New(memoryadapter.Options{}),
		Providers: []latchkey.Provider{&latchkey.Email{
			Send: func(_ context.Context, m latchkey.Message) error {
				fmt.Fprintln(os.Stderr, "mail to", m.To, ":", m.URL)
				return nil
			},
		}},
	})
	fmt.Println(auth != nil, err)
	// Output: true <nil>
}

// Settings that depend on the request: the canary is another configuration.
func ExampleNewFunc() {
	usual := &latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
	}
	canary := *usual
	canary.Hardened = true
	auth, err := latchkey.NewFunc(latchkey.Func{Config: func(_ context.Context, r *latchkey.Request) (*latchkey.Config, error) {
		if r.Header.Get("X-Canary") != "" {
			return &canary, nil
		}
		return usual, nil // the same pointer each time: it is prepared once
	}})
	if err != nil {
		log.Fatal(err)
	}
	answer := httptest.NewRecorder()
	auth.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/auth/session", nil))
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 null
}

// Each tenant has an Adapter and secrets of its own, and so people of its own.
func ExampleNewTenants() {
	secrets := map[string]string{
		"red":  "the output of openssl rand -base64 33",
		"blue": "another output of openssl rand -base64 33",
	}
	auth, err := latchkey.NewTenants(latchkey.Tenants{
		Name: func(_ context.Context, r *latchkey.Request) (string, error) {
			tenant, ok := strings.CutSuffix(r.Host, ".app.example")
			if _, known := secrets[tenant]; !ok || !known {
				return "", fmt.Errorf("no tenant at %q: %w", r.Host, latchkey.ErrNotFound)
			}
			return tenant, nil
		},
		Config: func(_ context.Context, tenant string) (*latchkey.Config, error) { // once for each
			return &latchkey.Config{
				Site:      latchkey.Site{URL: "https://" + tenant + ".app.example"},
				Secrets:   []string{secrets[tenant]},
				Adapter:   memoryadapter.New(memoryadapter.Options{}),
				Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
				Runtime:   latchkey.Runtime{Logger: quiet},
			}, nil
		},
	})
	must(err)
	for _, host := range []string{"red.app.example", "green.app.example"} {
		r := httptest.NewRequest(http.MethodGet, "/auth/session", nil)
		r.Host = host
		answer := httptest.NewRecorder()
		auth.ServeHTTP(answer, r)
		fmt.Println(host, answer.Code)
	}

	// A nightly job has no request, and names the tenant.
	removed, err := auth.Sweep(latchkey.ContextWithTenant(context.Background(), "blue"))
	fmt.Println(removed, err)
	// Output:
	// red.app.example 200
	// green.app.example 404
	// 0 <nil>
}

// Observe hears everything, what failed included, as ids.
func ExampleEvents_observe() {
	failures := map[latchkey.ErrorType]int{}
	var audit []string
	events := latchkey.Events{Observe: func(_ context.Context, e latchkey.Event) error {
		if e.Outcome == event.Failed {
			failures[e.Reason]++ // functions are called concurrently: a real counter has a lock
		}
		audit = append(audit, fmt.Sprintf("%s %s by %s at %s", e.Type, e.Outcome, e.By.Kind, e.Provider))
		return nil
	}}
	site := exampleAuthWith(latchkey.Config{Events: events})
	for _, password := range []string{"byron", "lovelace"} {
		form := url.Values{"username": {"ada"}, "password": {password}}
		err := site.SignIn(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/enter", nil),
			"credentials", latchkey.SignInOptions{Form: form})
		fmt.Println(password, err == nil)
	}
	fmt.Println(strings.Join(audit, "\n"))
	fmt.Println(failures[latchkey.ErrCredentialsSignin])
	// Output:
	// byron false
	// lovelace true
	// sign_in failure by visitor at credentials
	// sign_in success by user at credentials
	// 1
}

// Two sites in one process count tries together.
func ExampleLimits() {
	shared := memoryadapter.NewLimiter(nil) // one that other processes share is an interface of two methods
	limits := latchkey.Limits{Limiter: shared, CredentialsPerAccount: latchkey.Rate{Events: 5, Per: time.Minute}}
	_ = []latchkey.Config{
		{Site: latchkey.Site{URL: "https://app.example"}, Limits: limits},
		{Site: latchkey.Site{URL: "https://shop.example"}, Limits: limits},
	}

	wait, _ := shared.Take(context.Background(), "somebody", latchkey.Rate{Events: 1, Per: time.Minute})
	fmt.Println(wait)
	wait, _ = shared.Take(context.Background(), "somebody", latchkey.Rate{Events: 1, Per: time.Minute})
	fmt.Println(wait > 0)
	// Output:
	// 0s
	// true
}

// quiet writes no log.
var quiet = slog.New(slog.DiscardHandler)

func exampleAuth() *latchkey.Auth { return exampleAuthWith(latchkey.Config{}) }

// exampleAuthWith is a site with c besides.
func exampleAuthWith(c latchkey.Config) *latchkey.Auth {
	c.Site.URL, c.Secrets = "https://app.example", []string{"the output of openssl rand -base64 33"}
	c.Runtime.Logger = quiet
	c.Providers = []latchkey.Provider{&latchkey.Credentials{
		Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}},
		Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
			if typed["username"] != "ada" || typed["password"] != "lovelace" {
				return latchkey.User{}, latchkey.ErrCredentialsSignin // back to the form, which does not tell which was wrong
			}
			return latchkey.User{ID: "1", Name: "Ada"}, nil
		},
	}}
	auth, err := latchkey.New(c)
	must(err)
	return auth
}

// A page tells the browser where the client is: by a name that changes with it.
func ExampleAuth_ClientURL() {
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://shop.example"},
		Secrets:   []string{"a secret of 32 characters or more"},
		Providers: []latchkey.Provider{&latchkey.OAuth{ID: "acme", Name: "Acme", OIDC: true, Issuer: "https://id.acme.example", ClientID: "1", ClientSecret: "2"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	script, err := auth.ClientURL(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.HasPrefix(script.Path, "/auth/client/latchkey-"), strings.HasSuffix(script.Path, ".js"))
	// Output: true true
}
