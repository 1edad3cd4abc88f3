package latchkey

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/audit"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/storage"
)

// AuditQuery says which events a list of an [AuditLog] has. A filter that is empty
// leaves out no event. A field that makes no sense, such as a Limit over 1000, is
// ErrInvalidConfig.
type AuditQuery struct {
	UserID    string        // of the user that events are about
	Type      event.Type    // with a point at its end, all types that begin so: "account."
	Outcome   event.Outcome // success or failure
	Client    string        // as Audit.Address keeps it
	Reference string        // the reference code of a failure; only events from 5 minutes before to 10 minutes after the code was made are searched
	From      time.Time     // at this instant or later
	Before    time.Time     // before this instant
	After     string        // the Next of the page before, of the same query and at most a day old; empty: the newest events
	Limit     int           // events of a page, at most 1000; 0: 100
}

// AuditPage is a page of an audit log. The last one may be empty, and so may any page of a
// query with a Reference: only Next tells whether there is another.
type AuditPage struct {
	Events []Event
	Next   string // for AuditQuery.After; empty: there is no further page
}

// AuditLog reads the audit log that [Audit].Store keeps, and adds to it. On a site with
// tenants it has the events of the context's tenant. It is safe for concurrent use.
// [Auth.Audit] returns it; the zero AuditLog is of no use.
type AuditLog struct{ auth *Auth }

// Audit returns the audit log. Without [Audit].Store its methods return ErrInvalidConfig,
// and without Config.Adapter ErrMissingAdapter.
func (a *Auth) Audit() *AuditLog { return &AuditLog{a} }

// List returns a page of events, the newest first. It records an event audit.read, by the
// actor of [event.WithActor], unless q.After is set; if that cannot be recorded and
// [Audit].Required is set, it returns ErrAudit and no page. A field of q that makes no
// sense is ErrInvalidConfig. Other errors are those of [Auth.Audit] and of the store.
func (l *AuditLog) List(ctx context.Context, q AuditQuery) (AuditPage, error) {
	s, r, err := l.reader(ctx)
	if err != nil {
		return AuditPage{}, err
	}
	page, err := r.Page(ctx, audit.Query(q))
	if err == nil && q.After == "" {
		err = told(ctx, s, Event{Type: event.AuditRead, UserID: q.UserID})
	}
	if err != nil {
		return AuditPage{}, failure.Public(err)
	}
	return AuditPage(page), nil
}

// All returns an iterator over all events of q, the newest first. It ignores q.After. It
// reads q.Limit events at a time while the loop consumes them. At its start each loop
// records an event audit.read. An error, one of those of List, is the last that it yields,
// with the zero Event.
func (l *AuditLog) All(ctx context.Context, q AuditQuery) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, r, err := l.reader(ctx)
		if err == nil {
			err = told(ctx, s, Event{Type: event.AuditRead, UserID: q.UserID})
		}
		if err != nil {
			yield(Event{}, failure.Public(err))
			return
		}
		r.All(ctx, audit.Query(q))(yield)
	}
}

// Erase erases the client, the user agent and the user's id from all events about a user,
// those of other tenants in the same Adapter too. The events themselves stay, as do those
// about others that the user has caused. It returns how many it has changed, and records
// audit.erased. An empty or unknown userID changes none. [users.Users.Erase] does it, too.
// Errors are of [Auth.Audit], of the store and, with [Audit].Required, ErrAudit; n is then 0.
func (l *AuditLog) Erase(ctx context.Context, userID string) (n int, err error) {
	s, _, err := l.reader(ctx)
	if err != nil {
		return 0, err
	}
	o := outboxOf(ctx, s)
	err = o.InTx(ctx, s.store, func(ctx context.Context, in *directory.Store) error {
		if n, err = o.EraseAudit(ctx, in, userID); err == nil {
			o.Add(Event{Type: event.AuditErased, Count: n}, nil)
		}
		return err
	})
	s.tell(ctx, o, journal.NoSubject{})
	if err != nil {
		return 0, failure.Public(err)
	}
	return n, nil
}

// Record adds an event of the application's own, whose Type begins with "app."; any other
// Type is ErrInvalidConfig. It also tells [Events].Observe. It sets Time and Tenant,
// keeps Client, UserAgent and RequestID, and sets a zero By to the actor of
// [event.WithActor] and a zero Outcome to success. If an event of success cannot be stored,
// the error is ErrAudit with [Audit].Required; without it the error is nil. Other outcomes are
// stored later. Each loss is logged. Other errors are those of [Auth.Audit].
func (l *AuditLog) Record(ctx context.Context, e Event) error {
	s, _, err := l.reader(ctx)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(e.Type), "app.") {
		return failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigInvalid, errors.New(`the Type of an event of the application begins with "app."`)))
	}
	return told(ctx, s, e)
}

// reader returns the setup of ctx and a reader of its audit log. It returns
// ErrInvalidConfig without [Audit].Store, and ErrMissingAdapter without Config.Adapter.
func (l *AuditLog) reader(ctx context.Context) (*setup, *audit.Reader, error) {
	s, err := setupWithStore(ctx, l.auth)
	if err != nil {
		return nil, nil, err
	}
	if s.table == nil {
		return nil, nil, failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigInvalid, errors.New("set Operations.Audit.Store: there is no audit log to read")))
	}
	list := func(ctx context.Context, q storage.AuditQuery) ([]storage.AuditRecord, error) {
		return directory.ListAudit(ctx, s.store, q)
	}
	madeAt := func(code string) (time.Time, bool) {
		found, err := s.codes.Open(code, s.now())
		return found.Time, err == nil
	}
	return s, &audit.Reader{List: list, Tenant: s.tenant, Cursors: s.auditCursors, MadeAt: madeAt}, nil
}
