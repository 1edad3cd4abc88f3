package sitetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/storage"
)

// A testSite is a whole site that is asked without a network between: thousands
// of requests cost next to nothing, and nothing has to be waited for.

const (
	siteOrigin = "https://app.example"
	siteSecret = "the site's secret, which is long enough"
	csrfCookie = "__Host-authjs.csrf-token"
)

type testSite struct {
	t        testing.TB
	auth     *latchkey.Auth
	config   latchkey.Config // that auth was made of
	store    *memoryadapter.Adapter
	clock    *testclock.Clock
	log      *logBuffer
	outbound *stubTransport

	mu    sync.Mutex
	links []latchkey.Message
	tries []map[string]string
}

// newSite is a site with credentials ("crew": alice, wonderland), magic links
// ("post") and an OAuth provider ("acme") that nobody can reach.
func newSite(t testing.TB, change ...func(*latchkey.Config)) *testSite {
	t.Helper()
	s := &testSite{t: t, clock: newTestClock(), log: &logBuffer{}, outbound: &stubTransport{}}
	s.store = memoryadapter.New(memoryadapter.Options{})
	c := latchkey.Config{
		Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Adapter: s.store, Runtime: latchkey.Runtime{Time: s.clock.Now, Logger: s.log.logger(), HTTPClient: &http.Client{Transport: s.outbound}},
		Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		Providers: []latchkey.Provider{
			&latchkey.Credentials{
				ID: "crew", Name: "Crew", Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}},
				Authorize: s.authorize,
			},
			&latchkey.Email{ID: "post", Name: "Post", From: "hello@app.example", Send: s.send},
			&latchkey.OAuth{
				ID: "acme", Name: "Acme", ClientID: "latchkey", ClientSecret: "acme's client secret",
				Authorization: latchkey.Endpoint{URL: "https://acme.example/authorize"},
				Token:         latchkey.Endpoint{URL: "https://acme.example/token"},
				UserInfo:      latchkey.Endpoint{URL: "https://acme.example/userinfo"},
			},
		},
	}
	for _, f := range change {
		f(&c)
	}
	runTwice(&c)
	var err error
	s.config = c
	if s.auth, err = latchkey.New(c); err != nil {
		t.Fatal(err)
	}
	return s
}

// newEnteredSite returns a site of newSite with a browser that is signed in.
func newEnteredSite(t testing.TB, change ...func(*latchkey.Config)) (*testSite, *browser) {
	t.Helper()
	s := newSite(t, change...)
	b := s.newBrowser()
	b.signIn()
	return s, b
}

func (s *testSite) authorize(_ context.Context, fields map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries = append(s.tries, fields)
	if fields["username"] != "alice" || fields["password"] != "wonderland" {
		return latchkey.User{}, nil
	}
	return latchkey.User{ID: "alice-1", Name: "Alice", Email: "alice@example.com"}, nil
}

func (s *testSite) send(_ context.Context, l latchkey.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, l)
	return nil
}

func (s *testSite) sent() []latchkey.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links
}

func (s *testSite) tried() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tries)
}

// contents is everything the store holds, as text to compare.
func (s *testSite) contents() string {
	s.t.Helper()
	c := s.store.Contents()
	all := []any{c, recordsOf[storage.AccountRecord](c.Accounts), recordsOf[storage.StoredSessionRecord](c.Sessions), recordsOf[storage.VerificationTokenRecord](c.VerificationTokens)}
	raw, err := json.Marshal(all) // of the first the secrets are hidden
	if err != nil {
		s.t.Fatal(err)
	}
	return string(raw)
}

// recordsOf makes records of what they are named after.
func recordsOf[R storage.AccountRecord | storage.StoredSessionRecord | storage.VerificationTokenRecord, T any](list []T) (records []R) {
	for _, one := range list {
		records = append(records, reflect.ValueOf(one).Convert(reflect.TypeFor[R]()).Interface().(R))
	}
	return records
}

// stubTransport stands for every other server: it answers nothing unless serve
// does, and counts what was asked.
type stubTransport struct {
	mu    sync.Mutex
	asked []string
	serve func(*http.Request) (*http.Response, error)
}

func (f *stubTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.asked = append(f.asked, r.URL.String())
	serve := f.serve
	f.mu.Unlock()
	if serve != nil {
		return serve(r)
	}
	return nil, io.ErrUnexpectedEOF
}

func (f *stubTransport) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

func newTestClock() *testclock.Clock {
	return testclock.New(time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC))
}

// logBuffer keeps every record, debug included, one JSON object a line.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (l *logBuffer) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// records are the log's lines, decoded.
func (l *logBuffer) records(t testing.TB) []map[string]any {
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

// browser is a browser of the site. It keeps cookies and, unless set otherwise,
// says of posts that they come from the site's own pages.
type browser struct {
	site   *testSite
	jar    map[string]string
	header http.Header
}

func (s *testSite) newBrowser() *browser { return &browser{s, map[string]string{}, http.Header{}} }

// answer is what a browser got.
type answer struct {
	*httptest.ResponseRecorder
}

func (a *answer) location() string { return a.Header().Get("Location") }

// error is the error code of the page that the browser is sent to.
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
func (b *browser) request(method, target, contentType, body string) *http.Request {
	path, query, _ := strings.Cut(target, "?")
	r := httptest.NewRequest(method, siteOrigin, strings.NewReader(body))
	u, err := url.Parse(siteOrigin + path)
	if err != nil {
		u = &url.URL{Scheme: "https", Host: "app.example", Path: path}
	}
	u.RawQuery = query
	r.URL = u
	r.RequestURI = target
	r.RemoteAddr = "192.0.2.7:1234"
	for name, values := range b.header {
		r.Header[name] = values
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for name, value := range b.jar {
		r.Header["Cookie"] = append(r.Header["Cookie"], name+"="+value)
	}
	if len(r.Header["Cookie"]) > 0 {
		r.Header["Cookie"] = []string{strings.Join(r.Header["Cookie"], "; ")}
	}
	return r
}

func (b *browser) do(method, target, contentType, body string) *answer {
	b.site.t.Helper()
	return b.serve(b.site.auth, b.request(method, target, contentType, body))
}

func (b *browser) serve(h http.Handler, r *http.Request) *answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if c.MaxAge < 0 || c.Value == "" {
			delete(b.jar, c.Name)
		} else {
			b.jar[c.Name] = c.Value
		}
	}
	return &answer{w}
}

func (b *browser) get(target string) *answer {
	b.site.t.Helper()
	return b.do(http.MethodGet, target, "", "")
}

const formContentType = "application/x-www-form-urlencoded"

// post sends a form with the browser's CSRF token.
func (b *browser) post(target string, fields ...string) *answer {
	b.site.t.Helper()
	form := url.Values{"csrfToken": {b.token()}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.do(http.MethodPost, target, formContentType, form.Encode())
}

// postJSON sends fields as JSON, with the browser's CSRF token.
func (b *browser) postJSON(target string, fields map[string]any) *answer {
	b.site.t.Helper()
	all := map[string]any{"csrfToken": b.token()}
	for name, value := range fields {
		all[name] = value
	}
	body, err := json.Marshal(all)
	if err != nil {
		b.site.t.Fatal(err)
	}
	return b.do(http.MethodPost, target, "application/json", string(body))
}

// token is the browser's CSRF token.
func (b *browser) token() string {
	b.site.t.Helper()
	for name, value := range b.jar {
		if strings.HasSuffix(name, "csrf-token") {
			token, _, _ := strings.Cut(value, "%7C")
			return token
		}
	}
	var got struct{ CSRFToken string }
	if err := json.Unmarshal(b.get("/auth/csrf").Body.Bytes(), &got); err != nil {
		b.site.t.Fatal(err)
	}
	return got.CSRFToken
}

// signIn signs in as Alice.
func (b *browser) signIn() *answer {
	b.site.t.Helper()
	a := b.post("/auth/callback/crew", "username", "alice", "password", "wonderland")
	if !a.signsIn() {
		b.site.t.Fatalf("sign-in failed: %d to %q", a.Code, a.location())
	}
	return a
}

// session is the answer of the session route.
func (b *browser) session() string {
	b.site.t.Helper()
	return b.get("/auth/session").Body.String()
}

func (b *browser) isLive() bool { return b.session() != "null" }

// someProvider is for sites on which it does not matter how people sign in.
func someProvider() []latchkey.Provider {
	return []latchkey.Provider{&latchkey.OAuth{ID: "some", OIDC: true, Issuer: "https://id.example", ClientID: "x", ClientSecret: "y"}}
}

// newFunc is an Auth that asks config for its configuration.
func newFunc(config func(context.Context, *latchkey.Request) (*latchkey.Config, error)) *latchkey.Auth {
	auth, err := latchkey.NewFunc(latchkey.Func{Config: config})
	if err != nil {
		panic(err)
	}
	return auth
}

// always configures every request alike.
func always(c *latchkey.Config) func(context.Context, *latchkey.Request) (*latchkey.Config, error) {
	return func(context.Context, *latchkey.Request) (*latchkey.Config, error) { return c, nil }
}
