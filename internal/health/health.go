// Package health remembers which parts of a site work, from calls that are made anyway,
// and whether an instance is ready for requests.
package health

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// State is how a part is.
type State string

// The states of a part.
const (
	Unknown State = "unknown" // not called yet
	Up      State = "up"
	Down    State = "down"
)

// Part is one part that others depend on, such as the store. The zero Part is unknown. A
// nil *Part is valid for Saw alone, which then does nothing. It is safe for concurrent
// use.
type Part struct {
	Name string

	state atomic.Int32 // 0 unknown, 1 up, 2 down
	since atomic.Int64 // when it changed, in Unix nanoseconds
}

// Saw remembers whether the last call of the part worked, and the time if this changes
// the state. It reads the clock only then.
func (p *Part) Saw(worked bool) {
	if p == nil {
		return
	}
	state := int32(2)
	if worked {
		state = 1
	}
	if p.state.Load() != state && p.state.Swap(state) != state {
		p.since.Store(time.Now().UnixNano())
	}
}

// State returns whether the part works by its last call, and the time (UTC) since which
// it has been so. The time is zero for a part that was not called yet.
func (p *Part) State() (State, time.Time) {
	switch p.state.Load() {
	case 1:
		return Up, p.sinceTime()
	case 2:
		return Down, p.sinceTime()
	}
	return Unknown, time.Time{}
}

// sinceTime returns when the state changed last, or zero if it never has.
func (p *Part) sinceTime() time.Time {
	if nano := p.since.Load(); nano != 0 {
		return time.Unix(0, nano).UTC()
	}
	return time.Time{}
}

// Board has the parts of a site. A nil *Board has none. It is safe for concurrent use.
type Board struct {
	Store, Sessions, Limiter, Replay, Mail Part

	mu        sync.Mutex
	providers []*Part
}

// NewBoard returns a board on which nothing was called yet.
func NewBoard() *Board {
	b := &Board{}
	b.Store.Name, b.Sessions.Name, b.Limiter.Name, b.Replay.Name, b.Mail.Name = "store", "sessions", "limiter", "replay", "mail"
	return b
}

// Provider returns the part of the provider with the id, and adds it to the board if the
// board has none. It returns nil if b is nil.
func (b *Board) Provider(id string) *Part {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	name := "provider " + id
	if i := slices.IndexFunc(b.providers, func(p *Part) bool { return p.Name == name }); i >= 0 {
		return b.providers[i]
	}
	p := &Part{Name: name}
	b.providers = append(b.providers, p)
	return p
}

// OfOperation returns the part that an operation belongs to, by the text in front of ": "
// in its name: Limiter for "Limits.Limiter", Replay for "Limits.Replay", and Sessions for
// any other text. An operation without ": " belongs to Store. It returns nil if b is nil.
func (b *Board) OfOperation(operation string) *Part {
	switch {
	case b == nil:
		return nil
	case !strings.Contains(operation, ": "):
		return &b.Store
	case strings.HasPrefix(operation, "Limits.Limiter"):
		return &b.Limiter
	case strings.HasPrefix(operation, "Limits.Replay"):
		return &b.Replay
	}
	return &b.Sessions
}

// Parts returns the store and the other parts that were called at least once, providers
// last. The caller may change the slice; the parts in it are those of the board. It
// returns nil if b is nil.
func (b *Board) Parts() []*Part {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all := append([]*Part{&b.Store, &b.Sessions, &b.Limiter, &b.Replay, &b.Mail}, b.providers...)
	return slices.DeleteFunc(all, func(p *Part) bool { state, _ := p.State(); return state == Unknown && p != &b.Store })
}

// Life is the life of an instance: whether it has become ready, and whether it is being
// stopped. NewLife makes it. A nil *Life is never ready, and is not valid for Stop. It is
// safe for concurrent use.
type Life struct {
	ready, drained atomic.Bool

	mu    sync.Mutex
	asked time.Time // when it was last asked

	stop    sync.Once
	stopped chan struct{}
	err     error // valid after stopped is closed
}

// NewLife returns the life of an instance that starts. If ready is true, the instance is
// ready at once and Ready never calls a probe.
func NewLife(ready bool) *Life {
	l := &Life{stopped: make(chan struct{})}
	l.ready.Store(ready)
	return l
}

// Drain makes the instance unready for good. It does nothing if l is nil.
func (l *Life) Drain() {
	if l != nil {
		l.drained.Store(true)
	}
}

const betweenProbes = time.Second

// Ready reports whether the instance is ready. As long as it is not, Ready calls probe on
// the caller's goroutine, at most once a second and never twice at one time, and returns
// what the last probe found. A caller that comes while another caller's probe runs gets
// false at once. probe returns whether the store has answered. Once the instance was
// ready, it stays so until Drain; after Drain no probe is made.
func (l *Life) Ready(now time.Time, probe func() bool) bool {
	if l == nil || l.drained.Load() {
		return false
	}
	if l.ready.Load() {
		return true
	}
	if !l.mu.TryLock() {
		return false // another probe is under way
	}
	defer l.mu.Unlock()
	if !l.ready.Load() && (l.asked.IsZero() || now.Sub(l.asked) >= betweenProbes || now.Before(l.asked)) {
		l.asked = now
		if probe() {
			l.ready.Store(true)
		}
	}
	return l.ready.Load() && !l.drained.Load()
}

// IsReady reports whether the instance is ready, without a probe.
func (l *Life) IsReady() bool { return l != nil && l.ready.Load() && !l.drained.Load() }

// Stop calls f, if this is the first call of Stop, and returns the error of f. A later
// call does not call its f: it waits until the first f has returned, and returns the same
// error. If wait is closed first, it returns the result of over instead.
func (l *Life) Stop(wait <-chan struct{}, over func() error, f func() error) error {
	first := false
	l.stop.Do(func() { first = true })
	if first {
		l.err = f()
		close(l.stopped)
		return l.err
	}
	select {
	case <-l.stopped:
		return l.err
	case <-wait:
		return over()
	}
}
