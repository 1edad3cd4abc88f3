package sitetest

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

func ada() latchkeytest.Person {
	return latchkeytest.Person{Subject: "ada", Name: "Ada", Email: "ada@example.com", EmailVerified: true}
}

// addUser puts a user into the store.
func (s *testSite) addUser(u latchkey.User) latchkey.User {
	s.t.Helper()
	u, err := s.store.CreateUser(s.t.Context(), u)
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

// askForLink asks for a magic link and returns its path and query.
func (b *browser) askForLink(email string) string {
	b.site.t.Helper()
	before := len(b.site.sent())
	a := b.post("/auth/signin/post", "email", email)
	links := b.site.sent()
	if len(links) != before+1 || a.error() != "" {
		b.site.t.Fatalf("no link was sent: %d to %q", a.Code, a.location())
	}
	return strings.TrimPrefix(links[before].URL, siteOrigin)
}

func TestIdentityKey(t *testing.T) {
	t.Run("R-066 one subject at two providers", func(t *testing.T) {
		s := newOAuthSite(t, stored, second(unchanged))
		person := ada()
		person.Email = ""
		s.issuer.SignInAs(person)
		s.mustSignIn(s.newBrowser())
		other := s.newBrowser()
		if a := other.callback("second", s.authResponse(other, "second")); !a.signsIn() {
			t.Fatalf("to %q", a.location())
		}
		if c := s.store.Contents(); len(c.Users) != 2 || len(c.Accounts) != 2 || c.Accounts[0].UserID == c.Accounts[1].UserID {
			t.Errorf("%d users, %d accounts", len(c.Users), len(c.Accounts))
		}
	})
	t.Run("R-066 another name and e-mail at the provider", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		s.mustSignIn(s.newBrowser())
		s.issuer.SignInAs(latchkeytest.Person{Subject: "ada", Name: "Countess", Email: "lovelace@example.com"})
		s.mustSignIn(s.newBrowser())
		if c := s.store.Contents(); len(c.Users) != 1 || len(c.Accounts) != 1 || len(c.Sessions) != 2 {
			t.Errorf("%d users, %d accounts, %d sessions", len(c.Users), len(c.Accounts), len(c.Sessions))
		}
	})
	t.Run("R-066 another person with the e-mail of a user", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		s.mustSignIn(s.newBrowser())
		before := s.contents()
		mallory := ada()
		mallory.Subject = "ADA"
		s.issuer.SignInAs(mallory)
		refused(t, s.signIn(s.newBrowser()), "OAuthAccountNotLinked")
		s.noWrite(t, before)
	})
	for name, identify := range map[string]func(latchkey.Grant) (latchkey.Identity, error){
		"empty": func(latchkey.Grant) (latchkey.Identity, error) { return latchkey.Identity{Name: "Ada"}, nil },
		"zero":  func(latchkey.Grant) (latchkey.Identity, error) { return latchkey.Identity{Subject: "0"}, nil },
		"error": func(latchkey.Grant) (latchkey.Identity, error) {
			return latchkey.Identity{Subject: "ada"}, errors.New("no id")
		},
		"panic": func(latchkey.Grant) (latchkey.Identity, error) { panic("no id") },
	} {
		t.Run("R-069 the mapped id is "+name, func(t *testing.T) {
			s := newOAuthSite(t, stored, withIssuer(func(p *latchkey.OAuth) { p.Identify = identify }))
			before := s.contents()
			refused(t, s.signIn(s.newBrowser()), "Configuration")
			s.noWrite(t, before)
			if !strings.Contains(s.log.text(), `"provider":"issuer"`) {
				t.Error("the log does not name the provider")
			}
			if name == "empty" && !strings.Contains(s.log.text(), "Subject") {
				t.Error("the log does not name the field")
			}
		})
	}
	for name, id := range map[string]any{"absent": gone{}, "empty": "", "null": nil, "false": false, "a list": []any{"ada"}, "an object": map[string]any{"id": 1}} {
		t.Run("R-069 an OAuth profile whose id is "+name, func(t *testing.T) {
			s := newOAuthSite(t, stored, withIssuer(func(p *latchkey.OAuth) {
				p.OIDC = false
				p.FetchProfile = nil
			}))
			s.issuer.Misbehave(latchkeytest.Misbehaviour{UserInfo: func(c map[string]any) { change(c, "sub", id) }})
			before := s.contents()
			refused(t, s.signIn(s.newBrowser()), "Configuration")
			s.noWrite(t, before)
		})
	}
}

func TestExpiredIsNobody(t *testing.T) {
	s := newOAuthSite(t, stored)
	b := s.newBrowser()
	u := s.addUser(latchkey.User{ID: "u1", Email: "u1@example.com"})
	row := storage.StoredSession{Token: strings.Repeat("e", 64), UserID: u.ID, Expires: s.clock.Now()}
	if err := s.store.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	b.jar[sessionCookie] = row.Token
	t.Run("R-071 linking", func(t *testing.T) {
		s.mustSignIn(b)
		c := s.store.Contents()
		if len(c.Accounts) != 1 || c.Accounts[0].UserID == u.ID {
			t.Error("the account was linked to the one who was signed in before")
		}
		for _, left := range c.Sessions {
			if left.UserID == u.ID {
				t.Error("the expired row is still there")
			}
		}
	})
	t.Run("R-071 reading", func(t *testing.T) {
		if err := s.store.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		b := s.newBrowser()
		b.jar[sessionCookie] = row.Token
		a := b.get("/auth/session")
		if a.Body.String() != "null" {
			t.Errorf("answered %s", a.Body)
		}
		cleared(t, a, "session-token")
		if _, _, err := s.store.GetSessionAndUser(t.Context(), row.Token); !errors.Is(err, latchkey.ErrNotFound) {
			t.Error("the expired row is still there")
		}
	})
	t.Run("R-071 guards", func(t *testing.T) {
		if err := s.store.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		b := s.newBrowser()
		b.jar[sessionCookie] = row.Token
		if session, err := s.auth.ReadSession(httptest.NewRecorder(), b.request("GET", "/page", "", "")); session != nil || !errors.Is(err, latchkey.ErrNoSession) {
			t.Errorf("session %v, error %v", session, err)
		}
	})
	t.Run("R-071 a token past its time", func(t *testing.T) {
		s, b := newSignedInOAuthSite(t)
		s.clock.Advance(31 * 24 * time.Hour)
		s.issuer.SignInAs(latchkeytest.Person{Subject: "grace", Email: "grace@example.com"})
		s.mustSignIn(b)
		if c := s.store.Contents(); len(c.Users) != 2 || c.Accounts[0].UserID == c.Accounts[1].UserID {
			t.Error("the account was linked to the one who was signed in before")
		}
	})
}

func TestLinking(t *testing.T) {
	t.Run("R-072 an account that belongs to another", func(t *testing.T) {
		for _, strategy := range []latchkey.Strategy{latchkey.DatabaseSessions, latchkey.JWTSessions} {
			s := newOAuthSite(t, func(c *latchkey.Config) { c.Session.Strategy = strategy })
			s.mustSignIn(s.newBrowser()) // Ada has the account
			s.issuer.SignInAs(latchkeytest.Person{Subject: "grace", Email: "grace@example.com"})
			b := s.newBrowser()
			s.mustSignIn(b)
			before := s.contents()
			s.issuer.SignInAs(ada())
			refused(t, s.signIn(b), "OAuthAccountNotLinked")
			s.noWrite(t, before)
			if !strings.Contains(b.session(), "grace@example.com") {
				t.Errorf("%s: the session is no longer Grace's", strategy)
			}
		}
	})
	for _, c := range []struct {
		name     string
		verified any
		trust    bool
		links    bool
	}{
		{"R-073 verified true", true, false, true},
		{"R-073 verified false", false, false, false},
		{"R-073 verified as text", "true", false, false},
		{"R-073 verified as a number", 1, false, false},
		{"R-073 not said", nil, false, false},
		{"R-073 the louder option", nil, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newOAuthSite(t, stored, withIssuer(func(p *latchkey.OAuth) {
				p.AllowDangerousEmailAccountLinking, p.TrustUnverifiedEmail = true, c.trust
			}))
			s.addUser(latchkey.User{ID: "u1", Email: "ada@example.com"})
			person := ada()
			person.EmailVerified = c.verified
			s.issuer.SignInAs(person)
			before, a := s.contents(), s.signIn(s.newBrowser())
			if !c.links {
				refused(t, a, "OAuthAccountNotLinked")
				s.noWrite(t, before)
				return
			}
			got := s.store.Contents()
			if !a.signsIn() || len(got.Users) != 1 || len(got.Accounts) != 1 || got.Accounts[0].UserID != "u1" {
				t.Fatalf("not linked: to %q", a.location())
			}
			if proven := !got.Users[0].EmailVerified.IsZero(); proven == c.trust {
				t.Errorf("the e-mail counts as proven: %v", proven)
			}
		})
	}
	t.Run("R-073 without the option", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		s.addUser(latchkey.User{ID: "u1", Email: "ada@example.com", EmailVerified: s.clock.Now()})
		before := s.contents()
		refused(t, s.signIn(s.newBrowser()), "OAuthAccountNotLinked")
		s.noWrite(t, before)
	})
	t.Run("R-073 names of claims that only look alike", func(t *testing.T) {
		s := newOAuthSite(t, stored, withIssuer(func(p *latchkey.OAuth) { p.AllowDangerousEmailAccountLinking = true }))
		s.addUser(latchkey.User{ID: "u1", Email: "ada@example.com"})
		person := ada()
		person.EmailVerified, person.Claims = nil, map[string]any{"EMAIL_VERIFIED": true, "Email_verified": true}
		s.issuer.SignInAs(person)
		refused(t, s.signIn(s.newBrowser()), "OAuthAccountNotLinked")
	})
}

// preHijacked is a user whose unproven e-mail somebody else has claimed, with
// passkey, accounts and an open session.
func preHijacked(s *oauthSite) *browser {
	s.t.Helper()
	u := s.addUser(latchkey.User{ID: "u1", Email: "ada@example.com"})
	ctx := s.t.Context()
	for _, a := range []latchkey.Account{
		{UserID: u.ID, Provider: "issuer", ProviderAccountID: "mallory", Type: latchkey.TypeOIDC},
		{UserID: u.ID, Provider: "acme", ProviderAccountID: "mallory", Type: latchkey.TypeOAuth},
		{UserID: u.ID, Provider: "passkey", ProviderAccountID: "bWFsbG9yeQ==", Type: latchkey.TypeWebAuthn},
	} {
		if err := s.store.LinkAccount(ctx, a); err != nil {
			s.t.Fatal(err)
		}
	}
	key := storage.Authenticator{CredentialID: []byte("mallory"), UserID: u.ID, ProviderAccountID: "bWFsbG9yeQ==", PublicKey: []byte("k")}
	if err := s.store.CreateAuthenticator(ctx, key); err != nil {
		s.t.Fatal(err)
	}
	row := storage.StoredSession{Token: strings.Repeat("m", 64), UserID: u.ID, Expires: s.clock.Now().Add(time.Hour), Created: s.clock.Now()}
	if err := s.store.CreateSession(ctx, row); err != nil {
		s.t.Fatal(err)
	}
	mallory := s.newBrowser()
	mallory.jar[sessionCookie] = row.Token
	live(s.t, mallory)
	return mallory
}

func TestEviction(t *testing.T) {
	unproven := withIssuer(func(p *latchkey.OAuth) { p.EmailTrust = latchkey.EmailUnproven })
	t.Run("R-074 the owner's link evicts", func(t *testing.T) {
		var evicted []latchkey.EvictEvent
		s := newOAuthSite(t, stored, unproven, func(c *latchkey.Config) {
			c.Events.Evict = func(_ context.Context, e latchkey.EvictEvent) error { evicted = append(evicted, e); return nil }
		})
		mallory := preHijacked(s)
		owner := s.newBrowser()
		if a := owner.get(owner.askForLink("ada@example.com")); !a.signsIn() {
			t.Fatalf("to %q", a.location())
		}
		c := s.store.Contents()
		if len(c.Users) != 1 || c.Users[0].EmailVerified.IsZero() || len(c.Authenticators) != 0 {
			t.Errorf("%d users, %d authenticators", len(c.Users), len(c.Authenticators))
		}
		if len(c.Accounts) != 0 {
			t.Errorf("accounts %v: none vouched for the e-mail", c.Accounts)
		}
		live(t, owner)
		dead(t, mallory)
		if len(evicted) != 1 || len(evicted[0].Accounts) != 3 || len(evicted[0].Authenticators) != 1 || !strings.Contains(s.log.text(), "detached") {
			t.Errorf("evicted %+v", evicted)
		}
	})
	t.Run("R-847 recovery codes beside a passkey alone go, too", func(t *testing.T) {
		s := newOAuthSite(t, stored, unproven, withFactors)
		preHijacked(s)
		if err := s.store.Factors().ReplaceRecoveryCodes(t.Context(), "u1", []string{"hash of a code"}); err != nil {
			t.Fatal(err)
		}
		owner := s.newBrowser()
		if a := owner.get(owner.askForLink("ada@example.com")); !a.signsIn() {
			t.Fatalf("to %q", a.location())
		}
		if left, err := s.store.Factors().UseRecoveryCode(t.Context(), "u1", "hash of a code"); err == nil {
			t.Errorf("R-847 the code works, and %d others", left)
		}
	})
	t.Run("R-074 a proven e-mail evicts nobody", func(t *testing.T) {
		s := newOAuthSite(t, stored, unproven)
		proven := s.clock.Now()
		other := preHijacked(s)
		if _, err := s.store.UpdateUser(t.Context(), "u1", storage.UserChange{EmailVerified: &proven}); err != nil {
			t.Fatal(err)
		}
		owner := s.newBrowser()
		owner.get(owner.askForLink("ada@example.com"))
		if c := s.store.Contents(); len(c.Accounts) != 3 || len(c.Authenticators) != 1 {
			t.Errorf("%d accounts, %d authenticators", len(c.Accounts), len(c.Authenticators))
		}
		live(t, owner)
		live(t, other)
	})
	t.Run("R-074 nothing to detach ends no session", func(t *testing.T) {
		s := newOAuthSite(t, stored)
		s.mustSignIn(s.newBrowser())
		honest := s.newBrowser()
		s.mustSignIn(honest)
		owner := s.newBrowser()
		owner.get(owner.askForLink("ada@example.com"))
		live(t, honest)
		live(t, owner)
	})
	t.Run("R-073 linking by a verified e-mail evicts too", func(t *testing.T) {
		s := newOAuthSite(t, stored, second(func(p *latchkey.OAuth) { p.AllowDangerousEmailAccountLinking = true }), unproven)
		mallory := preHijacked(s)
		b := s.newBrowser()
		if a := b.callback("second", s.authResponse(b, "second")); !a.signsIn() {
			t.Fatalf("to %q", a.location())
		}
		dead(t, mallory)
		if c := s.store.Contents(); len(c.Authenticators) != 0 || len(c.Accounts) != 1 {
			t.Errorf("%d accounts, %d authenticators", len(c.Accounts), len(c.Authenticators))
		}
	})
}

func TestSignInGate(t *testing.T) {
	ways := map[string]func(s *oauthSite, b *browser) *answer{
		"oidc":  func(s *oauthSite, b *browser) *answer { return s.signIn(b) },
		"oauth": func(s *oauthSite, b *browser) *answer { return b.callback("second", s.authResponse(b, "second")) },
		"credentials": func(_ *oauthSite, b *browser) *answer {
			return b.post("/auth/callback/crew", "username", "alice", "password", "wonderland")
		},
		"email, the asking": func(_ *oauthSite, b *browser) *answer { return b.post("/auth/signin/post", "email", "ada@example.com") },
		"email, the use":    func(_ *oauthSite, b *browser) *answer { return b.get(b.askForLink("ada@example.com")) },
	}
	for way, come := range ways {
		for verdict, says := range map[string]error{
			"false": latchkey.ErrAccessDenied, "an error": errors.New("down"), "a redirect": latchkey.RedirectTo("/elsewhere?a=b"), "a panic": nil,
		} {
			t.Run("R-077 "+way+" and "+verdict, func(t *testing.T) {
				asked := 0
				s := newOAuthSite(t, second(func(p *latchkey.OAuth) { p.OIDC = false }), func(c *latchkey.Config) {
					c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
						if asked++; way == "email, the use" && a.VerificationRequest {
							return nil
						}
						if says == nil {
							panic("down")
						}
						return says
					}
				})
				b := s.newBrowser()
				a := come(s, b)
				if verdict == "a redirect" {
					if a.location() != siteOrigin+"/elsewhere?a=b" || a.signsIn() {
						t.Errorf("to %q", a.location())
					}
				} else {
					refused(t, a, "AccessDenied")
				}
				if asked == 0 {
					t.Error("the callback was not asked")
				}
				c := s.store.Contents()
				if len(c.Users)+len(c.Accounts)+len(c.Sessions)+len(c.VerificationTokens) != 0 {
					t.Errorf("something was written: %s", s.contents())
				}
				dead(t, b)
				if way == "email, the asking" && len(s.sent()) != 0 {
					t.Error("a link was sent")
				}
			})
		}
	}
	t.Run("R-077 the gate sees the stored user", func(t *testing.T) {
		var seen []latchkey.User
		s := newOAuthSite(t, stored, func(c *latchkey.Config) {
			c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error { seen = append(seen, a.User); return nil }
		})
		s.mustSignIn(s.newBrowser())
		person := ada()
		person.Name = "Somebody else"
		s.issuer.SignInAs(person)
		s.mustSignIn(s.newBrowser())
		if len(seen) != 2 || seen[1].ID != s.store.Contents().Users[0].ID || seen[1].Name != "Ada" {
			t.Errorf("saw %+v", seen)
		}
	})
}

// values of a link.
func linkQuery(link string) (string, url.Values) {
	path, query, _ := strings.Cut(link, "?")
	values, _ := url.ParseQuery(query)
	return path, values
}
