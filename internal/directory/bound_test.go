package directory

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/adapters/memoryadapter"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/internal/otp"
	"github.com/latchkeyhq/latchkey/internal/testclock"
	"github.com/latchkeyhq/latchkey/storage"
)

// boundSite is a directory with passwords and second factors, a clock, and Ada, whose address
// is proven.
type boundSite struct {
	Passwords
	q     *Outbox
	clock *testclock.Clock
	ada   storage.User
}

func newBoundSite(t *testing.T) *boundSite {
	t.Helper()
	clock, adapter := testclock.New(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)), memoryadapter.New(memoryadapter.Options{})
	secrets := []string{"a secret of a test that is long enough"}
	bounds := &guarded.Bounds{Timeout: 10 * time.Second}
	d := &Directory{
		Store: storeOf(adapter), Passwords: true, MovesAddresses: true, Now: clock.Now,
		Revocations: NewRevocations(Revocations{Store: adapter, Keys: keys.New(secrets, "", ""), InAdapter: true, Bounds: bounds, Life: time.Hour, EvidenceLife: time.Hour, Now: clock.Now}),
		Log: journal.New(slog.New(slog.DiscardHandler), clock.Now, journal.Rules{
			Level: func(error) slog.Level { return slog.LevelError }, Details: func(error) []journal.Detail { return nil },
		}),
	}
	OfferFactors(d, Factors{Kinds: []storage.FactorKind{storage.FactorTOTP, storage.FactorRecovery}, Skew: 1, Delay: 72 * time.Hour}, secrets, "")
	s := &boundSite{Passwords: Passwords{d}, q: &Outbox{Base: &event.Event{}}, clock: clock}
	s.ada = s.add(t, "ada", "ada@example.com")
	return s
}

// add creates a user with a proven address.
func (s *boundSite) add(t *testing.T, id, email string) storage.User {
	t.Helper()
	u, err := s.Store.createUser(t.Context(), storage.User{ID: id, Email: email, EmailVerified: s.clock.Now(), Created: s.clock.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// end ends Ada's sessions, as a sign-out everywhere does.
func (s *boundSite) end(t *testing.T) {
	t.Helper()
	s.clock.Advance(time.Minute)
	if err := s.EndSessions(t.Context(), s.q, s.ada.ID, ""); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(time.Minute)
}

// move gives Ada another address, as an application may.
func (s *boundSite) move(t *testing.T) {
	t.Helper()
	if _, err := s.Store.updateUser(t.Context(), s.ada.ID, storage.UserChange{Email: new("new@example.com")}); err != nil {
		t.Fatal(err)
	}
}

// enrol gives Ada an app.
func (s *boundSite) enrol(t *testing.T) (secret []byte) {
	t.Helper()
	of := EnrolmentOf{UserID: s.ada.ID}
	handle, e, err := s.Factors.BeginEnrolment(t.Context(), of)
	of.Handle = handle
	if err == nil {
		_, err = s.Factors.ConfirmEnrolment(t.Context(), s.q, FactorChange{UserID: s.ada.ID}, of, "phone", otp.Code(e.Secret, otp.Step(s.clock.Now())))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(time.Minute)
	return e.Secret
}

// F-083, F-201: a reset link is void after an end of the user's sessions, and for another
// address.
func TestResetLinksAreBound(t *testing.T) {
	for name, change := range map[string]func(*boundSite, *testing.T){"F-201 the sessions were ended": (*boundSite).end, "F-083 the address has moved": (*boundSite).move} {
		s := newBoundSite(t)
		handle, _, err := s.NewReset(t.Context(), &s.ada, time.Hour)
		if err == nil {
			_, err = s.LookAtReset(t.Context(), handle)
		}
		if err != nil {
			t.Fatal(err)
		}
		change(s, t)
		if _, err := s.LookAtReset(t.Context(), handle); !IsVoid(err) {
			t.Errorf("%s: looked at: %v", name, err)
		}
		if _, err := s.SetPassword(t.Context(), s.q, PasswordChange{Reset: handle, Hash: "new", Event: event.PasswordReset}); !IsVoid(err) {
			t.Errorf("%s: used: %v", name, err)
		}
		if stored, err := s.PasswordOf(t.Context(), s.ada.ID); stored != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, stored, err)
		}
	}
}

// F-086, F-201: the link of a new address is its user's, and void after a change.
func TestMovesAreBound(t *testing.T) {
	for name, change := range map[string]func(*boundSite, *testing.T) string{
		"F-201 the sessions were ended": func(s *boundSite, t *testing.T) string { s.end(t); return s.ada.ID },
		"F-086 the address has moved":   func(s *boundSite, t *testing.T) string { s.move(t); return s.ada.ID },
		"F-086 the former address is another user's by now": func(s *boundSite, t *testing.T) string {
			s.move(t)
			return s.add(t, "eve", "ada@example.com").ID
		},
	} {
		s := newBoundSite(t)
		m, err := s.AskToMove(t.Context(), s.q, &s.ada, "other@example.com")
		if err == nil {
			_, err = s.LookAtMove(t.Context(), m.Handle, &s.ada)
		}
		if err != nil {
			t.Fatal(err)
		}
		by := change(s, t)
		if _, err := s.MoveAddress(t.Context(), s.q, m.Handle, PasswordChange{UserID: by}); !IsVoid(err) {
			t.Errorf("%s: %v", name, err)
		}
		if u, err := s.Store.User(t.Context(), by); u.Email == "other@example.com" || err != nil {
			t.Errorf("%s: moved to %s, %v", name, u.Email, err)
		}
	}
}

// F-085: a password is set only in place of the one that the user has shown.
func TestPasswordIsComparedAndSet(t *testing.T) {
	s := newBoundSite(t)
	set := func(hash string, was *string) error {
		_, err := s.SetPassword(t.Context(), s.q, PasswordChange{UserID: s.ada.ID, Hash: hash, Was: was, Event: event.PasswordChanged})
		return err
	}
	if err := errors.Join(set("first", new("")), set("second", new("first"))); err != nil {
		t.Fatal(err)
	}
	for _, was := range []string{"", "first"} {
		if err := set("third", &was); !errors.Is(err, storage.ErrConflict) {
			t.Errorf("F-085 in place of %q: %v", was, err)
		}
	}
	if stored, err := s.PasswordOf(t.Context(), s.ada.ID); err != nil || stored == nil || stored.Hash != "second" {
		t.Errorf("F-085 %+v, %v", stored, err)
	}
}

// F-046, F-033: an enrolment is of its user and session, ends with the fifth wrong code, and
// is the fifth app's at most.
func TestEnrolmentsAreBound(t *testing.T) {
	s := newBoundSite(t)
	of := EnrolmentOf{UserID: s.ada.ID, Session: "one"}
	begin := func() (code string) {
		t.Helper()
		handle, e, err := s.Factors.BeginEnrolment(t.Context(), EnrolmentOf{UserID: of.UserID, Session: of.Session})
		if err != nil {
			t.Fatal(err)
		}
		of.Handle = handle
		return otp.Code(e.Secret, otp.Step(s.clock.Now()))
	}
	confirm := func(of EnrolmentOf, code string) error {
		_, err := s.Factors.ConfirmEnrolment(t.Context(), s.q, FactorChange{UserID: of.UserID}, of, "phone", code)
		return err
	}
	s.add(t, "eve", "eve@example.com")
	code := begin()
	for name, other := range map[string]EnrolmentOf{"another user": {of.Handle, "eve", "one"}, "another session": {of.Handle, of.UserID, "two"}, "none": {of.Handle, of.UserID, ""}} {
		if _, err := s.Factors.EnrolmentFor(t.Context(), other); !errors.Is(err, ErrNotPending) {
			t.Errorf("F-046 %s sees it: %v", name, err)
		}
		if err := confirm(other, code); !errors.Is(err, ErrNotPending) {
			t.Errorf("F-046 %s confirms it: %v", name, err)
		}
	}
	code = begin()
	for i := range factor.MostTries {
		if err := confirm(of, "letters"); errors.Is(err, ErrNotPending) != (i == factor.MostTries-1) || err == nil {
			t.Errorf("F-046 wrong code %d: %v", i+1, err)
		}
	}
	if err := confirm(of, code); !errors.Is(err, ErrNotPending) {
		t.Errorf("F-046 after five wrong codes: %v", err)
	}
	for i := range factor.MostApps + 1 {
		if err := confirm(of, begin()); errors.Is(err, ErrTooManyApps) != (i == factor.MostApps) {
			t.Errorf("F-033 app %d: %v", i+1, err)
		}
	}
}

// F-076: an app with a hundred wrong codes in a row takes none from an unknown browser.
func TestAppsStopAtAHundredWrongCodes(t *testing.T) {
	s := newBoundSite(t)
	secret := s.enrol(t)
	check := func(code string, isKnown bool) bool {
		t.Helper()
		p := &Pending{UserID: s.ada.ID, Kinds: []storage.FactorKind{storage.FactorTOTP}}
		second, _, err := s.Factors.CheckSecond(t.Context(), "", p, Shown{Kind: storage.FactorTOTP, Code: code, IsKnown: isKnown})
		if err != nil {
			t.Fatal(err)
		}
		return second != nil
	}
	code := otp.Code(secret, otp.Step(s.clock.Now()))
	for range factor.MostFailures - 1 {
		check("letters", true)
	}
	if !check(code, false) {
		t.Error("F-076 it takes none before")
	}
	check("letters", false)
	if check(code, false) {
		t.Error("F-076 it takes one from an unknown browser")
	}
	if !check(code, true) {
		t.Error("F-076 it takes none from a known browser")
	}
}

// F-070: a proof in a session that has ended meanwhile renews nothing.
func TestStepUpEndsWithTheSessions(t *testing.T) {
	for _, ended := range []bool{false, true} {
		s, renewed := newBoundSite(t), false
		since := s.clock.Now()
		if ended {
			s.end(t)
		}
		err := CompleteStepUp(t.Context(), s.Directory, s.q, StepUp{
			Of: EnrolmentOf{Handle: "h", UserID: s.ada.ID}, Since: since,
			Renew: func(context.Context, *Store, time.Time) error { renewed = true; return nil },
		})
		if errors.Is(err, ErrSessionGone) != ended || renewed == ended {
			t.Errorf("F-070 ended %t: renewed %t, %v", ended, renewed, err)
		}
	}
}

// F-205: the way back to the former address works for 72 hours, once.
func TestUndoEnds(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		works bool
	}{{72*time.Hour - time.Second, true}, {72 * time.Hour, false}} {
		s := newBoundSite(t)
		m, err := s.AskToMove(t.Context(), s.q, &s.ada, "thief@example.com")
		if err == nil {
			_, err = s.MoveAddress(t.Context(), s.q, m.Handle, PasswordChange{UserID: s.ada.ID})
		}
		if err != nil {
			t.Fatal(err)
		}
		s.clock.Advance(c.after)
		if u, _, err := s.UndoMove(t.Context(), s.q, m.Undo); (err == nil) != c.works || !c.works && !IsVoid(err) || c.works && u.Email != s.ada.Email {
			t.Errorf("F-205 after %v: %s, %v", c.after, u.Email, err)
		}
		if _, _, err := s.UndoMove(t.Context(), s.q, m.Undo); !IsVoid(err) {
			t.Errorf("F-205 after %v, once more: %v", c.after, err)
		}
	}
}

// F-201: lost factors are removed in the browser that asked, for the address that was told, and
// not before the delay.
func TestLostFactorsAreBound(t *testing.T) {
	for name, c := range map[string]struct {
		browser string
		after   time.Duration
		change  func(*boundSite, *testing.T)
		works   bool
	}{
		"as it was asked for":     {"b", 72 * time.Hour, nil, true},
		"another browser":         {"c", 72 * time.Hour, nil, false},
		"no browser":              {"", 72 * time.Hour, nil, false},
		"before the delay":        {"b", 72*time.Hour - time.Second, nil, false},
		"another address":         {"b", 72 * time.Hour, (*boundSite).move, false},
		"the sessions were ended": {"b", 72 * time.Hour, (*boundSite).end, false},
		"an administrator's reset": {"b", 72 * time.Hour, func(s *boundSite, t *testing.T) {
			_, _ = s.Factors.ResetFactors(t.Context(), s.q, s.ada.ID)
			s.enrol(t)
		}, false},
	} {
		s := newBoundSite(t)
		s.enrol(t)
		assertion := func() Assertion { return Assertion{Issued: s.clock.Now(), Started: s.clock.Now()} }
		l, err := s.Factors.BeginLost(t.Context(), s.q, assertion(), s.ada.ID, "b", "", 72*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(s, t)
		}
		s.clock.Advance(l.Issued.Add(c.after).Sub(s.clock.Now()))
		err = s.Factors.CompleteLost(t.Context(), s.q, assertion(), s.ada.ID, challenge.NewHandle(), l.Link, c.browser)
		if (err == nil) != c.works || !c.works && !errors.Is(err, fault.ErrVerification) {
			t.Errorf("F-201 %s: %v", name, err)
		}
		if held, err := s.Factors.Held(t.Context(), s.Store, &s.ada); err != nil || (len(held.Rows) == 0) != c.works {
			t.Errorf("F-201 %s: %d factors, %v", name, len(held.Rows), err)
		}
	}
}

// F-074: of a user's half-finished sign-ins the newest twenty wait.
func TestPendingSignInsAreBounded(t *testing.T) {
	s := newBoundSite(t)
	var handles []string
	for range factor.MostPending + 1 {
		handle, err := s.Factors.Suspend(t.Context(), s.q, &Pending{UserID: s.ada.ID}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, handle)
		s.clock.Advance(time.Second)
	}
	for i, handle := range handles {
		if _, err := s.Factors.Suspended(t.Context(), handle); errors.Is(err, ErrNotPending) != (i == 0) {
			t.Errorf("sign-in %d of %d: %v", i+1, len(handles), err)
		}
	}
}

// F-047: a user enrols no app before the address is proven, or vouched for by a provider.
func TestUnprovenUsersEnrolNothing(t *testing.T) {
	for name, c := range map[string]struct {
		user     storage.User
		accounts []storage.Account
		can      bool
	}{
		"an unproven address":  {storage.User{ID: "u", Email: "u@example.com"}, nil, false},
		"no address":           {storage.User{ID: "u"}, nil, true},
		"a vouched address":    {storage.User{ID: "u", Email: "u@example.com"}, []storage.Account{{Email: "u@example.com", EmailVouched: true}}, true},
		"vouched, and another": {storage.User{ID: "u", Email: "u@example.com"}, []storage.Account{{Email: "v@example.com", EmailVouched: true}}, false},
	} {
		s := newBoundSite(t)
		s.Providers = map[string]ProviderFacts{"acme": {Type: storage.TypeOAuth}}
		if _, err := s.Store.createUser(t.Context(), c.user); err != nil {
			t.Fatal(err)
		}
		for _, a := range c.accounts {
			a.UserID, a.Provider, a.ProviderAccountID, a.Type = "u", "acme", "1", storage.TypeOAuth
			if err := s.Store.linkAccount(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := s.Factors.BeginEnrolment(t.Context(), EnrolmentOf{UserID: "u"}); (err == nil) != c.can || !c.can && !errors.Is(err, ErrUnproven) {
			t.Errorf("F-047 %s: %v", name, err)
		}
	}
}

// F-050: a user who has to have a factor keeps the last one.
func TestLastFactorStays(t *testing.T) {
	for _, may := range []bool{false, true} {
		s := newBoundSite(t)
		s.enrol(t)
		s.enrol(t)
		rows, err := s.Store.Factors().List(t.Context(), s.ada.ID)
		if err != nil {
			t.Fatal(err)
		}
		c := FactorChange{UserID: s.ada.ID, May: func(context.Context, *storage.User) (bool, error) { return may, nil }}
		for i, f := range rows {
			_, err := s.Factors.RemoveFactor(t.Context(), s.q, c, f.ID)
			if last := i == len(rows)-1 && !may; errors.Is(err, fault.ErrLastFactor) != last || !last && err != nil {
				t.Errorf("F-050 factor %d of %d: %v", i+1, len(rows), err)
			}
		}
		if held, err := s.Factors.Held(t.Context(), s.Store, &s.ada); err != nil || (len(held.Rows) == 1) == may {
			t.Errorf("F-050 %d factors are left, %v", len(held.Rows), err)
		}
	}
}

// F-023, F-035, F-054: a code is used up by what it proves, and is of a kind that was asked for.
func TestCodesAreUsedUp(t *testing.T) {
	s := newBoundSite(t)
	secret := s.enrol(t)
	recovery, err := s.Factors.NewRecoveryCodes(t.Context(), s.q, s.ada.ID)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[storage.FactorKind]string{storage.FactorTOTP: otp.Code(secret, otp.Step(s.clock.Now())), storage.FactorRecovery: recovery[0]}
	second := func(kind storage.FactorKind, asked ...storage.FactorKind) *Second {
		t.Helper()
		in, _, err := s.Factors.CheckSecond(t.Context(), "", &Pending{UserID: s.ada.ID, Kinds: asked}, Shown{Kind: kind, Code: shown[kind]})
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	set := func(in *Second) error {
		_, err := s.SetPassword(t.Context(), s.q, PasswordChange{UserID: s.ada.ID, Hash: "new", Second: in, Event: event.PasswordReset})
		return err
	}
	for kind, other := range map[storage.FactorKind]storage.FactorKind{storage.FactorTOTP: storage.FactorRecovery, storage.FactorRecovery: storage.FactorTOTP} {
		if second(kind, other) != nil {
			t.Errorf("F-054 %s proves where %s is asked for", kind, other)
		}
		first, again := second(kind, kind), second(kind, kind)
		if first == nil || again == nil {
			t.Fatalf("F-023 %s is not accepted", kind)
		}
		if err := set(first); err != nil {
			t.Errorf("F-023 %s: %v", kind, err)
		}
		if err := set(again); !errors.Is(err, ErrWrongProof) {
			t.Errorf("F-023 %s, once more: %v", kind, err)
		}
	}
}

// F-207: a password goes only from a user who signs in with a passkey.
func TestPasswordStaysWithoutAPasskey(t *testing.T) {
	s := newBoundSite(t)
	change := PasswordChange{UserID: s.ada.ID, Hash: "first", Event: event.PasswordSet}
	if _, err := s.SetPassword(t.Context(), s.q, change); err != nil {
		t.Fatal(err)
	}
	change.Hash = ""
	if _, err := s.SetPassword(t.Context(), s.q, change); !errors.Is(err, fault.ErrLastAccount) {
		t.Errorf("F-207 %v", err)
	}
	if stored, err := s.PasswordOf(t.Context(), s.ada.ID); stored == nil || err != nil {
		t.Errorf("F-207 it is gone: %v", err)
	}
}

// F-206: a sign-in takes the invitation of an address only if the address is proven.
func TestInvitationsGoToProvenAddresses(t *testing.T) {
	s := newBoundSite(t)
	made, err := Invite(t.Context(), s.Directory, s.q, &event.Invitation{Email: "ada@example.com"})
	if err == nil {
		err = s.Waiting(s.Store).AcceptInvitation(t.Context(), made.Token)
	}
	if err != nil {
		t.Fatal(err)
	}
	person, unproven := storage.User{Email: s.ada.Email}, s.ada
	unproven.EmailVerified = time.Time{}
	for name, c := range map[string]struct {
		in    Assertion
		known *storage.User
		gets  bool
	}{
		"the sign-in proves it":        {Assertion{Person: person, ProvesEmail: true}, nil, true},
		"it was proven before":         {Assertion{Person: person}, &s.ada, true},
		"its user has not proven it":   {Assertion{Person: person}, &unproven, false},
		"a new user has not proven it": {Assertion{Person: person}, nil, false},
	} {
		if got, err := InvitationOf(t.Context(), s.Directory, &c.in, c.known); err != nil || (got != nil) != c.gets {
			t.Errorf("F-206 %s: %+v, %v", name, got, err)
		}
	}
}
