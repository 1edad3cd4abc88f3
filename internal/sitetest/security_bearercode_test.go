package sitetest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
)

// How apps get session tokens, and keep them.

func bearerCode(t *testing.T, b *browser, verifier string) string {
	t.Helper()
	code, err := b.site.auth.BearerCode(b.request("GET", "/app", "", ""), challengeOf(verifier))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// change asks for the token of a code, from a machine without cookies.
func (b *browser) change(code, verifier string) (string, time.Time, error) {
	return b.site.auth.BearerToken(b.bare().request("POST", "/app/token", "", ""), code, verifier)
}

func TestBearerCode(t *testing.T) {
	for kind, change := range bearerKinds {
		refuse := func(t *testing.T, b *browser, code, verifier string) {
			t.Helper()
			if token, _, err := b.change(code, verifier); token != "" || !errors.Is(err, latchkey.ErrInvalidCheck) {
				t.Errorf("%q, %v", token, err)
			}
		}
		t.Run("R-432 is good for one app, once, "+kind, func(t *testing.T) {
			_, ada := newBearerSite(t, change)
			code := bearerCode(t, ada, appVerifier)
			for _, verifier := range []string{"", otherAppText, challengeOf(appVerifier), appVerifier + "x"} {
				refuse(t, ada, code, verifier)
			}
			if token, _, err := ada.change(code, appVerifier); token == "" || err != nil {
				t.Fatal(err)
			}
			refuse(t, ada, code, appVerifier)
		})
		t.Run("R-432 once, however many ask, "+kind, func(t *testing.T) {
			_, ada := newBearerSite(t, change)
			code := bearerCode(t, ada, appVerifier)
			var group sync.WaitGroup
			var tokens atomic.Int32
			for range 8 {
				group.Go(func() {
					if _, _, err := ada.change(code, appVerifier); err == nil {
						tokens.Add(1)
					}
				})
			}
			if group.Wait(); tokens.Load() != 1 {
				t.Errorf("%d tokens", tokens.Load())
			}
		})
		t.Run("R-432 for a minute, "+kind, func(t *testing.T) {
			s, ada := newBearerSite(t, change)
			code := bearerCode(t, ada, appVerifier)
			s.clock.Advance(2 * time.Minute)
			refuse(t, ada, code, appVerifier)
		})
		t.Run("R-432 at its own tenant, "+kind, func(t *testing.T) {
			s := newTenantPair(t, takesBearer, change)
			ada := s.newBrowser().at("a")
			ada.signInByLink("ada@example.com")
			code := bearerCode(t, ada, appVerifier)
			refuse(t, ada.at("b"), code, appVerifier)
			if _, _, err := ada.change(code, appVerifier); err != nil {
				t.Error(err)
			}
		})
		t.Run("R-432 while its session lives, "+kind, func(t *testing.T) {
			_, ada := newBearerSite(t, change)
			code := bearerCode(t, ada, appVerifier)
			ada.post("/auth/signout")
			refuse(t, ada, code, appVerifier)
		})
		t.Run("R-432 to who is signed in in a browser, "+kind, func(t *testing.T) {
			s, ada := newBearerSite(t, change)
			ask := func(b *browser, challenge string) error {
				code, err := s.auth.BearerCode(b.request("POST", "/app", "", ""), challenge)
				if code != "" {
					t.Error("there is a code")
				}
				return err
			}
			both := ada.copy()
			both.header["Authorization"] = []string{"Bearer " + appToken(t, ada)}
			for name, b := range map[string]*browser{"nobody": s.newBrowser(), "an app": ada.shows(both.header.Get("Authorization")), "an app beside a cookie": both} {
				if err := ask(b, challengeOf(appVerifier)); !errors.Is(err, latchkey.ErrNoSession) {
					t.Errorf("%s: %v", name, err)
				}
			}
			ada.header.Set("Sec-Fetch-Site", "cross-site")
			if err := ask(ada, challengeOf(appVerifier)); !errors.Is(err, latchkey.ErrMissingCSRF) {
				t.Errorf("another site's form: %v", err)
			}
			ada.header = http.Header{}
			for _, challenge := range []string{"", "plain", challengeOf(appVerifier) + "=", strings.Repeat("A", 44), "*" + challengeOf(appVerifier)[1:]} {
				if err := ask(ada, challenge); !errors.Is(err, latchkey.ErrInvalidCheck) {
					t.Errorf("the challenge %q: %v", challenge, err)
				}
			}
		})
		t.Run("R-432 and nothing else is one, "+kind, func(t *testing.T) {
			_, ada := newBearerSite(t, change)
			for name, value := range ada.jar {
				refuse(t, ada, value, appVerifier)
				_ = name
			}
			refuse(t, ada, appToken(t, ada), appVerifier)
			refuse(t, ada, "", "")
			refuse(t, ada, strings.Repeat("x", 1<<20), appVerifier)
		})
	}
}

func TestBearerSessionIsOfItsOwn(t *testing.T) {
	for kind, change := range bearerKinds {
		t.Run("R-433 "+kind, func(t *testing.T) {
			var opened []latchkey.Event
			s, ada := newBearerSite(t, change, func(c *latchkey.Config) {
				c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
					if e.Type == event.SessionOpened {
						opened = append(opened, e)
					}
					return nil
				}
			})
			s.clock.Advance(3 * time.Hour)
			app := ada.shows("Bearer " + appToken(t, ada))
			mine, err := s.auth.ReadSession(httptest.NewRecorder(), ada.request("GET", "/", "", ""))
			if err != nil {
				t.Fatal(err)
			}
			its, err := s.auth.ReadSession(httptest.NewRecorder(), app.request("GET", "/", "", ""))
			if err != nil {
				t.Fatal(err)
			}
			if its.ID == mine.ID || its.ID == "" || its.UserID != mine.UserID || !its.AuthTime.Equal(mine.AuthTime) || its.Provider != mine.Provider {
				t.Errorf("%+v beside %+v", its, mine)
			}
			if len(opened) != 1 || opened[0].SessionID != its.ID || opened[0].UserID != its.UserID {
				t.Errorf("told: %+v", opened)
			}
			ada.post("/auth/signout")
			if email, _, _ := app.who(); email == "" {
				t.Error("the browser's sign-out ends the app's session")
			}
		})
	}
	t.Run("R-433 a device of its own", func(t *testing.T) {
		s, ada := newBearerSite(t, stored)
		ada.header.Set("User-Agent", "the app")
		appToken(t, ada)
		agents := map[string]bool{}
		for _, row := range s.store.Contents().Sessions {
			agents[row.UserAgent] = true
		}
		if len(s.store.Contents().Sessions) != 2 || !agents["the app"] {
			t.Errorf("%v", agents)
		}
	})
	t.Run("R-433 not after the end of all sessions", func(t *testing.T) {
		s, ada := newBearerSite(t, revocable)
		code := bearerCode(t, ada, appVerifier)
		found, err := s.auth.ReadSession(httptest.NewRecorder(), ada.request("GET", "/", "", ""))
		if err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(2 * time.Second)
		if err := s.auth.Users().EndSessions(t.Context(), found.UserID); err != nil {
			t.Fatal(err)
		}
		if token, _, err := ada.change(code, appVerifier); err == nil {
			t.Errorf("a token: %s", token)
		}
	})
}

func TestBearerAnswersAreNotShared(t *testing.T) {
	_, ada := newBearerSite(t, stored)
	app := ada.shows("Bearer " + appToken(t, ada))
	for name, b := range map[string]*browser{"an app": app, "a browser": ada, "nobody": ada.bare()} {
		for _, a := range []*answer{b.get("/auth/session"), func() *answer { _, _, a := b.who(); return a }()} {
			vary := strings.Join(a.Header()["Vary"], ", ")
			if !strings.Contains(vary, "Cookie") || !strings.Contains(vary, "Authorization") {
				t.Errorf("R-434 %s: Vary %q", name, vary)
			}
		}
	}
	if _, _, a := app.who(); a.Header().Get("Cache-Control") != "private" {
		t.Errorf("R-434 what an app sees: %v", a.Header())
	}
	if a := app.get("/auth/session"); !strings.Contains(a.Header().Get("Cache-Control"), "no-store") {
		t.Errorf("R-434 the session: %v", a.Header())
	}
}

func TestBearerRenewal(t *testing.T) {
	t.Run("R-435 of a token", func(t *testing.T) {
		s, ada := newBearerSite(t, revocable)
		token := appToken(t, ada)
		app := ada.shows("Bearer " + token)
		s.clock.Advance(20 * 24 * time.Hour)
		found, err := s.auth.ReadSession(httptest.NewRecorder(), app.request("GET", "/", "", ""))
		if err != nil || found.Expires.Sub(s.clock.Now()) > 10*24*time.Hour+time.Minute {
			t.Errorf("a guard's session ends with its token: %v, %v", found, err)
		}
		if _, _, a := app.who(); a.Header().Get("Session-Token") != "" {
			t.Error("a guard hands out a token")
		}
		a := app.get("/auth/session")
		renewed := a.Header().Get("Session-Token")
		if renewed == "" || renewed == token || !strings.Contains(a.Header().Get("Cache-Control"), "no-store") || a.Header()["Set-Cookie"] != nil {
			t.Fatalf("%v", a.Header())
		}
		s.clock.Advance(20 * 24 * time.Hour)
		if email, _, _ := app.who(); email != "" {
			t.Error("the old token outlives itself")
		}
		again := ada.shows("Bearer " + renewed)
		if email, _, _ := again.who(); email == "" {
			t.Error("the new token is refused")
		}
		again.do("POST", "/auth/signout", "", "")
		if email, _, _ := again.who(); email != "" {
			t.Error("the sign-out is not final")
		}
	})
	t.Run("R-435 of a row", func(t *testing.T) {
		s, ada := newBearerSite(t, stored)
		app := ada.shows("Bearer " + appToken(t, ada))
		for range 3 {
			s.clock.Advance(20 * 24 * time.Hour)
			if email, _, a := app.who(); email == "" || a.Header().Get("Session-Token") != "" {
				t.Fatalf("%q, %v", email, a.Header())
			}
			if a := app.get("/auth/session"); a.Header().Get("Session-Token") != "" {
				t.Errorf("%v", a.Header())
			}
		}
	})
	t.Run("R-435 by an update", func(t *testing.T) {
		s, ada := newBearerSite(t, revocable, func(c *latchkey.Config) {
			c.Callbacks.Token = func(_ context.Context, u latchkey.TokenInfo) (latchkey.Claims, error) {
				if u.Trigger == latchkey.TriggerUpdate {
					u.Claims["name"] = u.Update
				}
				return u.Claims, nil
			}
		})
		app := ada.shows("Bearer " + appToken(t, ada))
		a := app.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := s.auth.UpdateSession(w, r, "Augusta"); err != nil {
				t.Error(err)
			}
		}), app.request("POST", "/name", "", ""))
		if a.Header()["Set-Cookie"] != nil {
			t.Errorf("%v", a.Header())
		}
		found, err := s.auth.ReadSession(httptest.NewRecorder(), ada.shows("Bearer "+a.Header().Get("Session-Token")).request("GET", "/", "", ""))
		if err != nil || found.User.Name != "Augusta" {
			t.Errorf("%+v, %v", found, err)
		}
		neutral, err := latchkey.FromHTTP(app.request("POST", "/name", "", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.auth.Core().UpdateSession(t.Context(), neutral, "Lost"); !errors.Is(err, latchkey.ErrInvalidConfig) {
			t.Errorf("without a response: %v", err)
		}
		header := http.Header{}
		ctx := s.auth.Core().LoadSession(t.Context(), neutral, header)
		if _, _, err := s.auth.Core().UpdateSession(ctx, neutral, "Byron"); err != nil || header.Get("Session-Token") == "" {
			t.Errorf("%v, %v", header, err)
		}
	})
	t.Run("R-435 a failing store is no end of a session", func(t *testing.T) {
		store := newFaultyStore()
		_, ada := newBearerSite(t, stored, func(c *latchkey.Config) { c.Adapter = store })
		app := ada.shows("Bearer " + appToken(t, ada))
		store.fail("GetSessionAndUser", faultBefore)
		if a := app.get("/auth/session"); a.Code != http.StatusInternalServerError || a.Header().Get("WWW-Authenticate") != "" {
			t.Errorf("the session route: %d, %v", a.Code, a.Header())
		}
		if email, _, a := app.who(); email != "" || a.Code != http.StatusInternalServerError {
			t.Errorf("a guard: %q, %d", email, a.Code)
		}
		store.fail("DeleteSession", faultBefore)
		if a := app.do("POST", "/auth/signout", "", ""); a.Code != http.StatusInternalServerError {
			t.Errorf("the sign-out: %d", a.Code)
		}
	})
}

// What apps send and get is in no log, however wrong it is.
func TestBearerIsNotLogged(t *testing.T) {
	for kind, change := range bearerKinds {
		s, ada := newBearerSite(t, change)
		code := bearerCode(t, ada, appVerifier)
		token, _, err := ada.change(code, appVerifier)
		if err != nil {
			t.Fatal(err)
		}
		_, _, _ = ada.change(code, appVerifier)
		_, _, _ = ada.change(code[:len(code)-3], otherAppText)
		for _, lines := range [][]string{{"Bearer " + token}, {"Bearer " + token, "Bearer " + token[1:]}, {"Basic eDp5, Bearer " + token}, {"Bearer " + token[:40]}} {
			app := ada.shows(lines...)
			app.get("/auth/session")
			app.who()
			app.do("POST", "/auth/signout", "", "")
		}
		for name, secret := range map[string]string{"the token": token, "a part of it": token[:40], "the code": code, "a verifier": appVerifier, "another": otherAppText} {
			if strings.Contains(s.log.text(), secret) {
				t.Errorf("R-436 %s: %s is in the log", kind, name)
			}
		}
	}
}

// A token from before HostPrefix is one until the date that cookies have.
func TestBearerFromBeforeHostPrefix(t *testing.T) {
	s, ada := newBearerSite(t, revocable)
	app := ada.shows("Bearer " + appToken(t, ada))
	site := func(change func(*latchkey.Config)) *latchkey.Auth {
		c := s.config
		c.Cookies.HostPrefix = new(true)
		change(&c)
		auth, err := latchkey.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return auth
	}
	r := func() *http.Request { return app.request("GET", "/", "", "") }
	during := site(func(c *latchkey.Config) { c.Cookies.MigrateUntil = s.clock.Now().Add(time.Hour) })
	if found, err := during.ReadSession(httptest.NewRecorder(), r()); err != nil || found.Via != latchkey.ViaBearer {
		t.Errorf("R-427 before the date: %+v, %v", found, err)
	}
	if _, err := site(func(*latchkey.Config) {}).ReadSession(httptest.NewRecorder(), r()); !errors.Is(err, latchkey.ErrNoSession) {
		t.Errorf("R-427 without one: %v", err)
	}
	s.clock.Advance(2 * time.Hour)
	if _, err := during.ReadSession(httptest.NewRecorder(), r()); !errors.Is(err, latchkey.ErrNoSession) {
		t.Errorf("R-427 after the date: %v", err)
	}
}
