package cache

import (
	"container/heap"
	"hash/maphash"
	"sync"
	"time"
)

// LedgerRules configure a [Ledger].
type LedgerRules struct {
	// Size is how many keys are kept at most.
	Size int
	// Share is how many keys one owner may have once half of Size is used.
	Share int
	// Evict makes room for a new key. An owner that has used up its share loses its
	// oldest key. A full ledger loses the key that expires first. Without Evict, a
	// new key is refused.
	Evict bool
	// Now tells the time.
	Now func() time.Time
}

// Ledger keeps, for a bounded number of keys, the instant until which each
// counts. It stores hashes of keys and owners under a seed of its own, so that
// an attacker cannot choose keys that collide. A key takes up to 250 bytes,
// index included. It is safe for concurrent use.
type Ledger struct {
	rules LedgerRules
	seed  maphash.Seed

	mu      sync.Mutex
	records map[uint64]*record
	soonest byExpiry // the record that expires first on top
	owners  owners[uint32, *record]
}

// record is one key.
type record struct {
	key     uint64
	expires int64 // Unix nanoseconds
	at      int   // index in soonest
	owner   uint32
	among   link[*record] // in the owner's chain
}

// NewLedger returns an empty ledger.
func NewLedger(r LedgerRules) *Ledger {
	return &Ledger{rules: r, seed: maphash.MakeSeed(), records: map[uint64]*record{}, owners: owners[uint32, *record]{}}
}

// Update replaces the expiry of key with the result of change. It calls change with the
// current expiry and the present time. The expiry is zero if the key is absent or has
// expired. If change returns the expiry that it got, nothing changes: an absent key is
// not added. A new key belongs to owner, or to none if owner is empty; a key that exists
// keeps its owner. ok is false if there was no room for a new key. The update is atomic,
// and change must not call the ledger.
func (l *Ledger) Update(key, owner string, change func(expires, now time.Time) time.Time) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.rules.Now()
	hash := maphash.String(l.seed, key)
	r := l.records[hash]
	var expires time.Time
	if r != nil && r.expires <= now.UnixNano() {
		l.remove(r)
		r = nil
	} else if r != nil {
		expires = time.Unix(0, r.expires)
	}
	changed := change(expires, now)
	switch {
	case changed.Equal(expires):
	case r != nil:
		l.move(r, changed)
	default:
		return l.add(hash, l.hashOwner(owner), changed, now)
	}
	return true
}

// Delete removes key, if it is there.
func (l *Ledger) Delete(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.records[maphash.String(l.seed, key)]; r != nil {
		l.remove(r)
	}
}

// Len returns how many keys are kept, including expired ones that were not removed
// yet.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.records)
}

// hashOwner returns the hash of owner, or 0 for no owner.
func (l *Ledger) hashOwner(owner string) uint32 {
	if owner == "" {
		return 0
	}
	return uint32(maphash.String(l.seed, owner))
}

// move sets the expiry of r, which must be in the ledger, and makes r the newest record
// of its owner. The caller holds the lock.
func (l *Ledger) move(r *record, expires time.Time) {
	r.expires = expires.UnixNano()
	heap.Fix(&l.soonest, r.at)
	l.owners.remove(r.owner, &r.among)
	l.owners.add(r.owner, &r.among)
}

// add adds a key that is not in the ledger. It first removes all expired keys. If
// makeRoom then has no room for one more key of owner, add adds nothing and returns false.
// The caller holds the lock.
func (l *Ledger) add(hash uint64, owner uint32, expires, now time.Time) (ok bool) {
	for len(l.soonest) > 0 && l.soonest[0].expires <= now.UnixNano() {
		l.remove(l.soonest[0])
	}
	if !l.makeRoom(owner) {
		return false
	}
	r := &record{key: hash, expires: expires.UnixNano(), owner: owner}
	r.among.of = r
	l.records[hash] = r
	heap.Push(&l.soonest, r)
	l.owners.add(owner, &r.among)
	return true
}

// makeRoom reports whether owner may have one more key. A full ledger has no room. In a
// ledger that is half full, an owner that has used up its share has none either. If there
// is no room and the rules have no Evict, makeRoom returns false. With Evict it removes one
// key and returns true: the oldest key of owner if owner has used up its share, or else the
// key that expires first. The owner 0 has no share to use up. The caller holds the lock.
func (l *Ledger) makeRoom(owner uint32) bool {
	all := l.owners[owner]
	full, halfFull := len(l.records) >= l.rules.Size, len(l.records) >= l.rules.Size/2
	crowds := halfFull && owner != 0 && all != nil && all.length >= l.rules.Share
	switch {
	case !crowds && !full:
		return true
	case !l.rules.Evict:
		return false
	case crowds:
		l.remove(all.oldest.of)
	default:
		l.remove(l.soonest[0])
	}
	return true
}

// remove removes r, which must be in the ledger. The caller holds the lock.
func (l *Ledger) remove(r *record) {
	delete(l.records, r.key)
	heap.Remove(&l.soonest, r.at)
	l.owners.remove(r.owner, &r.among)
}

// byExpiry is a heap of records (container/heap).
type byExpiry []*record

func (h byExpiry) Len() int           { return len(h) }
func (h byExpiry) Less(i, j int) bool { return h[i].expires < h[j].expires }

func (h byExpiry) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

func (h *byExpiry) Push(x any) {
	r := x.(*record)
	r.at = len(*h)
	*h = append(*h, r)
}

func (h *byExpiry) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return r
}
