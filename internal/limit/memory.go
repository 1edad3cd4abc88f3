package limit

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
	"github.com/latchkeyhq/latchkey/storage"
)

// mostKeys bounds a ledger: the two ledgers of a program stay within 32 MiB
// together.
const mostKeys = 1 << 16

// newLedger returns an empty ledger of mostKeys keys, of which one client may have a
// sixteenth once half are used. evict is LedgerRules.Evict.
func newLedger(now func() time.Time, evict bool) *cache.Ledger {
	return cache.NewLedger(cache.LedgerRules{Size: mostKeys, Share: mostKeys / 16, Evict: evict, Now: now})
}

// clientKeyInContext is the context key of the client that causes an event.
type clientKeyInContext struct{}

// withClient returns a context that tells Memory, Recent and UsedValues which client
// causes an event. client is its network, as widely returns it. With an empty client it
// returns ctx.
func withClient(ctx context.Context, client string) context.Context {
	if client == "" {
		return ctx
	}
	return context.WithValue(ctx, clientKeyInContext{}, client)
}

// clientIn returns the client that withClient has put into ctx, or "".
func clientIn(ctx context.Context) string {
	client, _ := ctx.Value(clientKeyInContext{}).(string)
	return client
}

// Memory is a [storage.ReturningLimiter] in this process's memory. It keeps 65,536
// keys, in 16 MiB at most. When it is full it first evicts the keys of a client
// that floods it, and then those that expire soonest.
type Memory struct {
	// emptyAt has the time at which the budget of a key will be unused again, by the
	// generic cell rate algorithm: each event moves that time on by its share of the
	// period, and fits if the time is then at most a whole period away.
	emptyAt *cache.Ledger
}

// NewMemory returns an empty limiter. A nil now is time.Now.
func NewMemory(now func() time.Time) *Memory {
	if now == nil {
		now = time.Now
	}
	return &Memory{newLedger(now, true)}
}

// Take counts one event under key and returns zero. If r is reached, it counts nothing
// and returns how long until the next event fits. A rate whose Events or Per is not
// positive counts and refuses nothing. The only error is that of ctx.
func (l *Memory) Take(ctx context.Context, key string, r storage.Rate) (wait time.Duration, err error) {
	if r.Events <= 0 || r.Per <= 0 || ctx.Err() != nil {
		return 0, ctx.Err()
	}
	l.emptyAt.Update(key, clientIn(ctx), func(known, now time.Time) time.Time {
		latest := now.Add(r.Per)
		if known.After(latest) { // the clock was set back
			known = latest
		}
		start := known
		if known.IsZero() { // nothing is counted
			start = now
		}
		next := start.Add(r.Per / time.Duration(r.Events))
		if wait = max(0, next.Sub(latest)); wait > 0 {
			return known
		}
		return next
	})
	return wait, nil
}

// Return takes back one event that Take counted under key at rate r. It does nothing if
// nothing is counted there. The only error is that of ctx.
func (l *Memory) Return(ctx context.Context, key string, r storage.Rate) error {
	if r.Events <= 0 || r.Per <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	l.emptyAt.Update(key, clientIn(ctx), func(known, _ time.Time) time.Time {
		if known.IsZero() { // nothing is counted
			return known
		}
		return known.Add(-r.Per / time.Duration(r.Events))
	})
	return nil
}

// Forget clears all that was counted under key. The only error is that of ctx.
func (l *Memory) Forget(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.emptyAt.Delete(key)
	return nil
}

// counts reports whether something is counted under key.
func (l *Memory) counts(key string) (counts bool) {
	l.emptyAt.Update(key, "", func(known, _ time.Time) time.Time {
		counts = !known.IsZero()
		return known
	})
	return counts
}
