// Package later runs what a request causes after its answer: mails above all. So
// an answer takes as long for an address that is known as for one that is not.
package later

import (
	"context"
	"sync"
)

const (
	mostAtOnce  = 8
	mostWaiting = 256
)

// Pool runs functions on at most eight goroutines, in the order in which they came.
// It starts goroutines when there is work and ends them when there is none. The zero
// Pool is ready. It is safe for concurrent use.
type Pool struct {
	mu      sync.Mutex
	running int // of those that Go started
	apart   int // of those that Start started
	waiting []func()
	idle    chan struct{} // closed when nothing runs any more; nil: no caller waits
}

// Go runs f on another goroutine and does not wait for it. It returns false, and does
// not run f, if eight functions of Go run and 256 others wait. A panic of f ends the
// program.
func (p *Pool) Go(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.running < mostAtOnce:
		p.running++
		go p.work(f)
	case len(p.waiting) < mostWaiting:
		p.waiting = append(p.waiting, f)
	default:
		return false
	}
	return true
}

// Start runs f at once, on a goroutine of its own and beside all others: for work that
// must not wait or be refused. A panic of f ends the program.
func (p *Pool) Start(f func()) {
	p.mu.Lock()
	p.apart++
	p.mu.Unlock()
	go func() {
		f()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.apart--
		p.rest()
	}()
}

// rest tells the callers of Wait that nothing runs any more, if that is so. The caller
// holds the lock.
func (p *Pool) rest() {
	if p.running+p.apart == 0 && p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
}

// work runs f, and then the functions that wait, until none is left.
func (p *Pool) work(f func()) {
	for f != nil {
		f()
		f = p.next()
	}
}

// next returns the function that has waited longest. If none waits it returns nil
// and counts one goroutine less.
func (p *Pool) next() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.running--
		p.waiting = nil
		p.rest()
		return nil
	}
	f := p.waiting[0]
	p.waiting[0] = nil
	p.waiting = p.waiting[1:]
	return f
}

// Wait returns 0 when nothing runs or waits any more. If ctx ends before, it drops what
// waits and returns how many functions were dropped or still run. The pool can be used
// again. For a nil Pool it returns 0.
func (p *Pool) Wait(ctx context.Context) (left int) {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	if p.running+p.apart == 0 {
		p.mu.Unlock()
		return 0
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
		return 0
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	left = p.running + p.apart + len(p.waiting)
	p.waiting = nil
	return left
}
