package limit

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/keys"
	"github.com/latchkeyhq/latchkey/storage"
)

// dayShare is how many hourly budgets of second factors a day has.
const dayShare = 3

// Code is a typed second factor of a user.
type Code struct {
	UserID     string
	Browser    string // public id of a browser that is known for the user; empty: it is not
	IsRecovery bool   // a recovery code, which is counted apart
}

// TakeCode counts a typed second factor before it is compared. It returns what it has
// counted, for Return, or how long to wait. A browser that is known for the user has a
// budget of its own, so that an attacker cannot close the owner out.
func (l *Limits) TakeCode(ctx context.Context, c Code) (tries []Try, wait time.Duration, err error) {
	for _, b := range l.budgetsOf(c) {
		try, err := l.Take(ctx, Event{target: b})
		if err == nil && try.Wait == 0 {
			tries = append(tries, try)
			continue
		}
		for _, taken := range tries {
			if undo := l.Return(ctx, taken); err == nil {
				err = undo
			}
		}
		return nil, try.Wait, err
	}
	return tries, 0, nil
}

// budgetsOf returns the budgets of a code. Without a known browser there are two: one in
// an hour, and one in a day.
func (l *Limits) budgetsOf(c Code) []budget {
	rate := l.rates.Factors
	switch {
	case c.IsRecovery:
		return []budget{{l.keys.Of(keys.RecoveryOfUser, c.UserID), rate}}
	case c.Browser != "":
		return []budget{{l.keys.Of(keys.FactorsOfBrowser, c.UserID, c.Browser), rate}}
	}
	day := storage.Rate{Events: dayShare * rate.Events, Per: 24 * time.Hour}
	return []budget{{l.keys.Of(keys.FactorsOfUser, c.UserID), rate}, {l.keys.Of(keys.FactorsInADay, c.UserID), day}}
}
