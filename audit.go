package latchkey

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/audit"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// Audit says where security events are kept. The zero value keeps none. See
// docs/audit.md.
type Audit struct {
	// Logger gets one line for each event of package event. Use one of its own, which
	// writes to a place that the program cannot change. Lines are written after the
	// answer; what waits is lost with the process.
	Logger *slog.Logger
	// Store keeps events in the Adapter, which has to be a [storage.AuditAdapter]. What
	// succeeded is stored in the transaction of the work, if the Adapter is a
	// [storage.TxAdapter], and before the answer otherwise. What failed is stored after
	// the answer.
	Store bool
	// Required rolls work back whose event cannot be stored: it fails with ErrAudit.
	// Sign-outs are done all the same. It needs Store and a [storage.TxAdapter].
	Required bool
	// Keep is how long Auth.Sweep keeps an event of Store. 0: 400 days; negative: for
	// ever.
	Keep time.Duration
	// KeepPersonal is after how long Auth.Sweep erases client, user agent and the id of
	// the user from an event of Store. 0: as Keep.
	KeepPersonal time.Duration
	// Address says how much of a client's IP address an event has.
	Address AddressDetail
	// Verbose keeps also that links were mailed and provider tokens renewed.
	Verbose bool
}

// AddressDetail is how much of an IP address is kept.
type AddressDetail string

// The details of addresses.
const (
	AddressFull   AddressDetail = ""       // all of it
	AddressPrefix AddressDetail = "prefix" // the network: /24, or /48 of IPv6
	AddressNone   AddressDetail = "none"
)

// AuditQuery says which events a list of an [AuditLog] has. A filter that is empty
// leaves out no event.
type AuditQuery struct {
	UserID    string        // of the user that events are about
	Type      event.Type    // with a point at its end, all types that begin so: "account."
	Outcome   event.Outcome // success or failure
	Client    string        // as Audit.Address keeps it
	Reference string        // the reference code of a failure
	From      time.Time     // at this instant or later
	Before    time.Time     // before this instant
	After     string        // the Next of the page before; empty: the newest events
	Limit     int           // events of a page, at most 1000; 0: 100
}

// AuditPage is a page of an audit log.
type AuditPage struct {
	Events []Event
	Next   string // for AuditQuery.After; empty: there is no further page
}

// AuditLog reads the audit log that [Audit].Store keeps, and adds to it. On a site with
// tenants it has the events of the context's tenant. It is safe for concurrent use.
type AuditLog struct{ auth *Auth }

// Audit returns the audit log. Its methods need Audit.Store.
func (a *Auth) Audit() *AuditLog { return &AuditLog{a} }

// List returns a page of events, the newest first. The log then has an event
// audit.read, by the actor of [event.WithActor], unless q.After is set.
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

// All returns the events of all pages of List. It reads them while the caller consumes
// them. An error is the last that it yields.
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

// Erase erases client, user agent and the id of a user from all events about the user,
// which stay, and returns how many they are. Users.Erase calls it.
func (l *AuditLog) Erase(ctx context.Context, userID string) (n int, err error) {
	s, _, err := l.reader(ctx)
	if err != nil {
		return 0, err
	}
	o := outboxOf(ctx, s)
	err = o.InTx(ctx, s.store, func(ctx context.Context, in *directory.Store) error {
		if n, err = in.EraseAudit(ctx, userID); err == nil {
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

// Record adds an event of the application's own, whose Type begins with "app.". Its
// Time, Tenant and By are set, By to the actor of [event.WithActor].
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

// reader returns what reads the log.
func (l *AuditLog) reader(ctx context.Context) (*setup, *audit.Reader, error) {
	s, err := setupWithStore(ctx, l.auth)
	if err != nil {
		return nil, nil, err
	}
	if s.table == nil {
		return nil, nil, failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigInvalid, errors.New("set Operations.Audit.Store: there is no audit log to read")))
	}
	madeAt := func(code string) (time.Time, bool) {
		found, err := s.codes.Open(code, s.now())
		return found.Time, err == nil
	}
	return s, &audit.Reader{List: s.store.ListAudit, Tenant: s.tenant, Cursors: s.auditCursors, MadeAt: madeAt}, nil
}

// outboxOf returns an outbox for events without a request.
func outboxOf(ctx context.Context, s *setup) *directory.Outbox {
	return &directory.Outbox{Base: &Event{Time: s.now().UTC(), Tenant: s.tenant, By: event.ActorIn(ctx)}, Audit: s.table}
}

// told tells an event. It returns ErrAudit if the audit log is required and does not
// take it.
func told(ctx context.Context, s *setup, e Event) error {
	o := outboxOf(ctx, s)
	o.Add(e, nil)
	err := o.KeepRecords(ctx)
	s.tell(ctx, o, journal.NoSubject{})
	if err != nil && s.config.Operations.Audit.Required {
		return failure.Wrap(ErrAudit, failure.Of(fault.AuditStore, err))
	}
	return nil
}

// pruneAudit removes what is older than the audit log keeps, some rows at a time, and
// returns how many events it has removed or erased.
func pruneAudit(ctx context.Context, s *setup) (total int, err error) {
	if s.table == nil {
		return 0, nil
	}
	before, personal := audit.Retention(s.config.Operations.Audit.Keep, s.config.Operations.Audit.KeepPersonal, s.now())
	for n := 1; n > 0 && err == nil; total += n {
		if n, err = s.store.PruneAudit(ctx, before, personal, audit.PruneAtOnce); err == nil {
			err = ctx.Err()
		}
	}
	if total > 0 {
		err = errors.Join(err, told(context.WithoutCancel(ctx), s, Event{Type: event.AuditPruned, Count: total}))
	}
	return total, err
}

// prepareAudit makes the audit log, if there is one.
func prepareAudit(s *setup, f *failure.List) {
	a := &s.config.Operations.Audit
	run := s.mails.pool.Go
	if later := s.config.Runtime.Background; later != nil {
		run = func(f func()) bool {
			return guarded.Contain(func() error { later(func(context.Context) { f() }); return nil }) == nil
		}
	}
	sink := func(name string) *audit.Sink {
		told := func(outcome string, n int) {
			s.log.Count(context.Background(), telemetry.Measure{Kind: telemetry.AuditEvents, Provider: name, Value: outcome, N: int64(n)})
			if outcome == "dropped" {
				s.log.Alert("the audit log does not keep up, so that events were dropped: look at the handler of Operations.Audit.Logger, or at the store", "alert", true, "dropped", n)
			}
		}
		return &audit.Sink{Verbose: a.Verbose, Address: audit.Address(a.Address), Now: s.now, Go: run, Told: told}
	}
	if a.Logger != nil {
		s.audit = sink("log")
		s.audit.Logger = a.Logger
	}
	switch {
	case a.Required && !a.Store:
		f.Add(ErrInvalidConfig, "Operations.Audit.Required needs Operations.Audit.Store")
	case a.Required && s.config.Session.Store != nil:
		f.Add(ErrInvalidConfig, "Operations.Audit.Required needs sessions in the Adapter, whose transactions they take part in: leave Session.Store out")
	case a.Store && s.store != nil && s.store.Has(directory.AbilityAudit):
		s.table = tableOf(s, sink("store"))
		if s.store.Tx == nil {
			s.log.WarnAtStart("Operations.Audit.Store: the Adapter is no TxAdapter, so that an event is stored after what it tells")
		}
	}
}

// tableOf returns what keeps events in the store. failures is for those that failed.
func tableOf(s *setup, failures *audit.Sink) *audit.Table {
	a := &s.config.Operations.Audit
	t := &audit.Table{
		Required: a.Required, Verbose: a.Verbose, Address: audit.Address(a.Address), Now: s.now, Told: failures.Told, Failures: failures,
		NewID: func() string { return s.ids.Next(s.now()) },
		Append: func(ctx context.Context, records []storage.AuditRecord) error {
			return s.store.AppendAudit(context.WithoutCancel(ctx), records)
		},
		Lost: func(n int, err error) {
			s.log.Error(context.Background(), journal.NoSubject{}, failure.Wrap(ErrAudit, failure.Of(fault.AuditStore, err)), "alert", true, "lost", n)
		},
	}
	failures.Verbose = true // the table has looked at that
	failures.Keep = t.KeepLater
	return t
}
