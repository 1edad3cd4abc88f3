package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/storage"
)

// addLinkedUser stores a user with accounts.
func (s *testSite) addLinkedUser(u latchkey.User, providers ...string) latchkey.User {
	s.t.Helper()
	u, err := s.store.CreateUser(s.t.Context(), u)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range providers {
		err := s.store.LinkAccount(s.t.Context(), latchkey.Account{UserID: u.ID, Provider: p, ProviderAccountID: "at-" + p, Type: latchkey.TypeOAuth})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return u
}

// signInByLink asks for a magic link and opens it.
func (b *browser) signInByLink(email string) *answer {
	b.site.t.Helper()
	b.post("/auth/signin/post", "email", email)
	links := b.site.sent()
	if len(links) == 0 {
		b.site.t.Fatal("no link was sent")
	}
	u, err := url.Parse(links[len(links)-1].URL)
	if err != nil {
		b.site.t.Fatal(err)
	}
	return b.get(u.RequestURI())
}

func TestUnlinkAccount(t *testing.T) {
	proven := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, row := range []struct {
		policy    string
		user      latchkey.User
		providers []string
		want      error
	}{
		{"one of two goes", latchkey.User{Name: "A"}, []string{"acme", "acme2"}, nil},
		{"the last one stays", latchkey.User{Name: "A"}, []string{"acme"}, latchkey.ErrLastAccount},
		{"a proven e-mail is another way to sign in", latchkey.User{Email: "a@example.com", EmailVerified: proven}, []string{"acme"}, nil},
		{"an e-mail that was never proven is none", latchkey.User{Email: "a@example.com"}, []string{"acme"}, latchkey.ErrLastAccount},
		{"a provider that is no longer configured is none", latchkey.User{Name: "A"}, []string{"acme", "gone"}, latchkey.ErrLastAccount},
		{"its account can go itself", latchkey.User{Name: "A"}, []string{"gone", "acme"}, nil},
	} {
		t.Run(row.policy, func(t *testing.T) {
			s := newSite(t, func(c *latchkey.Config) {
				acme2 := *c.Providers[2].(*latchkey.OAuth)
				acme2.ID = "acme2"
				c.Providers = append(c.Providers, &acme2)
			})
			u := s.addLinkedUser(row.user, row.providers...)
			first := row.providers[0]
			if err := s.auth.Users().Unlink(t.Context(), latchkey.AccountRef{UserID: u.ID, Provider: first, ProviderAccountID: "at-" + first}); !errors.Is(err, row.want) {
				t.Fatalf("UnlinkAccount = %v, want %v", err, row.want)
			}
			left, err := s.auth.Users().Accounts(t.Context(), u.ID)
			if err != nil {
				t.Fatal(err)
			}
			gone := !slices.ContainsFunc(left, func(a latchkey.Account) bool { return a.Provider == first })
			if gone != (row.want == nil) {
				t.Errorf("accounts left: %v", left)
			}
		})
	}
}

// TestUnlinkAtOnce is about stores without transactions; the adapter suite has
// the others.
func TestUnlinkAtOnce(t *testing.T) {
	open := func(t *testing.T) (*faultyStore, *latchkey.Users, latchkey.User) {
		store := newFaultyStore()
		s := newSite(t, func(c *latchkey.Config) {
			acme2 := *c.Providers[2].(*latchkey.OAuth)
			acme2.ID = "acme2"
			c.Providers = append(c.Providers, &acme2)
			c.Adapter = store.withoutTx()
		})
		s.store = store.inner
		return store, s.auth.Users(), s.addLinkedUser(latchkey.User{Name: "A"}, "acme", "acme2")
	}
	t.Run("R-345 the other account goes between looking and taking", func(t *testing.T) {
		store, accounts, u := open(t)
		store.afterwards("ListAccounts", func() {
			if err := accounts.Unlink(t.Context(), latchkey.AccountRef{UserID: u.ID, Provider: "acme2", ProviderAccountID: "at-acme2"}); err != nil {
				t.Error(err)
			}
		})
		if err := accounts.Unlink(t.Context(), latchkey.AccountRef{UserID: u.ID, Provider: "acme", ProviderAccountID: "at-acme"}); !errors.Is(err, latchkey.ErrLastAccount) {
			t.Errorf("the last account: %v", err)
		}
		if left := store.inner.Contents().Accounts; len(left) != 1 || left[0].Provider != "acme" || left[0].UserID != u.ID {
			t.Errorf("left %+v", left)
		}
	})
	t.Run("R-345 a hundred times", func(t *testing.T) {
		for range 100 {
			store, accounts, u := open(t)
			together(2, func(i int) {
				provider := []string{"acme", "acme2"}[i]
				if err := accounts.Unlink(t.Context(), latchkey.AccountRef{UserID: u.ID, Provider: provider, ProviderAccountID: "at-" + provider}); err != nil && !errors.Is(err, latchkey.ErrLastAccount) {
					t.Error(err)
				}
			})
			if len(store.inner.Contents().Accounts) == 0 {
				t.Fatal("no account is left")
			}
		}
	})
}

func TestAccountPage(t *testing.T) {
	open := func(c *latchkey.Config) { stored(c); c.AccountPage.Enabled = true }
	s := newSite(t, open)
	t.Run("nobody is asked to sign in", func(t *testing.T) {
		if a := s.newBrowser().get("/auth/account"); !strings.HasPrefix(a.location(), siteOrigin+"/auth/signin?") {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
	here, there := s.newBrowser(), s.newBrowser()
	here.signInByLink("ada@example.com")
	there.signInByLink("ada@example.com")
	t.Run("signing out everywhere else keeps this session", func(t *testing.T) {
		if a := here.post("/auth/account?do=others"); a.location() != siteOrigin+"/auth/account" {
			t.Fatalf("%d to %q", a.Code, a.location())
		}
		if !here.isLive() || there.isLive() {
			t.Errorf("here %v, there %v", here.isLive(), there.isLive())
		}
	})
	t.Run("deleting takes the confirmation of its page", func(t *testing.T) {
		if a := here.post("/auth/account?do=delete"); !strings.Contains(a.Body.String(), "Please confirm that you want to delete") || !here.isLive() {
			t.Fatalf("%d to %q", a.Code, a.location())
		}
		here.post("/auth/account?do=delete", "confirm", "delete")
		if len(s.store.Contents().Users) != 0 || here.isLive() {
			t.Error("the user is still there")
		}
	})
	t.Run("a change needs the token", func(t *testing.T) {
		if a := s.newBrowser().do(http.MethodPost, "/auth/account?do=others", formContentType, ""); a.error() != "MissingCSRF" {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
}

func TestRevocation(t *testing.T) {
	revoking := func(c *latchkey.Config) {
		c.Session.Revocations = c.Adapter.(storage.RevocationStore)
	}
	t.Run("R-105 a kept copy of a signed-out token is dead", func(t *testing.T) {
		_, b := newEnteredSite(t, revoking)
		thief := b.copy()
		b.post("/auth/signout")
		if thief.isLive() {
			t.Error("the copy is live")
		}
	})
	t.Run("a sign-in right after everything was ended is live", func(t *testing.T) {
		s, _ := newEnteredSite(t, revoking)
		if err := s.auth.Users().EndSessions(t.Context(), "alice"); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(2 * time.Millisecond)
		after := s.newBrowser()
		after.signIn()
		if !after.isLive() {
			t.Error("the new session is dead")
		}
	})
	t.Run("R-074 the owner whose e-mail is proven gets in, and what was attached before is out", func(t *testing.T) {
		s := newSite(t, revoking, func(c *latchkey.Config) {
			c.Providers[2].(*latchkey.OAuth).EmailTrust = latchkey.EmailUnproven
		})
		u := s.addLinkedUser(latchkey.User{Email: "ada@example.com"}, "acme")
		owner := s.newBrowser()
		if a := owner.signInByLink("ada@example.com"); !a.signsIn() {
			t.Fatalf("%d to %q\n%s", a.Code, a.location(), s.log.text())
		}
		if !owner.isLive() {
			t.Error("the owner's session does not work")
		}
		if left, _ := s.auth.Users().Accounts(t.Context(), u.ID); len(left) != 0 {
			t.Errorf("still attached: %v", left)
		}
	})
	t.Run("R-074 by option the first proof is refused instead", func(t *testing.T) {
		s := newSite(t, func(c *latchkey.Config) {
			c.Security.RefuseEviction = true
			c.Providers[2].(*latchkey.OAuth).EmailTrust = latchkey.EmailUnproven
		})
		u := s.addLinkedUser(latchkey.User{Email: "ada@example.com"}, "acme")
		if a := s.newBrowser().signInByLink("ada@example.com"); a.signsIn() || a.error() != "AccessDenied" {
			t.Errorf("%d to %q", a.Code, a.location())
		}
		if left, _ := s.auth.Users().Accounts(t.Context(), u.ID); len(left) != 1 {
			t.Errorf("accounts left: %v", left)
		}
	})
	t.Run("callbacks cannot lose which sign-in a token comes from", func(t *testing.T) {
		shared := latchkey.Claims{"sub": "alice", "sid": "the same for everybody"}
		s := newSite(t, revoking, func(c *latchkey.Config) {
			c.Callbacks.Token = func(context.Context, latchkey.TokenInfo) (latchkey.Claims, error) { return shared, nil }
		})
		b, other := s.newBrowser(), s.newBrowser()
		b.signIn()
		other.signIn()
		b.post("/auth/signout")
		if !other.isLive() {
			t.Error("signing one out signed the other out")
		}
	})
}

func TestHelpersInOneResponse(t *testing.T) {
	s := newSite(t)
	t.Run("R-191 a look at the session after SignOut does not bring it back", func(t *testing.T) {
		b := s.newBrowser()
		b.signIn()
		page := s.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := s.auth.SignOutURL(w, r, latchkey.SignOutOptions{}); err != nil {
				t.Error(err)
			}
			if latchkey.SessionFrom(r.Context()) != nil {
				t.Error("there is a session after signing out")
			}
		}))
		b.serve(page, b.request(http.MethodGet, "/", "", ""))
		if b.isLive() {
			t.Error("still signed in")
		}
	})
	t.Run("a look at the session after SignIn does not bring the former one back", func(t *testing.T) {
		b := s.newBrowser()
		b.signIn()
		var token string
		page := s.auth.LoadSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			typed := url.Values{"username": {"alice"}, "password": {"wonderland"}}
			if _, err := s.auth.SignInURL(w, r, "crew", latchkey.SignInOptions{Form: typed}); err != nil {
				t.Error(err)
			}
			token = w.Header()["Set-Cookie"][len(w.Header()["Set-Cookie"])-1]
			latchkey.SessionFrom(r.Context())
			if last := w.Header()["Set-Cookie"]; last[len(last)-1] != token {
				t.Error("another cookie follows the new session's")
			}
		}))
		b.serve(page, b.request(http.MethodGet, "/", "", ""))
	})
	t.Run("two forms on a page have one token", func(t *testing.T) {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		first, err1 := s.auth.CSRFToken(w, r)
		second, err2 := s.auth.CSRFToken(w, r)
		if err := errors.Join(err1, err2); err != nil || first == "" || first != second {
			t.Errorf("%q, %q, %v", first, second, err)
		}
	})
	t.Run("a guard whose redirect leads to its own page denies", func(t *testing.T) {
		site := s.auth.Authorize(func(*http.Request, *latchkey.Session) error {
			return latchkey.RedirectTo("/dash?error=denied")
		})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the page was shown") }))
		b := s.newBrowser()
		if a := b.serve(site, b.request(http.MethodGet, "/dash?team=secret", "", "")); a.Code != http.StatusForbidden {
			t.Errorf("status %d", a.Code)
		}
	})
}

// A provider that posts from its own site gets no Lax cookie: neither the
// session nor the callback-URL cookie comes along.
func TestFormPostKeepsWhoBegan(t *testing.T) {
	begin := func(t *testing.T) (*oauthSite, *browser, url.Values) {
		s := newOAuthSite(t, stored, withIssuer(func(p *latchkey.OAuth) { p.ResponseMode = "form_post" }))
		b := s.newBrowser()
		b.signInByLink("ada@example.com")
		b.get("/auth/csrf?callbackUrl=/settings")
		return s, b, s.authResponse(b, "issuer")
	}
	t.Run("the account is linked to who began, and the browser goes where it was going", func(t *testing.T) {
		s, b, params := begin(t)
		a := b.postedFromElsewhere("issuer", params)
		if !a.signsIn() || a.location() != siteOrigin+"/settings" {
			t.Fatalf("%d to %q\n%s", a.Code, a.location(), s.log.text())
		}
		if c := s.store.Contents(); len(c.Users) != 1 || len(c.Accounts) != 1 || c.Accounts[0].UserID != c.Users[0].ID {
			t.Errorf("users %v, accounts %v", c.Users, c.Accounts)
		}
		if a.cookie("csrf-token") != nil {
			t.Error("the token of the browser's open forms was replaced")
		}
	})
	t.Run("after signing out it is nobody's any more", func(t *testing.T) {
		s, b, params := begin(t)
		b.post("/auth/signout")
		a := b.postedFromElsewhere("issuer", params)
		if a.signsIn() || len(s.store.Contents().Accounts) != 0 {
			t.Errorf("%d to %q", a.Code, a.location())
		}
	})
}

func TestNewAcceptsCookiesThatFitTheSite(t *testing.T) {
	for policy, change := range map[string]func(*latchkey.Cookies){
		"SameSite=None on https": func(c *latchkey.Cookies) { c.SessionToken.SameSite = http.SameSiteNoneMode },
		"a __Host- name":         func(c *latchkey.Cookies) { c.SessionToken.Name = "__Host-sid" },
	} {
		t.Run(policy, func(t *testing.T) { newSite(t, func(c *latchkey.Config) { change(&c.Cookies) }) })
	}
}

func TestLimitsUnderNewFunc(t *testing.T) {
	s := newSite(t)
	auth := newFunc(func(context.Context, *latchkey.Request) (*latchkey.Config, error) {
		return &latchkey.Config{ // a new one each time, which is allowed and costs only time
			Site: latchkey.Site{URL: siteOrigin}, Secrets: []string{siteSecret}, Runtime: latchkey.Runtime{Logger: quiet},
			Limits: latchkey.Limits{CredentialsPerAccount: latchkey.Rate{Events: 3, Per: time.Hour}},
			Providers: []latchkey.Provider{&latchkey.Credentials{
				ID: "crew", Fields: []latchkey.Field{{Name: "username"}}, Authorize: s.authorize,
			}},
		}, nil
	})
	s.auth = auth
	b := s.newBrowser()
	for range 6 {
		b.post("/auth/callback/crew", "username", "alice", "password", "wrong")
	}
	if n := s.tried(); n != 3 {
		t.Errorf("R-154 %d tries reached Authorize, want 3", n)
	}
}

func TestSweepRemovesWhatHasExpired(t *testing.T) {
	s := newSite(t)
	s.newBrowser().post("/auth/signin/post", "email", "ada@example.com")
	if n, err := s.auth.Sweep(t.Context()); n != 0 || err != nil {
		t.Fatalf("Sweep = %d, %v before anything expired", n, err)
	}
	s.clock.Advance(25 * time.Hour)
	if n, err := s.auth.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v, want the one link", n, err)
	}
}

// fourTables is a database without a table for passkeys, as many sites have it.
type fourTables struct{ fourTableStore }

type fourTableStore interface {
	storage.Adapter
	storage.SessionAdapter
	storage.VerificationTokenAdapter
	storage.AccountAdapter
	storage.AuthenticatorAdapter
	storage.TxAdapter
}

func (fourTables) ListAuthenticators(context.Context, string) ([]storage.Authenticator, error) {
	return nil, errors.ErrUnsupported
}

func (f fourTables) InTx(ctx context.Context, do func(storage.Adapter) error) error {
	return f.fourTableStore.InTx(ctx, func(a storage.Adapter) error { return do(fourTables{a.(fourTableStore)}) })
}

func TestATableThatIsNotThereHoldsNothing(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) { c.Adapter = fourTables{c.Adapter.(fourTableStore)} })
	s.addLinkedUser(latchkey.User{Email: "ada@example.com"}, "acme")
	if a := s.newBrowser().signInByLink("ada@example.com"); !a.signsIn() {
		t.Errorf("the first link of a user without a proven e-mail: %d to %q\n%s", a.Code, a.location(), s.log.text())
	}
}

func TestHostPrefixForgetsADeadFormerCookie(t *testing.T) {
	s := newSite(t, stored, func(c *latchkey.Config) {
		c.Cookies.HostPrefix, c.Cookies.MigrateUntil = new(true), time.Now().Add(time.Hour)
	})
	b := s.newBrowser()
	b.jar["__Secure-authjs.session-token"] = "dead"
	b.session()
	if _, there := b.jar["__Secure-authjs.session-token"]; there {
		t.Error("the cookie from before the prefix is still there")
	}
}

func TestTokensOfACustomEncoderComeBackAsTheyWere(t *testing.T) {
	const odd = `a%41;b "c`
	s := newSite(t, func(c *latchkey.Config) {
		c.Session.JWT.Encode = func(context.Context, latchkey.JWTParams) (string, error) { return odd, nil }
		c.Session.JWT.Decode = func(_ context.Context, token string, _ latchkey.JWTParams) (latchkey.Claims, error) {
			if token != odd {
				return nil, errors.New("another token: " + token)
			}
			return latchkey.Claims{"sub": "alice"}, nil
		}
	})
	b := s.newBrowser()
	b.signIn()
	if !b.isLive() {
		t.Errorf("the token did not survive its cookie\n%s", s.log.text())
	}
}

func TestPolicyOfADiscoveredProvider(t *testing.T) {
	s := newOAuthSite(t)
	policy := func() string { return s.newBrowser().get("/auth/signin").Header().Get("Content-Security-Policy") }
	if !strings.Contains(policy(), "form-action 'self' https:") {
		t.Errorf("R-530 a provider may pass the browser on to any https host: %s", policy())
	}
	s.mustSignIn(s.newBrowser())
	if after := policy(); !strings.Contains(after, "form-action 'self' https: "+s.issuer.URL+";") {
		t.Errorf("R-530 once discovered, a provider on http is named: %s", after)
	}
}
