// Package testclock is a clock for tests.
package testclock

import (
	"sync"
	"time"
)

// Clock stands still until a test advances it. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// New returns a clock that stands at now.
func New(now time.Time) *Clock { return &Clock{at: now} }

// Now returns the time at which c stands. A Config takes it as its Time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Advance moves the clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
