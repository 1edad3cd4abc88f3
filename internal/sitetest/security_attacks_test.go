package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// Takeovers that need more than one feature.

// a password that was leaked meanwhile gives no browser a link, unless the address
// is proven: a link to a new password proves it.
func TestLeakedPasswordProvesNoAddress(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy, func(c *latchkey.Config) {
			c.Providers[len(c.Providers)-1].(*latchkey.Password).AllowUnverified = true
		})
		mallory := s.newBrowser()
		mallory.post("/auth/password?do=signup", "email", annMail, "password", annsPass)
		if !mallory.isLive() {
			t.Fatal("no sign-up")
		}
		s.clock.Advance(time.Minute)
		s.hasher.breached.Store(true)
		if a := mallory.tries(annMail, annsPass); strings.Contains(a.location(), "token=") || a.signsIn() {
			t.Errorf("R-640 leads to %q", a.location())
		}
	})
}

// a user who proves the address together with a factor keeps the factor.
func TestFirstProofKeepsTheFactorThatWasShown(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		o, f, id := newGatedOAuthSite(t, with)
		before, _ := o.store.Factors().List(t.Context(), id)
		b := o.newBrowser()
		b.signInByLink(adaEmail)
		b.factor("totp", f.code(0))
		after, _ := o.store.Factors().List(t.Context(), id)
		if u, _ := o.store.GetUser(t.Context(), id); !b.isLive() || u.EmailVerified.IsZero() || len(before) == 0 || len(after) != len(before) {
			t.Fatalf("R-641 %d factors before, %d after; verified %v", len(before), len(after), u.EmailVerified)
		}
		o.clock.Advance(time.Minute)
		if thief := o.newBrowser(); thief.signInByLink(adaEmail) == nil || thief.isLive() {
			t.Error("R-641 the mailbox alone signs in")
		}
	})
}

// a sign-in under way does not undo RequireNewPassword.
func TestRequiredPasswordStaysRequired(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		hasher := &hookedHasher{}
		s := newManagedSite(t, strategy, func(c *latchkey.Config) {
			p := c.Providers[len(c.Providers)-1].(*latchkey.Password)
			hasher.PasswordHasher, p.Hasher = p.Hasher, hasher
		})
		ann := s.addUser(annMail, annsPass)
		thief := s.newBrowser()
		thief.tries(annMail, "one wrong password") // a failure that a sign-in forgets
		s.clock.Advance(time.Minute)
		require := func() {
			if err := s.auth.Users().RequireNewPassword(event.WithActor(t.Context(), event.Actor{Kind: event.ActorAdmin, ID: "boss"}), ann.ID); err != nil {
				t.Error(err)
			}
		}
		hasher.then.Store(&require)
		thief.tries(annMail, annsPass)
		if p, err := s.store.Passwords().Get(t.Context(), ann.ID); err != nil || !p.Renew {
			t.Errorf("R-643 Renew is %t, %v", p.Renew, err)
		}
		s.clock.Advance(2 * time.Minute)
		again := s.newBrowser()
		if again.tries(annMail, annsPass); again.isLive() {
			t.Error("R-643 the password signs in again")
		}
	})
}

// hookedHasher is a hasher during whose check something else happens, once.
type hookedHasher struct {
	latchkey.PasswordHasher
	then atomic.Pointer[func()]
}

func (h *hookedHasher) Check(ctx context.Context, hash, password string) (latchkey.PasswordCheck, error) {
	res, err := h.PasswordHasher.Check(ctx, hash, password)
	if then := h.then.Swap(nil); then != nil {
		(*then)()
	}
	return res, err
}

// sign-out everywhere ends a session that an app opens meanwhile.
func TestBearerSessionDuringSignOutEverywhere(t *testing.T) {
	inner := memoryadapter.New(memoryadapter.Options{})
	store := slowEnd{noTx: noTx{inner, inner, inner, inner, inner}, SessionListAdapter: inner}
	var meanwhile func()
	store.then = func() { meanwhile() }
	s, ada := newBearerSite(t, stored, func(c *latchkey.Config) {
		c.Adapter, c.Session.Revocations = store, memoryadapter.New(memoryadapter.Options{})
	})
	s.store = inner
	found, err := s.auth.ReadSession(httptest.NewRecorder(), ada.request("GET", "/", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	code, token, called := bearerCode(t, ada, appVerifier), "", false
	meanwhile = func() { token, _, err = ada.change(code, appVerifier); called = true }
	if err := s.auth.Users().EndSessions(t.Context(), found.UserID); err != nil {
		t.Fatal(err)
	}
	if !called || ada.isLive() {
		t.Fatalf("called %t, the session is live: %t", called, ada.isLive())
	}
	if rows := inner.Contents().Sessions; token != "" || len(rows) != 0 {
		t.Errorf("R-642 the app has a session: %d rows", len(rows))
	}
}

// slowEnd is a store without transactions in which something else happens after it has
// listed the sessions to end.
type slowEnd struct {
	noTx
	storage.SessionListAdapter
	then func()
}

func (s slowEnd) DeleteSessions(ctx context.Context, userID, keep string) (n int, err error) {
	rows, err := s.ListSessions(ctx, userID)
	s.then()
	for _, row := range rows {
		if row.ID != keep {
			err = errors.Join(err, s.DeleteSessionByID(ctx, userID, row.ID))
		}
	}
	return len(rows), err
}

// who has signed in is no longer a user whose address staff change by themselves.
func TestSignInClaimsAUserOfStaff(t *testing.T) {
	for name, strategy := range strategies {
		t.Run(name, func(t *testing.T) {
			id := ""
			s := newOAuthSite(t, strategy, func(c *latchkey.Config) {
				crew := *c.Providers[0].(*latchkey.Credentials)
				crew.Authorize = func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
					return latchkey.User{ID: id, Email: "zoe@example.com"}, nil
				}
				c.Providers[0] = &crew
			})
			u, err := s.auth.Users().Create(t.Context(), users.NewUser{Name: "Zoe", Email: "zoe@example.com"})
			if err != nil || u.Provisioned.IsZero() {
				t.Fatalf("%+v, %v", u, err)
			}
			id = u.ID
			zoe := s.newBrowser()
			zoe.post("/auth/callback/crew", "username", "zoe", "password", "wonderland")
			if got, err := s.store.GetUser(t.Context(), id); err != nil || !zoe.isLive() || !got.Provisioned.IsZero() {
				t.Errorf("R-644 provisioned %v, live %t, %v", got.Provisioned, zoe.isLive(), err)
			}
		})
	}
}

// a client that hangs up does not hide a change of the password from the user.
func TestActivityOfAClientThatHangsUp(t *testing.T) {
	cancel := func() {}
	s := newManagedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) {
		c.AccountPage.Activity = true
		c.Adapter = hangingUp{c.Adapter.(*memoryadapter.Adapter), &cancel}
	})
	ann := s.addUser(annMail, annsPass)
	b := s.newBrowser()
	b.tries(annMail, annsPass)
	form := url.Values{"csrfToken": {b.token()}, "current": {annsPass}, "password": {newPass}}
	r := b.request(http.MethodPost, "/auth/account?do=password", formContentType, form.Encode())
	ctx, stop := context.WithCancel(r.Context())
	cancel = stop
	b.serve(s.auth, r.WithContext(ctx))
	if p, err := s.store.Passwords().Get(t.Context(), ann.ID); err != nil || p.Hash != s.hasher.of(newPass) || ctx.Err() == nil {
		t.Fatalf("changed %t, hung up %v, %v", p.Hash == s.hasher.of(newPass), ctx.Err(), err)
	}
	list, err := s.auth.Users().Activity(t.Context(), ann.ID)
	if err != nil || !slices.ContainsFunc(list, func(a users.Activity) bool { return a.Type == event.PasswordChanged }) {
		t.Errorf("R-645 the activities are %+v, %v", list, err)
	}
}

// hangingUp is a store whose client hangs up after a transaction.
type hangingUp struct {
	*memoryadapter.Adapter
	cancel *func()
}

func (s hangingUp) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	err := s.Adapter.InTx(ctx, f)
	(*s.cancel)()
	return err
}

// a guard below http.StripPrefix takes no other page for the page that asks for a
// sign-in or a proof.
func TestGuardBelowStripPrefix(t *testing.T) {
	for name, c := range map[string]struct {
		page, strip, path string
		passes            bool
	}{
		"the home page of the program":      {"/", "", "/", true},
		"the home page below a prefix":      {"/", "/admin", "/admin/", false},
		"a page of that name below":         {"/login", "/admin", "/admin/login", false},
		"the page itself":                   {"/login", "", "/login", true},
		"the page itself, with a query":     {"/login", "", "/login?a=b", true},
		"the page itself, in absolute form": {"/login", "", siteOrigin + "/login", true},
		"another page":                      {"/login", "", "/admin", false},
		"a page of that name, twice nested": {"/login", "/a/b", "/a/b/login", false},
		"a path with the mark of a URL":     {"/", "/a://b", "/a://b/", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(config *latchkey.Config) { config.Pages.SignIn = c.page })
			reached := false
			h := s.auth.RequireSession(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			if c.strip != "" {
				h = http.StripPrefix(c.strip, h)
			}
			b := s.newBrowser()
			r := b.request(http.MethodGet, strings.TrimPrefix(c.path, siteOrigin), "", "")
			r.RequestURI = c.path
			b.serve(h, r)
			if reached != c.passes {
				t.Errorf("R-646 reached: %t, want %t", reached, c.passes)
			}
		})
	}
}

// a guard of another host takes no page there for the sign-in page of the site.
func TestGuardOnAnotherHost(t *testing.T) {
	all := func(c *latchkey.Config) { c.Site.URL, c.Site.AllowedHosts = "", []string{"*"} }
	trusting := func(c *latchkey.Config) { c.Site.URL, c.Site.TrustHost = "", true }
	listed := func(c *latchkey.Config) { c.Site.URL, c.Site.AllowedHosts = "", []string{"*.example"} }
	for name, c := range map[string]struct {
		site       func(*latchkey.Config) // nil: with Site.URL
		page, host string
		passes     bool
	}{
		"a path":                           {nil, "/login", "app.example", true},
		"a path, with the usual port":      {nil, "/login", "APP.example:443", true},
		"a path elsewhere":                 {nil, "/login", "admin.example", false},
		"a path on another port":           {nil, "/login", "app.example:8443", false},
		"a path, behind an unknown proxy":  {nil, "/login", "127.0.0.1:3000", false},
		"a URL":                            {nil, siteOrigin + "/login", "app.example", true},
		"a URL, written otherwise":         {nil, "https://APP.example:443/login", "app.example", true},
		"a URL, elsewhere":                 {nil, siteOrigin + "/login", "admin.example", false},
		"a foreign URL":                    {nil, "https://login.example/login", "app.example", false},
		"a foreign URL, by its host":       {nil, "https://login.example/login", "login.example", false},
		"a path, at a listed host":         {listed, "/login", "admin.example", true},
		"a URL, at a listed host":          {listed, siteOrigin + "/login", "app.example", true},
		"a URL, at another listed host":    {listed, siteOrigin + "/login", "admin.example", false},
		"a URL, and a client names a host": {all, siteOrigin + "/login", "app.example", false},
		"a URL, and a proxy names a host":  {trusting, siteOrigin + "/login", "app.example", false},
		"a path, and a proxy names a host": {trusting, "/login", "app.example", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(config *latchkey.Config) {
				config.Pages.SignIn = c.page
				if c.site != nil {
					c.site(config)
				}
			})
			reached := false
			h := s.auth.RequireSession(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			b := s.newBrowser()
			r := b.request(http.MethodGet, "/login", "", "")
			r.Host = c.host
			if b.serve(h, r); reached != c.passes {
				t.Errorf("R-681 reached: %t, want %t", reached, c.passes)
			}
		})
	}
}

// a guard that cannot tell the sign-in page leads nobody in a circle, and says so once.
func TestGuardLeadsInNoCircle(t *testing.T) {
	s := newSite(t, func(config *latchkey.Config) { config.Pages.SignIn = "/login" })
	h := s.auth.RequireSession(http.NotFoundHandler())
	b := s.newBrowser()
	for range 2 {
		r := b.request(http.MethodGet, "/login?callbackUrl=x", "", "")
		r.Host = "127.0.0.1:3000"
		if a := b.serve(h, r); a.Code != http.StatusForbidden {
			t.Errorf("R-681 a proxy that names itself: %d to %q", a.Code, a.location())
		}
	}
	if n := strings.Count(s.log.text(), "have a proxy keep Host"); n != 1 {
		t.Errorf("R-681 the operator is told %d times:\n%s", n, s.log.text())
	}
}
