package latchkey

import (
	"container/heap"
	"context"
	"hash/maphash"
	"time"
)

// ledger remembers, for a bounded number of keys, the instant until which each
// counts: a limit that was touched, a value that was used. What has passed is
// forgotten first. It holds no key and no client itself, only hashes under a
// seed of its own, so that nobody can choose keys that collide.
type ledger struct {
	seed    maphash.Seed
	entries map[uint64]*entry
	soonest byEnd // the one that passes first on top
	shares  map[uint32]*share
}

// entry is one key. before and after are its neighbours among those of the same
// client, oldest first.
type entry struct {
	key           uint64
	end           int64 // Unix nanoseconds
	at            int   // in soonest
	owner         uint32
	before, after *entry
}

// share is what one client has in the ledger.
type share struct {
	count       int
	first, last *entry
}

// An entry takes up to 250 bytes with all that leads to it: both ledgers of a
// program stay within 32 MiB together.
const (
	mostEntries = 1 << 16
	mostOfOne   = mostEntries / 16 // of one client, once there is no room to spare
)

func newLedger() *ledger {
	return &ledger{seed: maphash.MakeSeed(), entries: map[uint64]*entry{}, shares: map[uint32]*share{}}
}

func (l *ledger) hash(key string) uint64 { return maphash.String(l.seed, key) }

// owner is who ctx says is asking; 0: nobody in particular.
func (l *ledger) owner(ctx context.Context) uint32 {
	if client, ok := ctx.Value(clientKeyInContext{}).(string); ok {
		return uint32(maphash.String(l.seed, client))
	}
	return 0
}

// clientKeyInContext is where a context has who is asking.
type clientKeyInContext struct{}

// withClient lets a ledger know who is asking.
func withClient(ctx context.Context, client string) context.Context {
	if client == "" {
		return ctx
	}
	return context.WithValue(ctx, clientKeyInContext{}, client)
}

// until is the instant on record; false: none, or it has passed.
func (l *ledger) until(key uint64, now time.Time) (time.Time, bool) {
	e := l.entries[key]
	if e == nil || e.end <= now.UnixNano() {
		return time.Time{}, false
	}
	return time.Unix(0, e.end), true
}

// put records an instant. A new key needs room; without, it is not recorded.
func (l *ledger) put(key uint64, owner uint32, end time.Time) bool {
	if e := l.entries[key]; e != nil {
		e.end = end.UnixNano()
		heap.Fix(&l.soonest, e.at)
		l.shares[e.owner].remove(e) // and becomes its newest
		l.shares[e.owner].push(e)
		return true
	}
	if len(l.entries) >= mostEntries {
		return false
	}
	e := &entry{key: key, end: end.UnixNano(), owner: owner}
	l.entries[key] = e
	heap.Push(&l.soonest, e)
	s := l.shares[owner]
	if s == nil {
		s = &share{}
		l.shares[owner] = s
	}
	s.push(e)
	return true
}

// dropPassed forgets what has passed.
func (l *ledger) dropPassed(now time.Time) {
	for len(l.soonest) > 0 && l.soonest[0].end <= now.UnixNano() {
		l.drop(l.soonest[0])
	}
}

func (l *ledger) drop(e *entry) {
	delete(l.entries, e.key)
	heap.Remove(&l.soonest, e.at)
	s := l.shares[e.owner]
	if s.remove(e); s.count == 0 {
		delete(l.shares, e.owner)
	}
}

// crowds: the client has more than its share of a ledger that is half full.
func (l *ledger) crowds(owner uint32) bool {
	s := l.shares[owner]
	return owner != 0 && s != nil && s.count >= mostOfOne && len(l.entries) >= mostEntries/2
}

func (s *share) push(e *entry) {
	s.count++
	if e.before = s.last; e.before != nil {
		e.before.after = e
	} else {
		s.first = e
	}
	s.last = e
}

func (s *share) remove(e *entry) {
	s.count--
	if e.before != nil {
		e.before.after = e.after
	} else {
		s.first = e.after
	}
	if e.after != nil {
		e.after.before = e.before
	} else {
		s.last = e.before
	}
	e.before, e.after = nil, nil
}

// byEnd is a heap.
type byEnd []*entry

func (h byEnd) Len() int           { return len(h) }
func (h byEnd) Less(i, j int) bool { return h[i].end < h[j].end }

func (h byEnd) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

func (h *byEnd) Push(x any) {
	e := x.(*entry)
	e.at = len(*h)
	*h = append(*h, e)
}

func (h *byEnd) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return e
}
