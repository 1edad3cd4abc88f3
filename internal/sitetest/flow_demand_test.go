package sitetest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// What was sent with an authorization request is demanded back.

// lax is an issuer that ignores a verifier if the code has no challenge.
var lax = latchkeytest.Misbehaviour{LaxPKCE: true}

// looseCode returns a code that belongs to no sign-in: an attacker asks for it
// without a challenge and without a nonce.
func (s *oauthSite) looseCode(provider string) string {
	s.t.Helper()
	query := url.Values{
		"response_type": {"code"}, "client_id": {s.issuer.Provider().ClientID}, "scope": {"openid email"},
		"redirect_uri": {siteOrigin + "/auth/callback/" + provider},
	}
	to := httptest.NewRecorder()
	to.Header().Set("Location", s.issuer.URL+latchkeytest.PathAuthorize+"?"+query.Encode())
	back := s.consent(&answer{to})
	if back.Get("code") == "" {
		s.t.Fatalf("no code: %v", back)
	}
	return back.Get("code")
}

// startedFlow is a sign-in under way, as the model of the test knows it.
type startedFlow struct {
	browser          *browser
	tenant, provider string
	answer           url.Values
	over             bool
}

// answerModel is a pair of tenants with two providers at one issuer, and the
// sign-ins under way there.
type answerModel struct {
	*oauthSite
	random *rand.Rand
	flows  []*startedFlow
}

func newAnswerModel(t *testing.T, checks []latchkey.Check, random *rand.Rand) *answerModel {
	t.Helper()
	set := func(p *latchkey.OAuth) { p.Checks = checks }
	m := &answerModel{oauthSite: newTenantPair(t, withIssuer(set), second(set)), random: random}
	m.issuer.Misbehave(lax)
	m.issuer.SignInAs(latchkeytest.Person{Subject: "ada"}) // an e-mail address would be taken at the second provider
	return m
}

// begin begins up to three sign-ins in each of three browsers; two of them are at
// the same tenant.
func (m *answerModel) begin() {
	m.flows = nil
	for _, tenant := range []string{"a", "a", "b"} {
		b := m.newBrowser().at(tenant)
		for range 1 + m.random.IntN(3) {
			provider := []string{"issuer", "second"}[m.random.IntN(2)]
			m.flows = append(m.flows, &startedFlow{browser: b, tenant: tenant, provider: provider, answer: m.authResponse(b, provider)})
		}
	}
}

// named returns the flow under way that a state names in a browser at a provider.
func (m *answerModel) named(b *browser, provider, state string) *startedFlow {
	i := slices.IndexFunc(m.flows, func(f *startedFlow) bool {
		return !f.over && f.browser == b && f.provider == provider && f.answer.Get("state") == state
	})
	if i < 0 {
		return nil
	}
	return m.flows[i]
}

// spoil changes the state of an answer to f, or leaves it, and says how.
func (m *answerModel) spoil(f *startedFlow, answer url.Values) string {
	other := m.flows[m.random.IntN(len(m.flows))]
	switch m.random.IntN(8) {
	case 0:
		answer.Del("state")
		return "no state"
	case 1:
		answer.Set("state", "")
		return "an empty state"
	case 2:
		answer.Add("state", answer.Get("state"))
		return "its state twice"
	case 3:
		answer.Set("state", "foreign")
		return "a made-up state"
	case 4:
		answer.Set("state", other.answer.Get("state"))
		return fmt.Sprintf("the state of %s at %s", other.provider, other.tenant)
	case 5:
		answer["state"] = []string{other.answer.Get("state"), answer.Get("state")}
		return "another state before its own"
	}
	return "its own state"
}

// try delivers an answer, and compares what becomes of it with the model.
func (m *answerModel) try() {
	m.t.Helper()
	f := m.flows[m.random.IntN(len(m.flows))]
	provider, b := f.provider, f.browser
	answer := url.Values{"state": f.answer["state"], "iss": f.answer["iss"], "code": f.answer["code"]}
	did := m.spoil(f, answer)
	switch m.random.IntN(6) {
	case 0:
		provider = []string{"issuer", "second"}[m.random.IntN(2)]
	case 1:
		b = m.flows[m.random.IntN(len(m.flows))].browser
	}
	meant := m.named(b, provider, answer.Get("state"))
	if len(answer["state"]) != 1 {
		meant = nil
	}
	switch {
	case meant != nil: // the code has to be right as well
		answer.Set("code", meant.answer.Get("code"))
		meant.over = true
	case m.random.IntN(2) == 0:
		answer.Set("code", m.looseCode(provider))
	}
	if a := b.callback(provider, answer); a.signsIn() != (meant != nil) {
		m.t.Fatalf("%s, answered at %s: signed in: %t, want %t\n%s", did, provider, a.signsIn(), meant != nil, m.log.text())
	}
}

// TestAnswersAreThoseThatWereAskedFor delivers random answers: missing, doubled and
// made-up states, those of other flows, providers, browsers and tenants, with codes
// that belong to the flow and with codes that belong to none. A callback completes
// if and only if its state is one that this browser's cookie derives. Against the
// code before R-504 it found that an answer without a state, or with any state,
// completed the newest flow with an attacker's code, wherever state was no check.
func TestAnswersAreThoseThatWereAskedFor(t *testing.T) {
	all := checkSets()
	seed, steps := race.Walk(t, 36, len(all))
	for i, checks := range all {
		t.Run("R-504 "+nameOf(checks), func(t *testing.T) {
			m := newAnswerModel(t, checks, rand.New(rand.NewPCG(seed, uint64(i))))
			for taken := range steps {
				if taken%12 == 0 {
					m.begin()
				}
				m.try()
			}
		})
	}
}

// an attacker's code signs nobody in and links nothing, whatever the
// provider makes of a verifier.
func TestLooseCode(t *testing.T) {
	for _, checks := range checkSets() {
		t.Run("R-504 "+nameOf(checks), func(t *testing.T) {
			s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = checks }), func(c *latchkey.Config) { c.AccountPage.Enabled = true })
			s.issuer.Misbehave(lax)
			b := s.newBrowser()
			b.signInByLink("victim@example.com")
			params, before := s.authResponse(b, "issuer"), s.contents()
			for _, state := range []url.Values{{}, {"state": {""}}, {"state": {"x"}}} {
				state["iss"], state["code"] = params["iss"], []string{s.looseCode("issuer")}
				refused(t, b.callback("issuer", state), "Configuration")
			}
			s.noWrite(t, before)
			s.noCall(t, latchkeytest.PathToken)
		})
	}
}

// TestSkipStateCheck accepts what Auth.js accepts: an answer to the newest flow with
// any state, unless state is a check.
func TestSkipStateCheck(t *testing.T) {
	for name, c := range map[string]struct {
		checks []latchkey.Check
		comes  bool
	}{
		"state is no check": {[]latchkey.Check{latchkey.CheckPKCE}, true},
		"state is a check":  {[]latchkey.Check{latchkey.CheckPKCE, latchkey.CheckState}, false},
	} {
		t.Run("R-504 "+name, func(t *testing.T) {
			_, b, params := newAnsweredSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = c.checks }), func(c *latchkey.Config) { c.Security.SkipStateCheck = true })
			params.Set("state", "surprise")
			if a := b.callback("issuer", params); a.signsIn() != c.comes {
				t.Errorf("the answer leads to %q", a.location())
			}
		})
	}
}

// authJSFlow plants the cookie of a flow that Auth.js began with PKCE alone, and
// returns the answer to it.
func (s *oauthSite) authJSFlow(b *browser) url.Values {
	s.t.Helper()
	params := s.authResponse(b, "issuer") // for its iss
	clear(b.jar)
	const cookie = "__Secure-authjs.pkce.code_verifier"
	sealed, err := jwt.NewCodec([]string{siteSecret}, cookie).SealClaims(jwt.Claims{"value": appVerifier, "provider": "issuer"}, s.clock.Now(), 15*time.Minute)
	if err != nil {
		s.t.Fatal(err)
	}
	b.jar[cookie] = sealed
	return url.Values{"iss": params["iss"], "code": {s.looseCode("issuer")}}
}

// what Auth.js began may come back as it left: its cookies have no mark of
// ours.
func TestFlowsThatAuthJSBegan(t *testing.T) {
	newPKCESite := func(t *testing.T) (*oauthSite, *browser, url.Values) {
		s := newOAuthSite(t, withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckPKCE} }))
		s.issuer.Misbehave(lax)
		b := s.newBrowser()
		return s, b, s.authJSFlow(b)
	}
	t.Run("R-504 without a state, once", func(t *testing.T) {
		_, b, answer := newPKCESite(t)
		before := b.copy()
		if a := b.callback("issuer", answer); !a.signsIn() || a.cookie("code_verifier") == nil {
			t.Fatalf("%d to %q", a.Code, a.location())
		}
		refused(t, before.callback("issuer", answer), "Configuration")
	})
	t.Run("R-504 with a state that it never sent", func(t *testing.T) {
		s, b, answer := newPKCESite(t)
		answer.Set("state", "foreign")
		refused(t, b.callback("issuer", answer), "Configuration")
		s.noCall(t, latchkeytest.PathToken)
	})
	t.Run("R-504 beside one of ours, which stays", func(t *testing.T) {
		s, b, answer := newPKCESite(t)
		ours := s.authResponse(b, "issuer")
		if a := b.callback("issuer", answer); !a.signsIn() {
			t.Errorf("that of Auth.js: %d to %q\n%s", a.Code, a.location(), s.log.text())
		}
		if a := b.callback("issuer", ours); !a.signsIn() {
			t.Errorf("ours: %d to %q\n%s", a.Code, a.location(), s.log.text())
		}
	})
}

// an answer comes where and how it was asked for.
func TestAnswerComesAsItWasAskedFor(t *testing.T) {
	t.Run("R-504 at another host of the site", func(t *testing.T) {
		s := newOAuthSite(t, func(c *latchkey.Config) {
			c.Site = latchkey.Site{TrustHost: true, AllowedHosts: []string{"app.example", "www.app.example"}}
		})
		b := s.newBrowser()
		params := s.authResponse(b, "issuer")
		r := b.request(http.MethodGet, "/auth/callback/issuer?"+params.Encode(), "", "")
		r.Host = "www.app.example"
		refused(t, b.serve(s.auth, r), "Configuration")
		s.noCall(t, latchkeytest.PathToken)
	})
	for asked, answered := range map[string]string{"form_post": "query", "query": "form_post"} {
		t.Run("R-504 in another response mode than "+asked, func(t *testing.T) {
			s, b, params := newAnsweredSite(t, withIssuer(func(p *latchkey.OAuth) { p.ResponseMode = asked }))
			c := s.config // the operator changes it meanwhile
			withIssuer(func(p *latchkey.OAuth) { p.ResponseMode = answered })(&c)
			var err error
			if s.auth, err = latchkey.New(c); err != nil {
				t.Fatal(err)
			}
			a := b.callback("issuer", params)
			if answered == "form_post" {
				a = b.do(http.MethodPost, "/auth/callback/issuer", formContentType, params.Encode())
			}
			refused(t, a, "Configuration")
			s.noCall(t, latchkeytest.PathToken)
		})
	}
	t.Run("R-504 without the cookie that says what was sent", func(t *testing.T) {
		s, b, params := newAnsweredSite(t, withIssuer(fullChecks))
		for name := range b.jar {
			if name == "__Secure-authjs.pkce.code_verifier" {
				delete(b.jar, name)
			}
		}
		refused(t, b.callback("issuer", params), "Configuration")
		s.noCall(t, latchkeytest.PathToken)
	})
	t.Run("R-504 with the checks that were sent, not those of today", func(t *testing.T) {
		s, b, params := newAnsweredSite(t)
		c := s.config
		withIssuer(func(p *latchkey.OAuth) { p.Checks = []latchkey.Check{latchkey.CheckPKCE, latchkey.CheckNonce} })(&c)
		var err error
		if s.auth, err = latchkey.New(c); err != nil {
			t.Fatal(err)
		}
		if a := b.callback("issuer", params); !a.signsIn() {
			t.Errorf("%d to %q\n%s", a.Code, a.location(), s.log.text())
		}
	})
}
