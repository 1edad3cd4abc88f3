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

// LateEnds repeats what ends a session and failed, until it succeeds: a store that
// changes its primary fails for seconds, and a browser that was told goodbye does not
// ask again. It repeats in the background, one end at a time, with growing pauses, for a
// quarter of an hour. It is safe for concurrent use.
type LateEnds struct {
	bounds *guarded.Bounds
	after  func(time.Duration, func()) // calls the function later

	mu      sync.Mutex
	waiting []lateEnd
	pause   time.Duration // before the next pass; zero: none is due
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
	return &LateEnds{bounds: bounds, after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
}

// Add repeats end until it returns nil. end keeps the values of ctx and gets a deadline.
// A full list takes nothing more.
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
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.waiting, l.pause = nil, 0
			l.mu.Unlock()
			return
		}
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.mu.Unlock()
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

func (l *LateEnds) try(e lateEnd) error {
	ctx, cancel := context.WithTimeout(e.ctx, l.bounds.Timeout)
	defer cancel()
	return guarded.Contain(func() error { return e.end(ctx) })
}

// errGivenUp repeats no error of a store: there is no request that says what to redact.
var errGivenUp = failure.Wrap(fault.ErrSignOut, errors.New("a session that was signed out lives on until it expires: its store has failed for a quarter of an hour"))

// again puts an end that failed behind the others, unless it was tried often enough.
func (l *LateEnds) again(e lateEnd) {
	if e.tries++; e.tries >= mostLateTries {
		l.bounds.Log.Error(e.ctx, journal.NoSubject{}, errGivenUp, "alert", true)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.tries < mostLateTries {
		l.waiting = append(l.waiting, e)
	}
	l.pause = min(2*l.pause, longestPause)
	l.after(l.pause, l.pass)
}

// Finish tries each end once more, at the shutdown of the process, until ctx ends. It
// drops those that fail, and returns how many.
func (l *LateEnds) Finish(ctx context.Context) (dropped int) {
	l.mu.Lock()
	waiting := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for _, e := range waiting {
		if ctx.Err() != nil || l.try(e) != nil {
			dropped++
		}
	}
	return dropped
}
