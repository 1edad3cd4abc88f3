package guarded

import (
	"context"
	"sync"
	"time"
)

// deadline is a [context.WithDeadline] that sets its timer at the first call of Done or
// Err. Callbacks that run at each read of a session hardly ever wait, and setting and
// stopping a timer costs as much as all the rest of the call.
type deadline struct {
	parent context.Context
	until  time.Time

	mu     sync.Mutex
	timed  context.Context // the context with the timer; nil: no caller waits yet
	cancel context.CancelFunc
	ended  bool
}

// Deadline returns until, or the deadline of the parent if that is earlier.
func (c *deadline) Deadline() (time.Time, bool) {
	if sooner, ok := c.parent.Deadline(); ok && sooner.Before(c.until) {
		return sooner, true
	}
	return c.until, true
}

func (c *deadline) Done() <-chan struct{} { return c.start().Done() }

func (c *deadline) Err() error { return c.start().Err() }

// Value returns the value of the context with the timer, or of the parent while there is
// no timer. With the timer it spares a goroutine: context.WithCancel and its like call Done
// of their parent c, which sets the timer, and then ask c.Value for a context of package
// context that can register them. They find the one with the timer. If they found none,
// they would start a goroutine that waits for c.Done.
func (c *deadline) Value(key any) any {
	c.mu.Lock()
	timed := c.timed
	c.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return c.parent.Value(key)
}

// start returns the context with the timer, and makes it at the first call. After end
// that context is canceled.
func (c *deadline) start() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.parent, c.until)
		if c.ended {
			c.cancel()
		}
	}
	return c.timed
}

// end cancels the context and releases its timer, if one is set.
func (c *deadline) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}
