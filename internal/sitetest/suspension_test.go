package sitetest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/plainsite"
	"github.com/latchkeyhq/latchkey/internal/race"
	"github.com/latchkeyhq/latchkey/jwt"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// strategies are both kinds of sessions.
var strategies = map[string]func(*latchkey.Config){"rows": stored, "tokens": func(*latchkey.Config) {}}

// suspended suspends a user of a site.
func suspended(t testing.TB, s *oauthSite, id string, o users.SuspendOptions) {
	t.Helper()
	if err := s.auth.Users().Suspend(event.WithActor(t.Context(), event.Actor{Kind: event.ActorAdmin, ID: "boss"}), id, o); err != nil {
		t.Fatal(err)
	}
}

// onlyUser returns the id of the one user of a site.
func onlyUser(t testing.TB, s *oauthSite) string {
	t.Helper()
	all := s.store.Contents().Users
	if len(all) != 1 {
		t.Fatalf("%d users", len(all))
	}
	return all[0].ID
}

// TestSuspension: P-015, P-016, P-017, P-021, P-023.
func TestSuspension(t *testing.T) {
	for name, strategy := range strategies {
		t.Run(name, func(t *testing.T) {
			asked := 0
			s := newOAuthSite(t, strategy, func(c *latchkey.Config) {
				c.Limits.Disabled = true
				c.Theme.Contact = "help@app.example"
				c.Callbacks.SignIn = func(_ context.Context, a latchkey.SignInAttempt) error {
					if !a.VerificationRequest { // links are mailed as ever
						asked++
					}
					return nil
				}
			})
			b := s.newBrowser()
			s.mustSignIn(b)
			id := onlyUser(t, s)
			if _, err := s.store.UpdateUser(t.Context(), id, storage.UserChange{Email: new(adaEmail), EmailVerified: new(s.clock.Now())}); err != nil {
				t.Fatal(err)
			}
			s.clock.Advance(time.Minute)
			linkBefore := s.newBrowser().askForLink(adaEmail)
			flow := s.newBrowser()
			begun := s.authResponse(flow, "issuer")
			until := s.clock.Now().Add(time.Hour)
			suspended(t, s, id, users.SuspendOptions{Until: until, Reason: "canary reason"})
			dead(t, b) // P-016
			asked = 0
			before := s.contents()

			for way, try := range map[string]func() *answer{
				"P-015 a provider":               func() *answer { return s.signIn(s.newBrowser()) },
				"P-017 a flow begun before":      func() *answer { return flow.get("/auth/callback/issuer?" + begun.Encode()) },
				"P-017 a link mailed before":     func() *answer { return s.newBrowser().get(linkBefore) },
				"P-015 a link asked for after":   func() *answer { b := s.newBrowser(); return b.get(b.askForLink(adaEmail)) },
				"P-015 a provider, a minute ago": func() *answer { s.clock.Advance(time.Minute); return s.signIn(s.newBrowser()) },
			} {
				a := try()
				refused(t, a, "AccessDenied", "Verification", "OAuthCallbackError")
				if a.error() == "AccessDenied" && !strings.Contains(a.location(), "code=suspended") {
					t.Errorf("%s: to %q, without code=suspended", way, a.location())
				}
				if strings.Contains(a.location(), "canary") || strings.Contains(a.location(), until.Format("2006")) {
					t.Errorf("P-023 %s: the URL says more: %q", way, a.location())
				}
			}
			if asked != 0 {
				t.Errorf("P-015 the application was asked about a suspended user %d times", asked)
			}
			if now := s.contents(); strings.Count(now, `"provider"`) != strings.Count(before, `"provider"`) {
				t.Error("P-015 accounts were written")
			}

			visitor := s.newBrowser()
			page := visitor.follow(s.signIn(visitor))
			page.says(t, "Signing in with this account is suspended", "help@app.example", until.UTC().Format("2006-01-02 15:04"))
			if strings.Contains(page.Body.String(), "canary") {
				t.Error("P-023 the page tells the reason")
			}

			s.clock.Advance(until.Sub(s.clock.Now()) - time.Millisecond)
			refused(t, s.signIn(s.newBrowser()), "AccessDenied")
			s.clock.Advance(time.Millisecond)
			s.mustSignIn(s.newBrowser()) // P-021
			dead(t, b)
		})
	}
}

// TestRestore: P-021, P-025.
func TestRestore(t *testing.T) {
	for name, strategy := range strategies {
		t.Run("P-021 "+name, func(t *testing.T) {
			s, b := newSignedInOAuthSite(t, strategy, func(c *latchkey.Config) { c.Limits.Disabled = true })
			id := onlyUser(t, s)
			if err := s.auth.Users().Restore(t.Context(), id); !errors.Is(err, latchkey.ErrNotFound) {
				t.Errorf("Restore of a user who is not suspended: %v", err)
			}
			s.clock.Advance(time.Minute)
			suspended(t, s, id, users.SuspendOptions{})
			s.clock.Advance(time.Minute)
			refused(t, s.signIn(s.newBrowser()), "AccessDenied")
			if err := s.auth.Users().Restore(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s.clock.Advance(time.Minute)
			dead(t, b)
			s.mustSignIn(s.newBrowser())
		})
		t.Run("R-839 a suspension that has run out "+name, func(t *testing.T) {
			s, _ := newSignedInOAuthSite(t, strategy, func(c *latchkey.Config) { c.Limits.Disabled = true })
			id := onlyUser(t, s)
			suspended(t, s, id, users.SuspendOptions{Until: s.clock.Now().Add(time.Hour)})
			s.clock.Advance(2 * time.Hour)
			b := s.newBrowser()
			s.mustSignIn(b)
			s.clock.Advance(time.Minute)
			if err := s.auth.Users().Restore(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s.clock.Advance(time.Minute)
			if !b.copy().isLive() {
				t.Error("the user is signed out")
			}
		})
	}
	s := newOAuthSite(t, stored)
	s.mustSignIn(s.newBrowser())
	id := onlyUser(t, s)
	before := s.contents()
	for field, o := range map[string]users.SuspendOptions{
		"Until": {Until: s.clock.Now()}, "Reason": {Reason: strings.Repeat("é", 501)},
	} {
		wrong, is := errors.AsType[*users.InputError](s.auth.Users().Suspend(t.Context(), id, o))
		if !is || wrong.Field != field {
			t.Errorf("P-025 %s: %v", field, wrong)
		}
	}
	if err := s.auth.Users().Suspend(t.Context(), id, users.SuspendOptions{Reason: "a\x00"}); !errors.Is(err, latchkey.ErrInvalidConfig) {
		t.Errorf("P-025 NUL: %v", err)
	}
	if err := s.auth.Users().Suspend(t.Context(), "nobody", users.SuspendOptions{}); !errors.Is(err, latchkey.ErrNotFound) {
		t.Errorf("P-025 unknown user: %v", err)
	}
	s.noWrite(t, before)
}

// TestSuspensionOfEndlessTokens: P-025, sessions that nothing can end.
func TestSuspensionOfEndlessTokens(t *testing.T) {
	s := newOAuthSite(t, func(c *latchkey.Config) { c.Session.SkipRevocations = true })
	s.mustSignIn(s.newBrowser())
	id := onlyUser(t, s)
	if err := s.auth.Users().Suspend(t.Context(), id, users.SuspendOptions{}); !errors.Is(err, latchkey.ErrSessionsNotEnded) {
		t.Errorf("P-025 %v", err)
	}
	if _, err := s.store.Suspensions().Get(t.Context(), id); err != nil {
		t.Errorf("P-025 the suspension is not stored: %v", err)
	}
	refused(t, s.signIn(s.newBrowser()), "AccessDenied")
}

// TestCredentialsOfSuspendedUsers: P-015 and P-022, with passwords of the application.
func TestCredentialsOfSuspendedUsers(t *testing.T) {
	asked := 0
	s := newSite(t, func(c *latchkey.Config) {
		c.Callbacks.SignIn = func(context.Context, latchkey.SignInAttempt) error { asked++; return nil }
	})
	if _, err := s.store.CreateUser(t.Context(), latchkey.User{ID: "alice-1", Name: "Alice"}); err != nil {
		t.Fatal(err)
	}
	if err := s.auth.Users().Suspend(t.Context(), "alice-1", users.SuspendOptions{}); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(time.Minute)
	a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland")
	refused(t, a, "AccessDenied")
	script := s.newBrowser()
	script.header.Set("X-Auth-Return-Redirect", "1")
	j := script.postJSON("/auth/callback/crew", map[string]any{"username": "alice", "password": "wonderland", "csrfToken": script.token()})
	var told map[string]string
	if err := json.Unmarshal(j.Body.Bytes(), &told); j.Code != http.StatusForbidden || err != nil || told["code"] != "suspended" {
		t.Errorf("P-015 a script gets %d %s", j.Code, j.Body)
	}
	if asked != 0 {
		t.Errorf("P-015 the application was asked about a suspended user %d times", asked)
	}
	wrong := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wrong")
	nobody := s.newBrowser().post("/auth/callback/crew", "username", "nobody", "password", "wrong")
	if wrong.location() != nobody.location() {
		t.Errorf("P-022 a wrong password: to %q, of nobody: to %q", wrong.location(), nobody.location())
	}
}

// TestSuspensionsThatCannotBeRead: P-026.
func TestSuspensionsThatCannotBeRead(t *testing.T) {
	s := newSite(t, func(c *latchkey.Config) {
		c.Adapter = mute{c.Adapter.(*memoryadapter.Adapter)}
	})
	if a := s.newBrowser().post("/auth/callback/crew", "username", "alice", "password", "wonderland"); a.signsIn() {
		t.Errorf("P-026 let in: %d to %q", a.Code, a.location())
	}
}

// mute is a store whose suspensions do not answer.
type mute struct{ *memoryadapter.Adapter }

func (mute) Suspensions() storage.SuspensionStore { return muteSuspensions{} }

type muteSuspensions struct{ storage.SuspensionStore }

func (muteSuspensions) Get(context.Context, string) (storage.Suspension, error) {
	return storage.Suspension{}, storage.ErrUnavailable
}

// suspendsOnRead is a store without transactions. It suspends a user right after the
// second time that the user was found by an account: when the sign-in commits.
type suspendsOnRead struct {
	*memoryadapter.Adapter
	NoTransactions
	reads *int
}

// NoTransactions hides the method InTx of what stands beside it.
type NoTransactions struct{}

func (NoTransactions) InTx() {}

func (s suspendsOnRead) GetUserByAccount(ctx context.Context, provider, id string) (storage.User, error) {
	u, err := s.Adapter.GetUserByAccount(ctx, provider, id)
	if *s.reads++; err == nil && *s.reads == 2 {
		err = s.Suspensions().Put(ctx, u.ID, storage.Suspension{Since: time.Now()})
	}
	return u, err
}

// TestSuspensionDuringTheCommit: P-017, where nothing but the suspension says that a user
// is kept out.
func TestSuspensionDuringTheCommit(t *testing.T) {
	store := suspendsOnRead{Adapter: memoryadapter.New(memoryadapter.Options{}), reads: new(int)}
	*store.reads = 100
	s := newOAuthSite(t, func(c *latchkey.Config) { c.Adapter, c.Session.SkipRevocations = store, true })
	s.mustSignIn(s.newBrowser())
	*store.reads = 0
	b := s.newBrowser()
	refused(t, s.signIn(b), "AccessDenied")
	if dead(t, b); *store.reads < 2 {
		t.Errorf("P-017 the user was read %d times", *store.reads)
	}
}

// TestSuspensionRaces: P-018, sign-ins and suspensions at once.
func TestSuspensionRaces(t *testing.T) {
	for name, strategy := range strategies {
		t.Run("P-018 "+name, func(t *testing.T) {
			for range race.Rounds(t) {
				s := newOAuthSite(t, strategy, func(c *latchkey.Config) { c.Limits.Disabled = true })
				s.mustSignIn(s.newBrowser())
				id := onlyUser(t, s)
				s.clock.Advance(time.Minute)
				browsers := []*browser{s.newBrowser(), s.newBrowser(), s.newBrowser()}
				answers := s.authResponses(browsers)
				together(len(browsers)+1, func(i int) {
					if i == len(browsers) {
						suspended(t, s, id, users.SuspendOptions{})
						return
					}
					browsers[i].get("/auth/callback/issuer?" + answers[i].Encode())
				})
				s.clock.Advance(time.Second)
				for _, b := range browsers {
					dead(t, b)
				}
			}
		})
	}
}

// TestSuspendedAtAuthJS: P-020, sessions that another program opens for a suspended
// user.
func TestSuspendedAtAuthJS(t *testing.T) {
	t.Run("P-020 a token", func(t *testing.T) {
		s := newOAuthSite(t)
		s.mustSignIn(s.newBrowser())
		id := onlyUser(t, s)
		theirs := func() *browser {
			b := s.newBrowser()
			token, err := jwt.NewCodec([]string{siteSecret}, "__Secure-authjs.session-token").SealClaims(jwt.Claims{"sub": id, "name": "Ada"}, s.clock.Now(), time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			b.jar["__Secure-authjs.session-token"] = token
			return b
		}
		live(t, theirs())
		suspended(t, s, id, users.SuspendOptions{})
		s.clock.Advance(time.Minute)
		dead(t, theirs())
	})
	t.Run("P-020 a row beside the users", func(t *testing.T) {
		apart := newApartStore()
		s := newOAuthSite(t, stored, func(c *latchkey.Config) { c.Session.Store = apart })
		s.mustSignIn(s.newBrowser())
		id := onlyUser(t, s)
		suspended(t, s, id, users.SuspendOptions{})
		s.clock.Advance(time.Minute)
		b := s.newBrowser()
		row := storage.StoredSession{Token: "theirs", UserID: id, Expires: s.clock.Now().Add(time.Hour)}
		if err := apart.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		b.jar["__Secure-authjs.session-token"] = "theirs"
		dead(t, b)
	})
}

// TestPasswordsOfSuspendedUsers: P-015 and P-024, managed passwords and their resets.
func TestPasswordsOfSuspendedUsers(t *testing.T) {
	eachStrategy(t, func(t *testing.T, strategy latchkey.Strategy) {
		s := newManagedSite(t, strategy)
		u := s.addUser(annMail, annsPass)
		linkBefore := s.resetLink(annMail)
		s.clock.Advance(time.Minute)
		if err := s.auth.Users().Suspend(t.Context(), u.ID, users.SuspendOptions{}); err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(time.Minute)
		linkAfter := s.resetLink(annMail)
		before, err := s.store.Passwords().Get(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		for name, link := range map[string]string{"before": linkBefore, "after": linkAfter} {
			b := s.newBrowser()
			if a := b.post(link, "password", newPass); a.signsIn() {
				t.Errorf("P-024 a link from %s the suspension signs in", name)
			}
			dead(t, b)
		}
		after, err := s.store.Passwords().Get(t.Context(), u.ID)
		if err != nil || after.Hash != before.Hash {
			t.Errorf("P-024 the password was changed: %v", err)
		}
		if a := s.newBrowser().tries(annMail, annsPass); a.signsIn() || !strings.Contains(a.location(), "code=suspended") {
			t.Errorf("P-015 the right password: %d to %q", a.Code, a.location())
		}
		if a := s.newBrowser().tries(annMail, "wrong password"); strings.Contains(a.location(), "suspended") {
			t.Errorf("P-022 a wrong password says that the user is suspended: %q", a.location())
		}
	})
}

// suspendingOnly keeps suspensions and sessions, and lists no sessions.
type suspendingOnly struct {
	storage.Adapter
	storage.SessionAdapter
	storage.SuspensionAdapter
}

// TestCapabilityOfSuspending: R-806, what Capabilities says of Suspend is what Suspend does.
func TestCapabilityOfSuspending(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*latchkey.Config, *memoryadapter.Adapter)
		want   bool
	}{
		"R-806 stored sessions that nothing lists": {func(c *latchkey.Config, a *memoryadapter.Adapter) {
			stored(c)
			c.Adapter = suspendingOnly{a, a, a}
		}, false},
		"R-806 stored sessions in a store apart": {func(c *latchkey.Config, a *memoryadapter.Adapter) {
			stored(c)
			c.Adapter, c.Session.Store = suspendingOnly{a, a, a}, newApartStore()
		}, true},
		"R-806 stored sessions": {func(c *latchkey.Config, _ *memoryadapter.Adapter) { stored(c) }, true},
		"R-806 JWT sessions": {func(c *latchkey.Config, a *memoryadapter.Adapter) {
			plainsite.AsTokens(c)
			c.Adapter = suspendingOnly{a, a, a}
		}, true},
		"R-806 no place for suspensions": {func(c *latchkey.Config, a *memoryadapter.Adapter) { plainsite.AsTokens(c); c.Adapter = leanStore{a} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := memoryadapter.New(memoryadapter.Options{})
			s := plainsite.New(t, func(conf *latchkey.Config) {
				if _, err := a.CreateUser(t.Context(), storage.User{ID: plainsite.UserID}); err != nil {
					t.Fatal(err)
				}
				conf.Adapter = a
				c.change(conf, a)
			})
			can, err := s.Auth.Users().Capabilities(t.Context())
			if err != nil || can.Suspend != c.want {
				t.Errorf("Capabilities.Suspend is %t, want %t; %v", can.Suspend, c.want, err)
			}
			err = s.Auth.Users().Suspend(t.Context(), plainsite.UserID, users.SuspendOptions{})
			if isSuspended := err == nil || errors.Is(err, latchkey.ErrSessionsNotEnded); isSuspended != c.want {
				t.Errorf("Suspend: %v", err)
			}
		})
	}
}
