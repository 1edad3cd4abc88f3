package sitetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
)

// proofFaults is a store in memory whose calls in a completed sign-in fail as planned.
type proofFaults struct {
	*memoryadapter.Adapter
	plan *faultyStore
}

func (s proofFaults) InTx(ctx context.Context, f func(storage.Adapter) error) error {
	return act(ctx, s.plan, "InTx", func(ctx context.Context) error {
		return s.Adapter.InTx(ctx, func(tx storage.Adapter) error { return f(proofFaults{tx.(*memoryadapter.Adapter), s.plan}) })
	})
}

func (s proofFaults) GetUser(ctx context.Context, id string) (storage.User, error) {
	return attempt(ctx, s.plan, "GetUser", func(ctx context.Context) (storage.User, error) { return s.Adapter.GetUser(ctx, id) })
}

func (s proofFaults) GetUserByEmail(ctx context.Context, email string) (storage.User, error) {
	return attempt(ctx, s.plan, "GetUserByEmail", func(ctx context.Context) (storage.User, error) { return s.Adapter.GetUserByEmail(ctx, email) })
}

func (s proofFaults) UseVerificationToken(ctx context.Context, email, hash string) (storage.VerificationToken, error) {
	return attempt(ctx, s.plan, "UseVerificationToken", func(ctx context.Context) (storage.VerificationToken, error) {
		return s.Adapter.UseVerificationToken(ctx, email, hash)
	})
}

func (s proofFaults) UpdateUser(ctx context.Context, id string, c storage.UserChange) (storage.User, error) {
	return attempt(ctx, s.plan, "UpdateUser", func(ctx context.Context) (storage.User, error) { return s.Adapter.UpdateUser(ctx, id, c) })
}

func (s proofFaults) ListAuthenticators(ctx context.Context, id string) ([]storage.Authenticator, error) {
	return attempt(ctx, s.plan, "ListAuthenticators", func(ctx context.Context) ([]storage.Authenticator, error) {
		return s.Adapter.ListAuthenticators(ctx, id)
	})
}

func (s proofFaults) CreateSession(ctx context.Context, row storage.StoredSession) error {
	return act(ctx, s.plan, "CreateSession", func(ctx context.Context) error { return s.Adapter.CreateSession(ctx, row) })
}

func (s proofFaults) Factors() storage.FactorStore { return factorFaults{s.Adapter.Factors(), s.plan} }

func (s proofFaults) Challenges() storage.ChallengeStore {
	return challengeFaults{s.Adapter.Challenges(), s.plan}
}

func (s proofFaults) Browsers() storage.BrowserStore {
	return browserFaults{s.Adapter.Browsers(), s.plan}
}

type factorFaults struct {
	storage.FactorStore
	plan *faultyStore
}

func (s factorFaults) List(ctx context.Context, userID string) ([]storage.Factor, error) {
	return attempt(ctx, s.plan, "Factors.List", func(ctx context.Context) ([]storage.Factor, error) { return s.FactorStore.List(ctx, userID) })
}

func (s factorFaults) Fail(ctx context.Context, id string) (int, error) {
	return attempt(ctx, s.plan, "Factors.Fail", func(ctx context.Context) (int, error) { return s.FactorStore.Fail(ctx, id) })
}

func (s factorFaults) Use(ctx context.Context, id string, step int64, secret string, used time.Time) error {
	return act(ctx, s.plan, "Factors.Use", func(ctx context.Context) error { return s.FactorStore.Use(ctx, id, step, secret, used) })
}

type challengeFaults struct {
	storage.ChallengeStore
	plan *faultyStore
}

func (s challengeFaults) Get(ctx context.Context, id string) (storage.Challenge, error) {
	return attempt(ctx, s.plan, "Challenges.Get", func(ctx context.Context) (storage.Challenge, error) { return s.ChallengeStore.Get(ctx, id) })
}

func (s challengeFaults) Try(ctx context.Context, id string, most int) (storage.Challenge, error) {
	return attempt(ctx, s.plan, "Challenges.Try", func(ctx context.Context) (storage.Challenge, error) { return s.ChallengeStore.Try(ctx, id, most) })
}

func (s challengeFaults) Take(ctx context.Context, id string) (storage.Challenge, error) {
	return attempt(ctx, s.plan, "Challenges.Take", func(ctx context.Context) (storage.Challenge, error) { return s.ChallengeStore.Take(ctx, id) })
}

type browserFaults struct {
	storage.BrowserStore
	plan *faultyStore
}

func (s browserFaults) Get(ctx context.Context, id, userID string) (storage.Browser, error) {
	return attempt(ctx, s.plan, "Browsers.Get", func(ctx context.Context) (storage.Browser, error) { return s.BrowserStore.Get(ctx, id, userID) })
}

func (s browserFaults) Put(ctx context.Context, b storage.Browser) error {
	return act(ctx, s.plan, "Browsers.Put", func(ctx context.Context) error { return s.BrowserStore.Put(ctx, b) })
}

func (s browserFaults) Renew(ctx context.Context, id, next string, seen time.Time) error {
	return act(ctx, s.plan, "Browsers.Renew", func(ctx context.Context) error { return s.BrowserStore.Renew(ctx, id, next, seen) })
}

// completionCalls are the calls of the store that complete a sign-in with a code.
var completionCalls = []string{
	"InTx", "GetUser", "UpdateUser", "CreateSession", "Factors.List", "Factors.Use", "Challenges.Get", "Challenges.Try", "Challenges.Take", "Browsers.Put",
}

// TestFaultsLeaveNoHalf is F-016: a fault in any call of the store opens no session without
// all of it, uses up no code without a session, and keeps no user out for good.
func TestFaultsLeaveNoHalf(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		plan := newFaultyStore()
		newFaultySite := func(t *testing.T, patience time.Duration) (*factorSite, *browser) {
			plan.reset()
			s := newFactorSite(t, with, func(c *latchkey.Config) {
				inner, _ := c.Adapter.(*memoryadapter.Adapter)
				c.Adapter = proofFaults{inner, plan}
				c.Limits.StoreTimeout, c.Limits.Disabled, c.Runtime.Logger = patience, true, quiet
			})
			b := s.newBrowser()
			b.challenge()
			clear(plan.plan.called)
			return s, b
		}
		s, b := newFaultySite(t, time.Minute)
		if !b.factor("totp", s.code(0)).signsIn() {
			t.Fatalf("without a fault: not signed in\n%s", s.log.text())
		}
		for name := range plan.plan.called {
			if !slices.Contains(completionCalls, name) && name != "ListAuthenticators" && name != "Browsers.Get" && name != "Browsers.Renew" {
				t.Errorf("the sign-in calls %s, which is not tried", name)
			}
		}
		for _, method := range completionCalls {
			for _, f := range []fault{faultBefore, faultAfter, faultHang, faultPanic} {
				t.Run(fmt.Sprintf("F-016 %s of %s", f, method), func(t *testing.T) {
					s, b := newFaultySite(t, patienceFor(f))
					before := factorsOf(t, s.testSite, "alice-1")[0].Step
					code := s.code(0)
					plan.fail(method, f)
					b.factor("totp", code)
					plan.mend()
					rows, isLive := len(s.store.Contents().Sessions), b.isLive()
					if step := factorsOf(t, s.testSite, "alice-1")[0].Step; step != before && !isLive && rows == 0 && s.config.Session.Strategy == latchkey.DatabaseSessions {
						t.Error("the code is used up, and there is no session")
					}
					if isLive && len(s.store.Contents().Challenges) != 0 {
						t.Error("signed in, and the sign-in still waits")
					}
					s.clock.Advance(time.Minute)
					again := s.newBrowser()
					again.challenge()
					if !again.factor("totp", s.code(0)).signsIn() {
						t.Error("the user is kept out")
					}
				})
			}
		}
	})
}

// An outage before a code is looked at is no wrong code.
func TestOutageIsNoFailedProof(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		t.Run("R-739 another proof in a session", func(t *testing.T) {
			failed, plan := 0, newFaultyStore()
			s := newFactorSite(t, with, func(c *latchkey.Config) {
				inner, _ := c.Adapter.(*memoryadapter.Adapter)
				c.Adapter, c.Events.Observe = proofFaults{inner, plan}, countFailed(&failed)
			})
			b := s.inSession()
			s.clock.Advance(time.Hour)
			plan.fail("Browsers.Get", faultBefore)
			a := b.post("/auth/reauth", "use", "totp", "code", s.code(0))
			if a.error() != "Configuration" || failed != 0 {
				t.Errorf("%d to %q, %d failures were told", a.Code, a.location(), failed)
			}
			plan.mend()
			if a := b.post("/auth/reauth", "use", "totp", "code", s.code(0)); a.error() != "" {
				t.Errorf("afterwards: %d to %q", a.Code, a.location())
			}
		})
		t.Run("R-738 a passkey as second factor", func(t *testing.T) {
			failed, replay := 0, &fickleReplay{seen: map[string]bool{}}
			s := newKeySite(t, func(c *latchkey.Config) {
				with(c)
				c.Limits.Replay = replay
				c.Events.Observe = func(_ context.Context, e latchkey.Event) error {
					if e.Type == event.FactorFailed {
						failed++
					}
					return nil
				}
			})
			b := s.newBrowser()
			b.challenge()
			b.header.Set("Sec-Fetch-Site", "same-origin")
			answer := b.asked("alice-1", "factor")
			replay.fails = true
			if a := b.post("/auth/factor", "use", "passkey", "data", answer); a.error() != "Configuration" || failed != 0 {
				t.Errorf("%d to %q, %d failures were told", a.Code, a.location(), failed)
			}
			replay.fails = false
			if a := b.post("/auth/factor", "use", "passkey", "data", b.asked("alice-1", "factor")); !a.signsIn() {
				t.Errorf("afterwards: %d to %q", a.Code, a.location())
			}
		})
	})
}

// TestOutagesAreNoTriesAtPasskeys: R-738 holds for a passkey that signs in by itself, too.
func TestOutagesAreNoTriesAtPasskeys(t *testing.T) {
	replay := &fickleReplay{seen: map[string]bool{}, fault: storage.ErrUnavailable}
	s := newKeySite(t, func(c *latchkey.Config) {
		c.Limits.Replay = replay
		c.Limits.CredentialsPerClient = latchkey.Rate{Events: 2, Per: time.Hour}
	})
	b := s.newBrowser()
	b.header.Set("Sec-Fetch-Site", "same-origin")
	signIn := func() *answer {
		return b.post("/auth/callback/passkey", "action", "authenticate", "data", b.asked("eve-1", ""))
	}
	replay.fails = true
	for range 2 {
		if a := signIn(); a.error() != "Configuration" {
			t.Fatalf("during the outage: %d to %q", a.Code, a.location())
		}
	}
	replay.fails = false
	if a := signIn(); !a.signsIn() {
		t.Errorf("afterwards: %d to %q", a.Code, a.location())
	}
}

// fickleReplay is a replay store that has an outage while fails is set.
type fickleReplay struct {
	seen  map[string]bool
	fails bool
	fault error // of the outage; nil: one that nothing tells from a fault that needs mending
}

func (r *fickleReplay) Use(_ context.Context, value string, _ time.Time) (bool, error) {
	if r.fails {
		return false, cmp.Or(r.fault, errors.New("connection refused"))
	}
	unused := !r.seen[value]
	r.seen[value] = true
	return unused, nil
}

// TestFaultsKeepTheSession: whatever call of the store fails while a user proves their
// identity in a session, the browser keeps a token of it.
func TestFaultsKeepTheSession(t *testing.T) {
	bothStrategies(t, func(t *testing.T, with func(*latchkey.Config)) {
		plan := newFaultyStore()
		prove := func(t *testing.T, nth int) (calls int) {
			plan.reset()
			s := newFactorSite(t, with, func(c *latchkey.Config) {
				inner, _ := c.Adapter.(*memoryadapter.Adapter)
				c.Adapter = proofFaults{inner, plan}
				c.Runtime.Logger = quiet
			})
			b := s.inSession()
			s.clock.Advance(time.Hour)
			b.token()
			plan.plan.failNth(nth)
			a := b.post("/auth/reauth?for=recent", "use", "totp", "code", s.code(0))
			calls = plan.plan.failNth(0)
			if !b.isLive() {
				t.Errorf("R-748: signed out by a fault of call %d of %d: %d to %q", nth, calls, a.Code, a.location())
			}
			return calls
		}
		most := prove(t, 0)
		for nth := range most {
			prove(t, nth+1)
		}
		if most < 5 {
			t.Errorf("only %d calls of the store", most)
		}
	})
}

// an outage while a code is checked leaves the user the tries of the limit, and
// R-709 those of the sign-in.
func TestOutageCountsNoCode(t *testing.T) {
	for _, call := range []string{"Challenges.Try", "Factors.List"} {
		t.Run("R-767 "+call, func(t *testing.T) {
			plan := newFaultyStore()
			s := newFactorSite(t, func(c *latchkey.Config) {
				inner, _ := c.Adapter.(*memoryadapter.Adapter)
				c.Adapter, c.Runtime.Logger = proofFaults{inner, plan}, quiet
			})
			for range 15 {
				b := s.newBrowser()
				b.challenge()
				plan.fail(call, faultAway)
				for range 7 {
					if a := b.factor("totp", s.code(0)); a.error() != "Configuration" {
						t.Fatalf("an outage: %d to %q", a.Code, a.location())
					}
				}
				plan.mend()
			}
			b := s.newBrowser()
			b.challenge()
			if a := b.factor("totp", s.code(0)); !a.signsIn() {
				t.Errorf("afterwards: %d to %q", a.Code, a.location())
			}
		})
	}
}

// an outage uses up no try, and a wrong code does, also where it cannot be counted
// at the app.
func TestOutageUsesUpNoTry(t *testing.T) {
	newFaultySite := func(t *testing.T) (*factorSite, *faultyStore) {
		plan := newFaultyStore()
		return newFactorSite(t, func(c *latchkey.Config) {
			inner, _ := c.Adapter.(*memoryadapter.Adapter)
			c.Adapter, c.Runtime.Logger = proofFaults{inner, plan}, quiet
		}), plan
	}
	for _, call := range []string{"Factors.List", "InTx"} {
		t.Run("R-709 a sign-in and "+call, func(t *testing.T) {
			s, plan := newFaultySite(t)
			b := s.newBrowser()
			b.challenge()
			plan.fail(call, faultAway)
			for range 7 {
				if a := b.factor("totp", s.code(0)); a.error() != "Configuration" {
					t.Fatalf("an outage: %d to %q", a.Code, a.location())
				}
			}
			plan.mend()
			for range 4 {
				if a := b.factor("totp", wrongCode(s.code(0))); a.error() != "SecondFactor" || a.signsIn() {
					t.Fatalf("a wrong code: %d to %q", a.Code, a.location())
				}
			}
			if a := b.factor("totp", s.code(0)); !a.signsIn() {
				t.Errorf("afterwards: %d to %q", a.Code, a.location())
			}
		})
		t.Run("R-709 a proof in a session and "+call, func(t *testing.T) {
			s, plan := newFaultySite(t)
			b := s.inSession()
			s.clock.Advance(time.Hour)
			plan.fail(call, faultAway)
			for range 7 {
				b.post("/auth/reauth", "use", "totp", "code", s.code(0))
			}
			plan.mend()
			if a := b.post("/auth/reauth", "use", "totp", "code", s.code(0)); a.error() != "" {
				t.Errorf("afterwards: %d to %q", a.Code, a.location())
			}
		})
	}
	t.Run("R-709 a wrong code that cannot be counted", func(t *testing.T) {
		s, plan := newFaultySite(t)
		b := s.newBrowser()
		b.challenge()
		plan.fail("Factors.Fail", faultAway)
		for range 5 {
			if a := b.factor("totp", wrongCode(s.code(0))); a.error() != "Configuration" {
				t.Fatalf("an outage: %d to %q", a.Code, a.location())
			}
		}
		plan.mend()
		if a := b.factor("totp", s.code(0)); a.signsIn() {
			t.Error("a sixth code is looked at")
		}
	})
}

// wrong recovery codes are limited, also where they have the form of right ones: a
// try comes back when the code was used up, and not before.
func TestGuessedRecoveryCodes(t *testing.T) {
	guess := func(t *testing.T, s *factorSite, use func(i int) *answer) {
		t.Helper()
		for i := range 12 {
			if a := use(i); a.signsIn() {
				t.Fatal("a guess signs in")
			}
		}
		b := s.newBrowser()
		b.challenge()
		if b.factor("recovery", s.codes[0]).signsIn() {
			t.Error("R-770: a thirteenth code within the hour is looked at")
		}
		s.clock.Advance(2 * time.Hour)
		b = s.newBrowser()
		b.challenge()
		if !b.factor("recovery", s.codes[0]).signsIn() {
			t.Error("R-770: the limit does not end")
		}
	}
	t.Run("R-770 at a sign-in", func(t *testing.T) {
		s := newFactorSite(t)
		guess(t, s, func(int) *answer {
			b := s.newBrowser()
			b.challenge()
			return b.factor("recovery", "ABCD-EFGH-JKMN-PQRS-TVWX-YZ01")
		})
	})
	t.Run("R-770 right codes cost nothing", func(t *testing.T) {
		s := newFactorSite(t)
		for _, code := range s.codes {
			b := s.newBrowser()
			b.challenge()
			if !b.factor("recovery", code).signsIn() {
				t.Fatal("a right code is refused")
			}
		}
	})
}
