package sitetest

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/latchkeytest"
)

// flow is something people do, step by step: what comes before, what is
// disturbed, and who may be signed in afterwards.
type flow struct {
	name    string
	prepare func(s *oauthSite, b *browser) func() *answer
	person  string // whom the session may be of
	calls   string // what the disturbed step asks of the store
}

var flows = []flow{
	{"sign-up", func(s *oauthSite, b *browser) func() *answer {
		params := s.authResponse(b, "issuer")
		return func() *answer { return b.callback("issuer", params) }
	}, "ada@", "GetUserByAccount GetUserByEmail InTx CreateUser LinkAccount CreateSession"},
	{"sign-in", func(s *oauthSite, b *browser) func() *answer {
		s.mustSignIn(s.newBrowser())
		params := s.authResponse(b, "issuer")
		return func() *answer { return b.callback("issuer", params) }
	}, "ada@", "GetUserByAccount InTx CreateSession"},
	{"linking", func(s *oauthSite, b *browser) func() *answer {
		b.get(b.askForLink("grace@example.com"))
		params := s.authResponse(b, "issuer")
		return func() *answer { return b.callback("issuer", params) }
	}, "grace@", "GetUserByAccount GetSessionAndUser InTx LinkAccount CreateSession DeleteSession"},
	{"asking for a link", func(_ *oauthSite, b *browser) func() *answer {
		b.token()
		return func() *answer { return b.post("/auth/signin/post", "email", adaEmail) }
	}, "nobody", "GetUserByEmail CreateVerificationToken"},
	{"using a link", func(_ *oauthSite, b *browser) func() *answer {
		link := b.askForLink(adaEmail)
		return func() *answer { return b.get(link) }
	}, "ada@", "UseVerificationToken GetUserByEmail InTx CreateUser CreateSession"},
	{"using a link to an unproven e-mail", func(s *oauthSite, b *browser) func() *answer {
		s.mustSignIn(s.newBrowser())
		link := b.askForLink(adaEmail)
		return func() *answer { return b.get(link) }
	}, "ada@", "UseVerificationToken GetUserByEmail InTx ListAccounts UpdateUser CreateSession"},
	{"reading", func(s *oauthSite, b *browser) func() *answer {
		s.mustSignIn(b)
		s.clock.Advance(48 * time.Hour)
		return func() *answer { return b.get("/auth/session") }
	}, "ada@", "GetSessionAndUser UpdateSession"},
	{"signing out", func(s *oauthSite, b *browser) func() *answer {
		s.mustSignIn(b)
		return func() *answer { return b.post("/auth/signout") }
	}, "ada@", "DeleteSession"},
}

// newFaultySite is a site whose store fails as planned.
func newFaultySite(t *testing.T) (*oauthSite, *faultyStore) {
	store := newFaultyStore()
	s := newOAuthSite(t, stored, func(c *latchkey.Config) {
		c.Adapter = store
		c.Limits.StoreTimeout, c.Limits.Disabled = 300*time.Millisecond, true
	})
	s.store = store.inner
	return s, store
}

// TestStoreFaults disturbs every call that every flow makes, in every way.
func TestStoreFaults(t *testing.T) {
	for _, f := range flows {
		for method := range strings.FieldsSeq(f.calls) {
			for _, kind := range []fault{faultBefore, faultAfter, faultHang, faultPanic, faultLie} {
				t.Run("R-194 "+f.name+", "+method+", "+string(kind), func(t *testing.T) {
					t.Parallel()
					s, store := newFaultySite(t)
					disturb(t, s, store, f, method, kind)
				})
			}
		}
	}
}

func disturb(t *testing.T, s *oauthSite, store *faultyStore, f flow, method string, kind fault) {
	b := s.newBrowser()
	step := f.prepare(s, b)
	before := store.inner.Contents()
	store.plan.called = map[string]bool{}
	store.fail(method, kind)
	a := step()
	if !store.plan.called[method] {
		t.Fatalf("%s was not called", method)
	}
	if a.Code >= 500 || (a.Code != http.StatusFound && a.Code != http.StatusOK) {
		t.Errorf("answered %d", a.Code)
	}
	lied, takesEffect := kind == faultLie, kind == faultAfter && method == "InTx"
	reads, ends := f.name == "reading", f.name == "signing out"
	during := b.copy().session()
	if during != "null" && !strings.Contains(during, f.person) {
		t.Errorf("during the fault the session is %s", during)
	}
	switch {
	case ends:
		cleared(t, a, "session-token")
		dead(t, b)
	case reads && lied && method == "UpdateSession": // nobody can know
	case reads:
		if a.Body.String() != "null" || a.cookie("session-token") != nil {
			t.Errorf("answered %s with cookie %v", a.Body, a.cookie("session-token"))
		}
	case !reads && !lied:
		refused(t, a)
	}
	if kind != faultPanic && strings.Contains(s.log.text(), `"stack"`) {
		t.Error("the core panics")
	}
	store.mend()
	whole(t, before, store.inner.Contents(), lied, takesEffect || ends || reads)
	if reads { // a fault signs nobody out
		live(t, b)
	}
	if after := b.session(); after != "null" && !strings.Contains(after, f.person) {
		t.Errorf("after the fault the session is %s", after)
	}
	if !lied {
		recovers(t, s, f)
	}
}

// TestStoreLies: a store that answers nothing, without an error, has no user
// for a token to be made of.
func TestStoreLies(t *testing.T) {
	for method, come := range map[string]func(s *oauthSite, b *browser) *answer{
		"GetUserByAccount": func(s *oauthSite, b *browser) *answer { return s.signIn(b) },
		"CreateUser":       func(s *oauthSite, b *browser) *answer { return s.signIn(b) },
		"GetUserByEmail":   func(s *oauthSite, b *browser) *answer { return b.get(strings.TrimPrefix(s.sent()[0].URL, siteOrigin)) },
	} {
		t.Run("R-194 "+method, func(t *testing.T) {
			store := newFaultyStore()
			s := newOAuthSite(t, func(c *latchkey.Config) { c.Adapter = store })
			b := s.newBrowser()
			b.askForLink("grace@example.com")
			store.fail(method, faultLie)
			refused(t, come(s, b), "Configuration")
			dead(t, b)
		})
	}
}

// whole fails the test if something was done by half.
func whole(t *testing.T, before, after memoryadapter.Contents, lied, mayChange bool) {
	t.Helper()
	users := map[string]bool{}
	for _, u := range after.Users {
		users[u.ID] = true
	}
	for _, row := range after.Sessions {
		if !users[row.UserID] {
			t.Error("a session belongs to nobody")
		}
	}
	for _, a := range after.Accounts {
		if !users[a.UserID] {
			t.Error("an account belongs to nobody")
		}
	}
	if lied || mayChange {
		return
	}
	if len(after.Users) != len(before.Users) || len(after.Accounts) != len(before.Accounts) || len(after.Sessions) != len(before.Sessions) {
		t.Errorf("R-185 done by half: %d users, %d accounts, %d sessions; before %d, %d, %d", len(after.Users), len(after.Accounts), len(after.Sessions),
			len(before.Users), len(before.Accounts), len(before.Sessions))
	}
	for i := range after.Users {
		if !after.Users[i].EmailVerified.Equal(before.Users[i].EmailVerified) {
			t.Error("R-185 an e-mail was proven by half")
		}
	}
}

// recovers fails the test unless the same people can sign in now that the store
// is back.
func recovers(t *testing.T, s *oauthSite, f flow) {
	t.Helper()
	again := s.newBrowser()
	a := f.prepare(s, again)()
	if f.name == "signing out" || f.name == "asking for a link" {
		if a.error() != "" {
			t.Errorf("the service does not resume: to %q", a.location())
		}
		return
	}
	if live := again.session(); !strings.Contains(live, f.person) && f.name != "linking" {
		t.Errorf("the service does not resume: to %q, session %s", a.location(), live)
	}
}

func TestStoreSlow(t *testing.T) {
	store := newFaultyStore()
	s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.Adapter = store })
	for _, f := range flows {
		t.Run("R-195 every call has a deadline: "+f.name, func(t *testing.T) {
			store.reset()
			f.prepare(s, s.newBrowser())()
			for method := range strings.FieldsSeq(f.calls) {
				if !store.plan.called[method] {
					t.Errorf("%s was not called", method)
				}
			}
			if store.plan.endless || store.plan.longest > 10*time.Second {
				t.Errorf("the longest call had %v", store.plan.longest)
			}
		})
	}
	t.Run("R-195 the browser leaves", func(t *testing.T) {
		store.reset()
		b := s.newBrowser()
		s.mustSignIn(b)
		store.fail("GetSessionAndUser", faultHang)
		ctx, leave := context.WithCancel(t.Context())
		leave()
		if a := b.serve(s.auth, b.request(http.MethodGet, "/auth/session", "", "").WithContext(ctx)); a.Body.String() != "null" || a.cookie("session-token") != nil {
			t.Errorf("answered %s", a.Body)
		}
	})
}

func TestSignOutFaults(t *testing.T) {
	t.Run("R-106 the delete is tried again and the log is loud", func(t *testing.T) {
		s, store := newFaultySite(t)
		b := s.newBrowser()
		s.mustSignIn(b)
		store.fail("DeleteSession", faultBefore)
		a := b.post("/auth/signout")
		cleared(t, a, "session-token")
		last := s.log.records(t)[len(s.log.records(t))-1]
		if a.Code != http.StatusFound || last["type"] != "SignOutError" || last["level"] != "ERROR" || last["alert"] != true {
			t.Errorf("%d, log %v", a.Code, last)
		}
	})
	t.Run("R-544 the end is repeated until it succeeds", func(t *testing.T) {
		s, store := newFaultySite(t)
		b := s.newBrowser()
		s.mustSignIn(b)
		stolen := b.copy()
		store.fail("DeleteSession", faultBefore)
		b.post("/auth/signout")
		live(t, stolen.copy())
		ended := make(chan struct{})
		store.mendThen("DeleteSession", func() { close(ended) })
		within(t, ended, "the session ends")
		dead(t, stolen)
	})
	t.Run("R-106 strict", func(t *testing.T) {
		store := newFaultyStore()
		_, b := newSignedInOAuthSite(t, stored, func(c *latchkey.Config) { c.Adapter, c.Security.StrictSignOut = store, new(true) })
		store.fail("DeleteSession", faultBefore)
		a := b.post("/auth/signout")
		if a.Code != http.StatusInternalServerError {
			t.Errorf("%d", a.Code)
		}
		cleared(t, a, "session-token")
	})
}

// TestHalfDoneSignUp is about stores without transactions.
func TestHalfDoneSignUp(t *testing.T) {
	open := func(t *testing.T) (*oauthSite, *faultyStore) {
		store := newFaultyStore()
		return newOAuthSite(t, stored, func(c *latchkey.Config) { c.Adapter = store.withoutTx() }), store
	}
	for _, method := range []string{"CreateUser", "LinkAccount", "CreateSession"} {
		for _, kind := range []fault{faultBefore, faultAfter, faultPanic} {
			t.Run("R-187 finished by its owner: "+method+", "+string(kind), func(t *testing.T) {
				s, store := open(t)
				store.fail(method, kind)
				refused(t, s.signIn(s.newBrowser()))
				store.mend()
				b := s.newBrowser()
				s.mustSignIn(b)
				live(t, b)
				if c := store.inner.Contents(); len(c.Users) != 1 || len(c.Accounts) != 1 || c.Accounts[0].UserID != c.Users[0].ID {
					t.Errorf("%d users, %d accounts", len(c.Users), len(c.Accounts))
				}
			})
		}
	}
	t.Run("R-187 not by somebody else with the e-mail", func(t *testing.T) {
		s, store := open(t)
		store.fail("LinkAccount", faultBefore)
		refused(t, s.signIn(s.newBrowser()))
		store.mend()
		mallory := ada()
		mallory.Subject = "mallory"
		s.issuer.SignInAs(mallory)
		refused(t, s.signIn(s.newBrowser()), "OAuthAccountNotLinked")
		if n := len(store.inner.Contents().Accounts); n != 0 {
			t.Errorf("%d accounts", n)
		}
		s.issuer.SignInAs(ada())
		s.mustSignIn(s.newBrowser())
	})
	t.Run("R-187 an invited user is nobody's by e-mail", func(t *testing.T) {
		s, store := open(t)
		if _, err := store.inner.CreateUser(t.Context(), latchkey.User{ID: "invited", Email: adaEmail}); err != nil {
			t.Fatal(err)
		}
		refused(t, s.signIn(s.newBrowser()), "OAuthAccountNotLinked")
	})
}

func TestRaces(t *testing.T) {
	const crowd = 100
	t.Run("R-006 R-188 one callback delivered by a hundred tabs", func(t *testing.T) {
		s, b, params := newAnsweredSite(t, stored, withIssuer(fullChecks))
		var won atomic.Int32
		together(crowd, func(int) {
			a := b.copy().callback("issuer", params)
			if a.signsIn() {
				won.Add(1)
			} else if a.error() != "Configuration" {
				t.Errorf("%d to %q", a.Code, a.location())
			}
		})
		if n := s.issuer.Count(latchkeytest.PathToken); won.Load() != 1 || n != 1 {
			t.Errorf("%d wins, %d token requests", won.Load(), n)
		}
	})
	for name, tx := range map[string]bool{"with transactions": true, "without": false} {
		t.Run("R-188 a hundred first sign-ins of one person, "+name, func(t *testing.T) {
			store := newFaultyStore()
			s := newOAuthSite(t, stored, func(c *latchkey.Config) {
				if c.Adapter = store; !tx {
					c.Adapter = store.withoutTx()
				}
			})
			browsers := make([]*browser, crowd)
			answers := make([]*answer, crowd)
			for i := range browsers {
				browsers[i] = s.newBrowser()
			}
			params := s.authResponses(browsers)
			together(crowd, func(i int) { answers[i] = browsers[i].callback("issuer", params[i]) })
			won := 0
			for i, a := range answers {
				switch {
				case a.signsIn():
					won++
					live(t, browsers[i])
				case a.Code != http.StatusFound || a.error() != "OAuthAccountNotLinked":
					t.Errorf("%d to %q", a.Code, a.location())
				}
			}
			if c := store.inner.Contents(); won == 0 || len(c.Users) != 1 || len(c.Accounts) != 1 || len(c.Sessions) != won {
				t.Errorf("%d wins, %d users, %d accounts, %d sessions", won, len(c.Users), len(c.Accounts), len(c.Sessions))
			}
		})
	}
	t.Run("R-190 a hundred readers of a session due for renewal", func(t *testing.T) {
		s, b := newSignedInOAuthSite(t, stored)
		s.clock.Advance(48 * time.Hour)
		together(crowd, func(int) { live(t, b) })
		if row := s.store.Contents().Sessions[0]; !row.Expires.Equal(s.clock.Now().Add(30 * 24 * time.Hour)) {
			t.Errorf("expires %v", row.Expires)
		}
	})
	t.Run("R-191 sign-out against a hundred readers", func(t *testing.T) {
		for range 10 {
			s, b := newSignedInOAuthSite(t, stored)
			b.token()
			s.clock.Advance(48 * time.Hour)
			kept := b.copy()
			together(crowd, func(i int) {
				if i == crowd/2 {
					b.post("/auth/signout")
				} else {
					kept.copy().get("/auth/session")
				}
			})
			dead(t, kept)
			if n := len(s.store.Contents().Sessions); n != 0 {
				t.Errorf("%d rows", n)
			}
		}
	})
	t.Run("R-191 sign-out between a reader's two steps", func(t *testing.T) {
		s, store := newFaultySite(t)
		b := s.newBrowser()
		s.mustSignIn(b)
		kept := b.copy()
		s.clock.Advance(48 * time.Hour)
		store.afterwards("GetSessionAndUser", func() { b.post("/auth/signout") })
		a := kept.copy().get("/auth/session")
		if a.Body.String() != "null" || a.signsIn() {
			t.Errorf("answered %s", a.Body)
		}
		dead(t, kept)
		if n := len(store.inner.Contents().Sessions); n != 0 {
			t.Errorf("%d rows", n)
		}
	})
	t.Run("R-193 flows share nothing", func(t *testing.T) {
		s := newOAuthSite(t, withIssuer(fullChecks), second(func(p *latchkey.OAuth) { p.ResponseMode = "form_post" }))
		browsers := make([]*browser, crowd)
		for i := range browsers {
			browsers[i] = s.newBrowser()
			browsers[i].token()
		}
		together(crowd, func(i int) {
			provider, want := "issuer", http.SameSiteLaxMode
			if i%2 == 0 {
				provider, want = "second", http.SameSiteNoneMode
			}
			if c := browsers[i].post("/auth/signin/" + provider).cookie("authjs.state"); c == nil || c.SameSite != want {
				t.Errorf("%s: %v", provider, c)
			}
		})
	})
}
