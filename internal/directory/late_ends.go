package directory

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
)

// LateEnds repeats calls that end a session and failed: a store that changes its primary fails
// for seconds, and a browser that forgot its session does not ask again. It makes the calls in
// the background, one at a time, with growing pauses. It drops a call after 70 tries, in a
// quarter of an hour, or later if others wait. It is safe for concurrent use.
type LateEnds struct {
	bounds *guarded.Bounds
	after  func(time.Duration, func()) // calls the function later
	turn   chan struct{}               // has room for the one that tries ends

	mu        sync.Mutex
	waiting   []lateEnd
	pause     time.Duration // before the next pass; zero: none is due
	finishing bool          // a pass leaves what waits to Finish
}

// lateEnd is an end that has not succeeded yet.
type lateEnd struct {
	ctx   context.Context // does not end
	end   func(context.Context) error
	tries int
}

const (
	mostLateEnds  = 10_000
	mostLateTries = 70 // a quarter of an hour
	firstPause    = 250 * time.Millisecond
	longestPause  = 15 * time.Second
)

// NewLateEnds returns an empty list. bounds limit each call.
func NewLateEnds(bounds *guarded.Bounds) *LateEnds {
	return &LateEnds{bounds: bounds, turn: make(chan struct{}, 1), after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
}

// Add has end called in the background until it returns nil or has failed 70 times, and
// returns at once. The context of end has the values of ctx, is not cancelled with ctx, and
// has a deadline for each call. If 10,000 calls wait, Add drops end.
func (l *LateEnds) Add(ctx context.Context, end func(context.Context) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == mostLateEnds {
		return
	}
	l.waiting = append(l.waiting, lateEnd{ctx: context.WithoutCancel(ctx), end: end})
	if l.pause == 0 {
		l.pause = firstPause
		l.after(l.pause, l.pass)
	}
}

// pass tries the ends in turn, and stops at the first that fails: the store most likely
// fails the others, too. That one is tried again after the others.
func (l *LateEnds) pass() {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	for {
		next, ok := l.next()
		if !ok {
			return
		}
		if err := l.try(next); err != nil {
			l.again(next)
			return
		}
		l.mu.Lock()
		l.pause = firstPause
		l.mu.Unlock()
		l.bounds.Log.Info(next.ctx, journal.NoSubject{}, "signed out late")
	}
}

// next returns the end that a pass tries next. It returns false if none waits, or if
// Finish tries them.
func (l *LateEnds) next() (next lateEnd, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.waiting, l.pause = nil, 0
		return next, false
	}
	if l.finishing {
		return next, false
	}
	next = l.waiting[0]
	l.waiting = l.waiting[1:]
	return next, true
}

// try calls an end once, with a deadline. A panic becomes an error.
func (l *LateEnds) try(e lateEnd) error {
	ctx, cancel := context.WithTimeout(e.ctx, l.bounds.Timeout)
	defer cancel()
	return guarded.Contain(func() error { return e.end(ctx) })
}

// errGivenUp repeats no error of a store: there is no request that says what to redact.
var errGivenUp = failure.Wrap(fault.ErrSignOut, errors.New("what was signed out lives on until it expires: its store has failed for a quarter of an hour"))

// again puts an end that failed behind the others, or logs an error and drops the end if
// it was tried often enough. It schedules the next pass.
func (l *LateEnds) again(e lateEnd) {
	if e.tries++; e.tries >= mostLateTries {
		l.bounds.Log.Error(e.ctx, journal.NoSubject{}, errGivenUp, "alert", true)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.tries < mostLateTries {
		l.waiting = append(l.waiting, e)
	}
	l.pause = max(firstPause, min(2*l.pause, longestPause))
	l.after(l.pause, l.pass)
}

// Finish makes each waiting call once more, at the shutdown of the process, until ctx
// ends. It first waits for the call that is under way. It drops the calls that fail or
// that it does not get to, and returns how many.
func (l *LateEnds) Finish(ctx context.Context) (dropped int) {
	l.mu.Lock()
	l.finishing = true
	l.mu.Unlock()
	if l.takeTurn(ctx) {
		defer func() { <-l.turn }()
	} else {
		dropped++ // the one that is tried
	}
	l.mu.Lock()
	waiting := l.waiting
	l.waiting, l.pause, l.finishing = nil, 0, false
	l.mu.Unlock()
	for _, e := range waiting {
		if ctx.Err() != nil || l.try(e) != nil {
			dropped++
		}
	}
	return dropped
}

// takeTurn waits until no end is tried, and keeps others from trying: the caller gives
// the turn back. It returns false if ctx ends before.
func (l *LateEnds) takeTurn(ctx context.Context) bool {
	select {
	case l.turn <- struct{}{}:
		return true
	default:
	}
	select {
	case l.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
