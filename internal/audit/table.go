package audit

import (
	"context"
	"sync"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/storage"
)

const (
	mostRows   = 100              // that one call of the store appends
	retryAfter = 10 * time.Second // between two tries to say how many events were lost
)

// Table keeps events in a store. A nil Table keeps nothing. It is safe for concurrent
// use.
type Table struct {
	Required bool // work is rolled back if its events cannot be stored
	Verbose  bool
	Address  Address
	Append   func(ctx context.Context, records []storage.AuditRecord) error // outside of a transaction
	NewID    func() string
	Now      func() time.Time
	Told     func(outcome string, n int) // counts events that were written, folded, dropped or failed
	Lost     func(n int, err error)      // reports events that could not be stored

	Failures *Sink // stores failures later, and folds them

	mu      sync.Mutex
	lost    int
	retryAt time.Time
}

// Wants reports whether the log keeps an event. It is false for a nil t, and for a
// verbose event unless t.Verbose is set.
func (t *Table) Wants(e *event.Event) bool {
	return t != nil && (t.Verbose || !IsVerbose(e.Type))
}

// IsVerbose reports whether an event is one that only a verbose log has.
func IsVerbose(t event.Type) bool {
	return t == event.LinkSent || t == event.TokenRefreshed
}

// Records returns the records of events, one for each: the caller leaves out those that
// Wants refuses. It writes a new ID into each event that has none. t must not be nil
// unless events is empty.
func (t *Table) Records(events []*event.Event) []storage.AuditRecord {
	records := make([]storage.AuditRecord, len(events))
	for i, e := range events {
		if e.ID == "" {
			e.ID = t.NewID()
		}
		records[i] = RecordOf(e, t.Address)
	}
	return records
}

// Flush queues the folded events, and at once stores the number of lost events, if there
// is one. It does not wait for the queued events: the caller waits for what Failures.Go
// runs. A nil t does nothing.
func (t *Table) Flush(ctx context.Context) {
	if t == nil {
		return
	}
	t.Failures.Flush()
	t.mu.Lock()
	t.retryAt = time.Time{}
	t.mu.Unlock()
	_ = t.Keep(ctx, nil) // what is lost is reported
}

// Written counts n events that were stored in a transaction.
func (t *Table) Written(n int) { t.told("written", n) }

// Keep stores events, 100 in a call of Append, outside of any transaction of the caller. It
// writes an ID into those that have none. It returns the first error and stops there: events
// of earlier calls stay, and the rest are lost. Keep counts these and reports them to Lost.
// The next Keep with events stores their number first. A Keep without events does so too, 10
// seconds after the failure at the earliest. A nil Table keeps nothing.
func (t *Table) Keep(ctx context.Context, events []*event.Event) error {
	if t == nil || len(events) == 0 && !t.owes() {
		return nil
	}
	t.mu.Lock()
	owed := t.lost
	t.lost = 0
	t.mu.Unlock()
	if owed > 0 {
		loss := &event.Event{Type: event.AuditFailed, Outcome: event.Failed, Detail: fault.AuditStore, Time: t.Now().UTC(), By: event.Actor{Kind: event.ActorSystem}, Count: owed}
		events = append([]*event.Event{loss}, events...)
	}
	for rest := events; len(rest) > 0; {
		n := min(len(rest), mostRows)
		if err := t.Append(ctx, t.Records(rest[:n])); err != nil {
			t.lose(rest, err)
			return err
		}
		t.told("written", n)
		rest = rest[n:]
	}
	return nil
}

// KeepLater is the Keep of a Sink, which calls it after the request. It stores the
// events before it returns. It returns no error: Lost reports what could not be stored.
func (t *Table) KeepLater(batch []event.Event) {
	events := make([]*event.Event, len(batch))
	for i := range batch {
		events[i] = &batch[i]
	}
	_ = t.Keep(context.Background(), events) // what is lost is reported
}

// PruneAtOnce is how many records one call of the store prunes.
const PruneAtOnce = 1000

// usualKeep is how long events are kept by default.
const usualKeep = 400 * 24 * time.Hour

// Retention returns the instants before which events are removed, and before which what
// is personal of them is erased. A zero instant means never. A keep of 0 is 400 days, and
// a negative keep means for ever. If personal is 0 or negative, or not shorter than keep,
// nothing is erased before its event is removed.
func Retention(keep, personal time.Duration, now time.Time) (before, personalBefore time.Time) {
	if keep == 0 {
		keep = usualKeep
	}
	if keep > 0 {
		before = now.Add(-keep)
	}
	if personal > 0 && (keep < 0 || personal < keep) {
		personalBefore = now.Add(-personal)
	}
	return before, personalBefore
}

// owes reports whether there are lost events whose number is to be stored now.
func (t *Table) owes() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost > 0 && !t.Now().Before(t.retryAt)
}

// lose counts events that were not stored, and reports those to Lost that no earlier call
// has counted.
func (t *Table) lose(events []*event.Event, err error) {
	n, owed := 0, 0 // owed were counted before
	for _, e := range events {
		if e.Type == event.AuditFailed {
			owed += e.Count
		} else {
			n += max(1, e.Count)
		}
	}
	t.mu.Lock()
	t.lost += n + owed
	t.retryAt = t.Now().Add(retryAfter)
	t.mu.Unlock()
	t.told("failed", n)
	if t.Lost != nil && n > 0 {
		t.Lost(n, err)
	}
}

// told calls Told, unless n is 0.
func (t *Table) told(outcome string, n int) {
	if t.Told != nil && n > 0 {
		t.Told(outcome, n)
	}
}
