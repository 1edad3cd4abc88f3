// Package later runs what a request causes after its answer: mails above all. So
// an answer takes as long for an address that is known as for one that is not.
package later

import "sync"

const (
	mostAtOnce  = 8
	mostWaiting = 256
)

// Pool runs functions on at most eight goroutines, in the order in which they came.
// It starts goroutines when there is work and ends them when there is none. The zero
// Pool is ready. It is safe for concurrent use.
type Pool struct {
	mu      sync.Mutex
	running int
	waiting []func()
}

// Go runs f on another goroutine and does not wait for it. It returns false, and
// runs nothing, if eight functions run and 256 others wait. A panic of f ends the
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

// work runs f and then what waits.
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
		return nil
	}
	f := p.waiting[0]
	p.waiting[0] = nil
	p.waiting = p.waiting[1:]
	return f
}
