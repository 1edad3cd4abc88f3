package sitetest

import (
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// An oauthSite is a site with an issuer whose sign-ins are done step by step,
// so that a test can attack between any two of them.
type oauthSite struct {
	*testSite
	issuer *latchkeytest.Issuer
	client *http.Client
}

func newOAuthSite(t *testing.T, change ...func(*latchkey.Config)) *oauthSite {
	t.Helper()
	s, issuer := newIssuerSite(t, change...)
	return &oauthSite{s, issuer, newHTTPClient(t)}
}

// stored keeps sessions in rows.
func stored(c *latchkey.Config) { c.Session.Strategy = latchkey.DatabaseSessions }

// atIssuer changes the issuer's provider.
func withIssuer(change func(*latchkey.OAuth)) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		for _, p := range c.Providers {
			if o, ok := p.(*latchkey.OAuth); ok && o.ID == "issuer" {
				change(o)
			}
		}
	}
}

// second adds another provider at the same issuer.
func second(change func(*latchkey.OAuth)) func(*latchkey.Config) {
	return func(c *latchkey.Config) {
		withIssuer(func(o *latchkey.OAuth) {
			other := *o
			other.ID = "second"
			change(&other)
			c.Providers = append(c.Providers, &other)
		})(c)
	}
}

func unchanged(*latchkey.OAuth) {}

// newSignedInOAuthSite returns a site of newOAuthSite with a browser that is signed in.
func newSignedInOAuthSite(t *testing.T, change ...func(*latchkey.Config)) (*oauthSite, *browser) {
	t.Helper()
	s := newOAuthSite(t, change...)
	b := s.newBrowser()
	s.mustSignIn(b)
	return s, b
}

// newAnsweredSite returns a site of newOAuthSite, with a browser that is about to bring
// the issuer's answer, and the answer.
func newAnsweredSite(t *testing.T, change ...func(*latchkey.Config)) (*oauthSite, *browser, url.Values) {
	t.Helper()
	s := newOAuthSite(t, change...)
	b := s.newBrowser()
	return s, b, s.authResponse(b, "issuer")
}

// authResponse begins a sign-in and returns the parameters of the issuer's
// authorization response, which has not been delivered yet.
func (s *oauthSite) authResponse(b *browser, provider string) url.Values {
	s.t.Helper()
	a := b.post("/auth/signin/" + provider)
	if !strings.HasPrefix(a.location(), s.issuer.URL) {
		s.t.Fatalf("sign-in led to %q instead of the issuer", a.location())
	}
	return s.consent(a)
}

// consent follows an answer to the issuer, and is what comes back from there.
func (s *oauthSite) consent(a *answer) url.Values {
	s.t.Helper()
	res, err := s.client.Get(a.location())
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if back := res.Header.Get("Location"); back != "" {
		u, err := url.Parse(back)
		if err != nil {
			s.t.Fatal(err)
		}
		return u.Query()
	}
	page, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	params := url.Values{}
	for _, input := range hiddenInput.FindAllStringSubmatch(string(page), -1) {
		params.Add(html.UnescapeString(input[1]), html.UnescapeString(input[2]))
	}
	return params
}

// authResponses is authResponse for many, one after the other.
func (s *oauthSite) authResponses(browsers []*browser) []url.Values {
	s.t.Helper()
	all := make([]url.Values, len(browsers))
	for i, b := range browsers {
		all[i] = s.authResponse(b, "issuer")
	}
	return all
}

var hiddenInput = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// callback delivers an authorization response.
func (b *browser) callback(provider string, params url.Values) *answer {
	b.site.t.Helper()
	return b.get("/auth/callback/" + provider + "?" + params.Encode())
}

// signIn is a whole sign-in at the issuer.
func (s *oauthSite) signIn(b *browser) *answer {
	s.t.Helper()
	return b.callback("issuer", s.authResponse(b, "issuer"))
}

// mustSignIn is signIn that has to work.
func (s *oauthSite) mustSignIn(b *browser) *answer {
	s.t.Helper()
	a := s.signIn(b)
	if !a.signsIn() || a.error() != "" {
		s.t.Fatalf("sign-in failed: %d to %q\n%s", a.Code, a.location(), s.log.text())
	}
	return a
}

// refused fails the test unless a refuses the browser with one of the codes
// (none: any) and nobody was signed in.
func refused(t testing.TB, a *answer, codes ...string) {
	t.Helper()
	if a.Code != http.StatusFound || a.error() == "" || (len(codes) > 0 && !slices.Contains(codes, a.error())) {
		t.Errorf("answered %d to %q, want a refusal with %v", a.Code, a.location(), codes)
	}
	if a.signsIn() {
		t.Error("the refusal sets a session")
	}
}

// noWrite fails the test if the store changed since before.
func (s *testSite) noWrite(t testing.TB, before string) {
	t.Helper()
	if now := s.contents(); now != before {
		t.Errorf("the store changed\nfrom %s\nto   %s", before, now)
	}
}

// noCall fails the test if the issuer was asked at any of the paths.
func (s *oauthSite) noCall(t testing.TB, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if n := s.issuer.Count(path); n != 0 {
			t.Errorf("%d requests at %s, want none", n, path)
		}
	}
}

// cleared fails the test unless a makes the browser forget the cookie.
func cleared(t testing.TB, a *answer, suffix string) {
	t.Helper()
	c := a.cookie(suffix)
	if c == nil || c.Value != "" || c.MaxAge >= 0 || c.Path != "/" || !c.Secure {
		t.Errorf("%s is not cleared: %v", suffix, c)
	}
}

// live and dead ask the session route with a browser's cookies as they are now.
func live(t testing.TB, b *browser) {
	t.Helper()
	if !b.copy().isLive() {
		t.Error("the session is dead")
	}
}

func dead(t testing.TB, b *browser) {
	t.Helper()
	if now := b.copy().session(); now != "null" {
		t.Errorf("the session is alive: %s", now)
	}
}

// copy is a browser with the same cookies.
func (b *browser) copy() *browser {
	twin := b.site.newBrowser()
	for name, value := range b.jar {
		twin.jar[name] = value
	}
	return twin
}

const sessionCookie = "__Secure-authjs.session-token"
