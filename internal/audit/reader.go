package audit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/sealed"
	"github.com/latchkeyhq/latchkey/storage"
)

// Query says which events a list has. Filters that are empty leave out no event.
type Query struct {
	UserID    string
	Type      event.Type
	Outcome   event.Outcome
	Client    string
	Reference string
	From      time.Time
	Before    time.Time
	After     string
	Limit     int
}

// Page is a part of a list.
type Page struct {
	Events []event.Event
	Next   string
}

const (
	usualLimit   = 100
	mostListed   = 1000
	pageRows     = 500 // that a search for a reference code reads at a time
	mostPages    = 20  // of those that one call reads
	longestAsked = 240
)

// Reader lists what a store keeps. It is safe for concurrent use.
type Reader struct {
	List    func(ctx context.Context, q storage.AuditQuery) ([]storage.AuditRecord, error)
	Tenant  string
	Cursors *Cursors                            // they seal the Next of a Page; nil: only All works
	MadeAt  func(code string) (time.Time, bool) // when a reference code was made; nil: not known
}

// place is a position in a list.
type place struct {
	Time time.Time `json:"time"`
	ID   string    `json:"id"`
}

// Page returns the events after q.After, the newest first. Next of the Page is empty at
// the end of the list. A page with Limit events has a Next even if nothing follows. While
// a search for a reference code goes on, a page may have fewer events than Limit, or
// none, and still a Next. Page returns ErrInvalidConfig for a field of q that makes no
// sense, and for an After that is not the Next of a page of this query. If a page has a
// Next, Cursors must not be nil.
func (r *Reader) Page(ctx context.Context, q Query) (Page, error) {
	if err := q.check(); err != nil {
		return Page{}, err
	}
	var at place
	if q.After != "" {
		var err error
		if at, err = r.Cursors.open(&q); err != nil {
			return Page{}, err
		}
	}
	events, last, err := r.read(ctx, &q, at)
	if err != nil || last == nil {
		return Page{Events: events}, err
	}
	next, err := r.Cursors.seal(&q, *last)
	return Page{events, next}, err
}

// All returns the events of the whole list, the newest first, whatever q.After is. It
// reads them while the caller consumes them, q.Limit at a time. If it fails, it yields
// the error last, with an empty event. For a field of q that makes no sense the error is
// ErrInvalidConfig. All needs no Cursors.
func (r *Reader) All(ctx context.Context, q Query) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		err := q.check()
		var at place
		for err == nil {
			var events []event.Event
			var last *place
			if events, last, err = r.read(ctx, &q, at); err != nil {
				break
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if last == nil {
				return
			}
			at = *last
		}
		yield(event.Event{}, err)
	}
}

// read returns a page of events after a place, and the place to go on from, or nil at
// the end. A search for a reference code stops after mostPages calls of List.
func (r *Reader) read(ctx context.Context, q *Query, at place) (events []event.Event, next *place, err error) {
	stored := storage.AuditQuery{
		Tenant: Key(r.Tenant), UserID: Key(q.UserID), Type: string(q.Type), Outcome: string(q.Outcome), Client: q.Client,
		From: wholeMillisecond(q.From), Before: wholeMillisecond(q.Before), AfterTime: at.Time, AfterID: at.ID, Limit: q.Limit,
	}
	if stored.Limit == 0 {
		stored.Limit = usualLimit
	}
	wanted := stored.Limit
	if q.Reference != "" {
		stored.Limit = pageRows
		r.narrow(&stored, q.Reference)
	}
	for range mostPages {
		records, err := r.List(ctx, stored)
		if err != nil {
			return nil, nil, err
		}
		for i := range records {
			if e := EventOf(&records[i]); q.Reference == "" || e.Reference == q.Reference {
				events = append(events, e)
			}
			next = &place{records[i].Time, records[i].ID}
			if len(events) == wanted {
				return events, next, nil
			}
		}
		if len(records) < stored.Limit {
			return events, nil, nil
		}
		stored.AfterTime, stored.AfterID = next.Time, next.ID
	}
	return events, next, nil
}

// narrow limits a search for a reference code to the minutes around the time at which the
// code was made, if MadeAt knows it.
func (r *Reader) narrow(q *storage.AuditQuery, code string) {
	if r.MadeAt == nil {
		return
	}
	at, known := r.MadeAt(code)
	if !known {
		return
	}
	if from := at.Add(-5 * time.Minute); from.After(q.From) {
		q.From = from
	}
	if before := at.Add(10 * time.Minute); q.Before.IsZero() || before.Before(q.Before) {
		q.Before = before
	}
}

// check returns ErrInvalidConfig, with the name of the field, for a text that is too
// long or unprintable, an unknown Outcome, a Before that is not after From, and a Limit
// that is negative or too high. It does not look at After.
func (q *Query) check() error {
	wrong := func(field, problem string) error {
		return failure.Wrap(fault.ErrInvalidConfig, failure.Of(fault.ConfigInvalid, fmt.Errorf("AuditQuery.%s: %s", field, problem)))
	}
	for _, f := range []struct{ field, text string }{
		{"UserID", q.UserID}, {"Type", string(q.Type)}, {"Outcome", string(q.Outcome)}, {"Client", q.Client}, {"Reference", q.Reference},
	} {
		if len(f.text) > longestAsked || !utf8.ValidString(f.text) || strings.ContainsFunc(f.text, unicode.IsControl) {
			return wrong(f.field, "it is too long, or no text")
		}
	}
	switch {
	case q.Outcome != "" && q.Outcome != event.Succeeded && q.Outcome != event.Failed:
		return wrong("Outcome", "want success or failure")
	case q.Limit < 0 || q.Limit > mostListed:
		return wrong("Limit", fmt.Sprintf("want at most %d", mostListed))
	case !q.From.IsZero() && !q.Before.IsZero() && !q.From.Before(q.Before):
		return wrong("Before", "it is not after From")
	}
	return nil
}

// wholeMillisecond returns t rounded up to a millisecond, as stores keep milliseconds.
func wholeMillisecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); whole.Before(t) {
		return whole.Add(time.Millisecond)
	}
	return t.Truncate(time.Millisecond)
}

// Cursors seal the positions of lists. A cursor is valid for one query of one tenant,
// and for a day. They are safe for concurrent use.
type Cursors struct{ box *sealed.Box }

const cursorLife = 24 * time.Hour

// NewCursors returns the cursors of a configuration. secrets has the secret in use
// first, and then older ones, which still open. tenant is empty if there is one site.
func NewCursors(secrets []string, tenant string, now func() time.Time) *Cursors {
	return &Cursors{sealed.New(secrets, "latchkey audit cursor", tenant, now)}
}

// cursor is what is sealed.
type cursor struct {
	place
	Query string `json:"query"` // a hash
}

// seal returns the cursor of a place in the list of q.
func (c *Cursors) seal(q *Query, at place) (string, error) {
	return c.box.Seal(cursor{at, q.hash()}, cursorLife)
}

var errCursor = failure.Wrap(fault.ErrInvalidConfig, failure.Of(fault.ConfigInvalid, errors.New("AuditQuery.After: it is not the Next of a page of this query, or older than a day")))

// open returns the place in q.After. Its error is errCursor for a cursor of another
// query or tenant, or one that has expired.
func (c *Cursors) open(q *Query) (place, error) {
	var found cursor
	if c == nil || !c.box.Open(q.After, &found) || found.Query != q.hash() {
		return place{}, errCursor
	}
	return found.place, nil
}

// hash returns a hash of all that decides which events a query has.
func (q *Query) hash() string {
	named := *q
	named.Limit, named.After = 0, ""
	named.From, named.Before = q.From.UTC(), q.Before.UTC()
	return sealed.Digest(named)
}
