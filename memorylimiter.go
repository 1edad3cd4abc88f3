package latchkey

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// MemoryLimiter is a [ReturningLimiter] in this process's memory. It remembers the
// 100,000 keys that were used last. Make one with [NewMemoryLimiter].
type MemoryLimiter struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[string]*list.Element // of *bucket
	recent  list.List                // most recent first
}

// bucket counts one key by the generic cell rate algorithm: every event fills
// it by its share of the period, and it empties with time.
type bucket struct {
	key  string
	full time.Time // when it will be empty again
}

const mostBuckets = 100_000

// NewMemoryLimiter returns an empty limiter. now tells the time; nil: time.Now.
func NewMemoryLimiter(now func() time.Time) *MemoryLimiter {
	if now == nil {
		now = time.Now
	}
	return &MemoryLimiter{now: now, buckets: map[string]*list.Element{}}
}

// Take counts one event under key, unless r is reached already; then it says
// how long until the next one fits.
func (l *MemoryLimiter) Take(_ context.Context, key string, r Rate) (time.Duration, error) {
	if r.Events <= 0 || r.Per <= 0 {
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.bucket(key)
	each := r.Per / time.Duration(r.Events)
	full := b.full
	if full.Before(now) {
		full = now
	}
	if wait := full.Add(each).Sub(now.Add(r.Per)); wait > 0 {
		return wait, nil
	}
	b.full = full.Add(each)
	return 0, nil
}

// Return takes back one event that Take counted under key at rate r.
func (l *MemoryLimiter) Return(_ context.Context, key string, r Rate) error {
	if r.Events <= 0 || r.Per <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.buckets[key]; ok {
		b := e.Value.(*bucket)
		b.full = b.full.Add(-r.Per / time.Duration(r.Events))
	}
	return nil
}

// Forget clears what was counted under key.
func (l *MemoryLimiter) Forget(_ context.Context, key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.buckets[key]; ok {
		l.recent.Remove(e)
		delete(l.buckets, key)
	}
	return nil
}

// bucket finds or makes the bucket of key, and drops the one used longest ago.
func (l *MemoryLimiter) bucket(key string) *bucket {
	if e, ok := l.buckets[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*bucket)
	}
	if len(l.buckets) >= mostBuckets {
		oldest := l.recent.Back()
		l.recent.Remove(oldest)
		delete(l.buckets, oldest.Value.(*bucket).key)
	}
	b := &bucket{key: key}
	l.buckets[key] = l.recent.PushFront(b)
	return b
}
