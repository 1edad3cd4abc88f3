package latchkey_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
)

// stateChanges are the posts that a foreign page would love to send.
var stateChanges = []struct{ target, fields string }{
	{"/auth/signin/acme", ""},
	{"/auth/signin/post", "email=a@example.com"},
	{"/auth/signin/crew", ""},
	{"/auth/signout", ""},
	{"/auth/callback/crew", "username=alice&password=wonderland"},
	{"/auth/session", "data=x"},
}

// csrfPair is a token and its cookie value as the site makes them for secret.
func csrfPair(token, secret string) string {
	sum := sha256.Sum256([]byte(token + secret))
	return token + "%7C" + hex.EncodeToString(sum[:])
}

// harmless fails the test if a refused post did anything.
func harmless(t *testing.T, d *desk, g *guest, a *answer, before string) {
	t.Helper()
	if a.signsIn() {
		t.Error("the answer sets a session")
	}
	if a.cookie("state") != nil || a.cookie("code_verifier") != nil {
		t.Error("a sign-in was begun")
	}
	if d.contents() != before || len(d.sent()) != 0 || d.tried() != 1 || d.far.calls() != 0 {
		t.Error("the post wrote, mailed, tried or called something")
	}
	if !g.isLive() {
		t.Error("the visitor was signed out")
	}
}

func TestCSRFToken(t *testing.T) {
	good := strings.Repeat("ab", 32)
	pair := csrfPair(good, deskSecret)
	for _, c := range []struct{ name, cookie, token string }{
		{"R-113 no token and no cookie", "", ""},
		{"R-113 an empty token", pair, ""},
		{"R-114 a token without cookie", "", good},
		{"R-114 a foreign token", pair, strings.Repeat("cd", 32)},
		{"R-114 a hash of another secret", csrfPair(good, "another secret"), good},
		{"R-114 a hash without a secret", csrfPair(good, ""), good},
		{"R-114 no hash", good, good},
		{"R-114 an empty hash", good + "%7C", good},
		{"R-114 an empty token with a true hash", csrfPair("", deskSecret), ""},
		{"R-114 a truncated hash", pair[:len(pair)-1], good},
		{"R-114 a longer hash", pair + "0", good},
		{"R-114 the hash in upper case", good + "%7C" + strings.ToUpper(pair[len(good)+3:]), good},
		{"R-114 token and hash swapped", pair[len(good)+3:] + "%7C" + good, good},
		{"R-114 the whole cookie as token", pair, strings.ReplaceAll(pair, "%7C", "|")},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, change := range stateChanges {
				d := openDesk(t)
				g := d.guest()
				g.signIn()
				before := d.contents()
				delete(g.jar, csrfCookie)
				if c.cookie != "" {
					g.jar[csrfCookie] = c.cookie
				}
				a := g.ask(http.MethodPost, change.target, deskForm, "csrfToken="+url.QueryEscape(c.token)+"&"+change.fields)
				if change.target == "/auth/session" {
					if a.Code != http.StatusBadRequest || a.Body.String() != "null" {
						t.Errorf("%s: %d %s, want 400 null", change.target, a.Code, a.Body)
					}
				} else if a.Code != http.StatusFound || a.error() != "MissingCSRF" || !strings.HasPrefix(a.location(), deskOrigin+"/auth/signin?") {
					t.Errorf("%s: %d to %q, want the sign-in page with MissingCSRF", change.target, a.Code, a.location())
				}
				harmless(t, d, g, a, before)
			}
		})
	}

	t.Run("R-114 the first of two cookies counts", func(t *testing.T) {
		g := openDesk(t).guest()
		r := g.request(http.MethodPost, "/auth/signout", deskForm, "csrfToken="+good)
		r.Header.Set("Cookie", csrfCookie+"=x; "+csrfCookie+"="+pair)
		if a := g.serve(g.d.auth, r); a.error() != "MissingCSRF" {
			t.Errorf("the second cookie was believed: %q", a.location())
		}
	})
	t.Run("R-114 a pair of ours is accepted", func(t *testing.T) {
		g := openDesk(t).guest()
		g.jar[csrfCookie] = pair
		if a := g.ask(http.MethodPost, "/auth/signout", deskForm, "csrfToken="+good); a.error() != "" || a.Code != http.StatusFound {
			t.Errorf("refused: %d %q", a.Code, a.location())
		}
	})
	t.Run("R-114 every browser gets its own", func(t *testing.T) {
		d := openDesk(t)
		seen := map[string]bool{}
		for range 100 {
			token := d.guest().token()
			if len(token) != 64 || seen[token] {
				t.Fatalf("token %q", token)
			}
			seen[token] = true
		}
	})
}

func TestCSRFRotation(t *testing.T) {
	old, older := "an older secret that was used before it", "the oldest secret that is still on the list"
	rotated := func(c *latchkey.Config) { c.Secrets = []string{deskSecret, old, older} }
	token := strings.Repeat("12", 32)
	for _, c := range []struct {
		name, secret string
		accepted     bool
	}{
		{"R-115 the whole list", strings.Join([]string{deskSecret, old, older}, ","), true},
		{"R-115 before the last rotation", old + "," + older, true},
		{"R-115 before both", older, true},
		{"R-115 a list that never was", deskSecret + "," + older, false},
		{"R-115 the newest alone", deskSecret, false},
		{"R-115 a secret that has left the list", "a secret from long ago that has left", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := openDesk(t, rotated).guest()
			g.jar[csrfCookie] = csrfPair(token, c.secret)
			a := g.ask(http.MethodPost, "/auth/signout", deskForm, "csrfToken="+token)
			if accepted := a.error() == ""; accepted != c.accepted {
				t.Errorf("accepted is %t, want %t", accepted, c.accepted)
			}
		})
	}
	t.Run("R-115 new ones have the compatible form", func(t *testing.T) {
		g := openDesk(t, rotated).guest()
		token := g.token()
		if want := csrfPair(token, strings.Join([]string{deskSecret, old, older}, ",")); g.jar[csrfCookie] != want {
			t.Errorf("cookie %q, want %q", g.jar[csrfCookie], want)
		}
	})
}

func TestCSRFMediaType(t *testing.T) {
	body := map[string]string{
		"form": "csrfToken=%s&username=alice&password=wonderland",
		"json": `{"csrfToken":"%s","username":"alice","password":"wonderland"}`,
	}
	for _, c := range []struct {
		kind, mediaType string
		read            bool
	}{
		{"json", "application/json", true},
		{"json", "application/json; charset=utf-8", true},
		{"json", "Application/JSON", true},
		{"json", "text/plain", false},
		{"json", "text/plain; application/json", false},
		{"json", "text/plain; x=application/json", false},
		{"json", "application/jsonp", false},
		{"json", "application/json-patch+json", false},
		{"json", "application/problem+json", false},
		{"json", "application/vnd.api+json", false},
		{"json", "text/json", false},
		{"json", "application/json, text/plain", false},
		{"json", "", false},
		{"json", "multipart/form-data; boundary=x", false},
		{"form", "application/x-www-form-urlencoded", true},
		{"form", "application/x-www-form-urlencoded;charset=UTF-8", true},
		{"form", "text/plain", false},
		{"form", "text/plain;application/x-www-form-urlencoded", false},
		{"form", "multipart/form-data", false},
		{"form", "application/x-www-form-urlencoded2", false},
		{"form", "", false},
	} {
		t.Run("R-116 "+c.kind+" as "+c.mediaType, func(t *testing.T) {
			d := openDesk(t)
			g := d.guest()
			a := g.ask(http.MethodPost, "/auth/callback/crew", c.mediaType, strings.Replace(body[c.kind], "%s", g.token(), 1))
			if a.signsIn() != c.read {
				t.Errorf("signed in: %t, want %t (%d %s)", a.signsIn(), c.read, a.Code, a.location())
			}
			if !c.read && (a.error() != "MissingCSRF" || d.tried() != 0) {
				t.Errorf("want MissingCSRF and no try, got %q and %d", a.error(), d.tried())
			}
		})
	}
	for _, text := range []string{"", "null", "[]", `"x"`, "1", "{", `{"csrfToken":`, "{} {}", "\xff"} {
		t.Run("R-116 JSON that is no object: "+text, func(t *testing.T) {
			g := openDesk(t).guest()
			g.token()
			a := g.ask(http.MethodPost, "/auth/signout", "application/json", text)
			if a.Code != http.StatusBadRequest && a.error() != "MissingCSRF" {
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
	}
}

func TestCSRFBrowserSignals(t *testing.T) {
	for _, c := range []struct {
		name         string
		site, origin string
		passes       bool
		hardenedToo  bool
	}{
		{name: "cross-site", site: "cross-site", origin: "https://evil.example"},
		{name: "cross-site with our origin", site: "cross-site", origin: deskOrigin},
		{name: "a foreign origin alone", origin: "https://evil.example"},
		{name: "another port", origin: deskOrigin + ":8443"},
		{name: "another scheme", origin: "http://app.example"},
		{name: "our origin as a prefix", origin: deskOrigin + ".evil.example"},
		{name: "an opaque origin", origin: "null"},
		{name: "an unknown relation and a foreign origin", site: "x", origin: "https://evil.example"},
		{name: "a sibling", site: "same-site", origin: "https://other.app.example", passes: true},
		{name: "same-origin", site: "same-origin", origin: deskOrigin, passes: true, hardenedToo: true},
		{name: "our origin alone", origin: deskOrigin, passes: true, hardenedToo: true},
		{name: "typed in", site: "none", passes: true, hardenedToo: true},
		{name: "no headers", passes: true, hardenedToo: true},
	} {
		for _, strict := range []bool{false, true} {
			name, want := "R-118 "+c.name, c.passes
			if strict {
				name, want = name+", siblings refused", c.hardenedToo
			}
			t.Run(name, func(t *testing.T) {
				for _, change := range stateChanges {
					d := openDesk(t, func(c *latchkey.Config) { c.Strict.RefuseSameSite = strict })
					g := d.guest()
					g.signIn()
					before := d.contents()
					if c.site != "" {
						g.header.Set("Sec-Fetch-Site", c.site)
					}
					if c.origin != "" {
						g.header.Set("Origin", c.origin)
					}
					a := g.ask(http.MethodPost, change.target, deskForm, "csrfToken="+g.token()+"&"+change.fields)
					if passed := a.Code != http.StatusForbidden; passed != want {
						t.Errorf("%s: status %d, want it to pass: %t", change.target, a.Code, want)
					}
					if !want {
						harmless(t, d, g, a, before)
					}
				}
			})
		}
	}
	t.Run("R-118 form_post callbacks come from the provider's site", func(t *testing.T) {
		d := openDesk(t, func(c *latchkey.Config) {
			formPost := *c.Providers[2].(*latchkey.OAuth)
			formPost.ID, formPost.ResponseMode = "poster", "form_post"
			c.Providers = append(c.Providers, &formPost)
		})
		g := d.guest()
		g.header.Set("Sec-Fetch-Site", "cross-site")
		g.header.Set("Origin", "https://acme.example")
		if a := g.ask(http.MethodPost, "/auth/callback/poster", deskForm, "code=x&state=y"); a.Code != http.StatusFound || a.error() != "Configuration" {
			t.Errorf("callback: %d to %q, want it to be looked at and refused for its state", a.Code, a.location())
		}
		for _, target := range []string{"/auth/signin/poster", "/auth/callback/acme", "/auth/callback/crew"} {
			if a := g.post(target); a.Code != http.StatusForbidden {
				t.Errorf("%s: %d, want 403", target, a.Code)
			}
		}
	})
}

// What the browser itself marks as sent by a page of the very same origin needs
// no token; nothing less than both marks will do.
func TestCSRFSameOriginMark(t *testing.T) {
	for _, c := range []struct {
		name, site, origin string
		passes             bool
	}{
		{name: "both marks", site: "same-origin", origin: deskOrigin, passes: true},
		{name: "no origin", site: "same-origin"},
		{name: "an opaque origin", site: "same-origin", origin: "null"},
		{name: "a foreign origin", site: "same-origin", origin: "https://evil.example"},
		{name: "our origin in other letters", site: "same-origin", origin: strings.ToUpper(deskOrigin)},
		{name: "typed in", site: "none", origin: deskOrigin},
		{name: "a sibling", site: "same-site", origin: deskOrigin},
		{name: "a cross-site mark with our origin", site: "cross-site", origin: deskOrigin},
		{name: "an older browser", origin: deskOrigin},
	} {
		t.Run("R-118 "+c.name, func(t *testing.T) {
			d := openDesk(t)
			g := d.guest()
			g.signIn()
			g.header.Set("Sec-Fetch-Site", c.site)
			g.header.Set("Origin", c.origin)
			if passed := g.ask(http.MethodPost, "/auth/signout", deskForm, "").Code != http.StatusForbidden && !g.isLive(); passed != c.passes {
				t.Errorf("a sign-out without a token passed: %t, want %t", passed, c.passes)
			}
		})
	}
}

func TestCSRFSafeMethods(t *testing.T) {
	targets := []string{
		"/auth/signin/acme", "/auth/signin/post?email=a@example.com", "/auth/signout", "/auth/session", "/auth/signin", "/auth/csrf", "/auth/providers",
		"/auth/callback/crew?username=alice&password=wonderland", "/auth/callback/webauthn", "/auth/callback/post", "/auth/error", "/auth/verify-request", "/auth/account",
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete, http.MethodPatch, "POST ", "post", "QUERY"} {
		for _, target := range targets {
			t.Run("R-120 "+method+" "+target, func(t *testing.T) {
				d := openDesk(t)
				g := d.guest()
				g.signIn()
				before := d.contents()
				csrf := "csrfToken=" + g.token()
				separator := "?"
				if strings.Contains(target, "?") {
					separator = "&"
				}
				r := g.request(http.MethodGet, target+separator+csrf, deskForm, csrf)
				r.Method = method
				a := g.serve(d.auth, r)
				if a.Code >= 500 {
					t.Errorf("status %d", a.Code)
				}
				if method != http.MethodGet && a.Code != http.StatusBadRequest {
					t.Errorf("status %d, want 400", a.Code)
				}
				if !strings.HasPrefix(target, "/auth/session") && a.signsIn() {
					t.Error("the answer sets a session")
				}
				if a.cookie("code_verifier") != nil || d.contents() != before || len(d.sent()) != 0 || d.tried() != 1 || d.far.calls() != 0 || !g.isLive() {
					t.Error("a safe method changed something")
				}
			})
		}
	}
}

func TestCSRFOff(t *testing.T) {
	g := openDesk(t, func(c *latchkey.Config) { c.Strict.SkipCSRFCheck = true }).guest()
	if a := g.get("/auth/csrf"); a.Code != http.StatusNotFound {
		t.Errorf("the token's route answers %d, want 404", a.Code)
	}
	if a := g.ask(http.MethodPost, "/auth/callback/crew", deskForm, "username=alice&password=wonderland"); !a.signsIn() {
		t.Errorf("no sign-in without token: %q", a.location())
	}
	g.header.Set("Sec-Fetch-Site", "cross-site")
	if a := g.ask(http.MethodPost, "/auth/signout", deskForm, ""); a.Code != http.StatusForbidden {
		t.Errorf("R-118 holds nevertheless: %d", a.Code)
	}
}

func TestCSRFOfTheApplication(t *testing.T) {
	d := openDesk(t)
	g := d.guest()
	var token string
	g.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if token, err = d.auth.CSRFToken(w, r); err != nil {
			t.Error(err)
		}
	}), g.request(http.MethodGet, "/contact", "", ""))
	if token == "" || g.jar[csrfCookie] != csrfPair(token, deskSecret) {
		t.Fatalf("token %q, cookie %q", token, g.jar[csrfCookie])
	}
	var again struct{ CSRFToken string }
	if err := json.Unmarshal(g.get("/auth/csrf").Body.Bytes(), &again); err != nil || again.CSRFToken != token {
		t.Errorf("the site knows another token: %q, %v", again.CSRFToken, err)
	}
}
