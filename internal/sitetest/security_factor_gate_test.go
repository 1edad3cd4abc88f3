package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	details "github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

func TestFactorRouteWithoutFactors(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if a := b.do(method, "/auth/factor", "", ""); a.Code != http.StatusBadRequest || a.Body.String() != `"Bad request."` {
			t.Errorf("F-002 %s: %d %.60q", method, a.Code, a.Body)
		}
	}
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	if a := b.serve(s.auth.Middleware(next), b.request(http.MethodGet, "/auth/factor", "", "")); a.Code != http.StatusTeapot {
		t.Errorf("F-002 behind Middleware: %d", a.Code)
	}
	b.signIn()
	if strings.Contains(s.log.text(), "second factor") || b.jar["__Secure-authjs.pending"] != "" {
		t.Error("F-001 a site without factors knows them")
	}
}

func TestClientsThroughTheGate(t *testing.T) {
	s := newFactorSite(t)
	b := s.newBrowser()
	b.header.Set("X-Auth-Return-Redirect", "1")
	a := b.password()
	if a.Code != http.StatusOK || strings.TrimSpace(a.Body.String()) != `{"url":"https://app.example/auth/factor"}` || b.session() != "null" {
		t.Errorf("F-003 %d %s", a.Code, a.Body)
	}
	b.header.Del("X-Auth-Return-Redirect")
	b.header.Set("Accept", "application/json")
	var told struct {
		Kinds   []string
		Use     string
		Expires time.Time
	}
	a = b.get("/auth/factor")
	if err := json.Unmarshal(a.Body.Bytes(), &told); err != nil || !slices.Equal(told.Kinds, []string{"totp", "recovery"}) || told.Use != "totp" || !told.Expires.Equal(s.clock.Now().Add(10*time.Minute)) {
		t.Errorf("F-003 %d %s", a.Code, a.Body)
	}
	if a := b.factor("totp", "12345"); a.Code != http.StatusUnauthorized || strings.TrimSpace(a.Body.String()) != `{"error":"SecondFactor","left":4}` {
		t.Errorf("F-003 %d %s", a.Code, a.Body)
	}
	if a := b.factor("totp", s.code(0)); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"url"`) || !b.isLive() {
		t.Errorf("F-003 %d %s", a.Code, a.Body)
	}
	if a := b.get("/auth/factor"); a.Code != http.StatusUnauthorized || strings.TrimSpace(a.Body.String()) != "null" {
		t.Errorf("without a sign-in: %d %s", a.Code, a.Body)
	}
}

// ada is a user of the issuer who has a factor.
func newGatedOAuthSite(t *testing.T, change ...func(*latchkey.Config)) (*oauthSite, *factorSite, string) {
	t.Helper()
	o := newOAuthSite(t, append([]func(*latchkey.Config){withFactors}, change...)...)
	b := o.newBrowser()
	o.mustSignIn(b)
	id := o.sessionOf(b).UserID
	f := &factorSite{testSite: o.testSite}
	o.clock.Advance(time.Minute)
	f.enrol(id)
	return o, f, id
}

func TestEveryProviderIsGated(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		ways := map[string]func(o *oauthSite, b *browser) *answer{
			"oidc": func(o *oauthSite, b *browser) *answer { return o.signIn(b) },
			"magic link": func(o *oauthSite, b *browser) *answer {
				b.post("/auth/signin/post", "email", "ada@example.com")
				sent := o.sent()
				return b.get(strings.TrimPrefix(sent[len(sent)-1].URL, siteOrigin))
			},
			"the application's own call": func(o *oauthSite, b *browser) *answer {
				b.post("/auth/signin/post", "email", "ada@example.com")
				sent := o.sent()
				return b.get(strings.TrimPrefix(sent[len(sent)-1].URL, siteOrigin))
			},
		}
		for name, come := range ways {
			t.Run("F-006 "+name, func(t *testing.T) {
				o, f, id := newGatedOAuthSite(t, with)
				b := o.newBrowser()
				before := o.written()
				a := come(o, b)
				if a.location() != siteOrigin+"/auth/factor" || b.isLive() {
					t.Fatalf("leads to %q, live: %t", a.location(), b.isLive())
				}
				if name == "oidc" && o.written() != before {
					t.Error("something was written")
				}
				if b.factor("totp", f.code(0)); !b.isLive() || o.sessionOf(b).UserID != id {
					t.Errorf("not signed in as %s", id)
				}
			})
		}
	})
}

func TestAnotherUsersSessionStays(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		s := newFactorSite(t, with)
		b := s.newBrowser()
		b.post("/auth/signin/post", "email", "bob@example.com")
		b.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin))
		bob := s.sessionOf(b)
		if bob == nil {
			t.Fatal("Bob is not signed in")
		}
		s.clock.Advance(time.Second)
		former := b.copy()
		b.challenge()
		if now := s.sessionOf(b); now == nil || now.UserID != bob.UserID {
			t.Errorf("F-009 before the factor the session is %+v", now)
		}
		b.factor("totp", s.code(0))
		if now := s.sessionOf(b); now == nil || now.UserID != "alice-1" {
			t.Errorf("F-009 afterwards it is %+v", now)
		}
		if former.isLive() {
			t.Error("F-009 Bob's token is alive")
		}
	})
}

func TestNothingIsLinkedBeforeTheFactor(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		o, f, id := newGatedOAuthSite(t, with, second(func(p *latchkey.OAuth) { p.AllowDangerousEmailAccountLinking = true }))
		o.issuer.SignInAs(latchkeytest.Person{Subject: "ada-elsewhere", Name: "Ada", Email: "ada@example.com", EmailVerified: true})
		b := o.newBrowser()
		before := o.written()
		if a := b.callback("second", o.authResponse(b, "second")); a.location() != siteOrigin+"/auth/factor" {
			t.Fatalf("leads to %q", a.location())
		}
		if o.written() != before {
			t.Error("F-010 something was written")
		}
		b.factor("totp", f.code(0))
		accounts, err := o.auth.Users().Accounts(t.Context(), id)
		if err != nil || len(accounts) != 2 || !b.isLive() {
			t.Errorf("F-010 after the factor: %d accounts, %v", len(accounts), err)
		}
	})
}

func TestCompletionHappensOnce(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		s := newFactorSite(t, with)
		t.Run("F-011 one row", func(t *testing.T) {
			b := s.newBrowser()
			b.challenge()
			s.parallel(t, 100, func(int) *browser { return b.copy() })
		})
		s.clock.Advance(time.Hour)
		t.Run("F-025 one code for many rows", func(t *testing.T) {
			var browsers []*browser
			for range 10 {
				b := s.newBrowser()
				b.challenge()
				browsers = append(browsers, b)
			}
			s.parallel(t, 10, func(i int) *browser { return browsers[i] })
		})
	})
}

// parallel sends the right code from n browsers at the same moment: one is signed in.
func (s *factorSite) parallel(t *testing.T, n int, of func(i int) *browser) {
	t.Helper()
	var in atomic.Int32
	code, browsers := s.code(0), make([]*browser, n)
	for i := range browsers {
		browsers[i] = of(i)
	}
	together(n, func(i int) {
		if browsers[i].factor("totp", code).signsIn() {
			in.Add(1)
		}
	})
	if in.Load() != 1 {
		t.Errorf("%d sessions, want 1", in.Load())
	}
}

// TestPendingSignInEnds and the tests of F-006 to F-018 beside it run with both kinds of
// session (F-019).
func TestPendingSignInEnds(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		for _, c := range []struct {
			name string
			then func(s *factorSite, b *browser)
		}{
			{"F-012 at its instant", func(s *factorSite, _ *browser) { s.clock.Advance(10 * time.Minute) }},
			{"cancelled", func(_ *factorSite, b *browser) { b.copy().post("/auth/factor?do=cancel") }},
			{"F-015 by another first factor", func(_ *factorSite, b *browser) { b.copy().challenge() }},
			{"after five wrong codes", func(_ *factorSite, b *browser) {
				for range 5 {
					b.copy().factor("totp", "000000")
				}
			}},
			{"F-201 when the user's sessions were ended", func(s *factorSite, _ *browser) {
				if err := s.auth.Users().EndSessions(context.Background(), "alice-1"); err != nil {
					s.t.Error(err)
				}
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := newFactorSite(t, with)
				b := s.newBrowser()
				b.challenge()
				c.then(s, b)
				if a := b.factor("totp", s.code(0)); a.signsIn() || b.isLive() {
					t.Errorf("signed in: %q", a.location())
				}
				if b.jar["__Secure-authjs.pending"] != "" {
					t.Error("the cookie is not cleared")
				}
			})
		}
		t.Run("F-012 a millisecond before", func(t *testing.T) {
			s := newFactorSite(t, with)
			b := s.newBrowser()
			b.challenge()
			s.clock.Advance(10*time.Minute - time.Second)
			if !b.factor("totp", s.code(0)).signsIn() {
				t.Error("refused")
			}
		})
	})
}

func TestUserIsLookedAtAgain(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		o, f, id := newGatedOAuthSite(t, with)
		b := o.newBrowser()
		o.signIn(b)
		if err := o.auth.Users().Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		a := b.factor("totp", f.code(0))
		if a.signsIn() || b.isLive() || len(o.store.Contents().Users) != 0 {
			t.Errorf("F-013 leads to %q, %d users", a.location(), len(o.store.Contents().Users))
		}
	})
}

func TestPendingBelongsToItsBrowser(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		const half = "__Secure-authjs.pending"
		s := newFactorSite(t, with)
		b := s.newBrowser()
		b.challenge()
		for name, value := range map[string]func() string{
			"an altered cookie": func() string { return b.jar[half][:len(b.jar[half])-3] + "AAA" },
			"the id of the row": func() string { return s.store.Contents().Challenges[0].ID },
			"the session's cookie of another user": func() string {
				other := s.newBrowser()
				other.post("/auth/signin/post", "email", "eve@example.com")
				other.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin))
				return other.jar["__Secure-authjs.session-token"]
			},
		} {
			t.Run("F-014 "+name, func(t *testing.T) {
				thief := s.newBrowser()
				thief.jar[half] = value()
				if a := thief.factor("totp", s.code(0)); a.signsIn() || thief.isLive() {
					t.Error("signed in")
				}
			})
		}
	})
}

func TestFactorCodesWorkOnce(t *testing.T) {
	s := newFactorSite(t)
	b := s.newBrowser()
	b.challenge()
	code := s.code(0)
	b.factor("totp", code)
	again := s.newBrowser()
	again.challenge()
	if a := again.factor("totp", code); a.signsIn() || a.error() != "SecondFactor" {
		t.Errorf("F-023 the code again leads to %q", a.location())
	}
	if a := again.factor("totp", s.code(-1)); a.signsIn() {
		t.Error("F-024 an older step was accepted")
	}
	t.Run("F-026 a clock that jumps back opens no step again", func(t *testing.T) {
		s.clock.Advance(-2 * time.Minute)
		defer s.clock.Advance(2 * time.Minute)
		if a := again.factor("totp", s.code(0)); a.signsIn() {
			t.Error("accepted")
		}
	})
	t.Run("F-027 the form of a code does not matter", func(t *testing.T) {
		s.clock.Advance(time.Hour)
		typed := s.code(0)
		other := s.newBrowser()
		other.challenge()
		if a := other.factor("totp", " "+typed[:3]+" - "+typed[3:]); !a.signsIn() {
			t.Errorf("leads to %q", a.location())
		}
	})
}

func TestRecoveryCodes(t *testing.T) {
	s := newFactorSite(t)
	if len(s.codes) != 10 {
		t.Fatalf("%d codes", len(s.codes))
	}
	t.Run("F-034 no dump has a code", func(t *testing.T) {
		for _, code := range s.codes {
			if strings.Contains(s.contents(), code) || strings.Contains(s.log.text(), code) {
				t.Error("a code can be read")
			}
		}
	})
	b := s.newBrowser()
	b.challenge()
	if a := b.factor("recovery", strings.ToLower(s.codes[0])); !a.signsIn() || s.sessionOf(b).ACR != "aal2" {
		t.Errorf("leads to %q", a.location())
	}
	t.Run("F-035 each works once", func(t *testing.T) {
		again := s.newBrowser()
		again.challenge()
		if again.factor("recovery", s.codes[0]).signsIn() {
			t.Error("twice")
		}
		browsers := make([]*browser, 20)
		for i := range browsers {
			browsers[i] = s.newBrowser()
			browsers[i].challenge()
		}
		var in atomic.Int32
		together(len(browsers), func(i int) {
			if browsers[i].factor("recovery", s.codes[1]).signsIn() {
				in.Add(1)
			}
		})
		if in.Load() != 1 {
			t.Errorf("%d sessions", in.Load())
		}
	})
	t.Run("F-036 new ones end the old ones", func(t *testing.T) {
		codes, err := s.auth.Users().NewRecoveryCodes(t.Context(), "alice-1")
		if err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(2 * time.Hour)
		for code, want := range map[string]bool{s.codes[2]: false, codes[0]: true} {
			b := s.newBrowser()
			b.challenge()
			if got := b.factor("recovery", code).signsIn(); got != want {
				t.Errorf("%t, want %t", got, want)
			}
		}
	})
	t.Run("F-038 they do not outlive the factors", func(t *testing.T) {
		factors, err := s.auth.Users().Factors(t.Context(), "alice-1")
		if err != nil || len(factors) != 1 || factors[0].Secret != "" {
			t.Fatalf("%d factors, %v", len(factors), err)
		}
		if err := s.auth.Users().RemoveFactor(t.Context(), "alice-1", factors[0].ID); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Minute)
		if !s.newBrowser().password().signsIn() || len(s.store.Contents().RecoveryCodes) != 0 {
			t.Error("they do")
		}
	})
}

func TestFactorPolicy(t *testing.T) {
	demand := func(d latchkey.FactorDemand, err error) func(*latchkey.Config) {
		return func(c *latchkey.Config) {
			c.Factors.Require = func(context.Context, latchkey.FactorQuestion) (latchkey.FactorDemand, error) { return d, err }
		}
	}
	required := latchkey.FactorDemand{Need: latchkey.FactorRequired}
	for _, c := range []struct {
		name   string
		change func(*latchkey.Config)
	}{
		{"F-053 an error", demand(latchkey.FactorDemand{}, errors.New("no"))},
		{"F-053 a panic", func(c *latchkey.Config) {
			c.Factors.Require = func(context.Context, latchkey.FactorQuestion) (latchkey.FactorDemand, error) { panic("no") }
		}},
		{"F-053 a kind that nobody offers", func(c *latchkey.Config) {
			c.Factors.Kinds = []latchkey.FactorKind{latchkey.FactorTOTP}
			demand(latchkey.FactorDemand{Kinds: []latchkey.FactorKind{latchkey.FactorPasskey}}, nil)(c)
		}},
		{"F-054 a kind that the user has not", func(c *latchkey.Config) {
			c.Factors.Kinds = append(c.Factors.Kinds, latchkey.FactorPasskey)
			c.Providers = append(c.Providers, &latchkey.WebAuthn{ID: "passkey", Ceremony: anyCeremony{}})
			demand(latchkey.FactorDemand{Kinds: []latchkey.FactorKind{latchkey.FactorPasskey}}, nil)(c)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newFactorSite(t, c.change)
			b := s.newBrowser()
			if a := b.password(); a.error() != "AccessDenied" || b.isLive() {
				t.Errorf("leads to %q", a.location())
			}
		})
	}
	t.Run("F-055 users whom the store does not have", func(t *testing.T) {
		s := newSite(t, withFactors, demand(required, nil))
		if a := s.newBrowser().password(); a.error() != "AccessDenied" || !strings.Contains(s.log.text(), "create the user first") {
			t.Errorf("required: %q", a.location())
		}
		if s := newSite(t, withFactors); !s.newBrowser().password().signsIn() {
			t.Error("if enrolled: refused")
		}
	})
	t.Run("no factor wanted", func(t *testing.T) {
		if s := newFactorSite(t, demand(latchkey.FactorDemand{Need: latchkey.FactorNone}, nil)); !s.newBrowser().password().signsIn() {
			t.Error("asked all the same")
		}
	})
}

func TestRequiredMeansEnrolment(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		o := newOAuthSite(t, withFactors, with, func(c *latchkey.Config) {
			c.Factors.Require = func(_ context.Context, q latchkey.FactorQuestion) (latchkey.FactorDemand, error) {
				if !q.IsNew && len(q.Enrolled) == 0 {
					t.Error("IsNew is not told")
				}
				return latchkey.FactorDemand{Need: latchkey.FactorRequired}, nil
			}
		})
		b := o.newBrowser()
		a := o.signIn(b)
		if a.location() != siteOrigin+"/auth/factor" || len(o.store.Contents().Users) != 0 || b.isLive() {
			t.Fatalf("F-051 leads to %q with %d users", a.location(), len(o.store.Contents().Users))
		}
		f := &factorSite{testSite: o.testSite, secret: secretOn(t, b.get("/auth/factor"))}
		if a := b.factor("totp", "000000"); a.signsIn() {
			t.Error("F-043 a wrong code enrols")
		}
		a = b.factor("totp", f.code(0), "name", "my phone")
		if !strings.HasPrefix(a.location(), siteOrigin+"/auth/factor?do=codes") || !b.isLive() {
			t.Fatalf("F-051 leads to %q", a.location())
		}
		if got := o.sessionOf(b); got.ACR != "aal2" {
			t.Errorf("%+v", got)
		}
		t.Run("F-034 the codes are shown until they are saved", func(t *testing.T) {
			first := codesOn(b.get("/auth/factor?do=codes"))
			again := codesOn(b.get("/auth/factor?do=codes"))
			file := codesOn(b.post("/auth/factor?do=codes", "file", "yes"))
			if len(first) != 10 || !slices.Equal(first, again) || !slices.Equal(first, file) {
				t.Errorf("%d, %d and %d codes", len(first), len(again), len(file))
			}
			if a := b.post("/auth/factor?do=codes"); a.Code != http.StatusFound {
				t.Errorf("saved: %d", a.Code)
			}
			if a := b.get("/auth/factor?do=codes"); len(codesOn(a)) != 0 {
				t.Error("shown after they were saved")
			}
			for _, code := range first {
				if strings.Contains(o.log.text(), code) {
					t.Error("F-096 the log has a code")
				}
			}
		})
		t.Run("the next sign-in asks for it", func(t *testing.T) {
			o.clock.Advance(time.Minute)
			next := o.newBrowser()
			if a := o.signIn(next); a.location() != siteOrigin+"/auth/factor" {
				t.Fatalf("leads to %q", a.location())
			}
			if next.factor("totp", f.code(0)); !next.isLive() {
				t.Error("not signed in")
			}
		})
	})
}

// TestEnrolmentBesideOwnPage is R-841: the page of the site cannot show the secret of an
// app, so the built-in one sets it up. Later sign-ins have the page of the site.
func TestEnrolmentBesideOwnPage(t *testing.T) {
	s := newSite(t, withFactors, func(c *latchkey.Config) {
		c.Pages.Factor = "/second"
		c.Factors.Require = func(context.Context, latchkey.FactorQuestion) (latchkey.FactorDemand, error) {
			return latchkey.FactorDemand{Need: latchkey.FactorRequired}, nil
		}
	})
	f := &factorSite{testSite: s}
	f.addUser("alice-1", "alice@example.com")
	b := s.newBrowser()
	b.challenge()
	f.secret = secretOn(t, b.get("/auth/factor"))
	if b.factor("totp", "000000"); len(secretOn(t, b.get("/auth/factor?error=SecondFactor"))) == 0 {
		t.Error("R-841 no secret after a wrong code")
	}
	if b.factor("totp", f.code(0)); !b.isLive() {
		t.Error("R-841 not signed in")
	}
	s.clock.Advance(time.Minute)
	next := s.newBrowser()
	next.challenge()
	if a := next.get("/auth/factor"); a.location() != siteOrigin+"/second?use=totp" {
		t.Errorf("R-841 the next sign-in leads to %q", a.location())
	}
}

// A browser that is remembered is an event, once it is stored, and no other browser is.
func TestRememberedBrowsersAreTold(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		for name, c := range map[string]struct {
			fields []string
			fails  string
			want   int
		}{
			"asked for":                   {[]string{"remember", "yes"}, "", 1},
			"not asked for":               {nil, "", 0},
			"asked for, but never stored": {[]string{"remember", "yes"}, "Browsers.Put", 0},
		} {
			t.Run(name, func(t *testing.T) {
				told, plan := []string(nil), newFaultyStore()
				s := newFactorSite(t, with, func(c *latchkey.Config) {
					inner, _ := c.Adapter.(*memoryadapter.Adapter)
					c.Adapter, c.Runtime.Logger = proofFaults{inner, plan}, quiet
					c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
						if e.Type == event.BrowserTrusted {
							told = append(told, e.UserID)
						}
						return nil
					}
				})
				b := s.newBrowser()
				b.challenge()
				plan.fail(c.fails, faultBefore)
				if a := b.factor("totp", s.code(0), c.fields...); !a.signsIn() {
					t.Fatalf("%d to %q", a.Code, a.location())
				}
				plan.mend()
				if len(told) != c.want || c.want == 1 && told[0] != "alice-1" {
					t.Errorf("told of %q, want %d", told, c.want)
				}
				s.clock.Advance(time.Minute)
				b.post("/auth/signout")
				if a := b.password(); a.signsIn() != (c.want == 1) {
					t.Errorf("the next sign-in leads to %q", a.location())
				}
			})
		}
	})
}

func TestRememberedBrowsers(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		newSite := func(t *testing.T) (*factorSite, *browser) {
			s := newFactorSite(t, with)
			b := s.newBrowser()
			b.challenge()
			b.factor("totp", s.code(0), "remember", "yes")
			s.clock.Advance(time.Minute)
			b.post("/auth/signout")
			return s, b
		}
		t.Run("F-058 F-060 it skips the factor, and is none", func(t *testing.T) {
			s, b := newSite(t)
			if a := b.password(); !a.signsIn() {
				t.Fatalf("asked again: %q", a.location())
			}
			if got := s.sessionOf(b); got.ACR != "aal1" || !slices.Contains(got.AMR, "browser") {
				t.Errorf("%+v", got)
			}
			thief := s.newBrowser()
			thief.challenge()
		})
		t.Run("F-061 the handle is renewed", func(t *testing.T) {
			_, b := newSite(t)
			old := b.copy()
			if !b.password().signsIn() {
				t.Fatal("asked again")
			}
			old.challenge()
		})
		for name, end := range map[string]func(s *factorSite){
			"F-059 after 30 days": func(s *factorSite) { s.clock.Advance(30*24*time.Hour - time.Minute) },
			"F-059 by EndSessions": func(s *factorSite) {
				if err := s.auth.Users().EndSessions(context.Background(), "alice-1"); err != nil {
					s.t.Error(err)
				}
				s.clock.Advance(time.Minute)
			},
			"F-037 by a recovery code": func(s *factorSite) {
				b := s.newBrowser()
				b.challenge()
				b.factor("recovery", s.codes[0])
			},
		} {
			t.Run(name, func(t *testing.T) {
				s, b := newSite(t)
				end(s)
				b.challenge()
			})
		}
	})
}

func TestFactorLimits(t *testing.T) {
	t.Run("F-071 five tries of a row, counted before", func(t *testing.T) {
		s := newFactorSite(t, func(c *latchkey.Config) { c.Limits.FactorPerUser = latchkey.Rate{Events: 1000, Per: time.Hour} })
		b := s.newBrowser()
		b.challenge()
		var wrong atomic.Int32
		browsers := make([]*browser, 50)
		for i := range browsers {
			browsers[i] = b.copy()
		}
		together(len(browsers), func(i int) {
			if browsers[i].factor("totp", "000000").error() == "SecondFactor" {
				wrong.Add(1)
			}
		})
		failures := s.store.Contents().Factors[0].Failures
		if failures > 5 {
			t.Errorf("%d codes were compared", failures)
		}
	})
	s := newFactorSite(t)
	for i := range 12 {
		b := s.newBrowser()
		b.challenge()
		a := b.factor("totp", "000000")
		if limited := a.Header().Get("Retry-After") != ""; limited != (i >= 10) {
			t.Errorf("F-072 wrong code %d: limited %t", i+1, limited)
		}
	}
	t.Run("F-072 the right code is not read either", func(t *testing.T) {
		b := s.newBrowser()
		b.challenge()
		if b.factor("totp", s.code(0)).signsIn() {
			t.Error("signed in")
		}
	})
	t.Run("F-073 a recovery code works at once", func(t *testing.T) {
		b := s.newBrowser()
		b.challenge()
		if !b.factor("recovery", s.codes[0]).signsIn() {
			t.Error("refused")
		}
		t.Run("and a known browser has its own count", func(t *testing.T) {
			b.challenge()
			if !b.factor("totp", s.code(0)).signsIn() {
				t.Error("refused")
			}
		})
	})
	t.Run("F-074 strangers reach no counter", func(t *testing.T) {
		s := newFactorSite(t)
		before := s.store.Contents().Factors[0].Failures
		for range 30 {
			b := s.newBrowser()
			b.post("/auth/callback/crew", "username", "alice", "password", "wrong")
			b.jar["__Secure-authjs.pending"] = "forged"
			b.factor("totp", "000000")
			b.factor("recovery", s.codes[0])
		}
		if after := s.store.Contents().Factors[0].Failures; after != before || len(s.store.Contents().RecoveryCodes) != 10 {
			t.Errorf("%d failures, %d codes", after, len(s.store.Contents().RecoveryCodes))
		}
	})
}

func TestCallbacksAndEventsRunOnce(t *testing.T) {
	var told []string
	s := newFactorSite(t, func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { told = append(told, "callback"); return nil }
		c.Callbacks.Token = func(_ context.Context, i latchkey.TokenInfo) (latchkey.Claims, error) {
			if i.Trigger == latchkey.TriggerSignIn {
				told = append(told, "token")
			}
			i.Claims["acr"], i.Claims["proved"] = "aal2", 1e10
			return i.Claims, nil
		}
		c.Events.SignIn = func(context.Context, latchkey.SignInEvent) error { told = append(told, "signIn"); return nil }
		c.Events.Observe = func(_ context.Context, e event.Event) error {
			if e.Type == event.SignInChallenged || e.Type == event.SignIn {
				told = append(told, string(e.Type))
			}
			return nil
		}
	})
	told = nil
	b := s.newBrowser()
	b.challenge()
	if want := []string{"callback", "sign_in.challenged"}; !slices.Equal(told, want) {
		t.Errorf("F-018 before the factor: %v", told)
	}
	b.factor("totp", s.code(0))
	if want := []string{"callback", "sign_in.challenged", "token", "signIn", "sign_in"}; !slices.Equal(told, want) {
		t.Errorf("F-018 after it: %v, want %v", told, want)
	}
	if got := s.sessionOf(b); !got.Proved.Equal(s.clock.Now()) {
		t.Errorf("a callback changed the time of the proof: %v", got.Proved)
	}
}

func TestBigAssertionsFit(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		o, f, _ := newGatedOAuthSite(t, with)
		o.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true, Claims: map[string]any{"groups": strings.Repeat("x", 5<<10)}})
		b := o.newBrowser()
		if a := o.signIn(b); a.location() != siteOrigin+"/auth/factor" {
			t.Fatalf("F-017 leads to %q\n%s", a.location(), o.log.text())
		}
		if b.factor("totp", f.code(0)); !b.isLive() {
			t.Error("F-017 not signed in")
		}
	})
}

func TestPendingOverRotation(t *testing.T) {
	var told []details.Detail
	s := newFactorSite(t, func(c *latchkey.Config) {
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			if e.Type == event.FactorFailed {
				told = append(told, e.Detail)
			}
			return nil
		}
	})
	b := s.newBrowser()
	b.challenge()
	b.factor("totp", wrongCode(s.code(0)))
	if len(told) != 1 || told[0] != details.FactorWrong {
		t.Errorf("R-773 the events have the details %q", told)
	}
	told = nil
	c := s.config
	c.Secrets = []string{"another secret of the site, long enough", siteSecret}
	rotated, err := latchkey.New(c)
	if err != nil {
		t.Fatal(err)
	}
	s.auth = rotated
	if a := b.factor("totp", s.code(0)); !a.signsIn() {
		t.Errorf("F-020 leads to %q", a.location())
	}
	t.Run("F-030 the secret of the app is sealed anew", func(t *testing.T) {
		c.Secrets = c.Secrets[:1]
		if s.auth, err = latchkey.New(c); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Minute)
		next := s.newBrowser()
		next.challenge()
		if a := next.factor("totp", s.code(0)); !a.signsIn() {
			t.Errorf("leads to %q", a.location())
		}
	})
	t.Run("F-029 without the secret no code fits, and nobody comes in", func(t *testing.T) {
		c.Secrets = []string{"a secret that has sealed nothing yet, and is long"}
		if s.auth, err = latchkey.New(c); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Minute)
		next := s.newBrowser()
		next.challenge()
		if next.factor("totp", s.code(0)).signsIn() || !strings.Contains(s.log.text(), "cannot be used") {
			t.Error("signed in, or nothing is logged")
		}
		if code, detail := s.lastFailure(); detail != details.FactorUnreadable || code == "" {
			t.Errorf("R-785 the log has the code %q and the detail %q", code, detail)
		}
		if len(told) != 1 || told[0] != details.FactorUnreadable {
			t.Errorf("R-773 the events have the details %q", told)
		}
		if !next.factor("recovery", s.codes[5]).signsIn() {
			t.Error("a recovery code does not help")
		}
	})
}

func TestFactorConfiguration(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"an unknown kind":      func(c *latchkey.Config) { c.Factors.Kinds = []latchkey.FactorKind{"sms"} },
		"recovery codes alone": func(c *latchkey.Config) { c.Factors.Kinds = []latchkey.FactorKind{latchkey.FactorRecovery} },
		"R-683 passkeys without a provider of them": func(c *latchkey.Config) {
			withFactors(c)
			c.Factors.Kinds = append(c.Factors.Kinds, latchkey.FactorPasskey)
		},
		"too much drift": func(c *latchkey.Config) { withFactors(c); c.Factors.Skew = 3 },
		"no adapter":     func(c *latchkey.Config) { withFactors(c); c.Adapter = nil },
		"no place for T": func(c *latchkey.Config) { withFactors(c); c.Session.SkipRevocations = true },
	} {
		t.Run(name, func(t *testing.T) {
			c := latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Providers: someProvider(), Adapter: memoryadapter.New(memoryadapter.Options{})}
			c.Session.Strategy = latchkey.JWTSessions
			change(&c)
			if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), "Factors") {
				t.Errorf("%v", err)
			}
		})
	}
}

// New says so if users have no page to set up a factor on, since a guard that asks for
// one would send them about.
func TestFactorsWithoutAPageAreSaid(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*latchkey.Config)
		warns  bool
	}{
		"no page":          {func(*latchkey.Config) {}, true},
		"the account page": {func(c *latchkey.Config) { c.AccountPage.Enabled = true }, false},
		"one's own":        {func(c *latchkey.Config) { c.Pages.Reauth = "/prove" }, false},
		"no factors":       {func(c *latchkey.Config) { c.Factors = latchkey.Factors{} }, false},
	} {
		var log strings.Builder
		config := latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Providers: someProvider(), Adapter: memoryadapter.New(memoryadapter.Options{})}
		config.Runtime.Logger = slog.New(slog.NewTextHandler(&log, nil))
		withFactors(&config)
		config.AccountPage.Enabled, config.Factors.Kinds = false, []latchkey.FactorKind{latchkey.FactorTOTP}
		c.change(&config)
		if _, err := latchkey.New(config); err != nil || strings.Contains(log.String(), "no page lets users set up a factor") != c.warns {
			t.Errorf("R-714 %s: %v, log: %s", name, err, &log)
		}
	}
}

// every page of Pages is compared with the library's own routes, and has to be a URL.
func TestPagesAreAllChecked(t *testing.T) {
	fields := reflect.TypeFor[latchkey.Pages]()
	for i := range fields.NumField() {
		if fields.Field(i).Type.Kind() != reflect.String {
			continue
		}
		for _, url := range []string{"/auth/signin", "/auth/session?x=y", "javascript:x", "//evil.example"} {
			config := latchkey.Config{Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Providers: someProvider(), Adapter: memoryadapter.New(memoryadapter.Options{})}
			withFactors(&config)
			config.Runtime.Logger = slog.New(slog.DiscardHandler)
			reflect.ValueOf(&config.Pages).Elem().Field(i).SetString(url)
			if _, err := latchkey.New(config); err == nil || !strings.Contains(err.Error(), "Pages."+fields.Field(i).Name) {
				t.Errorf("R-715 Pages.%s %q: %v", fields.Field(i).Name, url, err)
			}
		}
	}
}
