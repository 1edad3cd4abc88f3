package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/latchkeytest"
	"github.com/latchkeyhq/latchkey/storage"
)

// TestProtocolSpendsFirst: two instances share the memory of used values, and the browser
// brings one answer to both.
func TestProtocolSpendsFirst(t *testing.T) {
	received := 0
	shared := limit.NewUsedValues(newTestClock().Now)
	instance := func(c *latchkey.Config) {
		c.Providers, c.Limits.Replay = append(c.Providers, ticket(&received)), shared
	}
	one, two := newSite(t, instance), newSite(t, instance)
	b := one.newBrowser()
	_, query, _ := strings.Cut(b.post("/auth/signin/ticket").location(), "?")
	sent, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(sent.Get("back"))
	if err != nil {
		t.Fatal(err)
	}
	params := back.Query()
	params.Set("ticket", "ada")
	twin := b.copy()
	twin.site = two
	first, second := b.callback("ticket", params), twin.callback("ticket", params)
	if !first.signsIn() || second.signsIn() || received != 1 {
		t.Errorf("R-601 Receive was called %d times; to %q and %q\n%s", received, first.location(), second.location(), one.log.text())
	}
	if !strings.Contains(two.log.text(), "completed before") {
		t.Errorf("R-601 the log of the other instance: %s", two.log.text())
	}
}

// TestStaleLinkLeadsSomewhere: a user with an old session begins to link an account on a
// site without an account page.
func TestStaleLinkLeadsSomewhere(t *testing.T) {
	stale := func(t *testing.T, change func(*latchkey.Config)) (*oauthSite, *browser, *answer) {
		at := false
		s := newOAuthSite(t, stored, change, withEmailProvider(func(p *latchkey.Email) { p.ConfirmLink = &at }))
		b := s.newPerson()
		b.signInByLink(adaEmail)
		s.clock.Advance(11 * time.Minute)
		s.issuer.SignInAs(latchkeytest.Person{Subject: "other", Email: "other@example.com", EmailVerified: true})
		return s, b, b.callback("issuer", s.authResponse(b, "issuer"))
	}
	t.Run("R-602 hardened: to the sign-in page", func(t *testing.T) {
		s, b, a := stale(t, func(c *latchkey.Config) { c.Hardened = true })
		if a.location() != siteOrigin+"/auth/signin?error=OAuthAccountNotLinked" || len(s.store.Contents().Accounts) != 0 {
			t.Fatalf("to %q", a.location())
		}
		live(t, b)
		b.signInByLink(adaEmail)
		if b.callback("issuer", s.authResponse(b, "issuer")); len(s.store.Contents().Accounts) != 1 {
			t.Errorf("a recent sign-in does not link\n%s", s.log.text())
		}
	})
	t.Run("R-602 with second factors: to the page that asks for a proof", func(t *testing.T) {
		_, b, a := stale(t, func(c *latchkey.Config) { withFactors(c); c.Hardened = true })
		if !leadsToProof(a, "recent") {
			t.Fatalf("to %q", a.location())
		}
		if a := b.get(strings.TrimPrefix(a.location(), siteOrigin)); a.Code != http.StatusOK {
			t.Errorf("the page answers %d", a.Code)
		}
	})
}

// unremembering is a store whose known browsers cannot be written.
type unremembering struct{ *memoryadapter.Adapter }

func (f unremembering) Browsers() storage.BrowserStore { return noBrowsers{f.Adapter.Browsers()} }

func (f unremembering) InTx(ctx context.Context, do func(storage.Adapter) error) error {
	return f.Adapter.InTx(ctx, func(a storage.Adapter) error { return do(unremembering{a.(*memoryadapter.Adapter)}) })
}

type noBrowsers struct{ storage.BrowserStore }

func (noBrowsers) Put(context.Context, storage.Browser) error { return errStore }

// TestNothingFailsAfterTheSession: what fails once the former session has ended may not
// keep the browser from its new one.
func TestNothingFailsAfterTheSession(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		t.Run("R-603 the browser cannot be remembered", func(t *testing.T) {
			s := newOAuthSite(t, with, withFactors, func(c *latchkey.Config) { c.Adapter = unremembering{c.Adapter.(*memoryadapter.Adapter)} })
			b := s.newBrowser()
			for range 2 { // also with a session that ends
				if a := s.signIn(b); !a.signsIn() || a.error() != "" {
					t.Fatalf("to %q\n%s", a.location(), s.log.text())
				}
				live(t, b)
			}
			if rows := s.store.Contents().Sessions; len(rows) > 1 {
				t.Errorf("%d sessions are left", len(rows))
			}
			if !strings.Contains(s.log.text(), errStore.Error()) {
				t.Error("the log does not say so")
			}
		})
	})
	t.Run("R-603 the token cannot be made", func(t *testing.T) {
		fails := false
		s := newOAuthSite(t, revocable, func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, i latchkey.TokenInfo) (latchkey.Claims, error) {
				if fails {
					i.Claims["huge"] = strings.Repeat("x", 80<<10) // no token is so long
				}
				return i.Claims, nil
			}
		})
		b := s.newBrowser()
		s.mustSignIn(b)
		fails = true
		if a := s.signIn(b); a.signsIn() || a.error() == "" {
			t.Fatalf("to %q", a.location())
		}
		fails = false
		live(t, b)
	})
}

// faultyRevocations is a store of revocations that fails as planned.
type faultyRevocations struct {
	*faultyStore
	storage.RevocationStore
}

func (s faultyRevocations) Revoke(ctx context.Context, key string, issued, expires time.Time) error {
	return act(ctx, s.faultyStore, "Revoke", func(ctx context.Context) error { return s.RevocationStore.Revoke(ctx, key, issued, expires) })
}

func (s faultyRevocations) RevokedAt(ctx context.Context, keys ...string) (map[string]time.Time, error) {
	return attempt(ctx, s.faultyStore, "RevokedAt", func(ctx context.Context) (map[string]time.Time, error) {
		return s.RevocationStore.RevokedAt(ctx, keys...)
	})
}

// TestOneSessionSurvives has each call of the store fail in turn while a user signs in
// again: the browser has its former session afterwards, or a new one. Where the former
// session ended before the new one was confirmed, it named four calls by itself.
func TestOneSessionSurvives(t *testing.T) {
	for name, with := range map[string]func(*latchkey.Config, *faultyStore){
		"rows":                  func(c *latchkey.Config, s *faultyStore) { c.Adapter = s },
		"rows, no transactions": func(c *latchkey.Config, s *faultyStore) { c.Adapter = s.withoutTx() },
		"rows in another store": func(c *latchkey.Config, s *faultyStore) {
			c.Session.Store = apartStore{&faultyStore{memoryadapter.New(memoryadapter.Options{}), s.plan}}
		},
		"tokens": func(c *latchkey.Config, s *faultyStore) {
			c.Session.Strategy, c.Session.Revocations = latchkey.JWTSessions, faultyRevocations{s, memoryadapter.New(memoryadapter.Options{})}
		},
		"tokens and logout": func(c *latchkey.Config, s *faultyStore) {
			c.Session.Strategy, c.Session.Revocations = latchkey.JWTSessions, faultyRevocations{s, memoryadapter.New(memoryadapter.Options{})}
			withIssuer(func(o *latchkey.OAuth) { o.Logout = everyWay })(c)
		},
	} {
		t.Run("R-603 "+name, func(t *testing.T) {
			faults := 0
			for n, calls := 1, 1; calls >= n-1; n++ { // until all calls were made
				store := newFaultyStore()
				s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.Adapter, c.Limits.Disabled = store, true; with(c, store) })
				s.store = store.inner
				b := s.newBrowser()
				s.mustSignIn(b)
				params := s.authResponse(b, "issuer")
				store.plan.failNth(n)
				a := b.callback("issuer", params)
				calls = store.plan.failNth(0)
				if !b.isLive() {
					t.Errorf("call %d of %d failed: to %q, and no session is left\n%s", n, calls, a.location(), s.log.text())
				}
				if !a.signsIn() {
					faults++
				}
			}
			if faults == 0 {
				t.Error("no fault has hit the sign-in")
			}
		})
	}
}

// TestTokenRefusesSignIn: Callbacks.Token returns no claims for a sign-in. The browser is
// answered as by Auth.js, and nothing else calls it a success.
func TestTokenRefusesSignIn(t *testing.T) {
	var heard []latchkey.Event
	refuses, told := false, 0
	s := newOAuthSite(t, revocable, func(c *latchkey.Config) {
		c.Callbacks.Token = func(_ context.Context, i latchkey.TokenInfo) (latchkey.Claims, error) {
			if refuses && i.Trigger != latchkey.TriggerRead {
				return nil, nil
			}
			return i.Claims, nil
		}
		c.Events.SignIn = func(context.Context, latchkey.SignInEvent) error {
			told++
			return nil
		}
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			if e.Type == event.SignIn {
				heard = append(heard, e)
			}
			return nil
		}
	})
	b := s.newBrowser()
	s.mustSignIn(b)
	thief := b.copy()
	refuses = true
	for who, b := range map[string]*browser{"with a session": b, "without one": s.newBrowser()} {
		heard, told = nil, 0
		before := len(s.saying("msg:latchkey: signed in"))
		if before == 0 {
			t.Fatal("the log calls no sign-in by that name")
		}
		a := s.signIn(b)
		if a.location() != siteOrigin || a.signsIn() || told != 1 || b.isLive() {
			t.Errorf("R-604 %s: to %q, Events.SignIn was told %d times", who, a.location(), told)
		}
		if len(heard) != 1 || heard[0].Outcome != event.Failed || heard[0].Reason != latchkey.ErrAccessDenied || heard[0].UserID == "" || len(s.saying("msg:latchkey: signed in")) != before {
			t.Errorf("R-604 %s: told %+v", who, heard)
		}
	}
	dead(t, thief)
	if len(s.saying("because Callbacks.Token returned no claims")) != 2 {
		t.Errorf("R-604 the log does not say why\n%s", s.log.text())
	}
}

// TestRefusedCallbackCookie: Callbacks.Redirect refuses the URL of the browser's cookie.
func TestRefusedCallbackCookie(t *testing.T) {
	s := newOAuthSite(t, func(c *latchkey.Config) {
		c.Callbacks.Redirect = func(_ context.Context, to, base string) (string, error) {
			if strings.HasPrefix(to, "/") || strings.HasPrefix(to, base) {
				return to, nil
			}
			return "", errors.New("not on the list")
		}
	})
	plant := func(b *browser) { b.jar["__Secure-authjs.callback-url"] = "https%3A%2F%2Fevil.example" }
	for _, path := range []string{"/auth/signin", "/auth/session", "/auth/csrf"} {
		b := s.newBrowser()
		plant(b)
		if a := b.get(path); a.Code != http.StatusOK || strings.Contains(b.jar["__Secure-authjs.callback-url"], "evil") {
			t.Errorf("R-605 %s: %d, the cookie is %q", path, a.Code, b.jar["__Secure-authjs.callback-url"])
		}
	}
	b := s.newBrowser()
	b.token()
	plant(b)
	params := s.authResponse(b, "issuer")
	plant(b)
	if a := b.callback("issuer", params); !a.signsIn() {
		t.Errorf("R-605 the callback leads to %q\n%s", a.location(), s.log.text())
	}
	if a := s.newBrowser().get("/auth/signin?callbackUrl=https://evil.example"); a.Code == http.StatusOK {
		t.Errorf("R-605 a URL that the request names is taken: %d", a.Code)
	}
	for _, record := range s.log.records(t) {
		if record["level"] == "ERROR" && strings.Contains(fmt.Sprint(record), "cookie is replaced") {
			t.Errorf("R-605 an attacker writes an error: %v", record)
		}
	}
}
