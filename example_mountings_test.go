package latchkey_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/providers"
)

// Session tells a visitor from a fault, in a handler behind a middleware: what
// auth() is to Auth.js.
func ExampleAuth_Session() {
	auth := exampleAuth()
	profile := auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := auth.Session(r.Context())
		if errors.Is(err, latchkey.ErrNoSession) {
			fmt.Fprint(w, "Hello, stranger")
			return
		}
		if err != nil { // nothing is known: the request is nobody's
			http.Error(w, "Try again later.", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintf(w, "Hello, %s", s.User.Name)
	}))
	for _, r := range []*http.Request{httptest.NewRequest(http.MethodGet, "/profile", nil), signedIn(auth, "/profile")} {
		answer := httptest.NewRecorder()
		profile.ServeHTTP(answer, r)
		fmt.Println(answer.Body)
	}
	// Output:
	// Hello, stranger
	// Hello, Ada
}

// ReadSession needs no middleware in front. It puts the cookie that keeps the
// session alive into the response: auth(request, response).
func ExampleAuth_ReadSession() {
	auth := exampleAuth()
	profile := func(w http.ResponseWriter, r *http.Request) {
		s, err := auth.ReadSession(w, r) // may set a cookie, so before the body
		if err != nil {
			http.Error(w, "Sign in first.", http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, "Hello, %s", s.User.Name)
	}
	answer := httptest.NewRecorder()
	profile(answer, signedIn(auth, "/profile"))
	fmt.Println(answer.Body, answer.Result().Cookies()[0].Expires.After(time.Now()))
	// Output: Hello, Ada true
}

// Handlers behind LoadSession find the session in the context of their request, and
// those that never look cost nothing.
func ExampleAuth_LoadSession() {
	auth := exampleAuth()
	site := auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s := latchkey.SessionFrom(r.Context()); s != nil {
			fmt.Fprintf(w, "Hello, %s", s.User.Name)
		}
	}))
	answer := httptest.NewRecorder()
	site.ServeHTTP(answer, signedIn(auth, "/"))
	fmt.Println(answer.Body)
	// Output: Hello, Ada
}

// Nobody gets past RequireSession without a session: people are led to the sign-in
// page, and scripts are told.
func ExampleAuth_RequireSession() {
	members := exampleAuth().RequireSession(http.NotFoundHandler())
	for _, mode := range []string{"navigate", "cors"} {
		r := httptest.NewRequest(http.MethodGet, "/members", nil)
		r.Header.Set("Sec-Fetch-Mode", mode)
		answer := httptest.NewRecorder()
		members.ServeHTTP(answer, r)
		fmt.Println(mode, answer.Code)
	}
	// Output:
	// navigate 302
	// cors 401
}

// The application changes a session by itself: what unstable_update is to Auth.js.
// The token callback decides what becomes of the data.
func ExampleAuth_UpdateSession() {
	auth := exampleAuthWith(latchkey.Config{Callbacks: latchkey.Callbacks{
		Token: func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
			if name, is := t.Update.(string); is && t.Trigger == latchkey.TriggerUpdate {
				t.Claims["name"] = name
			}
			return t.Claims, nil
		},
	}})
	answer := httptest.NewRecorder()
	s, err := auth.UpdateSession(answer, signedIn(auth, "/rename"), "Countess of Lovelace")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.User.Name, len(answer.Result().Cookies()) > 0)
	// Output: Countess of Lovelace true
}

// A router that knows no prefixes asks whose a request is.
func ExampleAuth_Match() {
	auth := exampleAuth()
	for _, path := range []string{"/auth/session", "/auth/of-the-application", "/"} {
		fmt.Println(path, auth.Match(httptest.NewRequest(http.MethodGet, path, nil)))
	}
	// Output:
	// /auth/session true
	// /auth/of-the-application false
	// / false
}

// The URL to register with a provider.
func ExampleAuth_ActionURL() {
	to, err := exampleAuth().ActionURL(httptest.NewRequest(http.MethodGet, "/", nil), "callback/github")
	fmt.Println(to, err)
	// Output: https://app.example/auth/callback/github <nil>
}

func ExampleIsAction() {
	fmt.Println(latchkey.IsAction("signin"), latchkey.IsAction("login"))
	// Output: true false
}

// The environment of somewhere else: a file, a platform's bindings, a test.
func ExampleConfig_WithEnv() {
	environment := map[string]string{"AUTH_SECRET": "the output of openssl rand -base64 33", "AUTH_URL": "https://app.example/api/auth"}
	c := latchkey.Config{Site: latchkey.Site{SuppressBasePathWarning: true}} // AUTH_URL may say where the routes are
	c = c.WithEnv(func(name string) string { return environment[name] })
	fmt.Println(len(c.Secrets), c.Site.URL, c.Site.BasePath)
	// Output: 1 https://app.example/api/auth /api/auth
}

// A site that comes from SolidStart or Next.js keeps its paths: their prefix is the
// base path.
func ExampleSite() {
	auth := exampleAuthWith(latchkey.Config{Site: latchkey.Site{BasePath: "/api/auth"}})
	site := http.NewServeMux()
	site.Handle("/api/auth/", auth)
	answer := httptest.NewRecorder()
	site.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/auth/session", nil))
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 null
}

// Do hands errors to its caller, who writes the answer: raw, in Auth.js.
func ExampleCore_Do() {
	core := exampleAuth().Core()
	_, err := core.Do(context.Background(), &latchkey.Request{
		Method: http.MethodGet, URL: &url.URL{Path: "/auth/callback/nobody"}, Host: "app.example", Header: http.Header{}, TLS: true,
	})
	var failed *latchkey.Error
	fmt.Println(errors.As(err, &failed))
	// Output: true
}

// A site that protects every post itself, and better, switches the tokens off.
func ExampleSecurity() {
	auth := exampleAuthWith(latchkey.Config{Security: latchkey.Security{SkipCSRFCheck: true}})
	token, err := auth.CSRFToken(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	fmt.Printf("%q %v\n", token, err)
	// Output: "" <nil>
}

// Calls to a provider go through a transport of one's own: customFetch, in Auth.js.
func ExampleOAuth_transport() {
	github := providers.GitHub(latchkey.OAuth{
		Transport: func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				r = r.Clone(r.Context())
				r.Header.Set("User-Agent", "app.example")
				return next.RoundTrip(r)
			})
		},
	})
	fmt.Println(github.ID, github.Transport != nil)
	// Output: github true
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// signedIn is a request of somebody who has just signed in.
func signedIn(auth *latchkey.Auth, path string) *http.Request {
	answer, form := httptest.NewRecorder(), url.Values{"username": {"ada"}, "password": {"lovelace"}}
	err := auth.SignIn(answer, httptest.NewRequest(http.MethodPost, "/enter", nil), "credentials", latchkey.SignInOptions{Form: form})
	must(err)
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for _, c := range answer.Result().Cookies() {
		r.AddCookie(c)
	}
	return r
}

// A handler that answers a script tells it which URL to open, instead of
// redirecting: signIn(provider, { redirect: false }, { prompt: "login" }).
func ExampleAuth_SignInURL() {
	auth, err := latchkey.New(latchkey.Config{
		Site:      latchkey.Site{URL: "https://app.example"},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Providers: []latchkey.Provider{providers.GitHub(latchkey.OAuth{ClientID: "id", ClientSecret: "secret"})},
		Runtime:   latchkey.Runtime{Logger: quiet},
	})
	must(err)
	enter := func(w http.ResponseWriter, r *http.Request) {
		to, err := auth.SignInURL(w, r, "github", latchkey.SignInOptions{
			RedirectTo: "/shop", Params: url.Values{"prompt": {"login"}},
		})
		if err != nil {
			http.Error(w, "Signing in does not work right now.", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, to)
	}
	answer := httptest.NewRecorder()
	enter(answer, httptest.NewRequest(http.MethodPost, "/enter", nil))
	to, err := url.Parse(answer.Body.String())
	must(err)
	fmt.Println(answer.Code, to.Host, to.Query().Get("prompt"))
	// Output: 200 github.com login
}

// A handler decides after it has loaded a document, and answers a refusal as a
// guard would.
func ExampleAuth_WriteError() {
	auth := exampleAuth()
	owners := map[string]string{"7": "1", "8": "2"} // of notes
	show := auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := auth.Session(r.Context())
		if err == nil && owners[r.URL.Query().Get("note")] != s.UserID {
			err = latchkey.ErrAccessDenied
		}
		if err != nil {
			auth.WriteError(w, r, err)
			return
		}
		fmt.Fprint(w, "Your note.")
	}))
	for _, r := range []*http.Request{
		signedIn(auth, "/show?note=7"), signedIn(auth, "/show?note=8"), httptest.NewRequest(http.MethodGet, "/show?note=7", nil),
	} {
		answer := httptest.NewRecorder()
		show.ServeHTTP(answer, r)
		fmt.Println(answer.Code, "leads to the sign-in page:", answer.Header().Get("Location") != "")
	}
	// Output:
	// 200 leads to the sign-in page: false
	// 403 leads to the sign-in page: false
	// 302 leads to the sign-in page: true
}
