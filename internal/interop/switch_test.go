package interop

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// switchingSite is one origin with two sites behind it, one of which answers: a
// deployment that moves from Auth.js to Latchkey, or back.
type switchingSite struct {
	sites    [2]http.Handler
	switches atomic.Uint32

	oldBrowser atomic.Bool // it does not mark where its posts come from
}

func (s *switchingSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.oldBrowser.Load() {
		r.Header.Del("Sec-Fetch-Site")
	}
	s.sites[s.switches.Load()%2].ServeHTTP(w, r)
}

// switchOver lets the other site answer from now on.
func (s *switchingSite) switchOver() { s.switches.Add(1) }

// reverseProxy passes requests on with the Host they came for.
func reverseProxy(t *testing.T, origin string) http.Handler {
	t.Helper()
	target, err := url.Parse(origin)
	ok(t, err)
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
}

// TestSwitchSites: whatever one site has begun, the other goes on with.
func TestSwitchSites(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com", EmailVerified: true})
	for _, secure := range []bool{false, true} {
		p, issuer := atIssuer(iss)
		ours := http.Handler(ourTwin(t, latchkey.Config{Cookies: latchkey.Cookies{Secure: &secure}, Providers: []latchkey.Provider{p}}))
		theirs := reverseProxy(t, theirSite{Secrets: []string{newSecret}, Secure: secure, Issuer: issuer}.start(t))
		for name, sites := range map[string][2]http.Handler{"to Latchkey": {theirs, ours}, "to Auth.js": {ours, theirs}} {
			if secure {
				name += " with secure cookies"
			}
			t.Run(name, func(t *testing.T) { testSwitch(t, sites, secure) })
		}
	}
}

func testSwitch(t *testing.T, sites [2]http.Handler, secure bool) {
	for name, f := range map[string]func(*testing.T, *switchingSite, *browser){
		"a session stays":                 switchSession,
		"a session in pieces stays":       switchLargeSession,
		"a form goes on":                  switchCSRF,
		"where to go is remembered":       switchCallbackURL,
		"signing out ends it":             switchSignOut,
		"a sign-in elsewhere is finished": switchSignIn,
	} {
		t.Run(name, func(t *testing.T) {
			s := &switchingSite{sites: sites}
			f(t, s, &browser{latchkeytest.NewClient(t, s), t, secure})
		})
	}
}

// browser is a client that knows what the cookies are called.
type browser struct {
	*latchkeytest.Client

	t      *testing.T
	secure bool
}

func (b *browser) cookieName(name string) string {
	switch {
	case !b.secure:
		return "authjs." + name
	case name == "csrf-token":
		return "__Host-authjs." + name
	}
	return "__Secure-authjs." + name
}

func (b *browser) cookieValue(name string) string {
	if c := b.Cookie(b.cookieName(name)); c != nil {
		return c.Value
	}
	return ""
}

// sessionJSON is the answer of the session route, as it is.
func (b *browser) sessionJSON() (s map[string]any) {
	b.t.Helper()
	ok(b.t, json.Unmarshal(b.Get(b.BasePath+"/session").Body, &s))
	return s
}

func (b *browser) signInAda() {
	b.t.Helper()
	page := b.SignInCredentials(map[string]string{"username": "ada", "password": "lovelace"})
	b.leads(page, "/")
}

// leads fails unless page redirects to a path of the site.
func (b *browser) leads(page *latchkeytest.Page, path string) {
	b.t.Helper()
	if to := page.Header.Get("Location"); strings.TrimSuffix(to, "/") != strings.TrimSuffix(b.URL+path, "/") {
		b.t.Fatalf("answered %d and leads to %q, not to %s", page.Status, to, path)
	}
}

// sessionCookies are the names of the cookies with the session.
func (b *browser) sessionCookies() (names []string) {
	for _, c := range b.Cookies() {
		if strings.HasPrefix(c.Name, b.cookieName("session-token")) {
			names = append(names, c.Name)
		}
	}
	return names
}

func switchSession(t *testing.T, s *switchingSite, b *browser) {
	b.signInAda()
	before := b.sessionJSON()
	if user, _ := before["user"].(map[string]any); user["name"] != "ada" {
		t.Fatalf("the session is %v", before)
	}
	for range 2 { // there, and back
		s.switchOver()
		sameJSON(t, b.sessionJSON(), maps.Clone(before))
	}
}

func switchLargeSession(t *testing.T, s *switchingSite, b *browser) {
	b.signInAda()
	for _, step := range []struct {
		length  int
		cookies string // the suffixes of their names
	}{{9000, ".0 .1 .2 .3"}, {4000, ".0 .1"}, {7000, ".0 .1 .2"}, {9, ""}, {9000, ".0 .1 .2 .3"}} {
		name := strings.Repeat("x", step.length)
		page := b.Post("/auth/session", url.Values{"csrfToken": {b.CSRFToken()}, "data": {strconv.Itoa(step.length)}})
		var updated map[string]any
		ok(t, json.Unmarshal(page.Body, &updated))
		if user, _ := updated["user"].(map[string]any); user["name"] != name {
			t.Fatalf("the update to %d characters was answered %s", step.length, page.Body)
		}
		var want []string
		for suffix := range strings.SplitSeq(step.cookies, " ") {
			want = append(want, b.cookieName("session-token")+suffix)
		}
		for range 3 { // where it was updated, on the other side, and back
			sameJSON(t, b.sessionJSON(), maps.Clone(updated))
			if got := b.sessionCookies(); !slices.Equal(got, want) {
				t.Errorf("with %d characters it is in %v, not in %v", step.length, got, want)
			}
			s.switchOver()
		}
	}
}

func switchCSRF(t *testing.T, s *switchingSite, b *browser) {
	token := b.CSRFToken()
	cookie := b.cookieValue("csrf-token")
	s.switchOver()
	if page := b.Get("/auth/csrf"); !strings.Contains(string(page.Body), token) || b.cookieValue("csrf-token") != cookie || cookie == "" {
		t.Errorf("the token changed: %s", page.Body)
	}
	form := url.Values{"csrfToken": {token}, "callbackUrl": {b.URL + "/inbox"}, "username": {"ada"}, "password": {"lovelace"}}
	b.leads(b.Post("/auth/callback/credentials", form), "/inbox")
	s.oldBrowser.Store(true) // what others mark as same-origin needs no token here
	form.Set("csrfToken", strings.Repeat("0", 64))
	b.leads(b.Post("/auth/callback/credentials", form), "/auth/signin?error=MissingCSRF")
}

func switchCallbackURL(t *testing.T, s *switchingSite, b *browser) {
	b.Get("/auth/signin?callbackUrl=" + url.QueryEscape("/inbox?a=b&c=%C5%BE"))
	cookie := b.cookieValue("callback-url")
	if cookie == "" {
		t.Fatal("nothing is remembered")
	}
	s.switchOver()
	token := b.CSRFToken()
	if b.cookieValue("callback-url") != cookie {
		t.Error("the cookie changed")
	}
	form := url.Values{"csrfToken": {token}, "username": {"ada"}, "password": {"lovelace"}}
	b.leads(b.Post("/auth/callback/credentials", form), "/inbox?a=b&c=%C5%BE")
}

func switchSignOut(t *testing.T, site *switchingSite, b *browser) {
	b.signInAda()
	site.switchOver()
	b.leads(b.SignOut(), "/")
	for range 2 {
		if s, names := b.sessionJSON(), b.sessionCookies(); s != nil || len(names) != 0 {
			t.Errorf("still there: %v in %v", s, names)
		}
		site.switchOver()
	}
}

func switchSignIn(t *testing.T, s *switchingSite, b *browser) {
	there := b.Begin("issuer")
	back := b.Consent(there)
	s.switchOver()
	b.leads(b.Complete(back), "/")
	if user, _ := b.sessionJSON()["user"].(map[string]any); user["name"] != "Grace" {
		t.Errorf("signed in as %v", user)
	}
	for _, check := range []string{"pkce.code_verifier", "state", "nonce"} {
		if b.cookieValue(check) != "" {
			t.Errorf("the cookie for %s is still there", check)
		}
	}
}
