package sitetest

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
func harmless(t *testing.T, s *testSite, b *browser, a *answer, before string) {
	t.Helper()
	if a.signsIn() {
		t.Error("the answer sets a session")
	}
	if a.cookie("state") != nil || a.cookie("code_verifier") != nil {
		t.Error("a sign-in was begun")
	}
	if s.contents() != before || len(s.sent()) != 0 || s.tried() != 1 || s.outbound.calls() != 0 {
		t.Error("the post wrote, mailed, tried or called something")
	}
	if !b.isLive() {
		t.Error("the user was signed out")
	}
}

func TestCSRFToken(t *testing.T) {
	good := strings.Repeat("ab", 32)
	pair := csrfPair(good, siteSecret)
	for _, c := range []struct{ name, cookie, token string }{
		{"R-113 no token and no cookie", "", ""},
		{"R-113 an empty token", pair, ""},
		{"R-114 a token without cookie", "", good},
		{"R-114 a foreign token", pair, strings.Repeat("cd", 32)},
		{"R-114 a hash of another secret", csrfPair(good, "another secret"), good},
		{"R-114 a hash without a secret", csrfPair(good, ""), good},
		{"R-114 no hash", good, good},
		{"R-114 an empty hash", good + "%7C", good},
		{"R-114 an empty token with a true hash", csrfPair("", siteSecret), ""},
		{"R-114 a truncated hash", pair[:len(pair)-1], good},
		{"R-114 a longer hash", pair + "0", good},
		{"R-114 the hash in upper case", good + "%7C" + strings.ToUpper(pair[len(good)+3:]), good},
		{"R-114 token and hash swapped", pair[len(good)+3:] + "%7C" + good, good},
		{"R-114 the whole cookie as token", pair, strings.ReplaceAll(pair, "%7C", "|")},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, change := range stateChanges {
				s, b := newEnteredSite(t)
				before := s.contents()
				delete(b.jar, csrfCookie)
				if c.cookie != "" {
					b.jar[csrfCookie] = c.cookie
				}
				a := b.do(http.MethodPost, change.target, formContentType, "csrfToken="+url.QueryEscape(c.token)+"&"+change.fields)
				if change.target == "/auth/session" {
					if a.Code != http.StatusBadRequest || a.Body.String() != "null" {
						t.Errorf("%s: %d %s, want 400 null", change.target, a.Code, a.Body)
					}
				} else if a.Code != http.StatusFound || a.error() != "MissingCSRF" || !strings.HasPrefix(a.location(), siteOrigin+"/auth/signin?") {
					t.Errorf("%s: %d to %q, want the sign-in page with MissingCSRF", change.target, a.Code, a.location())
				}
				harmless(t, s, b, a, before)
			}
		})
	}

	t.Run("R-114 the first of two cookies counts", func(t *testing.T) {
		b := newSite(t).newBrowser()
		r := b.request(http.MethodPost, "/auth/signout", formContentType, "csrfToken="+good)
		r.Header.Set("Cookie", csrfCookie+"=x; "+csrfCookie+"="+pair)
		if a := b.serve(b.site.auth, r); a.error() != "MissingCSRF" {
			t.Errorf("the second cookie was believed: %q", a.location())
		}
	})
	t.Run("R-114 a pair of ours is accepted", func(t *testing.T) {
		b := newSite(t).newBrowser()
		b.jar[csrfCookie] = pair
		if a := b.do(http.MethodPost, "/auth/signout", formContentType, "csrfToken="+good); a.error() != "" || a.Code != http.StatusFound {
			t.Errorf("refused: %d %q", a.Code, a.location())
		}
	})
	t.Run("R-114 every browser gets its own", func(t *testing.T) {
		s := newSite(t)
		seen := map[string]bool{}
		for range 100 {
			token := s.newBrowser().token()
			if len(token) != 64 || seen[token] {
				t.Fatalf("token %q", token)
			}
			seen[token] = true
		}
	})
}

func TestCSRFRotation(t *testing.T) {
	old, older := "an older secret that was used before it", "the oldest secret that is still on the list"
	rotated := func(c *latchkey.Config) { c.Secrets = []string{siteSecret, old, older} }
	token := strings.Repeat("12", 32)
	for _, c := range []struct {
		name, secret string
		accepted     bool
	}{
		{"R-115 the whole list", strings.Join([]string{siteSecret, old, older}, ","), true},
		{"R-115 before the last rotation", old + "," + older, true},
		{"R-115 before both", older, true},
		{"R-115 a list that never was", siteSecret + "," + older, false},
		{"R-115 the newest alone", siteSecret, false},
		{"R-115 a secret that has left the list", "a secret from long ago that has left", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newSite(t, rotated).newBrowser()
			b.jar[csrfCookie] = csrfPair(token, c.secret)
			a := b.do(http.MethodPost, "/auth/signout", formContentType, "csrfToken="+token)
			if accepted := a.error() == ""; accepted != c.accepted {
				t.Errorf("accepted is %t, want %t", accepted, c.accepted)
			}
		})
	}
	t.Run("R-115 new ones have the compatible form", func(t *testing.T) {
		b := newSite(t, rotated).newBrowser()
		token := b.token()
		if want := csrfPair(token, strings.Join([]string{siteSecret, old, older}, ",")); b.jar[csrfCookie] != want {
			t.Errorf("cookie %q, want %q", b.jar[csrfCookie], want)
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
			s := newSite(t)
			b := s.newBrowser()
			a := b.do(http.MethodPost, "/auth/callback/crew", c.mediaType, strings.Replace(body[c.kind], "%s", b.token(), 1))
			if a.signsIn() != c.read {
				t.Errorf("signed in: %t, want %t (%d %s)", a.signsIn(), c.read, a.Code, a.location())
			}
			if !c.read && (a.error() != "MissingCSRF" || s.tried() != 0) {
				t.Errorf("want MissingCSRF and no try, got %q and %d", a.error(), s.tried())
			}
		})
	}
	for _, text := range []string{"", "null", "[]", `"x"`, "1", "{", `{"csrfToken":`, "{} {}", "\xff"} {
		t.Run("R-116 JSON that is no object: "+text, func(t *testing.T) {
			b := newSite(t).newBrowser()
			b.token()
			a := b.do(http.MethodPost, "/auth/signout", "application/json", text)
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
		{name: "cross-site with our origin", site: "cross-site", origin: siteOrigin},
		{name: "a foreign origin alone", origin: "https://evil.example"},
		{name: "another port", origin: siteOrigin + ":8443"},
		{name: "another scheme", origin: "http://app.example"},
		{name: "our origin as a prefix", origin: siteOrigin + ".evil.example"},
		{name: "an opaque origin", origin: "null"},
		{name: "an unknown relation and a foreign origin", site: "x", origin: "https://evil.example"},
		{name: "a sibling", site: "same-site", origin: "https://other.app.example", passes: true},
		{name: "same-origin", site: "same-origin", origin: siteOrigin, passes: true, hardenedToo: true},
		{name: "our origin alone", origin: siteOrigin, passes: true, hardenedToo: true},
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
					s, b := newEnteredSite(t, func(c *latchkey.Config) { c.Security.RefuseSameSite = &strict })
					before := s.contents()
					if c.site != "" {
						b.header.Set("Sec-Fetch-Site", c.site)
					}
					if c.origin != "" {
						b.header.Set("Origin", c.origin)
					}
					a := b.do(http.MethodPost, change.target, formContentType, "csrfToken="+b.token()+"&"+change.fields)
					if passed := a.Code != http.StatusForbidden; passed != want {
						t.Errorf("%s: status %d, want it to pass: %t", change.target, a.Code, want)
					}
					if !want {
						harmless(t, s, b, a, before)
					}
				}
			})
		}
	}
	t.Run("R-118 form_post callbacks come from the provider's site", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) {
			formPost := *c.Providers[2].(*latchkey.OAuth)
			formPost.ID, formPost.ResponseMode = "poster", "form_post"
			c.Providers = append(c.Providers, &formPost)
		})
		b := s.newBrowser()
		b.header.Set("Sec-Fetch-Site", "cross-site")
		b.header.Set("Origin", "https://acme.example")
		if a := b.do(http.MethodPost, "/auth/callback/poster", formContentType, "code=x&state=y"); a.Code != http.StatusFound || a.error() != "Configuration" {
			t.Errorf("callback: %d to %q, want it to be looked at and refused for its state", a.Code, a.location())
		}
		for _, target := range []string{"/auth/signin/poster", "/auth/callback/acme", "/auth/callback/crew"} {
			if a := b.post(target); a.Code != http.StatusForbidden {
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
		{name: "both marks", site: "same-origin", origin: siteOrigin, passes: true},
		{name: "no origin", site: "same-origin"},
		{name: "an opaque origin", site: "same-origin", origin: "null"},
		{name: "a foreign origin", site: "same-origin", origin: "https://evil.example"},
		{name: "our origin in other letters", site: "same-origin", origin: strings.ToUpper(siteOrigin)},
		{name: "typed in", site: "none", origin: siteOrigin},
		{name: "a sibling", site: "same-site", origin: siteOrigin},
		{name: "a cross-site mark with our origin", site: "cross-site", origin: siteOrigin},
		{name: "an older browser", origin: siteOrigin},
	} {
		t.Run("R-118 "+c.name, func(t *testing.T) {
			_, b := newEnteredSite(t)
			b.header.Set("Sec-Fetch-Site", c.site)
			b.header.Set("Origin", c.origin)
			if passed := b.do(http.MethodPost, "/auth/signout", formContentType, "").Code != http.StatusForbidden && !b.isLive(); passed != c.passes {
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
				s, b := newEnteredSite(t)
				before := s.contents()
				csrf := "csrfToken=" + b.token()
				separator := "?"
				if strings.Contains(target, "?") {
					separator = "&"
				}
				r := b.request(http.MethodGet, target+separator+csrf, formContentType, csrf)
				r.Method = method
				a := b.serve(s.auth, r)
				if a.Code >= 500 {
					t.Errorf("status %d", a.Code)
				}
				if method != http.MethodGet && a.Code != http.StatusBadRequest {
					t.Errorf("status %d, want 400", a.Code)
				}
				if !strings.HasPrefix(target, "/auth/session") && a.signsIn() {
					t.Error("the answer sets a session")
				}
				if a.cookie("code_verifier") != nil || s.contents() != before || len(s.sent()) != 0 || s.tried() != 1 || s.outbound.calls() != 0 || !b.isLive() {
					t.Error("a safe method changed something")
				}
			})
		}
	}
}

func TestCSRFOff(t *testing.T) {
	b := newSite(t, func(c *latchkey.Config) { c.Security.SkipCSRFCheck = true }).newBrowser()
	if a := b.get("/auth/csrf"); a.Code != http.StatusNotFound {
		t.Errorf("the token's route answers %d, want 404", a.Code)
	}
	if a := b.do(http.MethodPost, "/auth/callback/crew", formContentType, "username=alice&password=wonderland"); !a.signsIn() {
		t.Errorf("no sign-in without token: %q", a.location())
	}
	b.header.Set("Sec-Fetch-Site", "cross-site")
	if a := b.do(http.MethodPost, "/auth/signout", formContentType, ""); a.Code != http.StatusForbidden {
		t.Errorf("R-118 holds nevertheless: %d", a.Code)
	}
}

func TestCSRFOfTheApplication(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	var token string
	b.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		if token, err = s.auth.CSRFToken(w, r); err != nil {
			t.Error(err)
		}
	}), b.request(http.MethodGet, "/contact", "", ""))
	if token == "" || b.jar[csrfCookie] != csrfPair(token, siteSecret) {
		t.Fatalf("token %q, cookie %q", token, b.jar[csrfCookie])
	}
	var again struct{ CSRFToken string }
	if err := json.Unmarshal(b.get("/auth/csrf").Body.Bytes(), &again); err != nil || again.CSRFToken != token {
		t.Errorf("the site knows another token: %q, %v", again.CSRFToken, err)
	}
}
