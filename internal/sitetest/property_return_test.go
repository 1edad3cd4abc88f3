package sitetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// leaver is a browser that signs out at its provider, as the model of the test knows it.
type leaver struct {
	*browser
	tenant, provider string
	session          map[string]string // its cookies when it had signed in

	state    string // of the sign-out under way; empty: none
	callback string
	begun    time.Time
	former   []string // states of earlier sign-outs, and of sign-ins
}

// returnModel is a pair of tenants with two providers, and browsers that come back from
// a logout there.
type returnModel struct {
	*oauthSite
	random  *rand.Rand
	leavers []*leaver
	n       int
}

func newReturnModel(t *testing.T, random *rand.Rand) *returnModel {
	t.Helper()
	leaves := func(o *latchkey.OAuth) {
		o.Logout = latchkey.Logout{AtProvider: true, OmitIDToken: true, URL: func(_ context.Context, l latchkey.LogoutRequest) (string, error) {
			return "https://id.example/logout?" + url.Values{"state": {l.State}}.Encode(), nil
		}}
	}
	m := &returnModel{random: random}
	m.oauthSite = newTenantPair(t, withIssuer(leaves), second(leaves), func(c *latchkey.Config) {
		c.Session.SkipRevocations, c.Limits.Disabled = true, true // a session can be shown again
	})
	m.issuer.SignInAs(latchkeytest.Person{Subject: "ada"}) // an e-mail address would be taken at the second provider
	for _, at := range [][2]string{{"a", "issuer"}, {"a", "second"}, {"b", "issuer"}, {"b", "issuer"}} {
		l := &leaver{browser: m.newBrowser().at(at[0]), tenant: at[0], provider: at[1], session: map[string]string{}}
		l.former = append(l.former, m.authResponse(l.browser, l.provider).Get("state"))
		if a := l.browser.callback(l.provider, m.authResponse(l.browser, l.provider)); !a.signsIn() {
			t.Fatalf("no sign-in: %q\n%s", a.location(), m.log.text())
		}
		for name, value := range l.jar {
			if strings.Contains(name, "session-token") {
				l.session[name] = value
			}
		}
		m.leavers = append(m.leavers, l)
	}
	return m
}

// begin signs a browser out. A sign-out that was under way there is forgotten.
func (m *returnModel) begin(l *leaver) {
	m.t.Helper()
	for name, value := range l.session {
		l.jar[name] = value
	}
	if l.state != "" {
		l.former = append(l.former, l.state)
	}
	l.former = l.former[max(0, len(l.former)-5):]
	m.n++
	l.callback, l.begun = fmt.Sprintf("%s/bye/%d", siteOrigin, m.n), m.clock.Now()
	to, err := url.Parse(l.post("/auth/signout", "callbackUrl", l.callback).location())
	if err != nil || to.Host != "id.example" {
		m.t.Fatalf("the sign-out leads to %v\n%s", to, m.log.text())
	}
	l.state = to.Query().Get("state")
}

// states returns the states that a browser brings, and what they are.
func (m *returnModel) states(l *leaver) (states []string, what string) {
	other := oneOf(m.random, m.leavers)
	switch m.random.IntN(8) {
	case 0:
		return nil, "no state"
	case 1:
		return []string{""}, "an empty state"
	case 2:
		return []string{"foreign"}, "a made-up state"
	case 3:
		return []string{oneOf(m.random, l.former)}, "a state of before"
	case 4:
		return []string{other.state}, "the state of a browser at " + other.tenant
	case 5:
		return []string{l.state, other.state + "x"}, "another state after its own"
	}
	return []string{l.state}, "its own state"
}

// try brings a browser back, and compares where it is led with the model.
func (m *returnModel) try() {
	m.t.Helper()
	l := oneOf(m.random, m.leavers)
	states, what := m.states(l)
	provider := oneOf(m.random, []string{l.provider, l.provider, l.provider, "issuer", "second", "crew", "none"})
	want := siteOrigin
	isOwn := len(states) == 1 && states[0] == l.state && l.state != "" && provider == l.provider
	if isOwn && m.clock.Now().Sub(l.begun) < 15*time.Minute {
		want = l.callback
	}
	a := l.get("/auth/signed-out/" + provider + "?" + url.Values{"state": states}.Encode())
	if a.location() != want || a.signsIn() {
		m.t.Fatalf("%s, at %s: led to %q, want %q", what, provider, a.location(), want)
	}
	if want != siteOrigin {
		l.former, l.state = append(l.former, l.state), ""
	} else if len(a.Result().Cookies()) > 0 {
		m.t.Fatalf("%s, at %s: cookies were changed", what, provider)
	}
}

// misuse brings the state of a logout to the callback of a sign-in.
func (m *returnModel) misuse() {
	m.t.Helper()
	l := oneOf(m.random, m.leavers)
	if l.state == "" {
		return
	}
	if a := l.comeBack(l.provider, l.state); a.signsIn() || a.error() == "" {
		m.t.Fatalf("the state of a logout completes a sign-in: %q", a.location())
	}
}

func (l *leaver) comeBack(provider, state string) *answer {
	l.site.t.Helper()
	return l.browser.callback(provider, url.Values{"state": {state}, "code": {"c"}})
}

// TestReturnsAreThoseThatWereAskedFor brings browsers back from a logout at random: with
// missing, made-up, earlier and foreign states, at other providers and tenants, late, and
// twice (P-C). A browser is led to where its sign-out wanted to go if and only if its
// cookie has the state. Everything else leads to the site's origin and changes no cookie,
// and the state of a logout completes no sign-in. 2,000 things happen, times
// LATCHKEY_STEPS. Without the comparison of the state it fails at once: "a state of
// before, at second: led to "https://app.example/bye/6", want "https://app.example"".
func TestReturnsAreThoseThatWereAskedFor(t *testing.T) {
	seed, steps := race.Steps(t, 2000)
	for at := 0; at < steps; at += 2000 {
		m := newReturnModel(t, rand.New(rand.NewPCG(seed+uint64(at), 8)))
		for range min(steps-at, 2000) {
			switch m.random.IntN(12) {
			case 0, 1, 2:
				m.begin(oneOf(m.random, m.leavers))
			case 3:
				m.clock.Advance(oneOf(m.random, []time.Duration{time.Second, time.Second, 4 * time.Minute, 16 * time.Minute}))
			case 4:
				m.misuse()
			default:
				m.try()
			}
		}
	}
}
