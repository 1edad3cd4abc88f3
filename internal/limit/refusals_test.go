package limit

import (
	"context"
	"testing"
	"time"

	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// a refusal is told with the field of latchkey.Limits that sets the rate.
func TestRefusalsAreTold(t *testing.T) {
	one := storage.Rate{Events: 1, Per: time.Hour}
	for name, c := range map[string]struct {
		field string
		take  func(l *Limits) error
	}{
		"an attempt at an account": {"CredentialsPerAccount", func(l *Limits) error {
			_, err := l.Take(t.Context(), l.Attempt("p", "ada", Requester{}))
			return err
		}},
		"a password of a user": {"CredentialsPerAccount", func(l *Limits) error {
			_, err := l.Take(t.Context(), l.UserAttempt("u", "ada@example.com", Requester{}))
			return err
		}},
		"a password of no user": {"CredentialsPerAccount", func(l *Limits) error {
			_, err := l.Take(t.Context(), l.UserAttempt("", "ada@example.com", Requester{}))
			return err
		}},
		"a second factor": {"FactorPerUser", func(l *Limits) error {
			_, _, err := l.TakeCode(t.Context(), Code{UserID: "u"})
			return err
		}},
		"a second factor in a known browser": {"FactorPerUser", func(l *Limits) error {
			_, _, err := l.TakeCode(t.Context(), Code{UserID: "u", Browser: "b"})
			return err
		}},
		"a recovery code": {"FactorPerUser", func(l *Limits) error {
			_, _, err := l.TakeCode(t.Context(), Code{UserID: "u", IsRecovery: true})
			return err
		}},
	} {
		l := New(Rates{AttemptsPerAccount: one, Factors: one}, false, keys.New([]string{"secret"}, "", ""), NewMemory(newFakeClock().Now), nil)
		var told []string
		l.OnRefusal(func(_ context.Context, field string, _ bool) { told = append(told, field) })
		for range 2 {
			if err := c.take(l); err != nil {
				t.Fatal(err)
			}
		}
		if len(told) != 1 || told[0] != c.field {
			t.Errorf("%s: told %q, want %s once", name, told, c.field)
		}
	}
}
