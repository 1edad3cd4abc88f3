package latchkey

import (
	"context"
	"sync"
	"time"
)

// lazyDeadline is [context.WithDeadline] that sets its timer only when somebody
// waits for it. The callbacks that run whenever a session is read hardly ever
// do, and setting and stopping a timer costs as much as all else around them.
type lazyDeadline struct {
	parent context.Context
	until  time.Time

	mu     sync.Mutex
	timed  context.Context // nil: nobody waits yet
	cancel context.CancelFunc
	ended  bool
}

func (c *lazyDeadline) Deadline() (time.Time, bool) {
	if sooner, ok := c.parent.Deadline(); ok && sooner.Before(c.until) {
		return sooner, true
	}
	return c.until, true
}

func (c *lazyDeadline) Done() <-chan struct{} { return c.start().Done() }

func (c *lazyDeadline) Err() error { return c.start().Err() }

// Value is also how a context that is made of this one finds out whose end it
// has to watch; it asks for Done first.
func (c *lazyDeadline) Value(key any) any {
	c.mu.Lock()
	from := c.timed
	c.mu.Unlock()
	if from == nil {
		from = c.parent
	}
	return from.Value(key)
}

func (c *lazyDeadline) start() context.Context {
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

// end is the CancelFunc.
func (c *lazyDeadline) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}
