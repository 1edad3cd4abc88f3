package interop

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/pgxadapter"
	"github.com/latchkeyhq/latchkey/adapters/sqlstore"
	"github.com/latchkeyhq/latchkey/internal/realservers"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// mounted is a site whose routes are at /api/auth, before and after its move: a
// JavaScript program with Auth.js, then ours.
type mounted struct {
	*browser

	site   *switchingSite
	me     string // the path that answers who is signed in, and 401 without a session
	signIn func(*browser)
}

// walkBothWays walks with a new browser each time.
func walkBothWays(t *testing.T, s *switchingSite, origin, me string, signIn func(*browser)) {
	t.Helper()
	for first, name := range []string{"to Latchkey", "to Auth.js"} {
		t.Run(name, func(t *testing.T) {
			s.switches.Store(uint32(first))
			m := &mounted{&browser{latchkeytest.NewClientAt(t, origin), t, false}, s, me, signIn}
			m.BasePath = "/api/auth"
			m.walk()
		})
	}
}

// walk signs in at one of both and has the other go on, which then signs out.
func (m *mounted) walk() {
	m.t.Helper()
	m.isOut()
	m.signIn(m.browser)
	session, who := m.sessionJSON(), m.who()
	for range 2 { // at the other, and back
		m.site.switchOver()
		sameJSON(m.t, m.sessionJSON(), session)
		if now := m.who(); now != who || who.Name != "ada" || who.ID == "" {
			m.t.Errorf("%s is %+v's, and before was %+v's", m.me, now, who)
		}
		if want := []string{"authjs.callback-url", "authjs.csrf-token", "authjs.session-token"}; !slices.Equal(m.cookieNames(), want) {
			m.t.Errorf("the cookies are %v, want %v", m.cookieNames(), want)
		}
	}
	m.site.switchOver()
	m.leads(m.SignOut(), "/")
	m.isOut()
}

// who asks as a script does.
func (m *mounted) who() (c caller) {
	m.t.Helper()
	p := m.Fetch(http.MethodGet, m.me, nil, nil)
	if p.Status != http.StatusOK {
		m.t.Fatalf("%s answered %d %s", m.me, p.Status, p.Body)
	}
	ok(m.t, json.Unmarshal(p.Body, &c))
	return c
}

// isOut asks both.
func (m *mounted) isOut() {
	m.t.Helper()
	for range 2 {
		if p := m.Fetch(http.MethodGet, m.me, nil, nil); p.Status != http.StatusUnauthorized || m.sessionJSON() != nil {
			m.t.Errorf("with nobody signed in %s answered %d, and the session is %v", m.me, p.Status, m.sessionJSON())
		}
		m.site.switchOver()
	}
}

// cookieNames leaves out the one that Auth.js has not: it opens nothing.
func (m *mounted) cookieNames() (names []string) {
	for _, c := range m.Cookies() {
		if c.Name != "authjs.browser" {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// sayWho answers who is signed in.
func sayWho(w http.ResponseWriter, s *latchkey.Session) {
	_ = json.NewEncoder(w).Encode(caller{s.UserID, s.User.Name, s.User.Email}) // the client is gone
}

func signInByPassword(b *browser) { b.signInAda() }

// TestMovedFromHono is R-825: a site of Hono with @hono/auth-js moves to Go with its
// secret, its AUTH_URL and its database. Sessions live on, in both directions and of both
// kinds; what verifyAuth let in RequireSession lets in; a sign-out at one is one at both.
func TestMovedFromHono(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	iss.SignInAs(latchkeytest.Person{Subject: "ada", Name: "ada", Email: "ada@example.com", EmailVerified: true})
	t.Setenv("AUTH_SECRET", newSecret)
	t.Run("R-825 tokens", func(t *testing.T) { moveHono(t, iss, nil, signInByPassword) })
	t.Run("R-825 stored sessions", func(t *testing.T) {
		server := realservers.Postgres(t, false)
		moveHono(t, iss, &server, func(b *browser) { b.leads(b.SignIn(iss), "/") })
	})
}

func moveHono(t *testing.T, iss *latchkeytest.Issuer, server *realservers.PG, signIn func(*browser)) {
	s := &switchingSite{}
	origin := serve(t, s)
	t.Setenv("AUTH_URL", origin+"/api/auth")
	p, issuer := atIssuer(iss)
	theirs, c := object{"issuer": issuer}, latchkey.Config{Providers: []latchkey.Provider{credentials(), p}}
	if server != nil {
		store, err := pgxadapter.New(newDatabase(t, *server, "hono"), pgxadapter.Options{Layout: sqlstore.AuthJS()})
		ok(t, err)
		c.Adapter, c.Providers = store, []latchkey.Provider{p}
		theirs["host"], theirs["database"] = server.Dir, "hono"
	}
	s.sites = [2]http.Handler{reverseProxy(t, startPeer(t, "authjs", "hono.mjs", string(asJSON(t, theirs))).url()), afterHono(newAuth(t, c))}
	walkBothWays(t, s, origin, "/api/me", signIn)
	t.Run("a browser", func(t *testing.T) {
		s.switches.Store(0)
		b := &browser{latchkeytest.NewClientAt(t, origin), t, false}
		if p := b.Get("/api/me"); p.Status != http.StatusUnauthorized { // verifyAuth does not ask who asks
			t.Errorf("Hono answered %d", p.Status)
		}
		s.switchOver()
		b.leads(b.Get("/api/me"), "/api/auth/signin?callbackUrl="+url.QueryEscape(origin+"/api/me"))
	})
}

// afterHono is the program of authjs/hono.mjs after its move: verifyAuth is
// RequireSession, c.get("authUser") is SessionFrom.
func afterHono(auth *latchkey.Auth) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/me", auth.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sayWho(w, latchkey.SessionFrom(r.Context()))
	})))
	return auth.Middleware(mux)
}
