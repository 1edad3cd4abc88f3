package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// R-530 The policy of the built-in pages holds up no redirect that follows a post.
// Chromium stopped each of these walks without a word of the server: a provider that
// passes the browser on to another host at once, a front end on another origin after
// a sign-in, a password and a sign-out, and pages of the application on that origin.
func TestRedirectsAfterForms(t *testing.T) {
	browser := startChromium(t, "ignore-certificate-errors")
	for _, walk := range []struct {
		name string
		walk func(b *tab, s *spread)
	}{
		{"a provider that redirects at once, to a front end elsewhere", walkBroker},
		{"a password, to a front end elsewhere", walkToFront},
		{"a sign-out, to a front end elsewhere", walkOutToFront},
		{"a refusal, to an error page elsewhere", walkRefused},
		{"a magic link, to a page elsewhere", walkMailed},
		{"an account that is linked by a provider that redirects at once", walkLinking},
	} {
		for scheme, start := range map[string]func(http.Handler) *httptest.Server{"http": httptest.NewServer, "https": httptest.NewTLSServer} {
			t.Run("R-530 "+walk.name+", over "+scheme, func(t *testing.T) {
				s := newSpread(t, start)
				walk.walk(openTab(t, browser, s.origin), s)
			})
		}
	}
}

// spread is a site whose provider and front end have origins of their own.
type spread struct {
	origin, front string
}

func newSpread(t *testing.T, start func(http.Handler) *httptest.Server) *spread {
	t.Helper()
	serve := func(h http.Handler) string {
		server := start(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	s := &spread{front: serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>Front</title><link rel="icon" href="data:,"><p>front of %s`, r.URL.Path)
	}))}
	house := serve(http.HandlerFunc(comeBack)) // the customer's own, where everybody is signed in already
	broker := serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { broke(w, r, house) }))
	auth, err := latchkey.New(latchkey.Config{
		Site: latchkey.Site{TrustHost: true}, Secrets: []string{strings.Repeat("secret ", 6)},
		Adapter:     memoryadapter.New(memoryadapter.Options{}),
		Session:     latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		AccountPage: latchkey.AccountPage{Enabled: true},
		Pages:       latchkey.Pages{Error: s.front + "/error", VerifyRequest: s.front + "/mailed"},
		Providers:   s.providers(broker),
		Callbacks: latchkey.Callbacks{
			Redirect: func(_ context.Context, to, base string) (string, error) {
				if strings.HasPrefix(to, s.front+"/") || strings.HasPrefix(to, base+"/") || strings.HasPrefix(to, "/") {
					return to, nil
				}
				return base, nil
			},
			SignIn: func(_ context.Context, a latchkey.SignInAttempt) error {
				if a.Credentials["username"] == "mallory" {
					return latchkey.ErrAccessDenied
				}
				return nil
			},
		},
		Runtime: latchkey.Runtime{
			Logger:     slog.New(slog.NewTextHandler(t.Output(), nil)),
			HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.origin = serve(auth.Middleware(http.NotFoundHandler()))
	return s
}

func (s *spread) providers(broker string) []latchkey.Provider {
	brokered := func(id, name string) latchkey.Provider {
		return &latchkey.OAuth{
			ID: id, Name: name, ClientID: "site", ClientSecret: "secret",
			Authorization: latchkey.Endpoint{URL: broker + "/authorize"},
			Token:         latchkey.Endpoint{URL: broker + "/token"},
			UserInfo:      latchkey.Endpoint{URL: broker + "/userinfo/" + id},
		}
	}
	return []latchkey.Provider{
		brokered("broker", "Broker"),
		brokered("second", "Second"),
		&latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}},
			Authorize: func(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
				if typed["password"] != "lovelace" {
					return latchkey.User{}, errors.New("wrong password")
				}
				return latchkey.User{ID: typed["username"], Name: typed["username"]}, nil
			},
		},
		&latchkey.Email{Send: func(context.Context, latchkey.Message) error { return nil }},
	}
}

// broke is a provider that knows of every customer where their users sign in.
func broke(w http.ResponseWriter, r *http.Request, house string) {
	switch r.URL.Path {
	case "/authorize":
		http.Redirect(w, r, strings.Replace(house, "127.0.0.1", "localhost", 1)+"/login?"+r.URL.RawQuery, http.StatusFound)
	case "/token":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "t", "token_type": "bearer"})
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"sub": r.URL.Path, "name": "Ada", "email": strings.ReplaceAll(r.URL.Path[1:], "/", ".") + "@example.com"})
	}
}

// comeBack sends the browser back with a code.
func comeBack(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	answer := url.Values{"code": {"c"}}
	if state := asked.Get("state"); state != "" {
		answer.Set("state", state)
	}
	http.Redirect(w, r, asked.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

const brokerButton = `form[action$="/signin/broker"] button`

// arrives waits until the tab is at a path of the front end.
func (s *spread) arrives(b *tab, path string) {
	b.t.Helper()
	want, _ := json.Marshal(s.front + path)
	b.becomes("location.href.startsWith(" + string(want) + ")")
}

func (s *spread) signInTo(b *tab, path, name string) {
	b.t.Helper()
	b.open("/auth/signin?callbackUrl=" + url.QueryEscape(s.front+path))
	b.write(usernameBox, name)
	b.write(passwordBox, "lovelace")
	b.click(passwordDone)
}

func walkBroker(b *tab, s *spread) {
	b.open("/auth/signin?callbackUrl=" + url.QueryEscape(s.front+"/in"))
	b.click(brokerButton)
	s.arrives(b, "/in")
}

func walkToFront(b *tab, s *spread) {
	s.signInTo(b, "/in", "ada")
	s.arrives(b, "/in")
}

func walkOutToFront(b *tab, s *spread) {
	s.signInTo(b, "/in", "ada")
	s.arrives(b, "/in")
	b.open("/auth/signout?callbackUrl=" + url.QueryEscape(s.front+"/out"))
	b.click(`form[action$="/auth/signout"] button`)
	s.arrives(b, "/out")
}

func walkRefused(b *tab, s *spread) {
	s.signInTo(b, "/in", "mallory")
	s.arrives(b, "/error?error=AccessDenied")
}

func walkMailed(b *tab, s *spread) {
	b.open("/auth/signin")
	b.write(emailForm+` input[name="email"]`, "ada@example.com")
	b.click(emailForm + " button")
	s.arrives(b, "/mailed")
}

func walkLinking(b *tab, s *spread) {
	walkBroker(b, s)
	b.open("/auth/account")
	b.click(`form[action$="/signin/second"] button`)
	b.becomes("document.body.innerText.includes('The account has been linked.')")
}
