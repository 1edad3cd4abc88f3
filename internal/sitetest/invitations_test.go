package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/telemetry"
	"github.com/latchkeyhq/latchkey/users"
)

// closedSite is a site that lets in known users and invited addresses.
type closedSite struct {
	*managedSite
	mu     sync.Mutex
	came   []latchkey.SignInEvent
	events []latchkey.Event
}

func newClosedSite(t testing.TB, strategy latchkey.Strategy, change ...func(*latchkey.Config)) *closedSite {
	c := &closedSite{}
	closed := func(cfg *latchkey.Config) {
		cfg.Invitations = true
		cfg.Callbacks.SignIn = func(ctx context.Context, a latchkey.SignInAttempt) error {
			if a.Invitation != nil {
				return nil
			}
			_, err := c.auth.Users().Get(ctx, a.User.ID)
			if errors.Is(err, latchkey.ErrNotFound) {
				return latchkey.ErrAccessDenied
			}
			return err
		}
		cfg.Events.SignIn = func(_ context.Context, e latchkey.SignInEvent) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.came = append(c.came, e)
			return nil
		}
		cfg.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.events = append(c.events, e)
			return nil
		}
	}
	c.managedSite = newManagedSite(t, strategy, append([]func(*latchkey.Config){closed}, change...)...)
	return c
}

// invite invites an address by mail, and returns where the link leads.
func (s *closedSite) invite(in latchkey.Invitation) string {
	s.t.Helper()
	link, err := s.auth.Users().Invite(s.t.Context(), in)
	switch {
	case err != nil:
		s.t.Fatal(err)
	case in.NoMail:
		u, _ := url.Parse(link)
		return u.RequestURI()
	case link != "":
		s.t.Errorf("a mailed invitation returns %q", link)
	}
	m := s.lastMail(latchkey.MessageInvitation)
	if m.To != in.Email || m.Expires.IsZero() {
		s.t.Errorf("the mail goes to %q until %v", m.To, m.Expires)
	}
	return path(m)
}

// at returns where an answer leads on the site.
func at(a *answer) string { return strings.TrimPrefix(a.location(), "https://app.example") }

// has reports whether there is a user with an address.
func (s *closedSite) has(email string) bool {
	_, err := s.auth.Users().ByEmail(s.t.Context(), email)
	return err == nil
}

// told counts the events of a type.
func (s *closedSite) told(kind event.Type) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Type == kind {
			n++
		}
	}
	return n
}

func TestInvitations(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		t.Run("F-095 looking spends nothing, and a closed site admits the invited address alone", func(t *testing.T) {
			s := newClosedSite(t, strategy)
			link := s.invite(latchkey.Invitation{Email: annMail, CallbackURL: "/team", Data: `{"team":7}`})
			if a := s.newBrowser().post("/auth/signin/post", "email", "eve@example.com"); a.error() != "AccessDenied" {
				t.Errorf("an address without an invitation: %q", a.location())
			}
			b := s.newBrowser()
			for range 2 {
				if a := b.get(link); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), annMail) || a.Header().Get("Referrer-Policy") != "no-referrer" {
					t.Fatalf("looking: %d", a.Code)
				}
			}
			a := b.post(link)
			if !a.signsIn() || !strings.HasSuffix(a.location(), "/team") || !b.isLive() {
				t.Fatalf("%d to %q: %s", a.Code, a.location(), s.log.text())
			}
			if u, err := s.auth.Users().ByEmail(t.Context(), annMail); err != nil || u.EmailVerified.IsZero() {
				t.Errorf("the user is %+v, %v", u, err)
			}
			if len(s.came) != 1 || s.came[0].Invitation == nil || s.came[0].Invitation.Data != `{"team":7}` || !s.came[0].IsNewUser {
				t.Errorf("the application is told %+v", s.came)
			}
			if s.told(event.InvitationMade) != 1 || s.told(event.InvitationUsed) != 1 {
				t.Error("the events are missing")
			}
			if a := s.newBrowser().get(link); a.Code != http.StatusGone {
				t.Errorf("looking at one that was used: %d", a.Code)
			}
			if a := s.newBrowser().post(link); a.Code != http.StatusGone || a.signsIn() {
				t.Errorf("used twice: %d", a.Code)
			}
		})
		t.Run("F-095 a hundred at once", func(t *testing.T) {
			s := newClosedSite(t, strategy)
			link := s.invite(latchkey.Invitation{Email: annMail})
			var in atomic.Int64
			var all sync.WaitGroup
			for range 100 {
				b := s.newBrowser()
				all.Go(func() {
					if b.post(link).signsIn() {
						in.Add(1)
					}
				})
			}
			all.Wait()
			if in.Load() != 1 || s.told(event.InvitationUsed) != 1 || !s.has(annMail) {
				t.Errorf("%d came in", in.Load())
			}
		})
		t.Run("F-095 a known user signs in, and the sign-in takes it", func(t *testing.T) {
			s := newClosedSite(t, strategy)
			s.addUser(annMail, annsPass)
			link := s.invite(latchkey.Invitation{Email: annMail, CallbackURL: "/team", Data: "team 7"})
			b := s.newBrowser()
			if b.tries(annMail, annsPass); s.came[0].Invitation != nil {
				t.Error("an invitation counts that was not accepted")
			}
			b = s.newBrowser()
			a := b.post(link)
			if a.signsIn() || !strings.Contains(a.location(), "/auth/signin?") || !strings.Contains(a.location(), url.QueryEscape(annMail)) {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			if !strings.Contains(b.get(at(a)).Body.String(), `value="`+annMail+`"`) {
				t.Error("the sign-in page does not know the address")
			}
			if a := b.tries(annMail, annsPass); !a.signsIn() || s.came[1].Invitation == nil || s.came[1].Invitation.Data != "team 7" {
				t.Errorf("the sign-in is told %+v", s.came)
			}
			if left, err := s.auth.Users().Invitations(t.Context()); err != nil || len(left) != 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
		t.Run("F-095 another user is signed in", func(t *testing.T) {
			s := newClosedSite(t, strategy)
			s.addUser("bob@example.com", annsPass)
			link := s.invite(latchkey.Invitation{Email: annMail})
			b := s.newBrowser()
			b.tries("bob@example.com", annsPass)
			for _, a := range []*answer{b.get(link), b.post(link)} {
				if a.Code != http.StatusOK || a.signsIn() || !strings.Contains(a.Body.String(), "bob@example.com") || !strings.Contains(a.Body.String(), "/auth/signout") {
					t.Errorf("%d, %q", a.Code, a.location())
				}
			}
			if s.has(annMail) || s.told(event.InvitationUsed) != 0 {
				t.Error("it was taken")
			}
		})
		t.Run("F-095 expired, revoked, replaced, forged", func(t *testing.T) {
			s := newClosedSite(t, strategy)
			users := s.auth.Users()
			first := s.invite(latchkey.Invitation{Email: annMail})
			second := s.invite(latchkey.Invitation{Email: annMail})
			bobs := s.invite(latchkey.Invitation{Email: "bob@example.com"})
			listed, err := users.Invitations(t.Context())
			if err != nil || len(listed) != 2 {
				t.Fatalf("%v, %v", listed, err)
			}
			i := slices.IndexFunc(listed, func(in latchkey.Invitation) bool { return in.Email == "bob@example.com" })
			if err := users.RevokeInvitation(t.Context(), listed[i].ID); err != nil || s.told(event.InvitationRevoked) != 1 {
				t.Fatal(err)
			}
			if err := users.RevokeInvitation(t.Context(), listed[i].ID); !errors.Is(err, latchkey.ErrNotFound) {
				t.Errorf("revoked twice: %v", err)
			}
			for name, link := range map[string]string{"replaced": first, "revoked": bobs, "forged": "/auth/invite?token=" + strings.Repeat("a", 64), "its id": "/auth/invite?token=" + listed[1-i].ID, "none": "/auth/invite"} {
				if a := s.newBrowser().post(link); a.Code != http.StatusGone {
					t.Errorf("%s: %d", name, a.Code)
				}
			}
			s.clock.Advance(7 * 24 * time.Hour)
			if a := s.newBrowser().post(second); a.Code != http.StatusGone || s.has(annMail) {
				t.Errorf("expired: %d", a.Code)
			}
		})
		t.Run("F-206 a link that was handed over proves nothing", func(t *testing.T) {
			s := newClosedSite(t, strategy, func(c *latchkey.Config) {
				c.Providers[len(c.Providers)-1].(*latchkey.Password).SignUp = latchkey.SignUpInvited
			})
			link := s.invite(latchkey.Invitation{Email: annMail, NoMail: true})
			if slices.ContainsFunc(s.sent(), func(m latchkey.Message) bool { return m.Kind == latchkey.MessageInvitation }) {
				t.Error("it was mailed")
			}
			eve := s.newBrowser()
			a := eve.post(link)
			if a.signsIn() || !strings.Contains(a.location(), "do=signup") {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			eve.post(at(a), "email", "eve@example.com", "password", annsPass)
			if len(s.sent()) != 0 {
				t.Error("an address without an invitation gets a mail")
			}
			if eve.post(at(a), "email", annMail, "password", annsPass); eve.isLive() || s.has(annMail) {
				t.Error("nobody has asked the mailbox")
			}
			if a := s.newBrowser().post(path(s.lastMail(latchkey.MessageVerify)), "password", newPass); !a.signsIn() || !s.has(annMail) {
				t.Errorf("the owner: %d to %q: %s", a.Code, a.location(), s.log.text())
			}
			if s.told(event.InvitationUsed) != 1 {
				t.Error("the invitation stays")
			}
		})
		t.Run("F-095 invited users choose a password", func(t *testing.T) {
			s := newClosedSite(t, strategy, func(c *latchkey.Config) {
				c.Providers[len(c.Providers)-1].(*latchkey.Password).SignUp = latchkey.SignUpInvited
			})
			link := s.invite(latchkey.Invitation{Email: annMail})
			b := s.newBrowser()
			a := b.post(link)
			if a.signsIn() || !strings.Contains(a.location(), "do=verify") {
				t.Fatalf("%d to %q", a.Code, a.location())
			}
			if form := b.get(at(a)); !strings.Contains(form.Body.String(), "new-password") || !strings.Contains(form.Body.String(), annMail) {
				t.Errorf("the form: %d", form.Code)
			}
			if wrong := b.post(at(a), "password", "short"); wrong.Code != http.StatusUnprocessableEntity || s.has(annMail) {
				t.Errorf("a weak password: %d", wrong.Code)
			}
			if done := b.post(at(a), "password", annsPass); !done.signsIn() || len(s.came) != 1 || s.came[0].Invitation == nil {
				t.Fatalf("%d to %q: %s", done.Code, done.location(), s.log.text())
			}
			s.clock.Advance(time.Minute)
			if !s.newBrowser().tries(annMail, annsPass).signsIn() {
				t.Error("the password does not work")
			}
		})
	})
}

// F-095: an unproven address is no invited one.
func TestInvitationsNeedAProvenAddress(t *testing.T) {
	s := newClosedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) {
		c.Providers = append(c.Providers, &latchkey.Credentials{Fields: []latchkey.Field{{Name: "username"}, {Name: "password", Type: "password"}}, Authorize: func(context.Context, map[string]string, *latchkey.Request) (latchkey.User, error) {
			return latchkey.User{ID: "typed", Email: annMail}, nil
		}})
		c.Session.Strategy = latchkey.JWTSessions
	})
	s.newBrowser().post(s.invite(latchkey.Invitation{Email: annMail, NoMail: true}))
	if a := s.newBrowser().post("/auth/callback/credentials", "username", "x", "password", "y"); a.signsIn() {
		t.Error("F-095 an address that was typed counts as invited")
	}
	if left, err := s.auth.Users().Invitations(t.Context()); err != nil || len(left) != 1 {
		t.Errorf("F-095 left: %v, %v", left, err)
	}
}

func TestInvitationsThatCannotBe(t *testing.T) {
	s := newClosedSite(t, latchkey.DatabaseSessions)
	for field, in := range map[string]latchkey.Invitation{
		"Email":   {Email: "no address"},
		"Expires": {Email: annMail, Expires: s.clock.Now().Add(-time.Second)},
		"Data":    {Email: annMail, Data: strings.Repeat("x", 4097)},
	} {
		_, err := s.auth.Users().Invite(t.Context(), in)
		if wrong, is := errors.AsType[*users.InputError](err); !is || !strings.HasSuffix(wrong.Field, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if len(s.sent()) != 0 {
		t.Error("a refused invitation was mailed")
	}
	t.Run("F-002 off", func(t *testing.T) {
		off := newManagedSite(t, latchkey.DatabaseSessions)
		if _, err := off.auth.Users().Invite(t.Context(), latchkey.Invitation{Email: annMail}); !errors.Is(err, latchkey.ErrInvalidConfig) {
			t.Errorf("%v", err)
		}
		if a := off.newBrowser().get("/auth/invite?token=x"); a.Code != http.StatusBadRequest {
			t.Errorf("the route is there: %d", a.Code)
		}
	})
	t.Run("a mail that cannot be sent", func(t *testing.T) {
		s := newClosedSite(t, latchkey.DatabaseSessions, func(c *latchkey.Config) {
			c.Mail.Send = func(context.Context, latchkey.Message) error { return errors.New("no route to host") }
		})
		if _, err := s.auth.Users().Invite(t.Context(), latchkey.Invitation{Email: annMail}); !errors.Is(err, latchkey.ErrEmailSignIn) || !strings.Contains(err.Error(), "no route") {
			t.Errorf("%v", err)
		}
		if left, err := s.auth.Users().Invitations(t.Context()); err != nil || len(left) != 0 {
			t.Errorf("%v, %v", left, err)
		}
	})
}

// an invitation too many to one address is an error that says so.
func TestInvitationsAreLimited(t *testing.T) {
	s := newClosedSite(t, latchkey.JWTSessions)
	for i := range 6 {
		_, err := s.auth.Users().Invite(t.Context(), latchkey.Invitation{Email: annMail})
		known, _ := errors.AsType[*latchkey.Error](err)
		if i < 5 && err != nil || i == 5 && (known == nil || known.Code != "limit") {
			t.Errorf("R-679 invitation %d: %v", i+1, err)
		}
	}
	if a := s.newBrowser().post(path(s.lastMail(latchkey.MessageInvitation))); !a.signsIn() {
		t.Errorf("R-837 the last link that was mailed: %d to %q", a.Code, a.location())
	}
}

// TestRefusedSignUps: the end of a sign-up is a sign-in, and so is its refusal.
func TestRefusedSignUps(t *testing.T) {
	for name, finish := range map[string]func(s *closedSite, b *browser, isClosed *atomic.Bool) *answer{
		"at /password": func(s *closedSite, b *browser, isClosed *atomic.Bool) *answer {
			b.post("/auth/password?do=signup", "email", annMail, "password", annsPass)
			link := path(s.lastMail(latchkey.MessageVerify))
			isClosed.Store(true)
			return b.post(link)
		},
		"at /invite": func(s *closedSite, b *browser, isClosed *atomic.Bool) *answer {
			link := s.invite(latchkey.Invitation{Email: annMail})
			isClosed.Store(true)
			return b.post(link)
		},
	} {
		t.Run("R-747 "+name, func(t *testing.T) {
			r, isClosed := &recorder{}, &atomic.Bool{}
			s := newClosedSite(t, latchkey.JWTSessions, traced(r), func(c *latchkey.Config) {
				c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error {
					if isClosed.Load() {
						return latchkey.ErrAccessDenied
					}
					return nil
				}
			})
			a := finish(s, s.newBrowser(), isClosed)
			if a.signsIn() || s.has(annMail) || s.told(event.SignIn) != 1 {
				t.Fatalf("%d to %q, %d events", a.Code, a.location(), s.told(event.SignIn))
			}
			e := s.events[len(s.events)-1]
			if e.Outcome != event.Failed || e.Reason != latchkey.ErrAccessDenied || e.Provider == "" {
				t.Errorf("%+v", e)
			}
			if got := r.counted(telemetry.SignIns); !slices.Equal(got, []string{e.Provider + " failure AccessDenied"}) {
				t.Errorf("counted %q", got)
			}
		})
	}
}
