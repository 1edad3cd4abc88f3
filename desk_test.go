package latchkey_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
)

// A desk is a whole site under test that is asked without a network between:
// thousands of requests cost next to nothing, and nothing has to be waited for.

const (
	deskOrigin = "https://app.example"
	deskSecret = "the desk's secret, which is long enough"
	csrfCookie = "__Host-authjs.csrf-token"
)

type desk struct {
	t     testing.TB
	auth  *latchkey.Auth
	store *memoryadapter.Adapter
	clock *deskClock
	log   *logbook
	far   *farSide

	mu    sync.Mutex
	links []latchkey.SignInLink
	tries []map[string]string
}

// openDesk is a site with credentials ("crew": alice, wonderland), magic links
// ("post") and an OAuth provider ("acme") that nobody can reach.
func openDesk(t testing.TB, change ...func(*latchkey.Config)) *desk {
	t.Helper()
	d := &desk{t: t, clock: newDeskClock(), log: &logbook{}, far: &farSide{}}
	d.store = memoryadapter.New(memoryadapter.Options{})
	c := latchkey.Config{
		Site: latchkey.Site{URL: deskOrigin}, Secrets: []string{deskSecret}, Adapter: d.store, Runtime: latchkey.Runtime{Time: d.clock.now, Logger: d.log.logger(), HTTPClient: &http.Client{Transport: d.far}},
		Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Providers: []latchkey.Provider{
			&latchkey.Credentials{
				ID: "crew", Name: "Crew", Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}},
				Authorize: d.authorize,
			},
			&latchkey.Email{ID: "post", Name: "Post", From: "hello@app.example", Send: d.send},
			&latchkey.OAuth{
				ID: "acme", Name: "Acme", ClientID: "desk", ClientSecret: "acme's client secret",
				Authorization: latchkey.Endpoint{URL: "https://acme.example/authorize"},
				Token:         latchkey.Endpoint{URL: "https://acme.example/token"},
				UserInfo:      latchkey.Endpoint{URL: "https://acme.example/userinfo"},
			},
		},
	}
	for _, f := range change {
		f(&c)
	}
	var err error
	if d.auth, err = latchkey.New(c); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) authorize(_ context.Context, fields map[string]string, _ *latchkey.Request) (*latchkey.User, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries = append(d.tries, fields)
	if fields["username"] != "alice" || fields["password"] != "wonderland" {
		return nil, nil
	}
	return &latchkey.User{ID: "alice-1", Name: "Alice", Email: "alice@example.com"}, nil
}

func (d *desk) send(_ context.Context, l latchkey.SignInLink) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.links = append(d.links, l)
	return nil
}

func (d *desk) sent() []latchkey.SignInLink {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.links
}

func (d *desk) tried() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.tries)
}

// contents is everything the store holds, as text to compare.
func (d *desk) contents() string {
	d.t.Helper()
	raw, err := json.Marshal(d.store.Contents())
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}

// farSide is everything outside: it answers nobody, and counts who asks.
type farSide struct {
	mu    sync.Mutex
	asked []string
	serve func(*http.Request) (*http.Response, error)
}

func (f *farSide) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.asked = append(f.asked, r.URL.String())
	serve := f.serve
	f.mu.Unlock()
	if serve != nil {
		return serve(r)
	}
	return nil, io.ErrUnexpectedEOF
}

func (f *farSide) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// deskClock tells a time of the test's own.
type deskClock struct {
	mu sync.Mutex
	at time.Time
}

func newDeskClock() *deskClock {
	return &deskClock{at: time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)}
}

func (c *deskClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *deskClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// logbook keeps every record, debug included, one JSON object a line.
type logbook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logbook) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (l *logbook) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// records are the log's lines, decoded.
func (l *logbook) records(t testing.TB) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(l.text()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("a log line is no record: %v\n%s", err, line)
		}
		all = append(all, record)
	}
	return all
}

// guest is a browser at the desk. It keeps cookies and, unless told otherwise,
// says of posts that they come from the site's own pages.
type guest struct {
	d      *desk
	jar    map[string]string
	header http.Header
}

func (d *desk) guest() *guest { return &guest{d, map[string]string{}, http.Header{}} }

// answer is what a guest got.
type answer struct {
	*httptest.ResponseRecorder
}

func (a *answer) location() string { return a.Header().Get("Location") }

// error is the error code of the page that the guest is sent to.
func (a *answer) error() string {
	u, err := url.Parse(a.location())
	if err != nil {
		return ""
	}
	return u.Query().Get("error")
}

// cookie finds a Set-Cookie by the end of its name.
func (a *answer) cookie(suffix string) *http.Cookie {
	for _, c := range a.Result().Cookies() {
		if strings.HasSuffix(c.Name, suffix) {
			return c
		}
	}
	return nil
}

// signsIn: the answer sets a session.
func (a *answer) signsIn() bool {
	c := a.cookie("session-token")
	return c != nil && c.Value != ""
}

// request makes a request for a path with a query, both sent as they are.
func (g *guest) request(method, target, contentType, body string) *http.Request {
	path, query, _ := strings.Cut(target, "?")
	r := httptest.NewRequest(method, deskOrigin, strings.NewReader(body))
	u, err := url.Parse(deskOrigin + path)
	if err != nil {
		u = &url.URL{Scheme: "https", Host: "app.example", Path: path}
	}
	u.RawQuery = query
	r.URL = u
	r.RemoteAddr = "192.0.2.7:1234"
	for name, values := range g.header {
		r.Header[name] = values
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for name, value := range g.jar {
		r.Header["Cookie"] = append(r.Header["Cookie"], name+"="+value)
	}
	if len(r.Header["Cookie"]) > 0 {
		r.Header["Cookie"] = []string{strings.Join(r.Header["Cookie"], "; ")}
	}
	return r
}

func (g *guest) ask(method, target, contentType, body string) *answer {
	g.d.t.Helper()
	return g.serve(g.d.auth, g.request(method, target, contentType, body))
}

func (g *guest) serve(h http.Handler, r *http.Request) *answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if c.MaxAge < 0 || c.Value == "" {
			delete(g.jar, c.Name)
		} else {
			g.jar[c.Name] = c.Value
		}
	}
	return &answer{w}
}

func (g *guest) get(target string) *answer {
	g.d.t.Helper()
	return g.ask(http.MethodGet, target, "", "")
}

const deskForm = "application/x-www-form-urlencoded"

// post sends a form with the guest's CSRF token.
func (g *guest) post(target string, fields ...string) *answer {
	g.d.t.Helper()
	form := url.Values{"csrfToken": {g.token()}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return g.ask(http.MethodPost, target, deskForm, form.Encode())
}

// postJSON sends fields as JSON, with the guest's CSRF token.
func (g *guest) postJSON(target string, fields map[string]any) *answer {
	g.d.t.Helper()
	all := map[string]any{"csrfToken": g.token()}
	for name, value := range fields {
		all[name] = value
	}
	body, err := json.Marshal(all)
	if err != nil {
		g.d.t.Fatal(err)
	}
	return g.ask(http.MethodPost, target, "application/json", string(body))
}

// token is the guest's CSRF token.
func (g *guest) token() string {
	g.d.t.Helper()
	for name, value := range g.jar {
		if strings.HasSuffix(name, "csrf-token") {
			token, _, _ := strings.Cut(value, "%7C")
			return token
		}
	}
	var got struct{ CSRFToken string }
	if err := json.Unmarshal(g.get("/auth/csrf").Body.Bytes(), &got); err != nil {
		g.d.t.Fatal(err)
	}
	return got.CSRFToken
}

// signIn signs in as Alice.
func (g *guest) signIn() *answer {
	g.d.t.Helper()
	a := g.post("/auth/callback/crew", "username", "alice", "password", "wonderland")
	if !a.signsIn() {
		g.d.t.Fatalf("sign-in failed: %d to %q", a.Code, a.location())
	}
	return a
}

// session is the answer of the session route.
func (g *guest) session() string {
	g.d.t.Helper()
	return g.get("/auth/session").Body.String()
}

func (g *guest) isLive() bool { return g.session() != "null" }

// always configures every request alike.
func always(c *latchkey.Config) func(context.Context, *latchkey.Request) (*latchkey.Config, error) {
	return func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return c, nil }
}
