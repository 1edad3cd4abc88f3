package latchkey

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/internal/cache"
)

// mostKeys is how many keys a ledger keeps: the two ledgers of a program stay
// within 32 MiB together.
const mostKeys = 1 << 16

func newLedger(now func() time.Time, evict bool) *cache.Ledger {
	return cache.NewLedger(cache.LedgerRules{Size: mostKeys, Share: mostKeys / 16, Evict: evict, Now: now})
}

// clientKeyInContext is the context key of the client that asks.
type clientKeyInContext struct{}

// withClient tells ledgers which client asks. Empty: none in particular.
func withClient(ctx context.Context, client string) context.Context {
	if client == "" {
		return ctx
	}
	return context.WithValue(ctx, clientKeyInContext{}, client)
}

// clientIn returns the client of withClient, or "".
func clientIn(ctx context.Context) string {
	client, _ := ctx.Value(clientKeyInContext{}).(string)
	return client
}
