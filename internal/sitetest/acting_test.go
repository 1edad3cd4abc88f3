package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/users"
)

// An administrator acts as a user.

const actingReason = "ticket 4711"

// actingSite is a site with an administrator and a user, each signed in.
type actingSite struct {
	*oauthSite
	boss, ada     *browser
	bossID, adaID string

	mu     sync.Mutex
	events []latchkey.Event
	mails  []latchkey.Message
}

func newActingSite(t *testing.T, change ...func(*latchkey.Config)) *actingSite {
	t.Helper()
	s := &actingSite{}
	common := func(c *latchkey.Config) {
		c.Limits.Disabled = true
		c.AccountPage.Enabled = true
		c.Session.ActAs = latchkey.ActAs{Max: time.Hour, Notify: true}
		c.Mail.Send = func(_ context.Context, m latchkey.Message) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.mails = append(s.mails, m)
			return nil
		}
		c.Runtime.Background = func(f func(context.Context)) { f(context.Background()) }
		c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, e)
			return nil
		}
	}
	s.oauthSite = newOAuthSite(t, append([]func(*latchkey.Config){common}, change...)...)
	s.boss, s.ada = s.newBrowser(), s.newBrowser()
	s.boss.signInByLink("boss@example.com")
	s.ada.signInByLink("ada@example.com")
	s.bossID, s.adaID = s.idOf(t, "boss@example.com"), s.idOf(t, "ada@example.com")
	s.clock.Advance(time.Minute)
	return s
}

func (s *actingSite) idOf(t testing.TB, email string) string {
	t.Helper()
	u, err := s.auth.Users().ByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	return u.ID
}

// told returns the events of a type.
func (s *actingSite) told(kind event.Type) (found []latchkey.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

// link returns the path of a link by which b acts as a user.
func (s *actingSite) link(b *browser, userID, reason string) (string, error) {
	link, err := s.auth.ActAsLink(b.request("POST", "/support", "", ""), userID, reason)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(link)
	if err != nil {
		return "", err
	}
	return u.RequestURI(), nil
}

// open follows a link in a browser, and presses the button.
func (b *browser) open(link string) *answer {
	b.get(link)
	_, token, _ := strings.Cut(link, "token=")
	return b.post("/auth/act-as", "token", token)
}

// acts returns a browser in which the administrator acts as Ada.
func (s *actingSite) acts(t testing.TB) *browser {
	t.Helper()
	link, err := s.link(s.boss, s.adaID, actingReason)
	if err != nil {
		t.Fatal(err)
	}
	b := s.newBrowser()
	if a := b.open(link); !a.signsIn() {
		t.Fatalf("answered %d to %q: %s", a.Code, a.location(), a.Body)
	}
	return b
}

func TestActing(t *testing.T) {
	for name, strategy := range strategies {
		t.Run("P-050 is the user's session and names the administrator, "+name, func(t *testing.T) {
			s := newActingSite(t, strategy)
			b := s.acts(t)
			found := s.sessionOf(b)
			if found == nil || found.UserID != s.adaID || found.Actor == nil || *found.Actor != (latchkey.Actor{Kind: event.ActorAdmin, ID: s.bossID}) {
				t.Fatalf("%+v", found)
			}
			if !found.AuthTime.IsZero() || !found.Proved.IsZero() || found.AMR != nil || found.ACR != "" {
				t.Errorf("it claims to be proven: %+v", found.Assurance)
			}
			var sent struct {
				Act  struct{ Sub string }
				User struct{ Email string }
			}
			if err := json.Unmarshal([]byte(b.session()), &sent); err != nil || sent.Act.Sub != s.bossID || sent.User.Email != "ada@example.com" {
				t.Errorf("%+v, %v", sent, err)
			}
			if own := s.sessionOf(s.ada); own == nil || own.Actor != nil || strings.Contains(s.ada.session(), `"act"`) {
				t.Errorf("the user's own session became %+v", own)
			}
			started := s.told(event.ImpersonationStarted)
			if len(started) != 1 || started[0].UserID != s.adaID || started[0].By.ID != s.bossID || started[0].By.Kind != event.ActorAdmin || started[0].Detail != "" || started[0].SessionID != found.ID {
				t.Errorf("told %+v", started)
			}
			if n := len(s.told(event.SignIn)); n != 2 {
				t.Errorf("%d sign-ins were told, want those of the two users", n)
			}
			if i := slices.IndexFunc(s.mails, func(m latchkey.Message) bool { return m.Kind == latchkey.MessageActedAs }); i < 0 || s.mails[i].To != "ada@example.com" {
				t.Errorf("the user was not told: %v", s.mails)
			}
			b.get("/auth/account").says(t, "An administrator is signed in as this user")
			if name == "rows" {
				s.ada.get("/auth/account").says(t, "Support")
			}
			b.post("/auth/signout")
			dead(t, b)
			if ended := s.told(event.ImpersonationEnded); len(ended) != 1 || ended[0].UserID != s.adaID || ended[0].By.ID != s.bossID {
				t.Errorf("told %+v", ended)
			}
			live(t, s.boss)
			live(t, s.ada)
		})
		t.Run("P-043 the link opens one session, "+name, func(t *testing.T) {
			s := newActingSite(t, strategy)
			link, err := s.link(s.boss, s.adaID, actingReason)
			if err != nil {
				t.Fatal(err)
			}
			browsers := make([]*browser, 100)
			for i := range browsers {
				browsers[i] = s.newBrowser()
				browsers[i].get("/auth/csrf")
			}
			_, token, _ := strings.Cut(link, "token=")
			together(len(browsers), func(i int) { browsers[i].post("/auth/act-as", "token", token) })
			opened := 0
			for _, b := range browsers {
				if b.session() != "null" {
					opened++
				}
			}
			if opened != 1 {
				t.Errorf("%d sessions", opened)
			}
		})
		for what, spoil := range map[string]func(s *actingSite, link string) string{
			"at 61 s":               func(s *actingSite, link string) string { s.clock.Advance(61 * time.Second); return link },
			"altered":               func(_ *actingSite, link string) string { return link[:len(link)-1] },
			"empty":                 func(*actingSite, string) string { return "/auth/act-as?token=" },
			"actor signed out":      func(s *actingSite, link string) string { s.boss.post("/auth/signout"); return link },
			"user suspended":        func(s *actingSite, link string) string { s.suspend(s.adaID); return link },
			"user deleted":          func(s *actingSite, link string) string { s.delete(s.adaID); return link },
			"actor suspended":       func(s *actingSite, link string) string { s.suspend(s.bossID); return link },
			"user's sessions ended": func(s *actingSite, link string) string { s.end(s.adaID); return link },
		} {
			t.Run("P-043 P-049 refused: "+what+", "+name, func(t *testing.T) {
				s := newActingSite(t, strategy)
				link, err := s.link(s.boss, s.adaID, actingReason)
				if err != nil {
					t.Fatal(err)
				}
				b := s.newBrowser()
				if a := b.open(spoil(s, link)); a.signsIn() {
					t.Error("a session was opened")
				}
				dead(t, b)
			})
		}
		t.Run("P-044 a browser with a live session is refused, "+name, func(t *testing.T) {
			s := newActingSite(t, strategy)
			link, err := s.link(s.boss, s.adaID, actingReason)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range []*browser{s.boss, s.ada} {
				email := b.session()
				if a := b.open(link); a.signsIn() {
					t.Error("a session was opened")
				}
				if b.session() != email {
					t.Error("the session changed")
				}
			}
			if a := s.newBrowser().open(link); !a.signsIn() {
				t.Error("the link was spent")
			}
		})
		t.Run("P-045 no link, "+name, func(t *testing.T) {
			s := newActingSite(t, strategy, func(c *latchkey.Config) { c.Session.Bearer = true })
			for what, row := range map[string]struct {
				from           *browser
				userID, reason string
				want           error
			}{
				"short reason":       {s.boss, s.adaID, "too short", latchkey.ErrInvalidConfig},
				"long reason":        {s.boss, s.adaID, strings.Repeat("é", 501), latchkey.ErrInvalidConfig},
				"spaces":             {s.boss, s.adaID, "  a b  c                  ", latchkey.ErrInvalidConfig},
				"NUL":                {s.boss, s.adaID, "ticket 4711\x00", latchkey.ErrInvalidConfig},
				"a guest":            {s.newBrowser(), s.adaID, actingReason, latchkey.ErrNoSession},
				"acting":             {s.acts(t), s.bossID, actingReason, latchkey.ErrAccessDenied},
				"by bearer":          {s.boss.shows("Bearer " + appToken(t, s.boss)), s.adaID, actingReason, latchkey.ErrNoSession},
				"P-049 unknown user": {s.boss, "nobody-at-all", actingReason, latchkey.ErrNotFound},
				"P-049 oneself":      {s.boss, s.bossID, actingReason, latchkey.ErrAccessDenied},
			} {
				if link, err := s.link(row.from, row.userID, row.reason); link != "" || !errors.Is(err, row.want) {
					t.Errorf("%s: %q, %v, want %v", what, link, err, row.want)
				}
			}
			s.suspend(s.adaID)
			if link, err := s.link(s.boss, s.adaID, actingReason); link != "" || !errors.Is(err, latchkey.ErrAccessDenied) {
				t.Errorf("P-049 suspended: %q, %v", link, err)
			}
			if err := s.auth.Users().Restore(t.Context(), s.adaID); err != nil {
				t.Fatal(err)
			}
			if link, err := s.link(s.boss, s.adaID, actingReason); link == "" || err != nil {
				t.Errorf("restored: %v", err)
			}
			s.clock.Advance(11 * time.Minute)
			if link, err := s.link(s.boss, s.adaID, actingReason); link != "" || !errors.Is(err, latchkey.ErrAccessDenied) {
				t.Errorf("old proof: %q, %v", link, err)
			}
		})
		for what, end := range map[string]func(s *actingSite){
			"actor signs out":       func(s *actingSite) { s.boss.post("/auth/signout") },
			"actor suspended":       func(s *actingSite) { s.suspend(s.bossID) },
			"actor deleted":         func(s *actingSite) { s.delete(s.bossID) },
			"actor's sessions end":  func(s *actingSite) { s.end(s.bossID) },
			"user's sessions end":   func(s *actingSite) { s.end(s.adaID) },
			"user suspended":        func(s *actingSite) { s.suspend(s.adaID) },
			"user deleted":          func(s *actingSite) { s.delete(s.adaID) },
			"an hour has passed":    func(s *actingSite) { s.clock.Advance(time.Hour) },
			"ActAs is switched off": func(s *actingSite) { s.switchOff() },
		} {
			t.Run("P-048 dead: "+what+", "+name, func(t *testing.T) {
				s := newActingSite(t, strategy)
				b := s.acts(t)
				live(t, b)
				end(s)
				if name == "tokens" && what == "an hour has passed" {
					s.clock.Advance(16 * time.Second) // clocks may differ
				}
				dead(t, &browser{s.testSite, b.jar, b.header})
			})
		}
	}
}

func (s *actingSite) suspend(id string) {
	s.t.Helper()
	suspended(s.t, s.oauthSite, id, users.SuspendOptions{})
}

func (s *actingSite) delete(id string) {
	s.t.Helper()
	if err := s.auth.Users().Delete(s.t.Context(), id); err != nil {
		s.t.Fatal(err)
	}
}

func (s *actingSite) end(id string) {
	s.t.Helper()
	if err := s.auth.Users().EndSessions(s.t.Context(), id); err != nil {
		s.t.Fatal(err)
	}
}

func (s *actingSite) switchOff() {
	s.t.Helper()
	c := s.config
	c.Session.ActAs = latchkey.ActAs{}
	auth, err := latchkey.New(c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.auth = auth
}

// TestActingIsRefused: P-046.
func TestActingIsRefused(t *testing.T) {
	for name, strategy := range strategies {
		s := newActingSite(t, strategy, func(c *latchkey.Config) { c.Session.Bearer = true })
		b := s.acts(t)
		for _, path := range []string{
			"/auth/account?do=unlink", "/auth/account?do=delete", "/auth/account?do=end", "/auth/account?do=others", "/auth/account?do=link",
			"/auth/account?do=rename", "/auth/account?do=remove", "/auth/account?do=export", "/auth/account?do=anything", "/auth/signin/issuer", "/auth/signin/acme",
		} {
			for form, ask := range map[string]func() *answer{
				"form": func() *answer { return b.post(path, "provider", "post", "confirm", "delete", "session", "x") },
				"JSON": func() *answer {
					return b.postJSON(path, map[string]any{"provider": "post", "confirm": "delete", "session": "x"})
				},
			} {
				t.Run("P-046 "+path+" by "+form+", "+name, func(t *testing.T) {
					before, told := s.contents(), len(s.told(event.ImpersonationRefused))
					a := ask()
					if a.signsIn() || !strings.Contains(a.location()+a.Body.String(), "AccessDenied") {
						t.Errorf("answered %d to %q: %s", a.Code, a.location(), a.Body)
					}
					s.noWrite(t, before)
					now := s.told(event.ImpersonationRefused)
					if len(now) != told+1 || now[told].By.ID != s.bossID || now[told].UserID != s.adaID || now[told].Outcome != event.Failed {
						t.Errorf("told %+v", now)
					}
				})
			}
		}
		for _, path := range []string{"/auth/account?do=delete", "/auth/account?do=totp", "/auth/account?do=change"} {
			t.Run("P-046 page "+path+", "+name, func(t *testing.T) {
				if a := b.get(path); !strings.Contains(a.location()+a.Body.String(), "AccessDenied") {
					t.Errorf("answered %d to %q", a.Code, a.location())
				}
			})
		}
		t.Run("P-046 handlers of the application, "+name, func(t *testing.T) {
			if _, err := s.auth.BearerCode(b.request("GET", "/app", "", ""), challengeOf(appVerifier)); !errors.Is(err, latchkey.ErrAccessDenied) {
				t.Errorf("a code for an app: %v", err)
			}
			reached := false
			guarded := s.auth.RequireSelf(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
			if a := b.serve(guarded, b.request("GET", "/pay", "", "")); a.Code != http.StatusForbidden || reached {
				t.Errorf("RequireSelf answered %d", a.Code)
			}
			s.ada.serve(guarded, s.ada.request("GET", "/pay", "", ""))
			if !reached {
				t.Error("RequireSelf refuses the user")
			}
		})
	}
}

// TestActingClaims: P-047.
func TestActingClaims(t *testing.T) {
	for what, shape := range map[string]func(latchkey.Claims){
		"drops": func(c latchkey.Claims) { delete(c, "act"); delete(c, "latchkey.actor"); delete(c, "exp") },
		"forges": func(c latchkey.Claims) {
			c["act"], c["latchkey.actor"] = map[string]any{"sub": "other"}, `{"uid":"other","sid":"s"}`
		},
	} {
		t.Run("P-047 a callback "+what+" act", func(t *testing.T) {
			triggers := map[latchkey.Trigger]int{}
			s := newActingSite(t, func(c *latchkey.Config) {
				c.Callbacks.Token = func(_ context.Context, info latchkey.TokenInfo) (latchkey.Claims, error) {
					triggers[info.Trigger]++
					shape(info.Claims)
					return info.Claims, nil
				}
			})
			if found := s.sessionOf(s.ada); found == nil || found.Actor != nil {
				t.Errorf("the user's own session: %+v", found)
			}
			b := s.acts(t)
			end := s.sessionOf(b).Expires
			for range 3 {
				s.clock.Advance(time.Minute)
				b.postJSON("/auth/session", map[string]any{"data": map[string]any{"act": nil}})
				found := s.sessionOf(b)
				if found == nil || found.Actor == nil || found.Actor.ID != s.bossID || !found.Expires.Equal(end) {
					t.Fatalf("%+v, want the end %v", found, end)
				}
			}
			if triggers[latchkey.TriggerActAs] != 1 {
				t.Errorf("%v", triggers)
			}
		})
	}
	for name, strategy := range strategies {
		t.Run("P-047 reading moves no end, "+name, func(t *testing.T) {
			s := newActingSite(t, strategy, func(c *latchkey.Config) {
				c.Session.UpdateAge = -1
				c.Callbacks.Session = func(_ context.Context, r latchkey.SessionInfo) (*latchkey.Session, error) {
					own := *r.Session
					own.Actor, own.Extra = nil, latchkey.Claims{"act": "mine"}
					return &own, nil
				}
			})
			b := s.acts(t)
			end := s.sessionOf(b).Expires
			for range 5 {
				s.clock.Advance(10 * time.Minute)
				b.postJSON("/auth/session", map[string]any{"data": 1})
				found := s.sessionOf(b)
				if found == nil || !found.Expires.Equal(end) || found.Actor == nil || !strings.Contains(b.session(), `"act":{"sub":"`+s.bossID+`"}`) {
					t.Fatalf("%+v, want the end %v; %s", found, end, b.session())
				}
			}
			s.clock.Advance(11 * time.Minute)
			dead(t, b)
		})
	}
}

// TestActingConfiguration: P-001.
func TestActingConfiguration(t *testing.T) {
	s := newOAuthSite(t, stored)
	b := s.newBrowser()
	b.signInByLink("boss@example.com")
	if _, err := s.auth.ActAsLink(b.request("POST", "/support", "", ""), "x", actingReason); !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("P-001 %v", err)
	}
	if a := b.get("/auth/act-as?token=x"); a.Code != http.StatusNotFound && a.Code != http.StatusBadRequest {
		t.Errorf("P-001 the route answers %d", a.Code)
	}
	for what, change := range map[string]func(*latchkey.Config){
		"longer than an hour":      func(c *latchkey.Config) { c.Session.ActAs.Max = time.Hour + 1 },
		"negative":                 func(c *latchkey.Config) { c.Session.ActAs.Max = -1 },
		"tokens that cannot end":   func(c *latchkey.Config) { c.Session.SkipRevocations = true },
		"no mail":                  func(c *latchkey.Config) { c.Providers, c.Session.ActAs.Notify = c.Providers[:1], true },
		"no adapter":               func(c *latchkey.Config) { c.Adapter, c.Providers = nil, c.Providers[:1] },
		"sessions without columns": func(c *latchkey.Config) { stored(c); c.Adapter = namelessActors{s.store} },
	} {
		c := newSite(t).config
		c.Session.ActAs.Max = time.Hour
		change(&c)
		if _, err := latchkey.New(c); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// namelessActors is a store without the columns of administrators.
type namelessActors struct{ *memoryadapter.Adapter }

func (namelessActors) KeepsActors() bool { return false }

// TestActingRaces: P-048.
func TestActingRaces(t *testing.T) {
	for name, strategy := range strategies {
		t.Run("P-048 a sign-out of the administrator beside the button, "+name, func(t *testing.T) {
			for range race.Rounds(t) {
				s := newActingSite(t, strategy)
				link, err := s.link(s.boss, s.adaID, actingReason)
				if err != nil {
					t.Fatal(err)
				}
				b := s.newBrowser()
				b.get(link)
				_, token, _ := strings.Cut(link, "token=")
				together(2, func(i int) {
					if i == 0 {
						s.boss.post("/auth/signout")
					} else {
						b.post("/auth/act-as", "token", token)
					}
				})
				dead(t, b)
			}
		})
	}
}
