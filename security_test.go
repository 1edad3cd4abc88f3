package latchkey_test

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

// A stage is a desk with an issuer whose sign-ins are walked through step by
// step, so that an attacker can stand between any two of them.
type stage struct {
	*desk
	issuer *latchkeytest.Issuer
	visit  *http.Client
}

func newStage(t *testing.T, change ...func(*latchkey.Config)) *stage {
	t.Helper()
	d, issuer := issuerDesk(t, change...)
	return &stage{d, issuer, newVisitor(t)}
}

// stored keeps sessions in rows.
func stored(c *latchkey.Config) { c.Session.Strategy = latchkey.DatabaseSessions }

// atIssuer changes the issuer's provider.
func atIssuer(change func(*latchkey.OAuth)) func(*latchkey.Config) {
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
		atIssuer(func(o *latchkey.OAuth) {
			other := *o
			other.ID = "second"
			change(&other)
			c.Providers = append(c.Providers, &other)
		})(c)
	}
}

func unchanged(*latchkey.OAuth) {}

// depart presses the button and comes back from the issuer with the parameters
// of its answer, which have not been delivered yet.
func (s *stage) depart(g *guest, provider string) url.Values {
	s.t.Helper()
	a := g.post("/auth/signin/" + provider)
	if !strings.HasPrefix(a.location(), s.issuer.URL) {
		s.t.Fatalf("sign-in led to %q instead of the issuer", a.location())
	}
	res, err := s.visit.Get(a.location())
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

// departures is depart for many, one after the other.
func (s *stage) departures(guests []*guest) []url.Values {
	s.t.Helper()
	all := make([]url.Values, len(guests))
	for i, g := range guests {
		all[i] = s.depart(g, "issuer")
	}
	return all
}

var hiddenInput = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// arrive delivers an authorization response.
func (g *guest) arrive(provider string, params url.Values) *answer {
	g.d.t.Helper()
	return g.get("/auth/callback/" + provider + "?" + params.Encode())
}

// comeIn is a whole sign-in at the issuer.
func (s *stage) comeIn(g *guest) *answer {
	s.t.Helper()
	return g.arrive("issuer", s.depart(g, "issuer"))
}

// mustComeIn is comeIn for those who may.
func (s *stage) mustComeIn(g *guest) *answer {
	s.t.Helper()
	a := s.comeIn(g)
	if !a.signsIn() || a.error() != "" {
		s.t.Fatalf("sign-in failed: %d to %q\n%s", a.Code, a.location(), s.log.text())
	}
	return a
}

// refused fails the test unless a turns the guest away with one of the codes
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
func (d *desk) noWrite(t testing.TB, before string) {
	t.Helper()
	if now := d.contents(); now != before {
		t.Errorf("the store changed\nfrom %s\nto   %s", before, now)
	}
}

// noCall fails the test if the issuer was asked at any of the paths.
func (s *stage) noCall(t testing.TB, paths ...string) {
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

// live and dead ask the session route with a guest's cookies as they are now.
func live(t testing.TB, g *guest) {
	t.Helper()
	if !g.copy().isLive() {
		t.Error("the session is dead")
	}
}

func dead(t testing.TB, g *guest) {
	t.Helper()
	if now := g.copy().session(); now != "null" {
		t.Errorf("the session is alive: %s", now)
	}
}

// copy is a browser with the same cookies.
func (g *guest) copy() *guest {
	twin := g.d.guest()
	for name, value := range g.jar {
		twin.jar[name] = value
	}
	return twin
}

const sessionCookie = "__Secure-authjs.session-token"
