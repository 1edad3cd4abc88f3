package factor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/storage"
)

func TestRecent(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		at   time.Time
		want bool
	}{
		"F-063 just in time":            {now.Add(time.Millisecond - time.Minute), true},
		"F-063 at the end":              {now.Add(-time.Minute), true},
		"F-063 too late":                {now.Add(-time.Minute - time.Millisecond), false},
		"F-063 unknown":                 {time.Time{}, false},
		"F-063 the clock was set back":  {now.Add(2 * time.Minute), false},
		"F-063 clocks of two instances": {now.Add(20 * time.Second), true},
	} {
		if got := factor.IsRecent(c.at, now, time.Minute); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestNoProofIsRecentEnoughForNothing (F-063): within zero or less no proof passes, not
// even one by a clock that is ahead.
func TestNoProofIsRecentEnoughForNothing(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, within := range []time.Duration{0, -time.Second, -time.Minute} {
		for _, at := range []time.Time{now, now.Add(20 * time.Second), now.Add(time.Minute)} {
			w := factor.Wanted{Within: within}
			if w.IsMet(factor.Assured{Proved: at}, now) {
				t.Errorf("F-063 a proof at %v passes at %v within %v", at, now, within)
			}
		}
	}
}

func TestAgain(t *testing.T) {
	app := &factor.Held{Rows: []storage.Factor{{Kind: totp}}}
	mail := &factor.Held{Rows: []storage.Factor{{Kind: storage.FactorEmail}}, HasMail: true}
	both := &factor.Held{Rows: []storage.Factor{{Kind: totp}, {Kind: storage.FactorEmail}}, HasMail: true}
	for _, c := range []struct {
		name, amr, acr, more string
		held                 *factor.Held
		want, level          string
		byFactor             bool
	}{
		{"F-045 a code after a password", "pwd", "aal1", "otp", app, "pwd otp mfa", "aal2", true},
		{"F-045 a password after a code keeps the level and is no factor", "pwd otp mfa", "aal2", "pwd", app, "otp mfa pwd", "aal2", false},
		{"F-045 and a code after that is one again", "otp mfa pwd", "aal2", "otp", app, "mfa pwd otp", "aal2", true},
		{"F-045 a recovery code is one", "pwd", "aal1", "recovery", app, "pwd recovery mfa", "aal2", true},
		{"F-045 a mail is one where nothing is stronger", "pwd", "aal1", "email", mail, "pwd email mfa", "aal1", true},
		{"R-842 nor does it raise the level beside a passkey without a PIN", "swk", "aal1", "email", mail, "swk email mfa", "aal1", true},
		{"F-045 a mail does not stand for an app", "pwd", "aal1", "email", both, "pwd email mfa", "aal1", false},
		{"F-045 a mail does not second a mail", "email", "aal1", "email", mail, "email", "aal1", false},
		{"F-004 a session of another server", "", "", "otp", app, "fed otp mfa", "aal2", true},
		{"R-687 a mail in a session of another server may be its first proof again", "", "", "email", mail, "email", "aal1", false},
		{"R-687 so may a passkey that asked for no PIN", "", "", "hwk", app, "hwk", "aal1", false},
		{"R-687 a passkey with user verification is two proofs", "", "", "hwk user", app, "hwk user", "aal2", false},
		{"R-687 a password in a session of another server", "", "", "pwd", app, "pwd", "aal1", false},
		{"R-687 and a mail after that", "pwd", "aal1", "email", mail, "pwd email mfa", "aal1", true},
	} {
		amr, level := factor.Raised(strings.Fields(c.amr), c.acr, strings.Fields(c.more), "")
		if strings.Join(amr, " ") != c.want || level != c.level || c.held.ByFactor(amr) != c.byFactor {
			t.Errorf("%s: %v, %s, %t", c.name, amr, level, c.held.ByFactor(amr))
		}
	}
}

// a proof counts once. NeedFactor is met by a kind only if the session has another
// proof beside it; a passkey with user verification is two proofs by itself.
func TestNeedFactor(t *testing.T) {
	none := []storage.FactorKind{}
	demands := map[string][]storage.FactorKind{"any": none, "email": {mail}, "totp": {totp}, "recovery": {recovery}, "passkey": {key}, "email or totp": {mail, totp}}
	for amr, c := range map[string]struct{ name, met string }{
		"":                   {"a session of another server", ""},
		"pwd":                {"a password", ""},
		"pwd browser":        {"a password in a remembered browser", ""},
		"pwd email":          {"a password, at a sign-up that a mail proved", ""},
		"pwd email mfa":      {"a password and a mailed code", "email, email or totp"},
		"email mfa pwd":      {"the same, and the password once more", "email, email or totp"},
		"pwd otp mfa":        {"a password and an app", "any, totp, email or totp"},
		"pwd recovery mfa":   {"a password and a recovery code", "any, recovery"},
		"pwd hwk mfa":        {"a password and a passkey that asked for no PIN", "any, passkey"},
		"fed mfa":            {"a provider that is trusted with two factors", "any"},
		"fed swk user mfa":   {"a provider and a passkey", "any, passkey"},
		"email":              {"a magic link alone", ""},
		"email browser":      {"a magic link in a remembered browser", ""},
		"email otp mfa":      {"a magic link and an app", "any, email, totp, email or totp"},
		"email recovery mfa": {"a magic link and a recovery code", "any, email, recovery, email or totp"},
		"hwk":                {"a passkey that asked for no PIN, alone", ""},
		"swk":                {"a synced one, alone", ""},
		"hwk user":           {"a passkey with user verification", "any, passkey"},
		"swk user email":     {"the same, at a sign-up that a mail proved", "any, passkey"},
		"hwk otp mfa":        {"a passkey that asked for no PIN, and an app", "passkey, totp, email or totp"},
		"otp":                {"a code of an app as the only proof of an application's own sign-in", ""},
	} {
		words := strings.Fields(amr)
		acr := factor.Level(words)
		if amr == "fed mfa" {
			acr = factor.AAL2 // as the provider said
		}
		for demand, kinds := range demands {
			want := slices.Contains(strings.Split(c.met, ", "), demand)
			w := factor.Wanted{IsFactor: true, Kinds: kinds}
			if got := w.IsMet(factor.Assured{AMR: words, ACR: acr}, time.Time{}); got != want {
				t.Errorf("R-712 %s (%s), NeedFactor(%s): %t, want %t", c.name, amr, demand, got, want)
			}
		}
	}
}

// what a user can prove for a demand meets it or is offered only once, so that no
// guard asks again and again: one more proof of the same kind is no second one.
func TestNeedFactorEnds(t *testing.T) {
	all := &factor.Held{Rows: []storage.Factor{{Kind: totp}, {Kind: mail}}, Passkeys: make([]storage.Authenticator, 1), HasMail: true}
	for _, first := range []string{"", "pwd", "pwd email", "fed", "email", "hwk", "hwk user", "pwd browser", "pwd otp mfa", "email mfa pwd", "email pwd"} {
		amr := strings.Fields(first)
		for _, kind := range all.Provable(everything, amr) {
			words := factor.OfKind(kind)
			if kind == key {
				words = factor.OfPasskey(&storage.Authenticator{}, false)
			}
			proven, acr := factor.Raised(amr, factor.Level(amr), words, "")
			if !factor.Meets(proven, acr, kind) && slices.Contains(all.Provable(everything, proven), kind) {
				t.Errorf("R-712 after %s, a proof by %s is offered again and does not meet NeedFactor(%s): %v", first, kind, kind, proven)
			}
		}
		for _, repeated := range []string{"pwd", "fed", "email"} {
			if !slices.Contains(amr, repeated) || repeated == "email" && first != "email" || factor.Meets(amr, factor.Level(amr), mail) {
				continue
			}
			if proven, acr := factor.Raised(amr, factor.Level(amr), []string{repeated}, ""); factor.Meets(proven, acr, mail) {
				t.Errorf("R-712 after %s, %s once more meets NeedFactor(email): %v", first, repeated, proven)
			}
		}
	}
}
