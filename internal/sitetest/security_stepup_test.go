package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	details "github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// mailsAtOnce sends mails before the answer.
func mailsAtOnce(c *latchkey.Config) {
	c.Runtime.Background = func(f func(context.Context)) { f(context.Background()) }
}

// countFailed counts the proofs in sessions that have failed.
func countFailed(n *int) func(context.Context, event.Event) error {
	return func(_ context.Context, e event.Event) error {
		if e.Type == event.StepUp && e.Outcome == event.Failed {
			*n++
		}
		return nil
	}
}

// TestFailedProofSaysWhy is R-824 for the proofs in a session.
func TestFailedProofSaysWhy(t *testing.T) {
	var told []event.Detail
	s := newFactorSite(t, func(c *latchkey.Config) {
		c.Events.Observe = func(_ context.Context, e event.Event) error {
			if e.Type == event.StepUp && e.Outcome == event.Failed {
				told = append(told, e.Detail)
			}
			return nil
		}
	})
	b := s.inSession()
	s.clock.Advance(time.Hour)
	b.post("/auth/reauth?for=recent", "use", "totp", "code", wrongCode(s.code(0)))
	b.post("/auth/reauth?for=recent", "use", "none that there is")
	for range 10 { // more than a proof may have
		b.post("/auth/reauth?for=recent", "use", "totp", "code", wrongCode(s.code(0)))
	}
	for i, want := range []event.Detail{details.FactorWrong, details.RequestMalformed} {
		if len(told) <= i || told[i] != want {
			t.Fatalf("the events have the details %q, want %q first", told, want)
		}
	}
	if last := told[len(told)-1]; last != details.LimitClient {
		t.Errorf("after too many tries the event has the detail %q", last)
	}
}

func alwaysRequired(context.Context, latchkey.FactorQuestion) (latchkey.FactorDemand, error) {
	return latchkey.FactorDemand{Need: latchkey.FactorRequired}, nil
}

func withAccountPage(c *latchkey.Config) { c.AccountPage.Enabled = true }

// inSession signs Alice in with her second factor.
func (s *factorSite) inSession() *browser {
	s.t.Helper()
	b := s.newBrowser()
	b.challenge()
	if a := b.factor("totp", s.code(0)); !a.signsIn() {
		s.t.Fatalf("not signed in: %d to %q", a.Code, a.location())
	}
	return b
}

// entering asks for a page behind a guard; 418 is the page.
func (b *browser) entering(guard func(http.Handler) http.Handler, method, target string) *answer {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	return b.serve(guard(page), b.request(method, target, "", ""))
}

// leadsToProof reports whether an answer asks for a proof: of a factor, or any.
func leadsToProof(a *answer, wanted string) bool {
	return strings.HasPrefix(a.location(), siteOrigin+"/auth/reauth?for="+wanted+"&")
}

func TestRecentProof(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		s := newFactorSite(t, with)
		b := s.inSession()
		guard := s.auth.RequireRecent(time.Minute)
		s.clock.Advance(time.Minute - time.Millisecond)
		if a := b.entering(guard, http.MethodGet, "/pay"); a.Code != http.StatusTeapot {
			t.Errorf("F-063 a millisecond before the end: %d", a.Code)
		}
		s.clock.Advance(2 * time.Millisecond)
		if a := b.entering(guard, http.MethodGet, "/pay"); !leadsToProof(a, "recent") {
			t.Errorf("F-063 a millisecond after the end: %d to %q", a.Code, a.location())
		}
		before, former := s.sessionOf(b), b.copy()
		s.clock.Advance(time.Minute)
		a := b.post("/auth/reauth?for=recent&callbackUrl="+url.QueryEscape(siteOrigin+"/pay"), "use", "totp", "code", s.code(0))
		if a.location() != siteOrigin+"/pay" {
			t.Fatalf("F-066 the proof leads to %q\n%s", a.location(), s.log.text())
		}
		after := s.sessionOf(b)
		if after == nil || after.ID != before.ID || !after.AuthTime.Equal(before.AuthTime) || !after.Proved.Equal(s.clock.Now()) || after.ACR != "aal2" {
			t.Errorf("F-066 %+v\nwas %+v", after, before)
		}
		if s.config.Session.Strategy == latchkey.DatabaseSessions && former.isLive() {
			t.Error("F-066 the old token is alive")
		}
		if a := b.entering(guard, http.MethodGet, "/pay"); a.Code != http.StatusTeapot {
			t.Errorf("F-066 the page is closed: %d to %q", a.Code, a.location())
		}
		t.Run("F-070 a sign-out wins", func(t *testing.T) {
			s.clock.Advance(time.Minute)
			elsewhere := b.copy()
			elsewhere.post("/auth/signout")
			if a := b.post("/auth/reauth", "use", "totp", "code", s.code(0)); b.isLive() {
				t.Errorf("a session came back: %d to %q", a.Code, a.location())
			}
		})
	})
}

func TestAnswersThatAskForAProof(t *testing.T) {
	s := newFactorSite(t)
	b := s.inSession()
	s.clock.Advance(time.Hour)
	back := func(to string) string {
		return siteOrigin + "/auth/reauth?for=recent&callbackUrl=" + url.QueryEscape(to)
	}
	guard := s.auth.RequireRecent(10 * time.Minute)
	for _, c := range []struct {
		name, method string
		header       map[string]string
		status       int
		to           string
	}{
		{"F-064 GET", http.MethodGet, nil, 302, back(siteOrigin + "/pay?a=1")},
		{"F-064 HEAD", http.MethodHead, nil, 302, back(siteOrigin + "/pay?a=1")},
		{"F-064 POST from a page", http.MethodPost, map[string]string{"Referer": siteOrigin + "/form"}, 303, back(siteOrigin + "/form")},
		{"F-064 POST from elsewhere", http.MethodPost, map[string]string{"Referer": "https://evil.example/form"}, 303, back(siteOrigin)},
		{"F-064 a script", http.MethodGet, map[string]string{"Accept": "application/json"}, 401, ""},
		{"F-064 htmx", http.MethodGet, map[string]string{"HX-Request": "true"}, 401, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := b.copy()
			for name, value := range c.header {
				at.header.Set(name, value)
			}
			a := at.entering(guard, c.method, "/pay?a=1")
			if a.Code != c.status || a.location() != c.to {
				t.Errorf("%d to %q, want %d to %q", a.Code, a.location(), c.status, c.to)
			}
			if !strings.Contains(a.Header().Get("Cache-Control"), "no-store") {
				t.Errorf("Cache-Control: %q", a.Header().Get("Cache-Control"))
			}
			if c.status != 401 {
				return
			}
			var told struct{ Error, URL string }
			if err := json.Unmarshal(a.Body.Bytes(), &told); err != nil || told.Error != "insufficient_user_authentication" || !strings.HasPrefix(told.URL, siteOrigin+"/auth/reauth?for=recent") {
				t.Errorf("%s, %v", a.Body, err)
			}
			if got := a.Header().Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") || !strings.Contains(got, `error="insufficient_user_authentication", max_age="600"`) {
				t.Errorf("WWW-Authenticate: %s", got)
			}
			if isHTMX := c.header["HX-Request"] != ""; isHTMX != strings.Contains(a.Header().Get("HX-Redirect"), "/auth/reauth") {
				t.Errorf("HX-Redirect: %q", a.Header().Get("HX-Redirect"))
			}
		})
	}
	t.Run("F-064 nobody", func(t *testing.T) {
		if a := s.newBrowser().entering(guard, http.MethodGet, "/pay"); !strings.HasPrefix(a.location(), siteOrigin+"/auth/signin") {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
	t.Run("F-064 a factor", func(t *testing.T) {
		if a := b.entering(s.auth.RequireFactor(), http.MethodGet, "/pay"); a.Code != http.StatusTeapot {
			t.Errorf("proven: %d to %q", a.Code, a.location())
		}
		if a := b.entering(s.auth.RequireFactor(latchkey.FactorPasskey), http.MethodGet, "/pay"); !leadsToProof(a, "factor") {
			t.Errorf("not proven: %d to %q", a.Code, a.location())
		}
	})
	t.Run("F-069 callbackUrl is checked", func(t *testing.T) {
		for _, evil := range []string{"https://evil.example", "//evil.example", `/\evil.example`, "javascript:alert(1)", "https://app.example@evil.example", "/%09/evil.example", "https:evil.example"} {
			s.clock.Advance(time.Minute)
			for _, a := range []*answer{b.get("/auth/reauth?callbackUrl=" + url.QueryEscape(evil)), b.post("/auth/reauth?callbackUrl="+url.QueryEscape(evil), "use", "totp", "code", s.code(0)), b.get("/auth/factor?callbackUrl=" + url.QueryEscape(evil))} {
				if to := a.location(); to != "" && to != siteOrigin && !strings.HasPrefix(to, siteOrigin+"/") || strings.Contains(a.Body.String(), `href="https://evil`) {
					t.Errorf("%q leads to %q", evil, to)
				}
			}
		}
	})
	t.Run("joined demands are all met", func(t *testing.T) {
		both := s.auth.Authorize(func(*http.Request, *latchkey.Session) error {
			return errors.Join(latchkey.NeedFactor(), latchkey.NeedRecent(time.Nanosecond))
		})
		s.clock.Advance(time.Minute)
		if a := b.entering(both, http.MethodGet, "/pay"); !leadsToProof(a, "recent") {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
}

func TestWrongProofs(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		var failed int
		s := newFactorSite(t, with, func(c *latchkey.Config) { c.Events.Observe = countFailed(&failed) })
		b := s.inSession()
		s.clock.Advance(time.Hour)
		before := s.sessionOf(b)
		for range 5 {
			if a := b.post("/auth/reauth", "use", "totp", "code", "000000"); a.error() != "SecondFactor" {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
		}
		if a := b.post("/auth/reauth", "use", "totp", "code", s.code(0)); a.error() != "Reauth" {
			t.Errorf("the sixth try leads to %q", a.location())
		}
		if page := b.get("/auth/reauth").Body.String(); !strings.Contains(page, "/auth/signout") || strings.Contains(page, `name="code"`) {
			t.Error("the page asks for another code")
		}
		if after := s.sessionOf(b); after == nil || !after.Proved.Equal(before.Proved) {
			t.Errorf("the session is %+v", after)
		}
		if failed < 5 {
			t.Errorf("%d failures were told", failed)
		}
		s.clock.Advance(11 * time.Minute)
		if a := b.post("/auth/reauth", "use", "totp", "code", s.code(0)); a.error() != "" {
			t.Errorf("ten minutes later: %q", a.location())
		}
	})
}

func TestProofAtAProvider(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *oauthSite)
		comes  bool
	}{
		"F-067 a fresh sign-in":                    {func(o *oauthSite) { o.idToken(map[string]any{"auth_time": o.clock.Now().Unix()}) }, true},
		"F-067 no auth_time":                       {func(o *oauthSite) { o.idToken(map[string]any{"auth_time": nil}) }, false},
		"F-067 an old auth_time":                   {func(o *oauthSite) { o.idToken(map[string]any{"auth_time": o.clock.Now().Add(-time.Hour).Unix()}) }, false},
		"F-065 another person, of no account here": {otherPerson, false},
		"F-065 another user":                       {otherUser, false},
	} {
		t.Run(name, func(t *testing.T) {
			bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
				var given time.Duration
				o := newOAuthSite(t, withFactors, with, func(c *latchkey.Config) {
					c.Adapter = patientStore{c.Adapter.(*memoryadapter.Adapter), &given}
					c.Limits.ProviderTimeout, c.Limits.StoreTimeout = time.Minute, time.Hour
				})
				b := o.newBrowser()
				o.mustSignIn(b)
				o.clock.Advance(time.Hour)
				before := o.sessionOf(b)
				a := b.post("/auth/reauth?for=recent&callbackUrl="+url.QueryEscape(siteOrigin+"/pay"), "use", "provider", "provider", "issuer")
				at, err := url.Parse(a.location())
				if q := at.Query(); err != nil || q.Get("prompt") != "login" || q.Get("max_age") != "0" || q.Get("login_hint") != "ada@example.com" || q.Has("for") {
					t.Fatalf("sent to %q, %v", a.location(), err)
				}
				c.change(o)
				stored := o.written()
				a = b.callback("issuer", o.consent(a))
				if given <= time.Minute {
					t.Errorf("the store has %v: what is left of the time for the provider", given)
				}
				after := o.sessionOf(b)
				if after == nil || after.UserID != before.UserID {
					t.Fatalf("the session is %+v\n%s", after, o.log.text())
				}
				if !c.comes {
					if a.error() != "Reauth" || !after.Proved.Equal(before.Proved) || o.written() != stored {
						t.Errorf("leads to %q, proved %v\n%s", a.location(), after.Proved, o.log.text())
					}
					return
				}
				if a.location() != siteOrigin+"/pay" || !after.Proved.Equal(o.clock.Now()) || after.ID != before.ID || after.ACR != "aal1" {
					t.Errorf("leads to %q: %+v\n%s", a.location(), after, o.log.text())
				}
			})
		})
	}
}

// patientStore notes how long a call may take that finds the user of an account.
type patientStore struct {
	*memoryadapter.Adapter
	given *time.Duration
}

func (s patientStore) GetUserByAccount(ctx context.Context, provider, id string) (latchkey.User, error) {
	deadline, _ := ctx.Deadline()
	*s.given = time.Until(deadline)
	return s.Adapter.GetUserByAccount(ctx, provider, id)
}

// F-067: of two requests with one answer of a provider the first decides. The second is
// no proof that failed, and the browser, which follows it, comes to the page.
func TestProofThatComesTwice(t *testing.T) {
	failed := 0
	o := newOAuthSite(t, withFactors, func(c *latchkey.Config) { c.Events.Observe = countFailed(&failed) })
	b := o.newBrowser()
	o.mustSignIn(b)
	o.clock.Advance(time.Hour)
	a := b.post("/auth/reauth?for=recent&callbackUrl="+url.QueryEscape(siteOrigin+"/pay"), "use", "provider", "provider", "issuer")
	o.idToken(map[string]any{"auth_time": o.clock.Now().Unix()})
	params, twin := o.consent(a), b.copy()
	if first := b.callback("issuer", params); first.location() != siteOrigin+"/pay" {
		t.Fatalf("the first leads to %q\n%s", first.location(), o.log.text())
	}
	proved := o.sessionOf(b).Proved
	if again := twin.callback("issuer", params); again.location() != siteOrigin+"/pay" || failed != 0 {
		t.Errorf("the second leads to %q, %d failures", again.location(), failed)
	}
	o.clock.Advance(time.Minute)
	if twin.callback("issuer", params); !o.sessionOf(b).Proved.Equal(proved) {
		t.Error("the second proves something")
	}
}

func otherPerson(o *oauthSite) {
	o.idToken(map[string]any{"auth_time": o.clock.Now().Unix()})
	o.issuer.SignInAs(latchkeytest.Person{Subject: "mallory", Name: "Mallory", Email: "mallory@example.com", EmailVerified: true})
}

// F-070: a proof at a provider is of the session that asked for it, and not of another one of
// the same user.
func TestProofIsOfItsSession(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		o := newOAuthSite(t, withFactors, with)
		b, other := o.newBrowser(), o.newBrowser()
		o.mustSignIn(b)
		o.mustSignIn(other)
		o.clock.Advance(time.Hour)
		a := b.post("/auth/reauth?for=recent&callbackUrl="+url.QueryEscape(siteOrigin+"/pay"), "use", "provider", "provider", "issuer")
		o.idToken(map[string]any{"auth_time": o.clock.Now().Unix()})
		params := o.consent(a)
		b.jar[sessionCookie] = other.jar[sessionCookie]
		before := o.sessionOf(b)
		if a := b.callback("issuer", params); a.error() != "Reauth" || !o.sessionOf(b).Proved.Equal(before.Proved) {
			t.Errorf("F-070 leads to %q, proved %v\n%s", a.location(), o.sessionOf(b).Proved, o.log.text())
		}
	})
}

// otherUser is otherPerson, with an account here.
func otherUser(o *oauthSite) {
	otherPerson(o)
	o.mustSignIn(o.newBrowser())
}

func TestEverybodyHasAWayToProve(t *testing.T) {
	uses := func(b *browser) (all []string) {
		b.header.Set("Accept", "application/json")
		defer b.header.Del("Accept")
		var told struct{ Uses []struct{ Use string } }
		if err := json.Unmarshal(b.get("/auth/reauth").Body.Bytes(), &told); err != nil {
			t.Fatal(err)
		}
		for _, u := range told.Uses {
			all = append(all, u.Use)
		}
		return all
	}
	t.Run("F-068 a magic link", func(t *testing.T) {
		s := newSite(t, withFactors, mailsAtOnce)
		b := s.newBrowser()
		b.post("/auth/signin/post", "email", "bob@example.com")
		b.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin))
		s.clock.Advance(time.Hour)
		if got := uses(b); !slices.Equal(got, []string{"email"}) {
			t.Fatalf("%v", got)
		}
		b.post("/auth/reauth?do=send", "use", "email")
		code := s.sent()[1].Code
		if a := b.post("/auth/reauth", "use", "email", "code", code); a.error() != "" || !s.sessionOf(b).Proved.Equal(s.clock.Now()) {
			t.Errorf("%d to %q", a.Code, a.location())
		}
		s.clock.Advance(time.Minute)
		if a := b.post("/auth/reauth", "use", "email", "code", code); a.error() == "" {
			t.Error("F-204 the code works twice")
		}
	})
	t.Run("F-068 an OpenID Provider and an app", func(t *testing.T) {
		o, f, _ := newGatedOAuthSite(t)
		b := o.newBrowser()
		o.signIn(b)
		b.factor("totp", f.code(0))
		if got := uses(b); !slices.Equal(got, []string{"totp", "provider"}) {
			t.Errorf("%v", got)
		}
	})
	t.Run("F-067 a mail to users whose provider is silent", func(t *testing.T) {
		o := newOAuthSite(t, withFactors)
		b := o.newBrowser()
		o.mustSignIn(b)
		if got := uses(b); !slices.Equal(got, []string{"provider"}) {
			t.Errorf("%v", got)
		}
		o.idToken(map[string]any{"auth_time": nil})
		b.callback("issuer", o.consent(b.post("/auth/reauth", "use", "provider", "provider", "issuer")))
		if got := uses(b); !slices.Equal(got, []string{"provider", "email"}) {
			t.Errorf("%v", got)
		}
	})
	t.Run("F-068 a password", func(t *testing.T) {
		eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
			s := newManagedSite(t, strategy)
			s.addUser(annMail, annsPass)
			b := s.newBrowser()
			b.tries(annMail, annsPass)
			s.clock.Advance(time.Hour)
			if got := uses(b); !slices.Equal(got, []string{"password"}) {
				t.Errorf("%v", got)
			}
			if a := b.post("/auth/reauth", "use", "password", "password", "wrong"); a.error() != "CredentialsSignin" {
				t.Errorf("F-065 a wrong password: %q", a.location())
			}
			if a := b.entering(s.auth.RequireRecent(time.Minute), http.MethodGet, "/pay"); !leadsToProof(a, "recent") {
				t.Errorf("%d to %q", a.Code, a.location())
			}
			if a := b.post("/auth/reauth", "use", "password", "password", annsPass); a.error() != "" {
				t.Errorf("%d to %q\n%s", a.Code, a.location(), s.log.text())
			}
			if a := b.entering(s.auth.RequireRecent(time.Minute), http.MethodGet, "/pay"); a.Code != http.StatusTeapot {
				t.Errorf("afterwards: %d to %q", a.Code, a.location())
			}
		})
	})
}

func TestFactorsChangeAfterAProof(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy, withFactors)
		ann := s.addUser(annMail, annsPass)
		f := &factorSite{testSite: s.testSite}
		b := s.newBrowser()
		b.tries(annMail, annsPass)
		other := s.newBrowser()
		other.tries(annMail, annsPass)
		s.clock.Advance(11 * time.Minute)
		t.Run("F-044 enrolment needs a fresh proof", func(t *testing.T) {
			if a := b.post("/auth/account?do=totp"); !leadsToProof(a, "recent") {
				t.Errorf("%d to %q", a.Code, a.location())
			}
			b.header.Set("Accept", "application/json")
			if a := b.post("/auth/account?do=totp"); a.Code != http.StatusUnauthorized || !strings.Contains(a.Body.String(), "insufficient_user_authentication") {
				t.Errorf("%d %s", a.Code, a.Body)
			}
			b.header.Del("Accept")
			b.post("/auth/reauth", "use", "password", "password", annsPass)
		})
		t.Run("F-049 foreign pages enrol nobody", func(t *testing.T) {
			for _, do := range []string{"totp", "confirm", "mail", "recovery", "remove", "forget-browser"} {
				for _, form := range []string{"", "csrfToken=wrong"} {
					a := b.do(http.MethodPost, "/auth/account?do="+do, formContentType, form)
					if leadsToProof(a, "recent") || strings.Contains(a.location(), "do=totp") {
						t.Errorf("%s with %q: %d to %q", do, form, a.Code, a.location())
					}
				}
			}
		})
		if a := b.post("/auth/account?do=totp"); a.location() != siteOrigin+"/auth/account?do=totp" {
			t.Fatalf("F-044 after the proof: %d to %q", a.Code, a.location())
		}
		f.secret = secretOn(t, b.get("/auth/account?do=totp"))
		other.post("/auth/reauth", "use", "password", "password", annsPass)
		if other.post("/auth/account?do=confirm", "code", f.code(0)); len(factorsOf(t, s.testSite, ann.ID)) != 0 {
			t.Error("F-046 another session of the user has confirmed")
		}
		former := b.copy()
		if a := b.post("/auth/account?do=confirm", "code", f.code(0), "name", "phone"); !strings.Contains(a.location(), "/auth/factor?do=codes") {
			t.Fatalf("F-048 %d to %q\n%s", a.Code, a.location(), s.log.text())
		}
		if now := s.sessionOf(b); now == nil || now.ACR != "aal2" || other.isLive() || former.isLive() {
			t.Errorf("F-048 the session is %+v; others are alive: %t, %t", now, other.isLive(), former.isLive())
		}
		if b.post("/auth/account?do=confirm", "code", f.code(1)); len(factorsOf(t, s.testSite, ann.ID)) != 1 {
			t.Error("F-046 an enrolment was confirmed twice")
		}
		s.clock.Advance(11 * time.Minute)
		id := factorsOf(t, s.testSite, ann.ID)[0].ID
		t.Run("F-045 removal needs a factor", func(t *testing.T) {
			b.post("/auth/reauth", "use", "password", "password", annsPass)
			if a := b.entering(s.auth.RequireRecent(time.Minute), http.MethodGet, "/pay"); a.Code != http.StatusTeapot {
				t.Fatalf("the password proves nothing: %d to %q", a.Code, a.location())
			}
			for _, do := range []string{"remove", "recovery", "totp", "delete"} {
				if a := b.post("/auth/account?do="+do, "factor", id); !leadsToProof(a, "factor") {
					t.Errorf("%s after a password: %d to %q", do, a.Code, a.location())
				}
			}
			if a := b.post("/auth/account?do=password", "current", annsPass, "password", newPass); !leadsToProof(a, "factor") {
				t.Errorf("a new password: %d to %q", a.Code, a.location())
			}
			for _, fields := range [][]string{{"use", "password", "password", annsPass}, {"use", "totp", "code", ""}, {"use", "totp", "code", "123123"}, {"use", "email", "code", "12345678"}} {
				if a := b.post("/auth/reauth?for=factor", fields...); a.error() == "" {
					t.Errorf("%v is a factor: %q", fields, a.location())
				}
			}
			if len(factorsOf(t, s.testSite, ann.ID)) != 1 {
				t.Error("it is gone")
			}
			if a := b.post("/auth/reauth?for=factor", "use", "totp", "code", f.code(0)); a.error() != "" {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			if b.post("/auth/account?do=remove", "factor", id); len(factorsOf(t, s.testSite, ann.ID)) != 0 || !b.isLive() {
				t.Error("it is still there, or the session is not")
			}
		})
	})
}

func factorsOf(t *testing.T, s *testSite, userID string) []storage.Factor {
	t.Helper()
	list, err := s.auth.Users().Factors(t.Context(), userID)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhoCanEnrol(t *testing.T) {
	s := newFactorSite(t)
	for _, c := range []struct {
		name  string
		user  latchkey.User
		vouch bool
		can   bool
	}{
		{"F-047 an unproven address", latchkey.User{ID: "u1", Email: "u1@example.com"}, false, false},
		{"F-047 an address that a provider vouches for", latchkey.User{ID: "u2", Email: "u2@example.com"}, true, true},
		{"F-047 no address", latchkey.User{ID: "u3", Name: "Three"}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := s.store.CreateUser(t.Context(), c.user); err != nil {
				t.Fatal(err)
			}
			account := latchkey.Account{UserID: c.user.ID, Provider: "acme", ProviderAccountID: c.user.ID, Type: latchkey.TypeOAuth, Email: c.user.Email, EmailVouched: true}
			if c.vouch && s.store.LinkAccount(t.Context(), account) != nil {
				t.Fatal("not linked")
			}
			before := s.contents()
			_, err := s.auth.Users().BeginTOTP(t.Context(), c.user.ID)
			if (err == nil) != c.can {
				t.Errorf("%v", err)
			}
			if !c.can {
				s.noWrite(t, before)
			}
		})
	}
}

func TestTheLastObligatoryFactorStays(t *testing.T) {
	s := newFactorSite(t, withAccountPage, func(c *latchkey.Config) { c.Factors.Require = alwaysRequired })
	b := s.inSession()
	first := factorsOf(t, s.testSite, "alice-1")[0].ID
	b.post("/auth/account?do=remove", "factor", first)
	if len(factorsOf(t, s.testSite, "alice-1")) != 1 {
		t.Error("F-050 the last one is gone")
	}
	if page := b.get("/auth/account").Body.String(); !strings.Contains(page, "role=\"alert\"") {
		t.Error("F-050 the page says nothing")
	}
	b.post("/auth/account?do=totp")
	s.secret = secretOn(t, b.get("/auth/account?do=totp"))
	b.post("/auth/account?do=confirm", "code", s.code(0), "name", "tablet")
	all := factorsOf(t, s.testSite, "alice-1")
	if len(all) != 2 {
		t.Fatalf("F-050 %d factors", len(all))
	}
	browsers := []*browser{b.copy(), b.copy()}
	b.token()
	together(2, func(i int) { browsers[i].post("/auth/account?do=remove", "factor", all[i].ID) })
	if left := factorsOf(t, s.testSite, "alice-1"); len(left) != 1 {
		t.Errorf("F-050 parallel removals leave %d", len(left))
	}
}

func TestTrustedUpstream(t *testing.T) {
	for name, c := range map[string]struct {
		trusted bool
		claims  map[string]any
		asks    bool
	}{
		"F-056 trusted mfa":     {true, map[string]any{"amr": []any{"pwd", "mfa"}}, false},
		"F-056 trusted acr":     {true, map[string]any{"acr": "urn:mfa"}, false},
		"F-056 untrusted":       {false, map[string]any{"amr": []any{"mfa"}}, true},
		"F-056 a string":        {true, map[string]any{"amr": "mfa"}, true},
		"F-056 in capitals":     {true, map[string]any{"amr": []any{"MFA"}}, true},
		"F-056 another acr":     {true, map[string]any{"acr": "urn:pwd"}, true},
		"F-056 acr as a list":   {true, map[string]any{"acr": []any{"urn:mfa"}}, true},
		"F-056 nothing is said": {true, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			o, _, id := newGatedOAuthSite(t, withIssuer(func(p *latchkey.OAuth) {
				if c.trusted {
					p.Assurance = latchkey.UpstreamMFA("urn:mfa")
				}
			}))
			o.idToken(c.claims)
			b := o.newBrowser()
			a := o.signIn(b)
			if asks := a.location() == siteOrigin+"/auth/factor"; asks != c.asks {
				t.Fatalf("leads to %q\n%s", a.location(), o.log.text())
			}
			if !c.asks {
				if in := o.sessionOf(b); in == nil || in.UserID != id || in.ACR != "aal2" || strings.Join(in.AMR, " ") != "fed mfa" {
					t.Errorf("%+v", in)
				}
			}
		})
	}
	for name, c := range map[string]struct{ ago, proved time.Duration }{
		"F-057 an old proof stays old":   {time.Hour, time.Hour},
		"F-057 in the future, by clocks": {-30 * time.Second, -30 * time.Second},
		"F-057 in the future":            {-90 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
				o := newOAuthSite(t, withFactors, with, withIssuer(func(p *latchkey.OAuth) { p.Assurance = latchkey.UpstreamMFA() }))
				at := o.clock.Now().Add(-c.ago).Truncate(time.Second)
				o.idToken(map[string]any{"auth_time": at.Unix()})
				b := o.newBrowser()
				o.mustSignIn(b)
				want := at
				if c.proved == 0 {
					want = o.clock.Now()
				}
				if in := o.sessionOf(b); in.Proved.Sub(want).Abs() > time.Second {
					t.Errorf("proved %v, want %v", in.Proved, want)
				}
			})
		})
	}
}

// mailed codes are chosen and given up on the account page.
func TestMailedCodesAreChosen(t *testing.T) {
	mailed := func(s *testSite, userID string) (id string) {
		for _, f := range factorsOf(t, s, userID) {
			if f.Kind == latchkey.FactorEmail {
				id = f.ID
			}
		}
		return id
	}
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		s := newFactorSite(t, with, mailsAtOnce, withAccountPage)
		b, elsewhere := s.inSession(), s.newBrowser()
		if page := b.get("/auth/account").Body.String(); !strings.Contains(page, "do=mail") || strings.Contains(page, "Codes by email") {
			t.Error("R-820 the account page does not offer codes by mail")
		}
		s.clock.Advance(time.Minute)
		elsewhere.challenge()
		elsewhere.factor("totp", s.code(0))
		for range 2 {
			if a := b.post("/auth/account?do=mail"); !strings.HasPrefix(a.location(), siteOrigin+"/auth/account") || len(factorsOf(t, s.testSite, "alice-1")) != 2 {
				t.Fatalf("R-820 %d to %q: %+v", a.Code, a.location(), factorsOf(t, s.testSite, "alice-1"))
			}
		}
		id := mailed(s.testSite, "alice-1")
		if id == "" || !b.isLive() || elsewhere.isLive() {
			t.Errorf("R-820 the factor is %q, the session lives: %t, another one: %t", id, b.isLive(), elsewhere.isLive())
		}
		if page := b.get("/auth/account").Body.String(); strings.Contains(page, "do=mail") || !strings.Contains(page, id) {
			t.Error("R-820 the account page does not show codes by mail")
		}
		t.Run("R-820 a sign-in by a mailed code", func(t *testing.T) {
			s.clock.Advance(time.Minute) // after the end of the other sessions
			next, n := s.newBrowser(), len(s.sent())
			next.challenge()
			next.post("/auth/factor?do=send")
			if a := next.factor("email", s.sent()[n].Code); !a.signsIn() {
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
		if a := b.post("/auth/account?do=remove", "factor", id); mailed(s.testSite, "alice-1") != "" || !b.isLive() {
			t.Errorf("R-820 removed: %d to %q", a.Code, a.location())
		}
		if page := b.get("/auth/account").Body.String(); !strings.Contains(page, "Codes by email are switched off.") {
			t.Error("R-820 nothing is said of the removal")
		}
		s.clock.Advance(11 * time.Minute)
		if a := b.post("/auth/account?do=mail"); !leadsToProof(a, "factor") || mailed(s.testSite, "alice-1") != "" {
			t.Errorf("R-820 without a recent proof: %d to %q", a.Code, a.location())
		}
		t.Run("R-820 not for an address that nobody has proven", func(t *testing.T) {
			o := newOAuthSite(t, withFactors, with, withAccountPage)
			b := o.newBrowser()
			o.mustSignIn(b)
			user := o.store.Contents().Users[0]
			b.post("/auth/account?do=mail")
			if page := b.get("/auth/account").Body.String(); mailed(o.testSite, user.ID) != "" || !strings.Contains(page, "confirm your email address first") {
				t.Error("chosen, or nothing is said")
			}
		})
		t.Run("R-820 not where the site offers none", func(t *testing.T) {
			s := newFactorSite(t, with, withAccountPage, func(c *latchkey.Config) { c.Factors.Kinds = []latchkey.FactorKind{latchkey.FactorTOTP} })
			b := s.inSession()
			b.post("/auth/account?do=mail")
			if page := b.get("/auth/account").Body.String(); strings.Contains(page, "do=mail") || mailed(s.testSite, "alice-1") != "" {
				t.Error("offered, or chosen")
			}
		})
	})
}

// an app is added only where the site offers apps.
func TestAppsAreOffered(t *testing.T) {
	for _, kind := range []latchkey.FactorKind{latchkey.FactorTOTP, latchkey.FactorEmail} {
		o := newOAuthSite(t, withFactors, withAccountPage, func(c *latchkey.Config) { c.Factors.Kinds = []latchkey.FactorKind{kind} })
		b := o.newBrowser()
		o.mustSignIn(b)
		page := b.get("/auth/account").Body.String()
		if strings.Contains(page, "do=totp") != (kind == latchkey.FactorTOTP) || strings.Contains(page, "do=mail") != (kind == latchkey.FactorEmail) {
			t.Errorf("R-822 of %s alone the page offers another kind", kind)
		}
		_, err := o.auth.Users().BeginTOTP(t.Context(), o.store.Contents().Users[0].ID)
		if offers := !errors.Is(err, latchkey.ErrFactor); offers != (kind == latchkey.FactorTOTP) {
			t.Errorf("R-822 of %s alone BeginTOTP returns %v", kind, err)
		}
	}
}

func TestMailCodesAreBound(t *testing.T) {
	s := newFactorSite(t, mailsAtOnce)
	if err := s.store.Factors().Create(t.Context(), storage.Factor{ID: "mail-1", UserID: "alice-1", Kind: latchkey.FactorEmail, Created: s.clock.Now()}); err != nil {
		t.Fatal(err)
	}
	code := func(b *browser) string {
		n := len(s.sent())
		b.post("/auth/factor?do=send")
		return s.sent()[n].Code
	}
	b, other := s.newBrowser(), s.newBrowser()
	b.challenge()
	other.challenge()
	first := code(b)
	newest := code(b)
	if a := other.factor("email", newest); a.signsIn() {
		t.Error("F-040 a code of another sign-in of the user")
	}
	if a := b.factor("email", first); a.signsIn() && first != newest {
		t.Error("F-040 an older code")
	}
	if a := b.factor("email", newest); !a.signsIn() {
		t.Errorf("F-040 the newest code: %d to %q", a.Code, a.location())
	}
}
