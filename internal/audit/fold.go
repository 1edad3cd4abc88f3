package audit

import (
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
)

const (
	foldAfter  = 10 // equal failures of a window that are kept one by one
	foldWindow = 10 * time.Second
	mostKinds  = 1000 // of failures that are told apart at one time
	mostKept   = 200  // failures that are kept in a second
)

// kind is what equal failures have in common.
type kind struct {
	t        event.Type
	detail   fault.Detail
	provider string
	network  string
}

// window counts the failures of one kind. last stands for those that were folded.
type window struct {
	until  time.Time
	kept   int
	folded int
	last   event.Event
}

// folder keeps failures from flooding a log. Beyond ten equal ones in ten seconds they
// become one event, with their number as its Count. Beyond 200 in a second they become
// one event of each type and detail. It is safe for concurrent use.
type folder struct {
	mu    sync.Mutex
	kinds map[kind]*window
	swept time.Time
	kept  int // failures since swept
}

// add returns the events to be kept now: those that stand for the failures of windows
// that are over, and then e, unless folded is true. Only a failure is folded.
func (f *folder) add(e event.Event, now time.Time) (due []event.Event, folded bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.Sub(f.swept) >= time.Second || now.Before(f.swept) {
		f.swept = now
		due = f.take(func(w *window) bool { return !now.Before(w.until) })
		f.kept = len(due)
	}
	if e.Outcome != event.Failed {
		return append(due, e), false
	}
	if f.kinds == nil {
		f.kinds = map[kind]*window{}
	}
	k, full := kind{e.Type, e.Detail, e.Provider, network(e.Client)}, f.kept >= mostKept
	if f.kinds[k] == nil && (full || len(f.kinds) >= mostKinds) {
		k = kind{t: e.Type, detail: e.Detail}
		e = forMany(e)
	}
	w := f.kinds[k]
	if w == nil {
		w = &window{until: now.Add(foldWindow)}
		f.kinds[k] = w
	}
	if w.kept < foldAfter && !full {
		w.kept++
		f.kept++
		return append(due, e), false
	}
	e.Err = nil
	w.folded++
	w.last = e
	return due, true
}

// forMany returns e without what belongs to one client, user, provider or request, so
// that it can stand for many. Of By it keeps the Kind. Count, Time and Err stay.
func forMany(e event.Event) event.Event {
	e.Client, e.UserAgent, e.RequestID, e.Provider, e.ProviderType = "", "", "", "", ""
	e.UserID, e.Name, e.SessionID, e.Reference, e.By = "", "", "", "", event.Actor{Kind: e.By.Kind}
	return e
}

// rest returns the events that stand for what is still folded, and forgets all windows.
func (f *folder) rest() []event.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.take(func(*window) bool { return true })
}

// erase erases what is personal of the folded failures of a user.
func (f *folder) erase(userID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.kinds {
		eraseOf(&w.last, userID)
	}
}

// take removes the windows for which over returns true, and returns the events that stand
// for what was folded in them. If these are more than mostKept, those of one type and
// detail become one. The caller holds the lock.
func (f *folder) take(over func(*window) bool) (due []event.Event) {
	for k, w := range f.kinds {
		if !over(w) {
			continue
		}
		delete(f.kinds, k)
		if w.folded > 0 {
			w.last.Count = w.folded
			due = append(due, w.last)
		}
	}
	if len(due) <= mostKept {
		return due
	}
	merged := map[kind]event.Event{}
	for _, e := range due {
		k := kind{t: e.Type, detail: e.Detail}
		sum := merged[k].Count + e.Count
		e = forMany(e)
		e.Count = sum
		merged[k] = e
	}
	return slices.Collect(maps.Values(merged))
}

// network returns the network of an address: /24, or /48 of IPv6. It returns "" for text
// that is no address.
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
