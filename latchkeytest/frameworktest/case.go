package frameworktest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// testCase is one requirement of a mounting.
type testCase struct {
	name  string
	build func(f *framework) // changes the site before it is served; nil: nothing
	prove func(t *testing.T, f *framework)
}

var testCases = slices.Concat(routeCases, guardCases, targetCases, callCases, actionCases, answerCases, placeCases)

// try builds the site of c, serves it by serve, which returns its URL, and runs the case.
// wholeSite is Site.WholeSite.
func (c *testCase) try(t *testing.T, serve func(*testing.T, Site) string, wholeSite bool) {
	t.Helper()
	f := newFramework(t)
	f.site.WholeSite = wholeSite
	if c.build != nil {
		c.build(f)
	}
	if f.site.ByHost == nil { // else the framework makes an Auth of each configuration
		var err error
		if f.site.Auth, err = latchkey.New(f.config); err != nil {
			t.Fatal(err)
		}
	}
	f.url = serve(t, f.site)
	c.prove(t, f)
}

// framework is what one case works with: a site that the framework under test serves.
type framework struct {
	t      *testing.T
	site   Site
	config latchkey.Config // that site.Auth is made of
	issuer *latchkeytest.Issuer
	store  *countingStore
	url    string
	prefix string // in front of all paths, as browsers see them

	reached  tally         // how often the CatchAll of the site ran
	received chan struct{} // closed by release: the browser has the first part of a stream
	release  func()        // closes received, and does nothing at later calls
}

// newFramework returns a site that is not served yet, with no Pages and a nil Auth. Users
// sign in at the issuer, or with any name and the password.
func newFramework(t *testing.T) *framework {
	t.Helper()
	f := &framework{t: t, issuer: latchkeytest.NewIssuer(t), store: &countingStore{Adapter: memoryadapter.New(memoryadapter.Options{})}, received: make(chan struct{})}
	f.release = sync.OnceFunc(func() { close(f.received) })
	f.config = latchkey.Config{
		Secrets: []string{"a secret for tests that is long enough"},
		Site:    latchkey.Site{AllowedHosts: []string{"127.0.0.1:*"}},
		Adapter: f.store, Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions},
		AccountPage: latchkey.AccountPage{Enabled: true},
		Runtime:     latchkey.Runtime{Logger: slog.New(slog.DiscardHandler)},
		Providers: []latchkey.Provider{f.issuer.Provider(), &latchkey.Credentials{
			Fields: []latchkey.Field{{Name: "name"}, {Name: "password", Type: "password"}}, Authorize: whoKnowsThePassword,
		}},
	}.WithEnv(func(string) string { return "" })
	f.config.Callbacks.Token = func(_ context.Context, t latchkey.TokenInfo) (latchkey.Claims, error) {
		if change, ok := t.Update.(map[string]any); ok && t.Trigger == latchkey.TriggerUpdate {
			t.Claims["name"] = change["name"]
		}
		return t.Claims, nil
	}
	return f
}

// password is the password of every user.
const password = "lovelace"

// whoKnowsThePassword signs in a user of any name who has typed the password. It returns
// ErrCredentialsSignin for a wrong one.
func whoKnowsThePassword(_ context.Context, typed map[string]string, _ *latchkey.Request) (latchkey.User, error) {
	if typed["password"] != password {
		return latchkey.User{}, latchkey.ErrCredentialsSignin
	}
	name := typed["name"]
	return latchkey.User{ID: "id-of-" + name, Name: name, Email: strings.ToLower(name) + "@example.com"}, nil
}

// page adds a page that answers to GET.
func (f *framework) page(path string, guard Guard, serve func(c Context)) {
	f.site.Pages = append(f.site.Pages, Page{Method: http.MethodGet, Path: path, Guard: guard, Serve: serve})
}

// open opens the site in a browser without any cookies.
func (f *framework) open() *latchkeytest.Client {
	f.t.Helper()
	c := latchkeytest.NewClientAt(f.t, f.url)
	c.BasePath = f.prefix + "/auth"
	if f.site.HTTP2 {
		own := &http.Transport{Protocols: onlyHTTP2()}
		f.t.Cleanup(own.CloseIdleConnections)
		c.Transport = twoTransports{host: strings.TrimPrefix(c.URL, "http://"), own: own, other: c.Transport}
	}
	return c
}

// twoTransports sends requests to host by own, and all others by other.
type twoTransports struct {
	host       string
	own, other http.RoundTripper
}

func (t twoTransports) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == t.host {
		return t.own.RoundTrip(r)
	}
	return t.other.RoundTrip(r)
}

// openAs opens the site in the browser of a signed-in user.
func (f *framework) openAs(name string) *latchkeytest.Client {
	f.t.Helper()
	c := f.open()
	c.SignInCredentials(map[string]string{"name": name, "password": password})
	return c
}

// ok ends the test unless err is nil.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// answers fails the test unless p has the status and holds the text.
func answers(t *testing.T, p *latchkeytest.Page, status int, text string) {
	t.Helper()
	if p.Status != status || !strings.Contains(string(p.Body), text) {
		t.Errorf("want status %d with %q: %s", status, text, p.Describe())
	}
}

// leads fails the test unless the Location of p is the absolute URL want. It compares
// neither the query nor the status.
func leads(t *testing.T, p *latchkeytest.Page, want string) {
	t.Helper()
	if to := p.Location(); to == nil || to.Scheme+"://"+to.Host+to.Path != want {
		t.Errorf("want a redirect to %s: %s", want, p.Describe())
	}
}

// setsCookie reports whether an answer sets a cookie with a name that ends in name. The
// ".0" of the first piece of a session cookie is left out.
func setsCookie(p *latchkeytest.Page, name string) bool {
	return slices.ContainsFunc(p.Header.Values("Set-Cookie"), func(line string) bool {
		set, _, _ := strings.Cut(line, "=")
		return strings.HasSuffix(strings.TrimSuffix(set, ".0"), name)
	})
}

// nameOf returns the name of the signed-in user for the results of Session. It returns
// "nobody" for ErrNoSession, "fault: …" for another error, and "neither" for nil, nil.
func nameOf(s *latchkey.Session, err error) string {
	switch {
	case errors.Is(err, latchkey.ErrNoSession):
		return "nobody"
	case err != nil:
		return "fault: " + err.Error()
	case s == nil:
		return "neither"
	}
	return s.User.Name
}

// who is a handler that answers with the name of the signed-in user.
func who(c Context) { c.Write(http.StatusOK, "here is "+nameOf(c.Session())) }

// countingStore counts how often a session is looked up.
type countingStore struct {
	*memoryadapter.Adapter
	looked atomic.Int32
}

func (s *countingStore) GetSessionAndUser(ctx context.Context, token string) (storage.StoredSession, latchkey.User, error) {
	s.looked.Add(1)
	return s.Adapter.GetSessionAndUser(ctx, token)
}

// endlessStore ends no session.
type endlessStore struct{ *memoryadapter.Adapter }

func (endlessStore) DeleteSession(context.Context, string) (storage.StoredSession, error) {
	return storage.StoredSession{}, errors.New("the store is read-only")
}

// tally counts what handlers do, in any goroutine.
type tally struct {
	mu    sync.Mutex
	times map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times == nil {
		c.times = map[string]int{}
	}
	c.times[what]++
}

func (c *tally) count(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.times[what]
}
