package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestPasswordSignIn(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		u := s.addUser(annMail, annsPass)
		b := s.newBrowser()
		if a := b.tries(" ANN@Example.com ", annsPass); !a.signsIn() || !b.isLive() {
			t.Fatalf("a right password: %d to %q", a.Code, a.location())
		}
		if !strings.Contains(b.session(), annMail) {
			t.Errorf("the session is %s", b.session())
		}
		rows, _ := s.store.Browsers().List(t.Context(), u.ID)
		if len(rows) != 1 || strings.Contains(strings.Join(jarValues(b), " "), rows[0].ID) {
			t.Errorf("%d known browsers", len(rows))
		}
		if !strings.Contains(s.newBrowser().get("/auth/providers").Body.String(), `"type":"credentials"`) {
			t.Error("the provider is not of the type credentials")
		}
	})
}

func jarValues(b *browser) (values []string) {
	for _, v := range b.jar {
		values = append(values, v)
	}
	return values
}

// F-081: an unknown address, a user without a password and a wrong password look
// alike, and cost alike.
func TestPasswordSignInTellsNothing(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		s.addUser(annMail, annsPass)
		s.addUser("bob@example.com", "")
		seen := map[string]bool{}
		for _, email := range []string{annMail, "bob@example.com", "nobody@example.com"} {
			before := s.hasher.checks.Load()
			a := s.newBrowser().tries(email, "wrong, and long enough")
			seen[fmt.Sprint(a.Code, a.location(), cookieNames(a))] = true
			if n := s.hasher.checks.Load() - before; n != 1 {
				t.Errorf("F-081 %s: %d checks", email, n)
			}
			if a.signsIn() || a.error() != "CredentialsSignin" {
				t.Errorf("F-081 %s: %q", email, a.location())
			}
		}
		if len(seen) != 1 {
			t.Errorf("F-081 the answers differ: %v", seen)
		}
	})
}

func cookieNames(a *answer) (names []string) {
	for _, c := range a.Result().Cookies() {
		names = append(names, c.Name)
	}
	return names
}

// F-081: a right password of a user whose address is not proven signs in nobody, and
// mails a link.
func TestPasswordOfAnUnprovenAddress(t *testing.T) {
	s := newManagedSite(t, latchkey.JWTSessions)
	u, _ := s.store.CreateUser(t.Context(), storage.User{Email: annMail})
	s.setHash(u.ID, s.hasher.of(annsPass))
	a := s.newBrowser().tries(annMail, annsPass)
	if a.signsIn() || !strings.Contains(a.location(), "/auth/verify-request?provider=password&type=email") {
		t.Fatalf("F-081 %d to %q", a.Code, a.location())
	}
	link := path(s.lastMail(latchkey.MessagePasswordReset))
	if a := s.newBrowser().post(link, "password", newPass); !strings.Contains(a.location(), "done=reset") {
		t.Fatalf("the link leads to %q", a.location())
	}
	s.clock.Advance(time.Second)
	if !s.newBrowser().tries(annMail, newPass).signsIn() {
		t.Error("the new password does not sign in")
	}
}

func (s *managedSite) setHash(userID, hash string) {
	s.t.Helper()
	if err := s.store.Passwords().Set(s.t.Context(), storage.PasswordHash{UserID: userID, Hash: hash}, ""); err != nil {
		s.t.Fatal(err)
	}
}

// F-075, F-203: strangers use up the budget of a user, whatever they type; the user's
// own browser goes on, and a stranger's right password is refused like a wrong one.
func TestPasswordBudgets(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy, func(c *latchkey.Config) {
			c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 5, Per: time.Hour}
			c.Limits.CredentialsPerClient = latchkey.Rate{Events: 10_000, Per: time.Hour}
		})
		s.addUser(annMail, annsPass)
		own := s.newBrowser()
		own.tries(annMail, annsPass)
		for i, spelling := range []string{"ann@example.com", "ANN@example.com", " ann@EXAMPLE.com", "ａnn@example.com"} {
			for range 25 {
				s.newBrowser().from(fmt.Sprintf("203.0.113.%d:1", i), "/auth/callback/password", "email", spelling, "password", "wrong, but long")
			}
		}
		if n := s.hasher.checks.Load(); n != 1+5 {
			t.Errorf("F-203 %d passwords were compared, want 6", n)
		}
		if a := s.newBrowser().tries(annMail, annsPass); a.signsIn() || a.error() != "CredentialsSignin" {
			t.Errorf("F-075 an unknown browser: %q", a.location())
		}
		for range 3 {
			if a := own.tries(annMail, annsPass); !a.signsIn() {
				t.Fatalf("F-075 the user's own browser: %q", a.location())
			}
		}
		for range 10 {
			own.tries(annMail, "wrong, but long")
		}
		if own.tries(annMail, annsPass).signsIn() {
			t.Error("F-075 a known browser has no bound")
		}
	})
}

// tries at an address say nothing of another one, whether or not it is a user's.
func TestBudgetsOfAlikeAddresses(t *testing.T) {
	for _, known := range []bool{true, false} {
		s := newManagedSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
			c.Limits.CredentialsPerAccount = latchkey.Rate{Events: 5, Per: time.Hour}
		})
		if known {
			s.addUser(annMail, annsPass)
		}
		for range 6 {
			s.newBrowser().tries("änn@example.com", "wrong, but long")
		}
		before := s.hasher.checks.Load()
		s.newBrowser().tries(annMail, "wrong, but long")
		if n := s.hasher.checks.Load() - before; n != 1 {
			t.Errorf("R-684 user: %v: %d passwords were compared, want 1", known, n)
		}
	}
}

// listless is a store of proofs that cannot list the sessions of a user.
type listless struct {
	storage.Adapter
	storage.PasswordAdapter
	storage.ChallengeAdapter
	storage.BrowserAdapter
	storage.RevocationStore
	storage.SessionAdapter
}

// F-076: after a hundred wrong passwords in a row a right one from an unknown browser
// is no proof alone; a known browser goes on, and so does the link.
func TestHundredWrongPasswords(t *testing.T) {
	s := newManagedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) { c.Limits.Disabled = true })
	u := s.addUser(annMail, annsPass)
	own := s.newBrowser()
	own.tries(annMail, annsPass)
	for range 100 {
		s.newBrowser().tries(annMail, "wrong, but long")
	}
	if p, _ := s.store.Passwords().Get(t.Context(), u.ID); p.Failures != 100 {
		t.Fatalf("F-076 %d failures are stored", p.Failures)
	}
	if a := s.newBrowser().tries(annMail, annsPass); a.signsIn() || !strings.Contains(a.location(), "type=reset") {
		t.Errorf("F-076 an unknown browser: %q", a.location())
	}
	s.lastMail(latchkey.MessageNewPassword)
	if a := own.tries(annMail, annsPass); !a.signsIn() {
		t.Errorf("F-076 a known browser: %q", a.location())
	}
	if p, _ := s.store.Passwords().Get(t.Context(), u.ID); p.Failures != 0 {
		t.Errorf("F-076 %d failures are left after a success", p.Failures)
	}
}

// the stop after a hundred wrong passwords holds in a session, too, which may be
// stolen: no page there says which password is right. The owner's browser is known.
func TestStopHoldsInASession(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy, func(c *latchkey.Config) { c.Limits.Disabled = true })
		u := s.addUser(annMail, annsPass)
		own := s.newBrowser()
		own.tries(annMail, annsPass)
		thief := s.newBrowser()
		thief.jar[sessionCookie] = own.jar[sessionCookie]
		s.clock.Advance(time.Hour)
		for range 100 {
			s.newBrowser().tries(annMail, "wrong, but long")
		}
		if a := thief.post("/auth/reauth", "use", "password", "password", annsPass); !strings.Contains(a.location(), "error=CredentialsSignin") {
			t.Errorf("the password proves the thief's identity: %d to %q", a.Code, a.location())
		}
		s.lastMail(latchkey.MessageNewPassword)
		if err := s.auth.Users().CheckPassword(t.Context(), u.ID, annsPass); !errors.Is(err, latchkey.ErrCredentialsSignin) {
			t.Errorf("CheckPassword: %v", err)
		}
		if a := own.post("/auth/reauth", "use", "password", "password", annsPass); strings.Contains(a.location(), "error=") {
			t.Errorf("the owner: %d to %q", a.Code, a.location())
		}
	})
}

// F-077, F-078: a sign-up creates nothing and tells nothing.
func TestSignUpTellsNothing(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		s.addUser(annMail, annsPass)
		users := len(s.store.Contents().Users)
		seen := map[string]bool{}
		for _, email := range []string{annMail, "new@example.com"} {
			before := s.hasher.hashes.Load()
			a := s.newBrowser().post("/auth/password?do=signup", "email", email, "password", newPass)
			seen[fmt.Sprint(a.Code, a.location(), cookieNames(a), a.Body.Len())] = true
			if n := s.hasher.hashes.Load() - before; n != 1 {
				t.Errorf("F-077 %s: %d hashes", email, n)
			}
		}
		if len(seen) != 1 {
			t.Errorf("F-077 the answers differ: %v", seen)
		}
		if to := s.lastMail(latchkey.MessageAccountExists); to.To != annMail || to.Token != "" || strings.Contains(to.URL, "token") {
			t.Errorf("F-077 the mail to a known address: %+v", to)
		}
		for range 100 {
			s.newBrowser().post("/auth/password?do=signup", "email", "new@example.com", "password", newPass)
		}
		if c := s.store.Contents(); len(c.Users) != users || len(c.Accounts) != 0 {
			t.Errorf("F-078 %d users, %d accounts", len(c.Users), len(c.Accounts))
		}
		if _, err := s.store.GetUserByEmail(t.Context(), "new@example.com"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("F-078 %v", err)
		}
		if n := len(s.sent()); n > 7 {
			t.Errorf("F-078 %d mails", n)
		}
	})
}

func TestSignUpWithPassword(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		var attempts []latchkey.SignInAttempt
		s := newManagedSite(t, strategy, func(c *latchkey.Config) {
			c.Providers[len(c.Providers)-1].(*latchkey.Password).Fields = []latchkey.Field{{Name: "name", Label: "Name"}}
			c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error { attempts = append(attempts, a); return nil }
		})
		b := s.newBrowser()
		b.post("/auth/password?do=signup", "email", annMail, "password", newPass, "name", "Ann")
		link := path(s.lastMail(latchkey.MessageVerify))
		for range 3 {
			if a := b.get(link); a.Code != http.StatusOK || strings.Contains(a.Body.String(), `name="password"`) || a.Header().Get("Referrer-Policy") != "no-referrer" {
				t.Fatalf("looking at the link: %d", a.Code)
			}
		}
		if a := b.post(link); !a.signsIn() || !b.isLive() {
			t.Fatalf("the link leads to %q: %s", a.location(), s.log.text())
		}
		u, err := s.store.GetUserByEmail(t.Context(), annMail)
		if err != nil || u.EmailVerified.IsZero() || u.Name != "Ann" {
			t.Errorf("the user is %+v, %v", u, err)
		}
		if len(attempts) != 2 || attempts[0].Credentials["name"] != "Ann" || attempts[0].Credentials["password"] != "" || !attempts[0].VerificationRequest {
			t.Errorf("the application was asked %+v", attempts)
		}
		if a := b.post(link); a.error() != "Verification" {
			t.Errorf("the link works twice: %q", a.location())
		}
		if !s.newBrowser().tries(annMail, newPass).signsIn() {
			t.Error("the password does not sign in")
		}
	})
}

// F-079: nobody confirms a password that an attacker has chosen.
func TestNobodyConfirmsAnAttackersPassword(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		s.newBrowser().post("/auth/password?do=signup", "email", annMail, "password", "the attacker's choice")
		link := path(s.lastMail(latchkey.MessageVerify))
		victim := s.newBrowser()
		if !strings.Contains(victim.get(link).Body.String(), `autocomplete="new-password"`) {
			t.Error("F-079 the victim is asked for no password")
		}
		if a := victim.post(link); a.Code != http.StatusUnprocessableEntity || a.signsIn() {
			t.Errorf("F-079 without a password: %d", a.Code)
		}
		if a := victim.post(link, "password", newPass); !a.signsIn() {
			t.Fatalf("F-079 with one: %d to %q", a.Code, a.location())
		}
		if s.newBrowser().tries(annMail, "the attacker's choice").signsIn() || !s.newBrowser().tries(annMail, newPass).signsIn() {
			t.Error("F-079 the attacker's password works")
		}
	})
}

// Two sign-ups for one address: the first proof wins, the second changes nothing.
func TestTwoSignUps(t *testing.T) {
	s := newManagedSite(t, latchkey.JWTSessions)
	var links []string
	var browsers []*browser
	for range 2 {
		b := s.newBrowser()
		b.post("/auth/password?do=signup", "email", annMail, "password", newPass)
		links, browsers = append(links, path(s.lastMail(latchkey.MessageVerify))), append(browsers, b)
	}
	if !browsers[0].post(links[0]).signsIn() {
		t.Fatal("the first link does not sign in")
	}
	before := s.contents()
	if a := browsers[1].post(links[1]); a.signsIn() || !strings.Contains(a.location(), "/auth/signin") || s.contents() != before {
		t.Errorf("the second one: %d to %q", a.Code, a.location())
	}
}

// F-082: faults of the password come first, whatever the address.
func TestWeakPasswords(t *testing.T) {
	s := newManagedSite(t, latchkey.JWTSessions)
	s.addUser(annMail, annsPass)
	for _, email := range []string{annMail, "new@example.com"} {
		a := s.newBrowser().post("/auth/password?do=signup", "email", email, "password", "short")
		if a.Code != http.StatusUnprocessableEntity || !strings.Contains(a.Body.String(), "at least 8 characters") || !strings.Contains(a.Body.String(), email) || strings.Contains(a.Body.String(), `value="short"`) {
			t.Errorf("F-082 %s: %d %s", email, a.Code, a.Body)
		}
	}
	b := s.newBrowser()
	b.token()
	b.header.Set("X-Auth-Return-Redirect", "1")
	if a := b.post("/auth/password?do=signup", "email", annMail, "password", "short"); a.Code != 422 || a.Body.String() != `{"code":"short","error":"PasswordError"}` {
		t.Errorf("a script gets %d %s", a.Code, a.Body)
	}
	if a := b.post("/auth/password?do=signup", "email", "new@example.com", "password", newPass); a.Code != 200 || !strings.Contains(a.Body.String(), `"url":`) {
		t.Errorf("a script gets %d %s", a.Code, a.Body)
	}
	if n := s.hasher.hashes.Load(); n != 1 {
		t.Errorf("F-082 %d hashes", n)
	}
}

// F-083: a reset link works once, for one user, in time.
func TestResetLinks(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		s.addUser(annMail, annsPass)
		inside := s.newBrowser()
		inside.tries(annMail, annsPass)
		first, second := s.resetLink(annMail), s.resetLink(annMail)
		for range 3 {
			if a := s.newBrowser().get(first); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `autocomplete="username"`) {
				t.Fatalf("F-083 looking: %d", a.Code)
			}
		}
		if a := s.newBrowser().post(first, "password", "short"); a.Code != http.StatusUnprocessableEntity {
			t.Errorf("F-083 a weak password: %d", a.Code)
		}
		var worked atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			b := s.newBrowser()
			b.token()
			all.Go(func() {
				if a := b.post(first, "password", newPass); strings.Contains(a.location(), "done=reset") {
					worked.Add(1)
					if a.signsIn() {
						t.Error("F-084 a reset signs in")
					}
				}
			})
		}
		all.Wait()
		if worked.Load() != 1 {
			t.Errorf("F-083 the link worked %d times", worked.Load())
		}
		if inside.isLive() {
			t.Error("F-085 a session goes on after a reset")
		}
		for name, link := range map[string]string{"used": first, "another open one": second, "unknown": "/auth/password?do=reset&token=abc"} {
			if a := s.newBrowser().get(link); a.error() != "Verification" {
				t.Errorf("F-083 %s, looked at: %d to %q", name, a.Code, a.location())
			}
			if a := s.newBrowser().post(link, "password", "yet another one"); a.error() != "Verification" {
				t.Errorf("F-083 %s: %d to %q", name, a.Code, a.location())
			}
		}
		s.clock.Advance(time.Second)
		if s.newBrowser().tries(annMail, annsPass).signsIn() || !s.newBrowser().tries(annMail, newPass).signsIn() {
			t.Error("F-083 the wrong password works")
		}
		s.lastMail(latchkey.MessagePasswordChanged)
		s.clock.Advance(time.Hour)
		late := s.resetLink(annMail)
		s.clock.Advance(30 * time.Minute)
		if a := s.newBrowser().post(late, "password", annsPass); a.error() != "Verification" {
			t.Errorf("F-083 expired: %q", a.location())
		}
	})
}

// F-077: a forgotten password is answered alike for every address.
func TestForgotTellsNothing(t *testing.T) {
	s := newManagedSite(t, latchkey.JWTSessions)
	s.addUser(annMail, annsPass)
	seen := map[string]bool{}
	for _, email := range []string{annMail, "nobody@example.com"} {
		a := s.newBrowser().post("/auth/password?do=forgot", "email", email)
		seen[fmt.Sprint(a.Code, a.location(), cookieNames(a))] = true
	}
	if len(seen) != 1 || len(s.sent()) != 1 {
		t.Errorf("%v, %d mails", seen, len(s.sent()))
	}
}

// F-080: the first proof of an address by its owner removes the password, browsers and
// sessions of whoever signed up with it.
func TestUnverifiedUsersAreCleansed(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		for name, prove := range map[string]func(*managedSite) *answer{
			"link": func(s *managedSite) *answer {
				s.newBrowser().post("/auth/signin/post", "email", annMail)
				return s.newBrowser().get(path(s.lastMail(latchkey.MessageSignIn)))
			},
			"reset": func(s *managedSite) *answer { return s.newBrowser().post(s.resetLink(annMail), "password", newPass) },
		} {
			s := newManagedSite(t, strategy, func(c *latchkey.Config) {
				c.Providers[len(c.Providers)-1].(*latchkey.Password).AllowUnverified = true
			})
			u, _ := s.store.CreateUser(t.Context(), storage.User{Email: annMail})
			s.setHash(u.ID, s.hasher.of("the attacker's choice"))
			attacker := s.newBrowser()
			if !attacker.tries(annMail, "the attacker's choice").signsIn() {
				t.Fatal("AllowUnverified does not sign in")
			}
			s.clock.Advance(time.Minute)
			if a := prove(s); a.Code != http.StatusFound {
				t.Fatalf("%s: %d", name, a.Code)
			}
			if attacker.isLive() || attacker.tries(annMail, "the attacker's choice").signsIn() {
				t.Errorf("F-080 %s: the attacker is still in", name)
			}
			if stored, _ := s.store.GetUser(t.Context(), u.ID); stored.EmailVerified.IsZero() {
				t.Errorf("F-080 %s: the address is not proven", name)
			}
		}
	})
}

// F-089: a stale hash is replaced after a right password, and a write that fails still
// signs in.
func TestStaleHashes(t *testing.T) {
	s := newManagedSite(t, latchkey.JWTSessions)
	u := s.addUser(annMail, "")
	s.setHash(u.ID, "old$"+annsPass)
	if s.newBrowser().tries(annMail, "wrong, but long").signsIn() || !s.newBrowser().tries(annMail, annsPass).signsIn() {
		t.Fatal("F-089 the imported hash does not work")
	}
	if p, _ := s.store.Passwords().Get(t.Context(), u.ID); p.Hash != s.hasher.of(annsPass) {
		t.Errorf("F-089 the hash is %q", p.Hash)
	}
}

// F-088, F-090: a hash that cannot be checked is a wrong password; a hasher that fails
// is a fault, and locks nobody out.
func TestFailingHasher(t *testing.T) {
	s := newManagedSite(t, latchkey.JWTSessions)
	s.addUser(annMail, annsPass)
	b := s.newBrowser()
	s.hasher.fail = fmt.Errorf("unknown: %w", errors.ErrUnsupported)
	if a := b.tries(annMail, annsPass); a.error() != "CredentialsSignin" {
		t.Errorf("F-088 %q", a.location())
	}
	s.hasher.fail = errors.New("the pepper p1 is missing")
	for range 50 {
		if a := b.tries(annMail, annsPass); a.error() == "CredentialsSignin" || a.signsIn() {
			t.Fatalf("F-090 %q", a.location())
		}
	}
	s.hasher.fail = fmt.Errorf("busy: %w", storage.ErrUnavailable)
	b.header.Set("Accept", "text/html")
	if a := b.tries(annMail, annsPass); a.signsIn() {
		t.Errorf("F-087 %d to %q", a.Code, a.location())
	}
	s.hasher.fail = nil
	if !b.tries(annMail, annsPass).signsIn() {
		t.Error("F-090 the user is locked out")
	}
}

// F-202: a password that others may know does not choose the next one.
func TestLeakedPasswords(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		s.addUser(annMail, annsPass)
		own := s.newBrowser()
		own.tries(annMail, annsPass)
		s.hasher.breached.Store(true)
		a := s.newBrowser().tries(annMail, annsPass)
		if a.signsIn() || !strings.Contains(a.location(), "type=reset") || strings.Contains(a.location(), "token") {
			t.Errorf("F-202 an unknown browser: %q", a.location())
		}
		s.lastMail(latchkey.MessageNewPassword)
		if a := own.tries(annMail, annsPass); a.signsIn() || !strings.Contains(a.location(), "/auth/password?do=reset&token=") {
			t.Errorf("F-202 a known browser: %q", a.location())
		}
	})
}

// F-002: the route is the application's unless passwords are configured.
func TestPasswordRouteIsOff(t *testing.T) {
	off := newSite(t)
	if a := off.newBrowser().get("/auth/password?do=signup"); a.Code != http.StatusBadRequest && a.Code != http.StatusNotFound {
		t.Errorf("F-002 switched off: %d", a.Code)
	}
	on := newManagedSite(t, latchkey.JWTSessions)
	if a := on.newBrowser().get("/auth/password?do=signup"); a.Code != http.StatusOK {
		t.Errorf("F-002 switched on: %d", a.Code)
	}
	for _, do := range []string{"", "x", "change", "address"} {
		if a := on.newBrowser().get("/auth/password?do=" + do); a.Code == http.StatusOK {
			t.Errorf("F-002 do=%q: %d", do, a.Code)
		}
	}
}

// lesser lacks the abilities that passwords need.
type lesser struct{ storage.Adapter }

// F-085, W-52: New names what is missing.
func TestPasswordConfig(t *testing.T) {
	good := func() *latchkey.Password {
		return &latchkey.Password{Hasher: &plainHasher{}, Weakness: weakness, MinLength: 8}
	}
	for want, change := range map[string]func(*latchkey.Config){
		"PasswordAdapter":  func(c *latchkey.Config) { c.Adapter = lesser{c.Adapter} },
		"ChallengeAdapter": func(c *latchkey.Config) { c.Adapter = lesser{c.Adapter} },
		"BrowserAdapter":   func(c *latchkey.Config) { c.Adapter = lesser{c.Adapter} },
		"SessionListAdapter": func(c *latchkey.Config) {
			a := memoryadapter.New(memoryadapter.Options{})
			c.Adapter, c.Session.Strategy = listless{a, a, a, a, a, a}, latchkey.DatabaseSessions
		},
		"RevocationStore":    func(c *latchkey.Config) { c.Session.SkipRevocations = true },
		"Mail.Send":          func(c *latchkey.Config) { c.Mail = latchkey.Mail{} },
		"Password.MinLength": func(c *latchkey.Config) { c.Providers[0].(*latchkey.Password).MinLength = 7 },
		"Password.Hasher":    func(c *latchkey.Config) { c.Providers[0].(*latchkey.Password).Hasher = nil },
		"configure one": func(c *latchkey.Config) {
			second := good()
			second.ID = "other"
			c.Providers = append(c.Providers, second)
		},
		"used twice": func(c *latchkey.Config) {
			c.Providers = append(c.Providers, &latchkey.Credentials{ID: "password", Fields: []latchkey.Field{{Name: "a"}}, Authorize: newSite(t).authorize})
		},
		"Password.AllowUnverified": func(c *latchkey.Config) {
			c.Hardened = true
			c.Providers[0].(*latchkey.Password).AllowUnverified = true
		},
		"Password.Fields": func(c *latchkey.Config) {
			c.Providers[0].(*latchkey.Password).Fields = []latchkey.Field{{Name: "password"}}
		},
		"Password.LinkMaxAge": func(c *latchkey.Config) { c.Providers[0].(*latchkey.Password).LinkMaxAge = 48 * time.Hour },
		"derived": func(c *latchkey.Config) {
			c.Providers[0].(*latchkey.Password).Derive = func(*latchkey.Password) error { return errors.New("not derived") }
		},
		"Pages.Password": func(c *latchkey.Config) { c.Pages.Password = "/auth/password" },
	} {
		c := latchkey.Config{
			Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Adapter: memoryadapter.New(memoryadapter.Options{}),
			Session: latchkey.SessionConfig{Strategy: latchkey.JWTSessions}, Providers: []latchkey.Provider{good()},
			Mail: latchkey.Mail{Send: func(context.Context, latchkey.Message) error { return nil }},
		}
		change(&c)
		if _, err := latchkey.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// F-096: what people type, and the secrets of links, are in no log and no event.
func TestPasswordLogsAreClean(t *testing.T) {
	var events []string
	s := newManagedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) {
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			events = append(events, fmt.Sprintf("%+v", e))
			return nil
		}
	})
	b := s.newBrowser()
	s.signUp(b, annMail, annsPass)
	b.tries(annMail, "wrong, but long")
	link := s.resetLink(annMail)
	s.newBrowser().post(link, "password", newPass)
	s.newBrowser().post(link, "password", newPass)
	logged := s.log.text() + strings.Join(events, "\n")
	_, token, _ := strings.Cut(link, "token=")
	for _, secret := range []string{annsPass, newPass, "wrong, but long", token, s.hasher.of(annsPass), s.hasher.of(newPass)} {
		if strings.Contains(logged, secret) {
			t.Errorf("F-096 %q is logged or told", secret)
		}
	}
	if all := strings.Join(events, "\n"); !strings.Contains(all, "password.set") || !strings.Contains(all, "password.reset") {
		t.Errorf("the events are %s", all)
	}
}
