package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
)

// app is the site around the library, with a view of everything for the suite.
type app struct {
	auth     *latchkey.Auth
	basePath string
	conf     latchkey.Config // with the environment filled in
	backend  *backend

	mu      sync.Mutex
	records []map[string]any
	mailbox map[string]latchkey.Message
}

func newApp(b *backend) *app {
	a := &app{
		backend: b,
		mailbox: map[string]latchkey.Message{},
		records: []map[string]any{},
	}
	config := a.config()
	a.conf = config.WithEnv(os.Getenv)
	a.basePath = strings.TrimRight(a.conf.Site.BasePath, "/")
	a.auth = fixed(config)
	return a
}

// fixed returns an Auth that uses c for every request, also a wrong c: the suite tests how
// each request is answered then.
func fixed(c *latchkey.Config) *latchkey.Auth {
	auth, err := latchkey.NewFunc(latchkey.Func{
		Config: func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return c, nil },
	})
	if err != nil {
		panic(err)
	}
	return auth
}

// pages are those of the app itself, but for home and what is below /custom.
var pages = []string{"/elsewhere", "/dashboard"}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	switch {
	case strings.HasPrefix(path, "/_test/"):
		a.test(w, r)
	case a.isBelow(path):
		a.auth.ServeHTTP(w, r)
	case path == "/":
		home(w, r)
	case slices.Contains(pages, path), strings.HasPrefix(path, "/custom/"):
		page(w, r)
	default:
		http.NotFound(w, r)
	}
}

// isBelow reports whether path is the base path or below it, a route of the library or not.
func (a *app) isBelow(path string) bool {
	return path == a.basePath || strings.HasPrefix(path, a.basePath+"/")
}

func home(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "home") }

func page(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }

// note records an event for the suite. With EVENTS_THROW=1 it then returns errEvent.
func (a *app) note(event string, fields map[string]any) error {
	fields["event"] = event
	a.mu.Lock()
	a.records = append(a.records, fields)
	a.mu.Unlock()
	if isOn("EVENTS_THROW") {
		return errEvent
	}
	return nil
}

func (a *app) test(w http.ResponseWriter, r *http.Request) {
	switch r.Method + " " + strings.TrimPrefix(r.URL.Path, "/_test") {
	case "GET /ready":
		_, _ = io.WriteString(w, "ok")
	case "GET /whoami":
		req, _ := latchkey.FromHTTP(r)
		s, _, _ := a.auth.Core().ReadSession(r.Context(), req)
		answer(w, map[string]any{"session": s})
	case "GET /token":
		a.showToken(w, r)
	case "GET /mailbox":
		a.showMail(w, r.URL.Query().Get("to"))
	case "GET /events":
		a.mu.Lock()
		defer a.mu.Unlock()
		answer(w, a.records)
	case "DELETE /events":
		a.mu.Lock()
		defer a.mu.Unlock()
		a.records = []map[string]any{}
		w.WriteHeader(http.StatusNoContent)
	case "GET /db":
		a.showRows(w, r)
	case "POST /db/users":
		a.putUser(w, r)
	case "POST /db/sessions":
		a.putSession(w, r)
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (a *app) showToken(w http.ResponseWriter, r *http.Request) {
	p := jwt.TokenParams{Secrets: a.conf.Secrets, CookieName: a.conf.Cookies.SessionToken.Name, SecureCookie: a.conf.Cookies.Secure}
	if p.SecureCookie == nil {
		secure := false
		if u, err := a.auth.ActionURL(r, "session"); err == nil {
			secure = u.Scheme == "https"
		}
		p.SecureCookie = &secure
	}
	if r.URL.Query().Get("raw") == "1" {
		token, err := jwt.GetRawToken(r.Header, p)
		if err != nil {
			answer(w, map[string]any{"token": nil})
			return
		}
		answer(w, map[string]any{"token": token})
		return
	}
	claims, _ := jwt.GetToken(r.Header, p)
	answer(w, map[string]any{"token": claims})
}

func (a *app) showMail(w http.ResponseWriter, to string) {
	a.mu.Lock()
	l, ok := a.mailbox[to]
	a.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer(w, map[string]any{"error": "empty"})
		return
	}
	answer(w, map[string]any{"to": l.To, "url": l.URL, "token": l.Token, "expires": isoOrNil(l.Expires)})
}

// showRows shows the store under Auth.js' field names.
func (a *app) showRows(w http.ResponseWriter, r *http.Request) {
	c, err := a.backend.contents(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, rows(c))
}

func rows(c memoryadapter.Contents) map[string]any {
	users, accounts, sessions, tokens := []any{}, []any{}, []any{}, []any{}
	for _, u := range c.Users {
		users = append(users, userRow(u))
	}
	for _, x := range c.Accounts {
		t := x.Tokens
		row := map[string]any{
			"userId": x.UserID, "type": x.Type, "provider": x.Provider, "providerAccountId": x.ProviderAccountID,
			"access_token": orNil(t.AccessToken), "refresh_token": orNil(t.RefreshToken), "id_token": orNil(t.IDToken),
			"token_type": orNil(t.TokenType), "scope": orNil(t.Scope), "session_state": orNil(t.SessionState), "expires_at": nil,
		}
		if !t.ExpiresAt.IsZero() {
			row["expires_at"] = t.ExpiresAt.Unix()
		}
		accounts = append(accounts, row)
	}
	for _, s := range c.Sessions {
		sessions = append(sessions, map[string]any{"sessionToken": s.Token, "userId": s.UserID, "expires": isoOrNil(s.Expires)})
	}
	for _, t := range c.VerificationTokens {
		tokens = append(tokens, map[string]any{"identifier": t.Identifier, "token": t.Token, "expires": isoOrNil(t.Expires)})
	}
	return map[string]any{"users": users, "accounts": accounts, "sessions": sessions, "verificationTokens": tokens}
}

func userRow(u latchkey.User) map[string]any {
	return map[string]any{
		"id": u.ID, "name": orNil(u.Name), "email": orNil(u.Email), "image": orNil(u.Image), "emailVerified": isoOrNil(u.EmailVerified),
	}
}

func (a *app) putUser(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID, Name, Email, Image string
		EmailVerified          time.Time
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	users, _ := a.backend.rows()
	u, err := users.CreateUser(r.Context(), latchkey.User{ID: in.ID, Name: in.Name, Email: in.Email, Image: in.Image, EmailVerified: in.EmailVerified})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	a.backend.seen.user(u.ID)
	answer(w, userRow(u))
}

func (a *app) putSession(w http.ResponseWriter, r *http.Request) {
	var in struct {
		SessionToken, UserID string
		Expires              time.Time
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, sessions := a.backend.rows()
	_, _ = sessions.DeleteSession(r.Context(), in.SessionToken) // it may be a replacement
	s := storage.StoredSession{Token: in.SessionToken, UserID: in.UserID, Expires: in.Expires}
	if err := sessions.CreateSession(r.Context(), s); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	a.backend.seen.session(s.Token)
	answer(w, map[string]any{"sessionToken": s.Token, "userId": s.UserID, "expires": isoOrNil(s.Expires)})
}
