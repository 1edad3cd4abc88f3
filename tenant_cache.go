package latchkey

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// setupCache remembers prepared configurations by what names them, and forgets
// those that nobody has asked for since the last look (SIEVE): a look is one
// read under a shared lock, and one visit of many strangers' tenants does not
// push out the busy ones.
type setupCache struct {
	most int

	mu     sync.RWMutex
	byKey  map[any]*list.Element // of *cachedSetup
	newest list.List
	hand   *list.Element // where the last look stopped; nil: at the oldest
}

type cachedSetup struct {
	key     any
	prepare func() (*setup, error) // once
	asked   atomic.Bool            // since the hand came by
}

func newSetupCache(most int) *setupCache {
	return &setupCache{most: most, byKey: map[any]*list.Element{}}
}

// get is what was remembered; nil: nothing.
func (c *setupCache) get(key any) func() (*setup, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.find(key)
}

func (c *setupCache) find(key any) func() (*setup, error) {
	e, ok := c.byKey[key]
	if !ok {
		return nil
	}
	found := e.Value.(*cachedSetup)
	if !found.asked.Load() {
		found.asked.Store(true)
	}
	return found.prepare
}

// getOrAdd is what was remembered meanwhile, or else prepare from now on.
func (c *setupCache) getOrAdd(key any, prepare func() (*setup, error)) func() (*setup, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.find(key); found != nil {
		return found
	}
	for len(c.byKey) >= c.most {
		c.evict()
	}
	c.byKey[key] = c.newest.PushFront(&cachedSetup{key: key, prepare: prepare})
	return prepare
}

func (c *setupCache) evict() {
	e := c.hand
	for {
		if e == nil {
			e = c.newest.Back()
		}
		if !e.Value.(*cachedSetup).asked.Swap(false) {
			break
		}
		e = e.Prev()
	}
	c.hand = e.Prev()
	c.newest.Remove(e)
	delete(c.byKey, e.Value.(*cachedSetup).key)
}

// forget makes the next request ask for the configuration again.
func (c *setupCache) forget(key any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return
	}
	if c.hand == e {
		c.hand = e.Prev()
	}
	c.newest.Remove(e)
	delete(c.byKey, key)
}
