package sitetest

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// newAddressSite makes a site that keeps no passwords and lets users change their
// address. Alice is the user of its form.
func newAddressSite(t *testing.T, strategy latchkey.Strategy, change ...func(*latchkey.Config)) *managedSite {
	t.Helper()
	s := &managedSite{hasher: &plainHasher{}}
	s.testSite = newSite(t, append([]func(*latchkey.Config){func(c *latchkey.Config) {
		c.Session.Strategy = strategy
		c.AccountPage = latchkey.AccountPage{Enabled: true, Edit: latchkey.EditEmail}
		c.Runtime.Background = func(f func(context.Context)) {
			s.clock.Advance(time.Millisecond) // mails leave after the answer
			f(context.Background())
		}
	}}, change...)...)
	if _, err := s.store.CreateUser(t.Context(), storage.User{ID: "alice-1", Email: "alice@example.com", EmailVerified: s.clock.Now()}); err != nil {
		t.Fatal(err)
	}
	return s
}

// address returns the e-mail address of a user.
func (s *managedSite) address(userID string) string {
	s.t.Helper()
	u, err := s.store.GetUser(s.t.Context(), userID)
	if err != nil {
		s.t.Fatal(err)
	}
	return u.Email
}

// P-032, P-034: users change their address on a site that keeps no passwords.
func TestOwnAddress(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newAddressSite(t, strategy)
		b, stranger := s.newBrowser(), s.newBrowser()
		b.password()
		if a := b.get("/auth/account"); !strings.Contains(a.Body.String(), "/auth/account?do=email") {
			t.Errorf("the account page has no link: %d", a.Code)
		}
		if a := b.get("/auth/account?do=email"); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `name="email"`) {
			t.Errorf("the form: %d", a.Code)
		}
		if a := b.post("/auth/account?do=email", "email", "no address"); a.Code != http.StatusUnprocessableEntity {
			t.Errorf("no address: %d", a.Code)
		}
		b.post("/auth/account?do=email", "email", "mistyped@example.com")
		move, undo := path(s.lastMail(latchkey.MessageNewEmail)), path(s.lastMail(latchkey.MessageEmailChange))
		t.Run("P-032 a stranger who gets the mail moves nothing", func(t *testing.T) {
			for _, a := range []*answer{stranger.get(move), stranger.post(move)} {
				if !strings.Contains(a.location(), "/auth/signin") {
					t.Errorf("to %q", a.location())
				}
			}
			if got := s.address("alice-1"); got != "alice@example.com" || !b.isLive() {
				t.Errorf("the address is %q", got)
			}
		})
		t.Run("P-032 another user's session moves nothing", func(t *testing.T) {
			other := s.newBrowser()
			if a := other.get(other.askForLink("eve@example.com")); !a.signsIn() {
				t.Fatalf("to %q", a.location())
			}
			if a := other.post(move); a.error() != "Verification" || s.address("alice-1") != "alice@example.com" {
				t.Errorf("to %q, the address is %q", a.location(), s.address("alice-1"))
			}
		})
		b.post("/auth/account?do=email", "email", "new@example.com")
		right, newest := path(s.lastMail(latchkey.MessageNewEmail)), path(s.lastMail(latchkey.MessageEmailChange))
		t.Run("P-034 the owner moves it, and both mailboxes are told", func(t *testing.T) {
			if a := b.post(right); !strings.HasSuffix(a.location(), "/auth/account") {
				t.Fatalf("%d to %q: %s", a.Code, a.location(), s.log.text())
			}
			if s.address("alice-1") != "new@example.com" || !b.isLive() || !strings.Contains(b.session(), "new@example.com") {
				t.Errorf("the address is %q, the session %s", s.address("alice-1"), b.session())
			}
			if s.lastMail(latchkey.MessageNewEmail).To != "new@example.com" || s.lastMail(latchkey.MessageEmailChange).To != "alice@example.com" {
				t.Error("the mails go elsewhere")
			}
		})
		t.Run("P-034 earlier links are void, and each works once", func(t *testing.T) {
			for _, link := range []string{move, right} {
				if a := b.post(link); a.error() != "Verification" {
					t.Errorf("to %q", a.location())
				}
			}
		})
		t.Run("P-034 not me", func(t *testing.T) {
			s.clock.Advance(48 * time.Hour)
			owner := s.newBrowser()
			if a := owner.get(undo); a.Code != http.StatusOK || s.address("alice-1") != "new@example.com" {
				t.Errorf("looking: %d, the address is %q", a.Code, s.address("alice-1"))
			}
			if a := owner.post(newest); !strings.Contains(a.location(), "/auth/signin") {
				t.Errorf("to %q", a.location())
			}
			s.clock.Advance(time.Second)
			if s.address("alice-1") != "alice@example.com" || b.isLive() {
				t.Errorf("the address is %q, the session lives: %t", s.address("alice-1"), b.isLive())
			}
		})
		for _, p := range []string{"/auth/password?do=signup", "/auth/password?do=forgot", "/auth/account?do=password"} {
			if a := b.get(p); strings.Contains(a.Body.String(), `type="password"`) {
				t.Errorf("%s asks for a password", p)
			}
		}
	})
	t.Run("off", func(t *testing.T) {
		s := newAddressSite(t, latchkey.JWTSessions, func(c *latchkey.Config) { c.AccountPage.Edit = latchkey.EditName })
		b := s.newBrowser()
		b.password()
		if a := b.get("/auth/account?do=email"); strings.Contains(a.Body.String(), `name="email"`) {
			t.Error("the form is there")
		}
		if err := s.auth.Users().ChangeEmail(t.Context(), "alice-1", users.EmailChange{Email: "new@example.com"}); !errors.Is(err, latchkey.ErrInvalidConfig) || !strings.Contains(err.Error(), "EditEmail") {
			t.Errorf("%v", err)
		}
	})
	t.Run("New names what is missing", func(t *testing.T) {
		config := newAddressSite(t, latchkey.JWTSessions).config
		config.Providers, config.Mail.Send = config.Providers[:1], nil
		if _, err := latchkey.New(config); err == nil || !strings.Contains(err.Error(), "EditEmail sends mails: set Mail.Send") {
			t.Errorf("%v", err)
		}
	})
	t.Run("R-685 New refuses stored sessions that nobody could end", func(t *testing.T) {
		config := newAddressSite(t, latchkey.DatabaseSessions).config
		a := memoryadapter.New(memoryadapter.Options{})
		config.Adapter = listless{a, a, a, a, a, a}
		if _, err := latchkey.New(config); err == nil || !strings.Contains(err.Error(), "EditEmail needs an Adapter that is a SessionListAdapter") {
			t.Errorf("%v", err)
		}
	})
}

// the page after the form says what the link does, and does not speak of a sign-in.
func TestPageAfterAnAddressWasAsked(t *testing.T) {
	s := newAddressSite(t, latchkey.JWTSessions)
	b := s.newBrowser()
	b.password()
	if page := b.get("/auth/verify-request?type=move").words(); !strings.Contains(page, "the address changes") || strings.Contains(page, "sign in link") {
		t.Errorf("R-721 without the address: %s", page)
	}
	maps.Copy(b.header, opens)
	sent := b.post("/auth/account?do=email", "email", "new@example.com")
	if page := b.get(strings.TrimPrefix(sent.location(), siteOrigin)).words(); !strings.Contains(page, "We are sending an email to new@example.com") || !strings.Contains(page, "this becomes your address") {
		t.Errorf("R-721 with the address: %s", page)
	}
}

// P-032: an administrator's change waits for the user, who opens the link in a session.
func TestAddressByAnAdministrator(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newAddressSite(t, strategy)
		if err := s.auth.Users().ChangeEmail(t.Context(), "alice-1", users.EmailChange{Email: "New@example.com"}); err != nil {
			t.Fatal(err)
		}
		link := path(s.lastMail(latchkey.MessageNewEmail))
		if got := s.address("alice-1"); got != "alice@example.com" {
			t.Errorf("P-032 the address is %q before the link", got)
		}
		b := s.newBrowser()
		b.password()
		if b.post(link); s.address("alice-1") != "new@example.com" {
			t.Errorf("P-032 the address is %q after it: %s", s.address("alice-1"), s.log.text())
		}
	})
}

// P-034: links for a new password from before a move are void.
func TestResetFromBeforeAMove(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		u := s.addUser(annMail, annsPass)
		reset := s.resetLink(annMail)
		b := s.newBrowser()
		b.tries(annMail, annsPass)
		b.post("/auth/account?do=email", "email", "new@example.com")
		b.post(path(s.lastMail(latchkey.MessageNewEmail)))
		if got := s.address(u.ID); got != "new@example.com" {
			t.Fatalf("P-034 the address is %q", got)
		}
		s.clock.Advance(time.Minute)
		if a := s.newBrowser().post(reset, "password", newPass); a.signsIn() || s.newBrowser().tries("new@example.com", newPass).signsIn() {
			t.Errorf("P-034 the link leads to %q", a.location())
		}
		if a := s.newBrowser().tries("new@example.com", annsPass); !a.signsIn() {
			t.Errorf("P-034 the password leads to %q", a.location())
		}
	})
}
