package factor_test

import (
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
		{"F-045 a mail does not stand for an app", "pwd", "aal1", "email", both, "pwd email mfa", "aal1", false},
		{"F-045 a mail does not second a mail", "email", "aal1", "email", mail, "email", "aal1", false},
		{"F-004 a session of another server", "", "", "otp", app, "fed otp mfa", "aal2", true},
	} {
		amr, level := factor.Raised(strings.Fields(c.amr), c.acr, strings.Fields(c.more), "")
		if strings.Join(amr, " ") != c.want || level != c.level || c.held.ByFactor(amr) != c.byFactor {
			t.Errorf("%s: %v, %s, %t", c.name, amr, level, c.held.ByFactor(amr))
		}
	}
}
