package test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/sqladapter"
)

// Races of whole sign-ins, between two instances of one site on each database.

// rounds is how many there are of each race.
func rounds(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("LATCHKEY_RACES"))
	if err != nil || n <= 0 {
		return 20
	}
	return n
}

const raceOrigin = "https://app.example"

// idProvider answers for a provider: a code says who somebody is, and works once.
type idProvider struct{ used sync.Map }

func (p *idProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"error":"invalid_grant"}`
	switch r.URL.Path {
	case "/token":
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		if _, again := p.used.LoadOrStore(r.Form.Get("code"), true); !again {
			name, _, _ := strings.Cut(r.Form.Get("code"), ".")
			body = fmt.Sprintf(`{"access_token":%q,"token_type":"bearer"}`, name)
		}
	case "/userinfo":
		name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		body = fmt.Sprintf(`{"id":%q,"email":"%s@id.example"}`, name, name)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// raceSite is a site of two instances, each with a pool of its own.
type raceSite struct {
	t         *testing.T
	db        *sql.DB
	store     *sqladapter.Adapter
	instances [2]*latchkey.Auth
	links     chan string
}

func newRaceSite(t *testing.T, e engine, db *sql.DB, strategy latchkey.Strategy) *raceSite {
	t.Helper()
	s := &raceSite{t: t, db: db, links: make(chan string, 1)}
	provider := &idProvider{}
	for i := range s.instances {
		s.store = e.adapter(t, db, sqladapter.Options{})
		c := latchkey.Config{
			Site: latchkey.Site{URL: raceOrigin}, Secrets: []string{"one secret for both of the instances"},
			Adapter: s.store, Session: latchkey.SessionConfig{Strategy: strategy}, Limits: latchkey.Limits{Disabled: true},
			Runtime: latchkey.Runtime{Logger: slog.New(slog.DiscardHandler), HTTPClient: &http.Client{Transport: provider}},
			Providers: []latchkey.Provider{
				&latchkey.OAuth{
					ID: "id", ClientID: "client", ClientSecret: "secret",
					Authorization: latchkey.Endpoint{URL: "https://id.example/authorize"},
					Token:         latchkey.Endpoint{URL: "https://id.example/token"},
					UserInfo:      latchkey.Endpoint{URL: "https://id.example/userinfo"},
				},
				&latchkey.Email{Send: func(_ context.Context, m latchkey.Message) error { s.links <- m.URL; return nil }},
			},
		}
		if strategy == latchkey.JWTSessions {
			c.Session.Revocations = s.store
		}
		var err error
		s.instances[i], err = latchkey.New(c)
		ok(t, err)
	}
	return s
}

// raceBrowser keeps cookies.
type raceBrowser map[string]string

func (b raceBrowser) copy() raceBrowser {
	twin := raceBrowser{}
	for name, value := range b {
		twin[name] = value
	}
	return twin
}

// send makes a request, a post where form is not nil, and says where it leads.
func (b raceBrowser) send(site http.Handler, target string, form url.Values) (to *url.URL, body string) {
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	r := httptest.NewRequest(method, raceOrigin+strings.TrimPrefix(target, raceOrigin), strings.NewReader(form.Encode()))
	if form != nil {
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {raceOrigin}}
	}
	for name, value := range b {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if b[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b, c.Name)
		}
	}
	to, _ = url.Parse(w.Header().Get("Location"))
	return to, w.Body.String()
}

// begin starts a sign-in and returns the callback with which the provider would
// answer for a person. Each code is another.
func (s *raceSite) begin(b raceBrowser, person string) string {
	s.t.Helper()
	to, _ := b.send(s.instances[0], "/auth/signin/id", url.Values{})
	if to.Host != "id.example" {
		s.t.Fatalf("the sign-in led to %v", to)
	}
	state := to.Query().Get("state")
	return "/auth/callback/id?" + url.Values{"code": {person + "." + state[len(state)-16:]}, "state": {state}}.Encode()
}

// link asks for a magic link.
func (s *raceSite) link(email string) string {
	raceBrowser{}.send(s.instances[0], "/auth/signin/email", url.Values{"email": {email}})
	return <-s.links
}

// isIn says whether a browser is signed in, by either instance.
func (s *raceSite) isIn(b raceBrowser) bool {
	for _, site := range s.instances {
		if _, body := b.copy().send(site, "/auth/session", nil); body != "null" {
			return true
		}
	}
	return false
}

// atOnce does all of it at one time.
func atOnce(acts ...func()) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for _, act := range acts {
		all.Go(func() { <-start; act() })
	}
	close(start)
	all.Wait()
}

// eachRace runs f for each engine and strategy.
func eachRace(t *testing.T, f func(t *testing.T, s *raceSite, round int)) {
	each(t, func(t *testing.T, e engine, empty source) {
		for _, strategy := range []latchkey.Strategy{latchkey.DatabaseSessions, latchkey.JWTSessions} {
			t.Run(string(strategy), func(t *testing.T) {
				s := newRaceSite(t, e, e.migrated(t, empty), strategy)
				for round := range rounds(t) {
					f(t, s, round)
				}
			})
		}
	})
}

// two tabs come back at once, at two instances.
func TestTwoTabsAtOnce(t *testing.T) {
	eachRace(t, func(t *testing.T, s *raceSite, round int) {
		person := fmt.Sprintf("tabs-%d", round)
		b := raceBrowser{}
		callbacks := []string{s.begin(b, person), s.begin(b, person)}
		tabs := []raceBrowser{b.copy(), b.copy()}
		atOnce(
			func() { tabs[0].send(s.instances[0], callbacks[0], nil) },
			func() { tabs[1].send(s.instances[1], callbacks[1], nil) },
		)
		if !s.isIn(tabs[0]) || !s.isIn(tabs[1]) {
			t.Errorf("R-301 round %d: in %t and %t", round, s.isIn(tabs[0]), s.isIn(tabs[1]))
		}
		u, err := s.store.GetUserByEmail(t.Context(), person+"@id.example")
		ok(t, err)
		if accounts, err := s.store.ListAccounts(t.Context(), u.ID); err != nil || len(accounts) != 1 {
			t.Errorf("R-301 round %d: %d accounts, %v", round, len(accounts), err)
		}
	})
}

// one callback is delivered at two instances at once.
func TestOneCallbackAtTwoInstances(t *testing.T) {
	eachRace(t, func(t *testing.T, s *raceSite, round int) {
		person := fmt.Sprintf("twice-%d", round)
		b := raceBrowser{}
		callback := s.begin(b, person)
		tabs := []raceBrowser{b.copy(), b.copy()}
		atOnce(
			func() { tabs[0].send(s.instances[0], callback, nil) },
			func() { tabs[1].send(s.instances[1], callback, nil) },
		)
		if one, two := s.isIn(tabs[0]), s.isIn(tabs[1]); one == two {
			t.Errorf("R-394 round %d: in %t and %t", round, one, two)
		}
	})
}

// a link that was begun in a session is completed while somebody ends all
// sessions of its user.
func TestLinkBesideSignOutEverywhere(t *testing.T) {
	landed := 0
	eachRace(t, func(t *testing.T, s *raceSite, round int) {
		email := fmt.Sprintf("linker-%d@example.com", round)
		b := raceBrowser{}
		b.send(s.instances[0], s.link(email), nil)
		u, err := s.store.GetUserByEmail(t.Context(), email)
		ok(t, err)
		callback, before := s.begin(b, fmt.Sprintf("linked-%d", round)), b.copy()
		if !s.isIn(b) {
			t.Fatal("not signed in")
		}
		var ended error
		atOnce(
			func() { b.send(s.instances[0], callback, nil) },
			func() { ended = s.instances[1].Users().EndSessions(t.Context(), u.ID) },
		)
		ok(t, ended)
		if s.isIn(b) || s.isIn(before) {
			t.Errorf("R-342 round %d: somebody is in", round)
		}
		accounts, err := s.store.ListAccounts(t.Context(), u.ID)
		ok(t, err)
		landed += len(accounts)
		if _, err := s.store.GetUserByEmail(t.Context(), fmt.Sprintf("linked-%d@id.example", round)); err == nil {
			t.Errorf("R-342 round %d: the account became a user of its own", round)
		}
	})
	t.Logf("%d links landed before the sign-out", landed)
}

// somebody who signed up with another's e-mail address completes a link
// while its owner proves it.
func TestLinkBesideEviction(t *testing.T) {
	eachRace(t, func(t *testing.T, s *raceSite, round int) {
		person := fmt.Sprintf("owner-%d", round)
		b, owner := raceBrowser{}, raceBrowser{}
		b.send(s.instances[0], s.begin(b, person), nil)
		u, err := s.store.GetUserByEmail(t.Context(), person+"@id.example")
		ok(t, err)
		callback, before, link := s.begin(b, "other-"+person), b.copy(), s.link(u.Email)
		atOnce(
			func() { b.send(s.instances[0], callback, nil) },
			func() { owner.send(s.instances[1], link, nil) },
		)
		if s.isIn(b) || s.isIn(before) || !s.isIn(owner) {
			t.Errorf("R-342 round %d: in %t and %t, the owner %t", round, s.isIn(b), s.isIn(before), s.isIn(owner))
		}
		if accounts, err := s.store.ListAccounts(t.Context(), u.ID); err != nil || len(accounts) != 0 {
			t.Errorf("R-342 round %d: the owner has %v, %v", round, accounts, err)
		}
	})
}
