package interop

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// house is one address with two sites behind it, one of which answers: a
// deployment that moves from Auth.js to Latchkey, or back.
type house struct {
	sites [2]http.Handler
	moves atomic.Uint32

	oldBrowser atomic.Bool // it does not mark where its posts come from
}

func (h *house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.oldBrowser.Load() {
		r.Header.Del("Sec-Fetch-Site")
	}
	h.sites[h.moves.Load()%2].ServeHTTP(w, r)
}

// move lets the other site answer from now on.
func (h *house) move() { h.moves.Add(1) }

// behind passes requests on with the Host they came for.
func behind(t *testing.T, address string) http.Handler {
	t.Helper()
	target, err := url.Parse(address)
	ok(t, err)
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
}

// TestMovingHouse: whatever one site has begun, the other goes on with.
func TestMovingHouse(t *testing.T) {
	iss := latchkeytest.NewIssuer(t)
	iss.SignInAs(latchkeytest.Person{Subject: "grace", Name: "Grace", Email: "grace@example.com", EmailVerified: true})
	for _, secure := range []bool{false, true} {
		p, issuer := atIssuer(iss)
		ours := http.Handler(ourTwin(t, latchkey.Config{Cookies: latchkey.Cookies{Secure: &secure}, Providers: []latchkey.Provider{p}}))
		theirs := behind(t, theirSite{Secrets: []string{newSecret}, Secure: secure, Issuer: issuer}.start(t))
		for name, sites := range map[string][2]http.Handler{"to Latchkey": {theirs, ours}, "to Auth.js": {ours, theirs}} {
			if secure {
				name += " with secure cookies"
			}
			t.Run(name, func(t *testing.T) { testMoving(t, sites, secure) })
		}
	}
}

func testMoving(t *testing.T, sites [2]http.Handler, secure bool) {
	for name, f := range map[string]func(*testing.T, *house, *visitor){
		"a session stays":                 movingSession,
		"a session in pieces stays":       movingLargeSession,
		"a form goes on":                  movingCSRF,
		"where to go is remembered":       movingCallbackURL,
		"signing out ends it":             movingSignOut,
		"a sign-in elsewhere is finished": movingSignIn,
	} {
		t.Run(name, func(t *testing.T) {
			h := &house{sites: sites}
			f(t, h, &visitor{latchkeytest.NewClient(t, h), t, secure})
		})
	}
}

// visitor is a browser that knows what the cookies are called.
type visitor struct {
	*latchkeytest.Client

	t      *testing.T
	secure bool
}

func (v *visitor) cookieName(name string) string {
	switch {
	case !v.secure:
		return "authjs." + name
	case name == "csrf-token":
		return "__Host-authjs." + name
	}
	return "__Secure-authjs." + name
}

func (v *visitor) cookie(name string) string {
	if c := v.Cookie(v.cookieName(name)); c != nil {
		return c.Value
	}
	return ""
}

// session is the answer of the session route, as it is.
func (v *visitor) session() (s map[string]any) {
	v.t.Helper()
	ok(v.t, json.Unmarshal(v.Get("/auth/session").Body, &s))
	return s
}

func (v *visitor) signIn() {
	v.t.Helper()
	page := v.SignInCredentials(map[string]string{"username": "ada", "password": "lovelace"})
	v.leads(page, "/")
}

// leads fails unless page redirects to a path of the site.
func (v *visitor) leads(page *latchkeytest.Page, path string) {
	v.t.Helper()
	if to := page.Header.Get("Location"); strings.TrimSuffix(to, "/") != strings.TrimSuffix(v.URL+path, "/") {
		v.t.Fatalf("answered %d and leads to %q, not to %s", page.Status, to, path)
	}
}

// sessionCookies are the names of the cookies with the session.
func (v *visitor) sessionCookies() (names []string) {
	for _, c := range v.Cookies() {
		if strings.HasPrefix(c.Name, v.cookieName("session-token")) {
			names = append(names, c.Name)
		}
	}
	return names
}

func movingSession(t *testing.T, h *house, v *visitor) {
	v.signIn()
	before := v.session()
	if user, _ := before["user"].(map[string]any); user["name"] != "ada" {
		t.Fatalf("the session is %v", before)
	}
	for range 2 { // there, and back
		h.move()
		sameJSON(t, v.session(), maps.Clone(before))
	}
}

func movingLargeSession(t *testing.T, h *house, v *visitor) {
	v.signIn()
	for _, step := range []struct {
		length  int
		cookies string // the suffixes of their names
	}{{9000, ".0 .1 .2 .3"}, {4000, ".0 .1"}, {7000, ".0 .1 .2"}, {9, ""}, {9000, ".0 .1 .2 .3"}} {
		name := strings.Repeat("x", step.length)
		page := v.Post("/auth/session", url.Values{"csrfToken": {v.CSRFToken()}, "data": {name}})
		var updated map[string]any
		ok(t, json.Unmarshal(page.Body, &updated))
		if user, _ := updated["user"].(map[string]any); user["name"] != name {
			t.Fatalf("the update to %d characters was answered %s", step.length, page.Body)
		}
		var want []string
		for suffix := range strings.SplitSeq(step.cookies, " ") {
			want = append(want, v.cookieName("session-token")+suffix)
		}
		for range 3 { // where it was updated, on the other side, and back
			sameJSON(t, v.session(), maps.Clone(updated))
			if got := v.sessionCookies(); !slices.Equal(got, want) {
				t.Errorf("with %d characters it is in %v, not in %v", step.length, got, want)
			}
			h.move()
		}
	}
}

func movingCSRF(t *testing.T, h *house, v *visitor) {
	token := v.CSRFToken()
	cookie := v.cookie("csrf-token")
	h.move()
	if page := v.Get("/auth/csrf"); !strings.Contains(string(page.Body), token) || v.cookie("csrf-token") != cookie || cookie == "" {
		t.Errorf("the token changed: %s", page.Body)
	}
	form := url.Values{"csrfToken": {token}, "callbackUrl": {v.URL + "/desk"}, "username": {"ada"}, "password": {"lovelace"}}
	v.leads(v.Post("/auth/callback/credentials", form), "/desk")
	h.oldBrowser.Store(true) // what others mark as same-origin needs no token here
	form.Set("csrfToken", strings.Repeat("0", 64))
	v.leads(v.Post("/auth/callback/credentials", form), "/auth/signin?error=MissingCSRF")
}

func movingCallbackURL(t *testing.T, h *house, v *visitor) {
	v.Get("/auth/signin?callbackUrl=" + url.QueryEscape("/desk?a=b&c=%C5%BE"))
	cookie := v.cookie("callback-url")
	if cookie == "" {
		t.Fatal("nothing is remembered")
	}
	h.move()
	token := v.CSRFToken()
	if v.cookie("callback-url") != cookie {
		t.Error("the cookie changed")
	}
	form := url.Values{"csrfToken": {token}, "username": {"ada"}, "password": {"lovelace"}}
	v.leads(v.Post("/auth/callback/credentials", form), "/desk?a=b&c=%C5%BE")
}

func movingSignOut(t *testing.T, h *house, v *visitor) {
	v.signIn()
	h.move()
	v.leads(v.SignOut(), "/")
	for range 2 {
		if s, names := v.session(), v.sessionCookies(); s != nil || len(names) != 0 {
			t.Errorf("still there: %v in %v", s, names)
		}
		h.move()
	}
}

func movingSignIn(t *testing.T, h *house, v *visitor) {
	there := v.Begin("issuer")
	back := v.Visit(there)
	h.move()
	v.leads(v.Complete(back), "/")
	if user, _ := v.session()["user"].(map[string]any); user["name"] != "Grace" {
		t.Errorf("signed in as %v", user)
	}
	for _, check := range []string{"pkce.code_verifier", "state", "nonce"} {
		if v.cookie(check) != "" {
			t.Errorf("the cookie for %s is still there", check)
		}
	}
}
