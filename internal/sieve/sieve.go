// Package sieve is a cache of bounded size.
package sieve

import (
	"container/list"
	"sync"
	"sync/atomic"
)

// Cache remembers values by key, and forgets those that nobody has asked for
// since the last look (SIEVE): a look is one read under a shared lock, and one
// visit of many strangers does not push out the busy ones. It is safe for
// concurrent use.
type Cache[K comparable, V any] struct {
	most int

	mu     sync.RWMutex
	byKey  map[K]*list.Element // of *entry[K, V]
	newest list.List
	hand   *list.Element // where the last look stopped; nil: at the oldest
}

type entry[K comparable, V any] struct {
	key   K
	value V
	asked atomic.Bool // since the hand came by
}

// New returns a cache of at most so many values, and at least one.
func New[K comparable, V any](most int) *Cache[K, V] {
	return &Cache[K, V]{most: max(most, 1), byKey: map[K]*list.Element{}}
}

// Get is what is remembered, if anything is.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.find(key)
}

func (c *Cache[K, V]) find(key K) (value V, ok bool) {
	e, ok := c.byKey[key]
	if !ok {
		return value, false
	}
	found := e.Value.(*entry[K, V])
	if !found.asked.Load() {
		found.asked.Store(true)
	}
	return found.value, true
}

// GetOrAdd is what was remembered meanwhile, or else value from now on.
func (c *Cache[K, V]) GetOrAdd(key K, value V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := c.find(key); ok {
		return found
	}
	for len(c.byKey) >= c.most {
		c.evict()
	}
	c.byKey[key] = c.newest.PushFront(&entry[K, V]{key: key, value: value})
	return value
}

func (c *Cache[K, V]) evict() {
	e := c.hand
	for {
		if e == nil {
			e = c.newest.Back()
		}
		if !e.Value.(*entry[K, V]).asked.Swap(false) {
			break
		}
		e = e.Prev()
	}
	c.hand = e
	c.remove(e)
}

func (c *Cache[K, V]) remove(e *list.Element) {
	if c.hand == e {
		c.hand = e.Prev()
	}
	c.newest.Remove(e)
	delete(c.byKey, e.Value.(*entry[K, V]).key)
}

// Forget makes the next look find nothing.
func (c *Cache[K, V]) Forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		c.remove(e)
	}
}
