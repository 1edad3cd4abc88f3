package sitetest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
)

const movePage = siteOrigin + "/auth/verify-request?provider=password&type=move"

// asksToMove signs Ann in and has her ask for another address.
func (s *managedSite) asksToMove(to string) *browser {
	s.t.Helper()
	b := s.newBrowser()
	b.header.Set("Accept", "text/html")
	b.tries(annMail, annsPass)
	if a := b.post("/auth/account?do=email", "email", to); a.location() != movePage {
		s.t.Fatalf("%d to %q", a.Code, a.location())
	}
	return b
}

// addressOf returns the address of a user.
func (s *managedSite) addressOf(id string) string {
	s.t.Helper()
	u, err := s.store.GetUser(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return u.Email
}

func TestAddressMovesByCode(t *testing.T) {
	const next = "ann@elsewhere.example"
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		u := s.addUser(annMail, annsPass)
		b := s.asksToMove(next)
		mail := s.lastMail(latchkey.MessageNewEmail)
		if mail.To != next || len(mail.Code) != 8 {
			t.Fatalf("%+v", mail)
		}
		page := b.get("/auth/verify-request?provider=password&type=move").Body.String()
		if !strings.Contains(page, `action="https://app.example/auth/account?do=email"`) || !strings.Contains(page, `name="code"`) || !strings.Contains(page, next) {
			t.Errorf("the page has no field for the code, or does not name the address:\n%s", page[strings.Index(page, "<body"):])
		}
		former := b.copy()
		if a := b.post("/auth/account?do=email", "code", "00000000"); a.location() != movePage+"&error=Verification" || s.addressOf(u.ID) != annMail {
			t.Errorf("a wrong code leads to %q", a.location())
		}
		a := b.post("/auth/account?do=email", "code", mail.Code[:4]+" "+mail.Code[4:])
		if a.location() != siteOrigin+"/auth/account" || s.addressOf(u.ID) != next || !b.isLive() || former.isLive() {
			t.Fatalf("the code leads to %q, live: %t and %t\n%s", a.location(), b.isLive(), former.isLive(), s.log.text())
		}
		if a := b.post(path(mail)); a.error() != "Verification" {
			t.Errorf("F-092 the link works after its code: %d to %q", a.Code, a.location())
		}
	})
}

// A code of a change of address is worth something in its browser, for its purpose, and
// for a time.
func TestCodeOfAnAddressIsBound(t *testing.T) {
	const next = "ann@elsewhere.example"
	for name, try := range map[string]func(s *managedSite, b *browser, code string) *browser{
		"F-093 in another browser of the user": func(s *managedSite, _ *browser, code string) *browser {
			b := s.newBrowser()
			b.tries(annMail, annsPass)
			b.post("/auth/account?do=email", "code", code)
			return b
		},
		"F-204 as a sign-up": func(_ *managedSite, b *browser, code string) *browser {
			b.post("/auth/password?do=verify", "code", code)
			return b
		},
		"F-204 by the code of a sign-up": func(s *managedSite, b *browser, _ string) *browser {
			b.post("/auth/password?do=signup", "email", next, "password", newPass)
			b.post("/auth/account?do=email", "code", s.lastMail(latchkey.MessageVerify).Code)
			return b
		},
		"F-049 from a foreign page": func(_ *managedSite, b *browser, code string) *browser {
			b.header.Set("Sec-Fetch-Site", "cross-site")
			b.do(http.MethodPost, "/auth/account?do=email", formContentType, "csrfToken=wrong&code="+code)
			return b
		},
		"F-094 after five wrong ones": func(_ *managedSite, b *browser, code string) *browser {
			for range 5 {
				b.post("/auth/account?do=email", "code", "12345")
			}
			b.post("/auth/account?do=email", "code", code)
			return b
		},
		"after ten minutes": func(s *managedSite, b *browser, code string) *browser {
			s.clock.Advance(10 * time.Minute)
			b.post("/auth/account?do=email", "code", code)
			return b
		},
		"F-086 after a reset": func(s *managedSite, b *browser, code string) *browser {
			s.newBrowser().post(s.resetLink(annMail), "password", newPass)
			b.tries(annMail, newPass)
			b.post("/auth/account?do=email", "code", code)
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newManagedSite(t, latchkey.DatabaseSessions)
			u := s.addUser(annMail, annsPass)
			b := s.asksToMove(next)
			mail := s.lastMail(latchkey.MessageNewEmail)
			b = try(s, b, mail.Code)
			if s.addressOf(u.ID) != annMail {
				t.Fatal("the address has moved")
			}
			if strings.Contains(name, "F-094") {
				if b.post(path(mail)); s.addressOf(u.ID) != next {
					t.Error("the link died with the code")
				}
			}
		})
	}
	t.Run("F-086 a taken address has no code", func(t *testing.T) {
		s := newManagedSite(t, latchkey.DatabaseSessions)
		s.addUser(annMail, annsPass)
		s.addUser(next, "")
		b := s.asksToMove(next)
		if m := s.lastMail(latchkey.MessageAccountExists); m.Code != "" || m.To != next {
			t.Errorf("%+v", m)
		}
		if page := b.get("/auth/verify-request").Body.String(); !strings.Contains(page, `name="code"`) {
			t.Error("the page tells that the address is taken")
		}
	})
}

func TestUnverifiedUsersComeInAtOnce(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		unverified := func(c *latchkey.Config) { c.Providers[len(c.Providers)-1].(*latchkey.Password).AllowUnverified = true }
		s := newManagedSite(t, strategy, unverified)
		b := s.newBrowser()
		a := b.post("/auth/password?do=signup", "email", annMail, "password", annsPass, "callbackUrl", siteOrigin+"/welcome")
		u, err := s.store.GetUserByEmail(t.Context(), annMail)
		if err != nil || a.location() != siteOrigin+"/welcome" || !b.isLive() || !u.EmailVerified.IsZero() {
			t.Fatalf("%d to %q, live: %t, %+v, %v\n%s", a.Code, a.location(), b.isLive(), u, err, s.log.text())
		}
		link := path(s.lastMail(latchkey.MessageVerify))
		if stranger := s.newBrowser(); !strings.Contains(stranger.post(link).location(), "/auth/signin") {
			t.Error("the link works without the session of its user")
		}
		if page := b.get(link).Body.String(); !strings.Contains(page, "Confirm your email address") || !strings.Contains(page, annMail) {
			t.Errorf("the page says:\n%s", page[strings.Index(page, "<body"):])
		}
		if u, _ = s.store.GetUser(t.Context(), u.ID); !u.EmailVerified.IsZero() {
			t.Error("looking at the link has proven the address")
		}
		s.clock.Advance(time.Minute)
		b.post(link)
		if u, _ = s.store.GetUser(t.Context(), u.ID); u.EmailVerified.IsZero() || !b.isLive() {
			t.Errorf("the link has not proven the address: live: %t\n%s", b.isLive(), s.log.text())
		}
		s.clock.Advance(time.Second)
		if !s.newBrowser().tries(annMail, annsPass).signsIn() {
			t.Error("F-080 the user's own proof has removed the password")
		}
		known := s.newBrowser()
		if a := known.post("/auth/password?do=signup", "email", annMail, "password", newPass); known.isLive() || !strings.Contains(a.location(), "/auth/verify-request") {
			t.Errorf("a known address leads to %q, live: %t", a.location(), known.isLive())
		}
		s.lastMail(latchkey.MessageAccountExists)
	})
	t.Run("invited users prove the address first", func(t *testing.T) {
		s := newManagedSite(t, latchkey.JWTSessions, func(c *latchkey.Config) {
			c.Invitations = true
			p := c.Providers[len(c.Providers)-1].(*latchkey.Password)
			p.AllowUnverified, p.SignUp = true, latchkey.SignUpInvited
		})
		b := s.newBrowser()
		b.post("/auth/password?do=signup", "email", annMail, "password", annsPass)
		if _, err := s.store.GetUserByEmail(t.Context(), annMail); err == nil || b.isLive() {
			t.Error("a user without an invitation came in")
		}
	})
}
