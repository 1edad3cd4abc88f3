package audit

import (
	"net/netip"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
)

const (
	foldAfter  = 10 // equal failures of a window that are kept one by one
	foldWindow = 10 * time.Second
	mostKinds  = 1000 // of failures that are told apart at one time
)

// kind is what equal failures have in common.
type kind struct {
	t        event.Type
	detail   fault.Detail
	provider string
	network  string
}

// window counts the failures of one kind. last stands for those beyond foldAfter.
type window struct {
	until time.Time
	n     int
	last  event.Event
}

// folder keeps equal failures from flooding a log. Beyond ten in ten seconds they become
// one event, whose Count says how many they were. It is safe for concurrent use.
type folder struct {
	mu    sync.Mutex
	kinds map[kind]*window
	swept time.Time
}

// add returns the events to be kept now: e, unless it is folded, and those that stand for
// the failures of windows that are over.
func (f *folder) add(e event.Event, now time.Time) (due []event.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.swept) >= time.Second || now.Before(f.swept) {
		f.swept = now
		due = f.take(func(w *window) bool { return !now.Before(w.until) })
	}
	if e.Outcome != event.Failed {
		return append(due, e)
	}
	if f.kinds == nil {
		f.kinds = map[kind]*window{}
	}
	k := kind{e.Type, e.Detail, e.Provider, network(e.Client)}
	if f.kinds[k] == nil && len(f.kinds) >= mostKinds {
		k = kind{t: e.Type, detail: e.Detail}
		e.Client, e.UserAgent, e.Provider = "", "", "" // it stands for others, too
	}
	w := f.kinds[k]
	if w == nil {
		w = &window{until: now.Add(foldWindow)}
		f.kinds[k] = w
	}
	if w.n++; w.n <= foldAfter {
		return append(due, e)
	}
	e.Err = nil
	w.last = e
	return due
}

// rest returns what is still folded.
func (f *folder) rest() []event.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.take(func(*window) bool { return true })
}

// take removes windows and returns the events that stand for them.
func (f *folder) take(over func(*window) bool) (due []event.Event) {
	for k, w := range f.kinds {
		if !over(w) {
			continue
		}
		delete(f.kinds, k)
		if w.n > foldAfter {
			w.last.Count = w.n - foldAfter
			due = append(due, w.last)
		}
	}
	return due
}

// network returns the network of an address: /24, or /48 of IPv6.
func network(client string) string {
	at, err := netip.ParseAddr(client)
	if err != nil {
		return ""
	}
	bits := 48
	if at = at.Unmap(); at.Is4() {
		bits = 24
	}
	p, err := at.Prefix(bits)
	if err != nil {
		return ""
	}
	return p.String()
}
