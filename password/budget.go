package password

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	maxWaiting = 64
	maxWait    = 2 * time.Second
)

// budget limits the memory of all checks together, and how many of them wait.
type budget struct {
	bytes   int64
	free    *semaphore.Weighted
	waiting atomic.Int64
}

// newBudget returns a budget of bytes.
func newBudget(bytes int64) *budget {
	return &budget{bytes: bytes, free: semaphore.NewWeighted(bytes)}
}

// take reserves memory, and waits for it if needed. A check that needs more than the
// whole budget takes all of it. take returns [ErrBusy] if 64 others wait or two seconds
// have passed, or the error of ctx. If it returns nil, the caller has to call giveBack
// with the same number of bytes.
func (b *budget) take(ctx context.Context, bytes int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bytes = min(bytes, b.bytes)
	if b.free.TryAcquire(bytes) {
		return nil
	}
	defer b.waiting.Add(-1)
	if b.waiting.Add(1) > maxWaiting {
		return ErrBusy
	}
	patience, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	if b.free.Acquire(patience, bytes) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrBusy
}

// giveBack releases what take reserved for the same number of bytes.
func (b *budget) giveBack(bytes int64) { b.free.Release(min(bytes, b.bytes)) }
