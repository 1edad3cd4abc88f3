package limit

import (
	"cmp"
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

// TakeCode counts a typed second factor before it is compared. It returns the tries that
// it has counted. The caller passes each of them to Return if the code was right. If a
// budget is used up, TakeCode counts nothing and returns how long to wait, which is no
// error. A browser that is known for the user has a budget of its own, so that an
// attacker cannot lock the owner out. Recovery codes have one budget for all browsers. The
// error is that of Take, or else that of Return, for tries that are taken back.
func (l *Limits) TakeCode(ctx context.Context, c Code) (tries []Try, wait time.Duration, err error) {
	for _, b := range l.budgetsOf(c) {
		try, failed := l.Take(ctx, Event{target: b, field: "FactorPerUser"})
		if failed != nil || try.Wait > 0 {
			return nil, try.Wait, cmp.Or(failed, l.returnAll(ctx, tries))
		}
		tries = append(tries, try)
	}
	return tries, 0, nil
}

// returnAll passes each of tries to Return. It returns the first error, after the last
// try.
func (l *Limits) returnAll(ctx context.Context, tries []Try) (first error) {
	for _, t := range tries {
		first = cmp.Or(first, l.Return(ctx, t))
	}
	return first
}

// budgetsOf returns the budgets of a code. A recovery code has one of its own for all
// browsers. Any other code from a known browser has one of its own for that browser. Both
// have the rate Factors. A code from any other browser has two: one with the rate
// Factors, and one for a day with dayShare times as many events.
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
