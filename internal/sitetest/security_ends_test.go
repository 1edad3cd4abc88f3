package sitetest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/jwt"
)

// newEndingSite has Alice as a stored user with an account at a provider that needs
// no network. during is called while a sign-in is being decided.
func newEndingSite(t *testing.T, during *func(), change ...func(*latchkey.Config)) *testSite {
	t.Helper()
	s := newSite(t, append(change, func(c *latchkey.Config) {
		c.Providers = append(c.Providers, ticket(new(int)))
		c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { (*during)(); return nil }
	})...)
	s.addUser(latchkey.User{ID: "alice-1", Name: "Alice", Email: "alice@example.com", EmailVerified: time.Unix(1, 0)})
	s.link(latchkey.Account{UserID: "alice-1", Provider: "ticket", ProviderAccountID: "alice", Type: latchkey.TypeOAuth})
	return s
}

// enterAs begins a sign-in at the provider and returns the URL that it sends the
// browser back to.
func (b *browser) enterAs(name string) string {
	b.site.t.Helper()
	to, err := url.Parse(b.post("/auth/signin/ticket").location())
	if err != nil {
		b.site.t.Fatal(err)
	}
	return strings.TrimPrefix(to.Query().Get("back"), siteOrigin) + "&ticket=" + name
}

// ways are the ways in which Alice can sign in: begin returns what completes it.
var ways = map[string]func(b *browser) (complete func() *answer){
	"a password": func(b *browser) func() *answer {
		b.token()
		return func() *answer { return b.post("/auth/callback/crew", "username", "alice", "password", "wonderland") }
	},
	"a link": func(b *browser) func() *answer {
		to := b.askForLink("alice@example.com")
		return func() *answer { return b.get(to) }
	},
	"a provider": func(b *browser) func() *answer {
		to := b.enterAs("alice")
		return func() *answer { return b.get(to) }
	},
}

var endingStrategies = map[string]func(*latchkey.Config){"tokens": revocable, "rows": stored, "rows apart": sessionsApart}

// what a sign-in was begun with before the sessions of its user were ended
// is void.
func TestSignInsUnderWayEnd(t *testing.T) {
	for strategy, keep := range endingStrategies {
		for way, begin := range ways {
			for how, end := range map[string]func(*testSite) error{
				"ended":   func(s *testSite) error { return s.auth.Users().EndSessions(s.t.Context(), "alice-1") },
				"deleted": func(s *testSite) error { return s.auth.Users().Delete(s.t.Context(), "alice-1") },
			} {
				name := strategy + ", " + way + ", " + how
				endNow := func(t *testing.T, s *testSite) {
					s.clock.Advance(time.Second)
					if err := end(s); err != nil {
						t.Error(err)
					}
					s.clock.Advance(time.Second)
				}
				t.Run("R-502 while it is decided, "+name, func(t *testing.T) {
					during := func() {}
					s := newEndingSite(t, &during, keep)
					b := s.newBrowser()
					complete := begin(b)
					during = func() { during = func() {}; endNow(t, s) }
					complete()
					session, err := s.auth.ReadSession(httptest.NewRecorder(), b.request(http.MethodGet, "/", "", ""))
					if err == nil && (how == "ended" || session.UserID == "alice-1") { // a link or account of a deleted user makes another one
						t.Errorf("the session is alive: %+v", session)
					}
				})
				if way == "a password" || how == "deleted" { // nothing is begun before, or a new user is made
					continue
				}
				t.Run("R-502 R-512 after it was begun, "+name, func(t *testing.T) {
					during := func() {}
					s := newEndingSite(t, &during, keep)
					b := s.newBrowser()
					complete := begin(b)
					endNow(t, s)
					if a := complete(); a.signsIn() || a.error() == "" {
						t.Errorf("to %q", a.location())
					}
					dead(t, b)
				})
			}
		}
	}
}

// the next sign-in succeeds at once where the sessions were ended, and after
// the tolerance between clocks everywhere.
func TestSignInsAfterAnEnd(t *testing.T) {
	for strategy, keep := range endingStrategies {
		for way, begin := range ways {
			for name, row := range map[string]struct {
				elsewhere bool
				wait      time.Duration
				live      bool
			}{
				"in the same process":                    {false, time.Millisecond, true},
				"in another, within the tolerance":       {true, 14 * time.Second, false},
				"in another, when the tolerance is over": {true, 16 * time.Second, true},
			} {
				t.Run("R-502 "+strategy+", "+way+", "+name, func(t *testing.T) {
					during := func() {}
					s := newEndingSite(t, &during, keep)
					ending := s.auth
					if row.elsewhere {
						ending, _ = latchkey.New(s.config)
					}
					if err := ending.Users().EndSessions(t.Context(), "alice-1"); err != nil {
						t.Fatal(err)
					}
					s.clock.Advance(row.wait)
					b := s.newBrowser()
					begin(b)()
					if b.isLive() != row.live {
						t.Errorf("alive: %v\n%s", !row.live, s.log.text())
					}
				})
			}
		}
	}
}

// what was revoked does not rise again.
func TestRevokedTokensStayDead(t *testing.T) {
	for name, change := range map[string]func(*latchkey.Config){
		"":                  func(*latchkey.Config) {},
		", with a callback": func(c *latchkey.Config) { c.Callbacks.Token = sameClaims },
	} {
		t.Run("R-503 a believed read issues nothing that lives longer"+name, func(t *testing.T) {
			s, b := newEnteredSite(t, revocable, believing(5*time.Minute), change)
			live(t, b)
			before := s.claimsOf(b)
			s.clock.Advance(4 * time.Minute)
			a := b.get("/auth/session")
			if a.Body.String() == "null" {
				t.Fatal("it is dead")
			}
			if was, is := before.String("exp"), s.claimsOf(b).String("exp"); was != is {
				t.Errorf("exp was %s and is %s", was, is)
			}
			if end, _ := before.Time("exp"); !strings.Contains(a.Body.String(), end.UTC().Format("2006-01-02T15:04:05")) {
				t.Errorf("the session ends at %v, and says %s", end, a.Body)
			}
			s.clock.Advance(time.Minute)
			b.get("/auth/session")
			if before.String("exp") == s.claimsOf(b).String("exp") {
				t.Error("it is never renewed")
			}
		})
	}
	day := int64(24 * 3600)
	for name, row := range map[string]struct {
		age  int64
		live bool
	}{"younger": {day - 60, true}, "within the tolerance": {day + 14, true}, "older": {day + 15, false}} {
		t.Run("R-503 a token whose life was longer, "+name, func(t *testing.T) {
			for _, change := range []func(*latchkey.Config){func(*latchkey.Config) {}, func(c *latchkey.Config) { c.Callbacks.Token = sameClaims }} {
				s := newSite(t, change, func(c *latchkey.Config) { c.Session.MaxAge = 24 * time.Hour })
				now := s.clock.Now().Unix()
				b := s.holding(s.sealed(fmt.Sprintf(`{"sub":"1","iat":%d,"exp":%d}`, now-row.age, now+90*day)))
				if b.isLive() != row.live {
					t.Errorf("alive: %v", !row.live)
				}
			}
		})
	}
}

func sameClaims(_ context.Context, info latchkey.TokenInfo) (latchkey.Claims, error) {
	return info.Claims, nil
}

// claimsOf returns what the session token of a browser says.
func (s *testSite) claimsOf(b *browser) jwt.Claims {
	s.t.Helper()
	claims, err := jwt.NewCodec([]string{siteSecret}, sessionCookie).OpenClaims(b.jar[sessionCookie], s.clock.Now(), 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return claims
}

// whatever the application calls a user, the user's sessions end.
func TestReplacedSubject(t *testing.T) {
	renamed := func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, info latchkey.TokenInfo) (latchkey.Claims, error) {
			info.Claims["sub"], info.Claims["uid"] = "crm-7", "somebody"
			return info.Claims, nil
		}
	}
	for name, end := range map[string]func(s *testSite) error{
		"EndSessions":             func(s *testSite) error { return s.auth.Users().EndSessions(s.t.Context(), "alice-1") },
		"EndSessions by own name": func(s *testSite) error { return s.auth.Users().EndSessions(s.t.Context(), "crm-7") },
		"Delete":                  func(s *testSite) error { return s.auth.Users().Delete(s.t.Context(), "alice-1") },
	} {
		t.Run("R-511 "+name, func(t *testing.T) {
			during := func() {}
			s := newEndingSite(t, &during, revocable, renamed)
			b := s.newBrowser()
			b.signIn()
			live(t, b)
			if c := s.claimsOf(b); c.String("sub") != "crm-7" || c.String("uid") != "alice-1" {
				t.Fatalf("the token says %v", c)
			}
			s.clock.Advance(time.Minute)
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			dead(t, b)
		})
	}
	t.Run("R-511 a sub that changes later is told", func(t *testing.T) {
		s := newSite(t, revocable, func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, info latchkey.TokenInfo) (latchkey.Claims, error) {
				if info.Trigger == latchkey.TriggerRead {
					info.Claims["sub"] = "other"
				}
				return info.Claims, nil
			}
		})
		b := s.newBrowser()
		b.signIn()
		if live(t, b); s.claimsOf(b).String("sub") != "alice-1" || !strings.Contains(s.log.text(), "changed sub") {
			t.Errorf("%v\n%s", s.claimsOf(b), s.log.text())
		}
	})
}

// an account that goes takes along what it has opened.
func TestUnlinkEndsSessions(t *testing.T) {
	during := func() {}
	for strategy, keep := range map[string]func(*latchkey.Config){"rows": stored, "rows apart": sessionsApart} {
		open := func(t *testing.T) (s *testSite, byLink, byAccount *browser) {
			s = newEndingSite(t, &during, keep, func(c *latchkey.Config) { c.AccountPage.Enabled = true })
			byLink, byAccount = s.newBrowser(), s.newBrowser()
			byLink.signInByLink("alice@example.com")
			byAccount.get(byAccount.enterAs("alice"))
			live(t, byAccount)
			return s, byLink, byAccount
		}
		ref := latchkey.AccountRef{UserID: "alice-1", Provider: "ticket", ProviderAccountID: "alice"}
		t.Run("R-512 the account's sessions end, "+strategy, func(t *testing.T) {
			s, byLink, byAccount := open(t)
			if err := s.auth.Users().Unlink(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			live(t, byLink)
			dead(t, byAccount)
		})
		t.Run("R-512 the one that asks goes on, "+strategy, func(t *testing.T) {
			s, _, mine := open(t)
			other := s.newBrowser()
			other.get(other.enterAs("alice"))
			mine.post("/auth/account?do=unlink", "provider", "ticket", "providerAccountId", "alice")
			live(t, mine)
			dead(t, other)
		})
		t.Run("R-512 a sign-in with the account is under way, "+strategy, func(t *testing.T) {
			s, _, _ := open(t)
			b := s.newBrowser()
			to := b.enterAs("alice")
			during = func() {
				during = func() {}
				if err := s.auth.Users().Unlink(t.Context(), ref); err != nil {
					t.Error(err)
				}
			}
			if b.get(to); strings.Contains(b.session(), "alice@example.com") {
				t.Error("it opened a session of the user")
			}
		})
	}
	t.Run("R-512 the first proof ends the token of an account that is gone", func(t *testing.T) {
		s := newEndingSite(t, &during, revocable)
		s.addUser(latchkey.User{ID: "u1", Email: adaEmail})
		s.link(latchkey.Account{UserID: "u1", Provider: "acme", ProviderAccountID: "ada", Type: latchkey.TypeOAuth, Email: adaEmail, EmailVouched: true})
		now := s.clock.Now().Unix()
		intruder := s.holding(s.sealed(fmt.Sprintf(`{"sub":"u1","sid":"s","auth_time":%d,"iat":%d,"exp":%d}`, now, now, now+3600)))
		live(t, intruder)
		s.clock.Advance(time.Minute)
		owner := s.newBrowser()
		owner.signInByLink(adaEmail)
		live(t, owner)
		dead(t, intruder)
	})
}

// a sign-in ends the token of its browser, clocks may differ, and a token
// of Auth.js says nothing of a recent sign-in.
func TestTokensAndTheirSignIn(t *testing.T) {
	t.Run("R-515 R-100 a sign-in ends the token that the browser brought", func(t *testing.T) {
		_, b := newEnteredSite(t, revocable)
		old := b.copy()
		b.signIn()
		live(t, b)
		dead(t, old)
	})
	t.Run("R-515 the process that ends sessions has a clock that is behind", func(t *testing.T) {
		s := newSite(t, revocable)
		c := s.config
		c.Runtime.Time = func() time.Time { return s.clock.Now().Add(-14 * time.Second) }
		behind, err := latchkey.New(c)
		if err != nil {
			t.Fatal(err)
		}
		b := s.newBrowser()
		b.signIn()
		if err := behind.Users().EndSessions(t.Context(), "alice-1"); err != nil {
			t.Fatal(err)
		}
		dead(t, b)
	})
	during := func() {}
	withPage := func(c *latchkey.Config) { c.AccountPage.Enabled = true }
	t.Run("R-515 a token of Auth.js is not recent", func(t *testing.T) {
		s := newEndingSite(t, &during, revocable, withPage)
		now := s.clock.Now().Unix()
		b := s.holding(s.sealed(fmt.Sprintf(`{"sub":"alice-1","jti":"j","iat":%d,"exp":%d}`, now, now+3600)))
		for range 2 {
			live(t, b)
			b.get("/auth/account?do=delete").says(t, "Confirm that it is you")
			session, err := s.auth.ReadSession(httptest.NewRecorder(), b.request(http.MethodGet, "/", "", ""))
			if err != nil || !session.AuthTime.IsZero() {
				t.Errorf("%+v, %v", session, err)
			}
			b.get("/auth/session")
		}
	})
	t.Run("R-515 a sign-out ends every copy of a token of Auth.js", func(t *testing.T) {
		s := newEndingSite(t, &during, revocable)
		now := s.clock.Now().Unix()
		b := s.holding(s.sealed(fmt.Sprintf(`{"sub":"alice-1","jti":"j","iat":%d,"exp":%d}`, now, now+3600)))
		copied := b.copy()
		b.get("/auth/session")
		b.post("/auth/signout")
		dead(t, copied)
	})
	t.Run("R-515 a flow keeps no freshness that its session has lost", func(t *testing.T) {
		s := newEndingSite(t, &during, revocable, withPage)
		b := s.newBrowser()
		b.signInByLink("alice@example.com")
		s.clock.Advance(9 * time.Minute)
		to := b.enterAs("another")
		s.clock.Advance(2 * time.Minute)
		if b.get(to); len(s.store.Contents().Accounts) != 1 {
			t.Error("it is linked")
		}
	})
}
