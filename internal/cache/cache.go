// Package cache keeps a bounded number of values of any kind in memory.
//
// It has two types, because running out of room means two things. A value that
// a [Cache] evicts can be loaded again, so a Cache evicts values that are not
// in use. A key that a [Ledger] evicts is lost, and a protection with it: a
// used code could be used again, and a counted failure would not count. So a
// Ledger evicts by expiry and by owner, or refuses the new key.
package cache

import (
	"sync"
	"sync/atomic"
	"time"
)

// Rules configure a [Cache].
type Rules struct {
	// Size is how many values are kept at most. Less than 1 is 1.
	Size int
	// Age is how long a value is served, counted from before it was loaded. Zero
	// means until it is evicted.
	Age time.Duration
	// Now tells the time. It is called only if Age is set.
	Now func() time.Time
	// Detached loads go on without the caller that began them: its cancellation
	// does not reach them, and it does not wait for them when it is cancelled.
	Detached bool
}

// Cache keeps values by key. When it is full, it evicts a value that was not read since
// the eviction hand last passed it (SIEVE). A scan of many keys therefore does not evict
// the busy ones. Cache is safe for concurrent use, and a read takes a shared lock only.
type Cache[K comparable, V any] struct {
	rules Rules

	mu      sync.RWMutex
	entries map[K]*entry[K, V]
	order   chain[*entry[K, V]]
	hand    *link[*entry[K, V]] // where the last eviction stopped; nil: at the oldest
	owners  owners[string, *entry[K, V]]
	flights map[K]*flight // loads under way
}

// entry is one value. It is in the chain of all entries, and in its owner's chain
// if it has an owner.
type entry[K comparable, V any] struct {
	key     K
	value   V
	owner   string
	expires time.Time   // zero: never
	read    atomic.Bool // since the hand last passed it

	place, among link[*entry[K, V]]
}

// New returns an empty cache. r.Now may be nil if r.Age is 0.
func New[K comparable, V any](r Rules) *Cache[K, V] {
	r.Size = max(r.Size, 1)
	return &Cache[K, V]{
		rules: r, entries: map[K]*entry[K, V]{},
		owners: owners[string, *entry[K, V]]{}, flights: map[K]*flight{},
	}
}

// Get returns the value of key, and false if there is none or it has expired. It loads
// nothing and marks the value as read.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.find(key)
}

// GetOrAdd returns the value of key. If there is none, or it has expired, GetOrAdd adds
// value, without an owner, and returns it. A load of key under way goes on, and replaces
// value when it succeeds.
func (c *Cache[K, V]) GetOrAdd(key K, value V) V {
	expires := c.expiry()
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := c.find(key); ok {
		return found
	}
	c.put(&entry[K, V]{key: key, value: value, expires: expires})
	return value
}

// Len returns how many values are kept, including expired ones that were not
// removed yet.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.entries)
}

// Values returns the values in no order, including expired ones that were not removed
// yet.
func (c *Cache[K, V]) Values() []V {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]V, 0, len(c.entries))
	for _, e := range c.entries {
		all = append(all, e.value)
	}
	return all
}

// Delete removes the value of key, if there is one. Callers that already wait for a load
// of key get the value that is loaded, but the cache does not keep it. A later call of
// Load loads anew.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.remove(e)
	}
	c.disown(key)
}

// DeleteOwner removes all values of owner. The owner of a load is not known before the
// load ends. So the cache keeps the value of no load that is under way, for whatever key.
// Callers that wait for such a load still get its value. An empty owner has no values.
func (c *Cache[K, V]) DeleteOwner(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for all := c.owners[owner]; all != nil && all.oldest != nil; {
		c.remove(all.oldest.of)
	}
	for key := range c.flights {
		c.disown(key)
	}
}

// DeleteAll removes all values. The cache does not keep the values of loads under way.
// Callers that wait for such a load still get its value.
func (c *Cache[K, V]) DeleteAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.order.oldest != nil {
		c.remove(c.order.oldest.of)
	}
	for key := range c.flights {
		c.disown(key)
	}
}

// expiry returns when a value expires if its load begins now; zero: never.
func (c *Cache[K, V]) expiry() (at time.Time) {
	if c.rules.Age > 0 {
		at = c.rules.Now().Add(c.rules.Age)
	}
	return at
}

// find returns the value of key and marks it as read. It returns false if there is none
// or it has expired. The caller holds the lock, which may be the shared one.
func (c *Cache[K, V]) find(key K) (value V, ok bool) {
	e, ok := c.entries[key]
	if !ok || c.expired(e) {
		return value, false
	}
	if !e.read.Load() {
		e.read.Store(true)
	}
	return e.value, true
}

// expired reports whether e has expired.
func (c *Cache[K, V]) expired(e *entry[K, V]) bool {
	return !e.expires.IsZero() && !c.rules.Now().Before(e.expires)
}

// put adds e, in place of the entry with its key if there is one. To make room it first
// removes expired entries from the oldest on, and then evicts others. The caller holds
// the lock.
func (c *Cache[K, V]) put(e *entry[K, V]) {
	if old, ok := c.entries[e.key]; ok {
		c.remove(old)
	}
	for oldest := c.order.oldest; oldest != nil && c.expired(oldest.of); oldest = c.order.oldest {
		c.remove(oldest.of)
	}
	for len(c.entries) >= c.rules.Size {
		c.evict()
	}
	c.entries[e.key] = e
	e.place.of, e.among.of = e, e
	c.order.push(&e.place)
	if e.owner != "" {
		c.owners.add(e.owner, &e.among)
	}
}

// evict removes one entry that was not read since the eviction hand last passed it. It
// moves the hand, and clears the read mark of each entry that it passes. The cache must
// not be empty. The caller holds the lock.
func (c *Cache[K, V]) evict() {
	for {
		if c.hand == nil {
			c.hand = c.order.oldest
		}
		e := c.hand.of
		if !e.read.Swap(false) {
			c.remove(e) // which moves the hand on
			return
		}
		c.hand = c.hand.newer
	}
}

// remove removes e, which must be in the cache. If the eviction hand is at e, it moves
// on. The caller holds the lock.
func (c *Cache[K, V]) remove(e *entry[K, V]) {
	if c.hand == &e.place {
		c.hand = e.place.newer
	}
	c.order.remove(&e.place)
	delete(c.entries, e.key)
	if e.owner != "" {
		c.owners.remove(e.owner, &e.among)
	}
}
