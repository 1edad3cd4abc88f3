// An API for a native app, which gets a session of its own through the system
// browser. See docs/bearer.md.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"html/template"
	"log"
	"net/http"
	"net/url"
	"time"

	"github.com/latchkeyhq/latchkey"
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
	log.Fatal(http.ListenAndServe("localhost:3000", site))
}

func newSite(c latchkey.Config) (http.Handler, error) {
	auth, err := latchkey.New(c)
	if err != nil {
		return nil, err
	}
	site := http.NewServeMux()
	site.Handle("GET /app/sign-in", auth.RequireSession(http.HandlerFunc(askUser)))
	site.Handle("POST /app/sign-in", http.NewCrossOriginProtection().Handler(handOut(auth)))
	site.Handle("POST /app/token", changeCode(auth))
	site.Handle("GET /api/me", auth.RequireSession(http.HandlerFunc(me)))
	return auth.Middleware(site), nil
}

// isOurApp: a code may be sent there. The port of a desktop app or command-line
// program is its own choice (RFC 8252, section 7.3), and nothing else is.
func isOurApp(redirectURI string) bool {
	u, err := url.Parse(redirectURI)
	if err != nil {
		return false
	}
	return redirectURI == "http://127.0.0.1:"+u.Port()+"/signed-in" || redirectURI == "com.example.notes:/signed-in"
}

var question = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><title>Sign in to Notes</title>
<form method="post">
<p>Do you want to sign in to the app Notes as {{.Name}}?</p>
<button>Sign in</button> <a href="/">No</a>
</form>`))

// askUser asks before a code leaves the browser: another app on the same machine
// can open this page as well. The form posts to its own URL.
func askUser(w http.ResponseWriter, r *http.Request) {
	s := latchkey.SessionFrom(r.Context())
	w.Header().Set("X-Frame-Options", "DENY")
	_ = question.Execute(w, s.User)
}

// handOut sends the browser back to the app, with a code.
func handOut(auth *latchkey.Auth) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		redirectURI := asked.Get("redirect_uri")
		if !isOurApp(redirectURI) {
			http.Error(w, "This is not our app.", http.StatusBadRequest)
			return
		}
		code, err := auth.BearerCode(r, asked.Get("code_challenge"))
		if err != nil {
			http.Error(w, "This did not work: please start again in the app.", http.StatusBadRequest)
			return
		}
		back := url.Values{"code": {code}, "state": {asked.Get("state")}}
		http.Redirect(w, r, redirectURI+"?"+back.Encode(), http.StatusSeeOther)
	}
}

// changeCode is a token endpoint (RFC 6749, sections 4.1.3 and 5).
func changeCode(auth *latchkey.Auth) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		token, expires, err := auth.BearerToken(r, r.PostFormValue("code"), r.PostFormValue("code_verifier"))
		w.Header().Set("Cache-Control", "no-store")
		if err != nil { // has been logged
			answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			return
		}
		answer(w, http.StatusOK, map[string]any{
			"access_token": token, "token_type": "Bearer", "expires_in": int(time.Until(expires).Seconds()),
		})
	}
}

func me(w http.ResponseWriter, r *http.Request) {
	s := latchkey.SessionFrom(r.Context())
	answer(w, http.StatusOK, map[string]any{"name": s.User.Name, "via": s.Via})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
