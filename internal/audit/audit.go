// Package audit keeps security events for auditors: as lines of a log, and as rows of a
// table.
package audit

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/redact"
)

// mostQueued bounds the events that wait for the logger.
const mostQueued = 1024

// schema is the version of the fields of a line.
const schema = 1

// Address says how much of a client's address is kept.
type Address string

// The kinds of addresses.
const (
	Full   Address = ""
	Prefix Address = "prefix" // the network: /24, or /48 of IPv6
	None   Address = "none"
)

// Sink writes events to a logger, in order, on a goroutine of its own. A caller of Add
// never waits: a full queue drops the oldest failure, and a line says how many were
// lost. A nil Sink keeps nothing. It is safe for concurrent use.
type Sink struct {
	Logger  *slog.Logger
	Keep    func([]event.Event) // keeps events in place of Logger, and counts them; nil: Logger does
	Verbose bool
	Address Address
	Now     func() time.Time
	Go      func(func()) bool           // runs a function later; false: it is not run
	Told    func(outcome string, n int) // counts events that were written, folded or dropped; nil: nothing counts

	folds folder

	mu      sync.Mutex
	queue   []event.Event
	dropped int
	running bool
}

// Add queues an event and never waits. It ignores an event for which IsVerbose is true, unless
// s.Verbose is set. It may count a failure in a later event instead. A nil s does nothing.
func (s *Sink) Add(e event.Event) {
	if s == nil || !s.Verbose && IsVerbose(e.Type) {
		return
	}
	due, folded := s.folds.add(e, s.Now())
	if folded {
		s.told("folded", 1)
	}
	if len(due) > 0 {
		s.enqueue(due)
	}
}

// Flush queues the events that are still folded. It does not wait until they are written:
// the caller waits for the function that it got through the field Go. A nil s does
// nothing.
func (s *Sink) Flush() {
	if s != nil {
		s.enqueue(s.folds.rest())
	}
}

// Erase removes personal data from the folded and the queued events about a user. It does not
// reach events that are being queued or written. For an empty userID it does nothing.
func (s *Sink) Erase(userID string) {
	if s == nil || userID == "" {
		return
	}
	s.folds.erase(userID)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.queue {
		eraseOf(&s.queue[i], userID)
	}
}

// eraseOf erases what is personal of an event, if it is about the user.
func eraseOf(e *event.Event, userID string) {
	if e.UserID != userID {
		return
	}
	if e.By.ID == userID {
		e.By.ID = ""
	}
	e.UserID, e.SessionID, e.Client, e.UserAgent, e.RequestID, e.Name = "", "", "", "", "", ""
	e.Err, e.Erased = nil, true
}

// enqueue queues events and starts drain if it does not run. A full queue loses its
// oldest failure, or else its oldest event.
func (s *Sink) enqueue(due []event.Event) {
	s.mu.Lock()
	lost := 0
	for _, e := range due {
		if len(s.queue) >= mostQueued {
			at := max(0, slices.IndexFunc(s.queue, func(e event.Event) bool { return e.Outcome == event.Failed }))
			s.queue = slices.Delete(s.queue, at, at+1)
			lost++
		}
		s.queue = append(s.queue, e)
	}
	s.dropped += lost
	begins := !s.running && len(s.queue) > 0
	s.running = s.running || begins
	s.mu.Unlock()
	s.told("dropped", lost)
	if begins && !s.Go(s.drain) {
		s.mu.Lock()
		s.running = false // the next event tries again
		s.mu.Unlock()
	}
}

// drain writes what waits, until nothing does. If a full queue has lost events, it writes
// an event with their number first.
func (s *Sink) drain() {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 && s.dropped == 0 {
			s.queue, s.running = nil, false
			s.mu.Unlock()
			return
		}
		batch, lost := s.queue, s.dropped
		s.queue, s.dropped = nil, 0
		s.mu.Unlock()
		if lost > 0 {
			loss := event.Event{Type: event.AuditFailed, Outcome: event.Failed, Detail: fault.AuditStore, Time: s.Now().UTC(), By: event.Actor{Kind: event.ActorSystem}, Count: lost}
			batch = append([]event.Event{loss}, batch...)
		}
		if s.Keep != nil {
			_ = guarded.Contain(func() error { s.Keep(batch); return nil })
			continue
		}
		for _, e := range batch {
			s.write(e)
		}
		s.told("written", len(batch))
	}
}

// write writes one line. A handler that panics loses the line and nothing else.
func (s *Sink) write(e event.Event) {
	level := slog.LevelInfo
	if e.Outcome == event.Failed {
		level = slog.LevelWarn
	}
	_ = guarded.Contain(func() error {
		s.Logger.LogAttrs(context.Background(), level, "latchkey: audit", s.attrs(&e)...)
		return nil
	})
}

// told calls Told, unless n is 0.
func (s *Sink) told(outcome string, n int) {
	if s.Told != nil && n > 0 {
		s.Told(outcome, n)
	}
}

const (
	longestText = 256 // of what clients send
	longestID   = 1400
)

// addressOf returns as much of a client's address as detail allows: all, the network, or
// "".
func addressOf(client string, detail Address) string {
	switch detail {
	case Prefix:
		return network(client)
	case None:
		return ""
	}
	return client
}

// attrs returns the fields of a line: without empty ones, escaped, cut, and with as much
// of the client's address as Address says.
func (s *Sink) attrs(e *event.Event) []slog.Attr {
	shown := *e
	shown.Client = addressOf(e.Client, s.Address)
	attrs := Fields(&shown)
	for i, a := range attrs {
		if a.Value.Kind() != slog.KindString {
			continue
		}
		limit := longestID
		if a.Key == "agent" || a.Key == "request" {
			limit = longestText
		}
		attrs[i].Value = slog.StringValue(redact.Printable(a.Value.String(), limit))
	}
	return attrs
}
