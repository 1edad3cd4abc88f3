package directory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/factor"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/storage"
)

// InTx runs f in one transaction, as [Store.InTx] does. If an audit log takes part in the
// transactions of s, InTx stores the events of success that f adds or foretells in the
// same transaction. It drops the events of a run that was rolled back. If the log does
// not take the events, InTx runs f once more without recording them, or returns ErrAudit
// if the log is required. Without transactions it only runs f: see [Outbox.KeepRecords].
func (o *Outbox) InTx(ctx context.Context, s *Store, f func(context.Context, *Store) error) error {
	return o.inTx(ctx, s, f, o.Audit != nil && o.Audit.Required)
}

// InTxAnyway does what InTx does, but runs f once more also if the log is required, and
// never returns ErrAudit. It is for ends of sessions, which no log may hold up.
// KeepRecords then tries to store the events, and counts those as lost that the log does
// not take.
func (o *Outbox) InTxAnyway(ctx context.Context, s *Store, f func(context.Context, *Store) error) error {
	return o.inTx(ctx, s, f, false)
}

// inTx does the work of InTx. With isRequired it returns ErrAudit if the log does not
// take the events.
func (o *Outbox) inTx(ctx context.Context, s *Store, f func(context.Context, *Store) error, isRequired bool) error {
	err := o.runTx(ctx, s, f, o.recordsIn(s))
	cause, lost := errors.AsType[*notRecorded](err)
	switch {
	case !lost:
		return err
	case isRequired:
		return failure.Wrap(fault.ErrAudit, failure.Of(fault.AuditStore, fmt.Errorf("nothing is done that cannot be recorded (`latchkey migrate` makes the table audit_events): %w", cause.err)))
	}
	return o.runTx(ctx, s, f, false)
}

// runTx does one run of InTx. With records it stores the events in the audit log. If the
// log does not take them, the error is a notRecorded. If the transaction was committed,
// it counts the events as written, also if a call after the commit failed.
func (o *Outbox) runTx(ctx context.Context, s *Store, f func(context.Context, *Store) error, records bool) error {
	begun, foretold, written := o.mark(), len(o.foretold), 0
	err := s.InTx(ctx, func(ctx context.Context, s *Store) error {
		o.rewind(begun)
		o.foretold = o.foretold[:foretold]
		err := f(ctx, s)
		if err == nil && records {
			written, err = o.record(ctx, s, begun, foretold)
		}
		return err
	})
	isUndone := isRolledBack(s, err)
	if isUndone { // it did not happen
		o.rewind(begun)
		o.foretold = o.foretold[:foretold]
	}
	if (err == nil || s.Tx != nil && !isUndone) && records {
		o.Audit.Written(written)
	}
	return err
}

// together runs f as InTx does if an audit log takes part in the transactions of s.
// Otherwise it just calls f, which needs no transaction of its own.
func (o *Outbox) together(ctx context.Context, s *Store, f func(context.Context, *Store) error) error {
	if !o.recordsIn(s) {
		return f(ctx, s)
	}
	return o.InTx(ctx, s, f)
}

// recordsIn reports whether events are stored in transactions of s.
func (o *Outbox) recordsIn(s *Store) bool { return o.Audit != nil && s.Tx != nil }

// EndSession deletes the session with a token, and calls tell with the deleted row, so
// that tell adds the events. If sessions take part in the transactions of s, it stores
// the events with the deletion in one transaction. The session ends even if a required
// audit log does not take the events. EndSession returns ErrNotFound for an unknown
// session, and then does not call tell.
func (o *Outbox) EndSession(ctx context.Context, s *Store, token string, tell func(*storage.StoredSession)) error {
	end := func(ctx context.Context, s *Store) error {
		row, err := s.DeleteSession(ctx, token)
		if err == nil {
			tell(&row)
		}
		return err
	}
	if !s.SessionsInTx() || !o.recordsIn(s) {
		return end(ctx, s)
	}
	return o.InTxAnyway(ctx, s, end)
}

// notRecorded reports events that the audit log has not taken. It wraps the error of the
// log, so that a store can see whether to try the transaction again.
type notRecorded struct{ err error }

func (e *notRecorded) Error() string { return e.err.Error() }
func (e *notRecorded) Unwrap() error { return e.err }

// Foretell has the transaction in which it is called store an event in the audit log,
// before the event is added. The caller passes the same event to Add after the commit. If
// it adds another outcome instead, both are in the log.
func (o *Outbox) Foretell(e event.Event) {
	if o.Audit != nil && o.Base != nil {
		o.foretold = append(o.foretold, o.complete(e))
	}
}

// Event returns the event SignIn about the sign-in. Its outcome is failure if the
// application has opened no session for it.
func (signIn *SignIn) Event() event.Event {
	e := event.Event{
		Type: event.SignIn, UserID: signIn.User.ID, SessionID: signIn.Session.ID,
		Provider: signIn.Account.Provider, ProviderType: signIn.Account.Type, By: event.Actor{Kind: event.ActorUser, ID: signIn.User.ID},
		AMR: signIn.AMR, ACR: signIn.ACR,
	}
	if e.AMR == nil {
		e.AMR = factor.First(signIn.Account.Type, nil)
	}
	if signIn.IsRefused {
		e.Outcome, e.Reason, e.Detail, e.SessionID = event.Failed, fault.ErrAccessDenied, fault.SignInDenied, ""
	}
	return e
}

// storeSessionInTx stores the session of a sign-in in the transaction of s, and foretells
// the event of the sign-in. It does nothing if plan is nil or if sessions take no part in
// the transaction.
func storeSessionInTx(ctx context.Context, d *Directory, q *Outbox, s *Store, in *SignIn, plan *SessionPlan) error {
	if plan == nil || !d.Store.SessionsInTx() {
		return nil
	}
	if err := d.storeSession(ctx, s, in, plan); err != nil {
		return err
	}
	q.Foretell(in.Event())
	return nil
}

// RecordSignIn stores the event of a sign-in whose session no store keeps, in a
// transaction that stores nothing else. The caller calls it when the session is made, so
// that a sign-in that fails later is in the log once, and adds the event afterwards.
// RecordSignIn returns ErrAudit if the log is required and does not take the event. It
// does nothing if no audit log takes part in the transactions of s.
func (o *Outbox) RecordSignIn(ctx context.Context, s *Store, in *SignIn) error {
	if !o.recordsIn(s) {
		return nil
	}
	return o.InTx(ctx, s, func(context.Context, *Store) error { o.Foretell(in.Event()); return nil })
}

// record stores, in the transaction of s, what was added and foretold since two marks and is
// not in the audit log yet. Of what was added it leaves out failures, which KeepRecords
// queues. It returns how many events it has stored.
func (o *Outbox) record(ctx context.Context, s *Store, begun, foretold int) (int, error) {
	var events []*event.Event
	for i := begun; i < len(o.list); i++ {
		if entry := &o.list[i]; entry.Event != nil && !entry.Kept && entry.Event.Outcome == event.Succeeded && o.Audit.Wants(entry.Event) {
			events, entry.Kept = append(events, entry.Event), true
		}
	}
	for _, e := range o.foretold[foretold:] {
		if e.ID == "" && o.Audit.Wants(e) {
			events = append(events, e)
		}
	}
	if len(events) == 0 {
		return 0, nil
	}
	if err := AppendAudit(ctx, s, o.Audit.Records(events)); err != nil {
		return 0, &notRecorded{err}
	}
	return len(events), nil
}

// match gives an event that was foretold the id of its record.
func (o *Outbox) match(entry *Entry) {
	for i, e := range o.foretold {
		if e.ID != "" && e.Type == entry.Event.Type && e.UserID == entry.Event.UserID && e.Outcome == entry.Event.Outcome {
			entry.Event.ID, entry.Kept = e.ID, true
			o.foretold = append(o.foretold[:i:i], o.foretold[i+1:]...)
			return
		}
	}
}

// KeepRecords stores the events that are not in the audit log yet. It stores those of
// success before it returns, and queues those of failure. It returns the error of the
// log, and the log counts the events that it has lost. Without an audit log it does
// nothing.
func (o *Outbox) KeepRecords(ctx context.Context) error {
	if o.Audit == nil {
		return nil
	}
	var events []*event.Event
	for i := range o.list {
		entry := &o.list[i]
		switch {
		case entry.Event == nil || entry.Kept || !o.Audit.Wants(entry.Event):
		case entry.Event.Outcome == event.Succeeded:
			events, entry.Kept = append(events, entry.Event), true
		default:
			if entry.Event.ID == "" {
				entry.Event.ID = o.Audit.NewID()
			}
			entry.Kept = true
			o.Audit.Failures.Add(*entry.Event)
		}
	}
	return o.Audit.Keep(ctx, events)
}

// eraseRecords erases what is personal of the audit records about a user. With isErased
// it adds the event UserErased first, and erases what is personal of that, too. Audit
// must not be nil.
func (o *Outbox) eraseRecords(ctx context.Context, s *Store, userID string, isErased bool) error {
	return o.InTx(ctx, s, func(ctx context.Context, s *Store) error {
		if begun := o.mark(); isErased {
			o.Add(event.Event{Type: event.UserErased, UserID: userID}, nil)
			if err := o.storeNow(ctx, s, begun); err != nil {
				return err
			}
		}
		_, err := o.EraseAudit(ctx, s, userID)
		return err
	})
}

// unnameGone removes the user's id from the accounts in the outbox that were removed:
// their tokens are revoked later, and the event of that must not name a user that was
// erased.
func (o *Outbox) unnameGone() {
	for i := range o.list {
		if gone := o.list[i].Gone; gone != nil {
			gone.UserID = ""
		}
	}
}

// storeNow stores what was added since a mark and is not in the audit log yet, and
// returns the error of the log. Without transactions it does what KeepRecords does.
func (o *Outbox) storeNow(ctx context.Context, s *Store, begun int) error {
	if s.Tx != nil {
		_, err := o.record(ctx, s, begun, len(o.foretold))
		return err
	}
	return o.KeepRecords(ctx)
}

// AppendAudit stores records of the audit log. The adapter keeps one.
func AppendAudit(ctx context.Context, s *Store, records []storage.AuditRecord) error {
	return guarded.Do(ctx, s.bounds, "Audit.Append", func(ctx context.Context) error { return s.audit.Audit().Append(ctx, records) })
}

// ListAudit returns the records of the audit log that q names. The adapter keeps an audit
// log.
func ListAudit(ctx context.Context, s *Store, q storage.AuditQuery) ([]storage.AuditRecord, error) {
	fits := func(r *storage.AuditRecord) bool {
		return (q.Tenant == "" || r.Tenant == q.Tenant) && (q.UserID == "" || r.UserID == q.UserID)
	}
	return guarded.CallFor(ctx, s.bounds, "Audit.List", allFit(fits), func(ctx context.Context) ([]storage.AuditRecord, error) {
		return s.audit.Audit().List(ctx, q)
	})
}

// AuditPlace returns an error that is [errors.ErrUnsupported] if the tables of the adapter,
// as it was made, leave the audit log out. It stores nothing. The adapter is an
// AuditAdapter.
func AuditPlace(ctx context.Context, s *Store) error { return s.audit.Audit().Append(ctx, nil) }

// Probe asks the store for an account that does not exist. It returns nil if the store
// answers, and else its error. If the adapter must keep an audit log, it also returns an
// error that names the cure if the table of that is missing or does not fit. It ignores
// other faults of the log: a user of the database may have the right to add records, and
// none to read them.
func Probe(ctx context.Context, s *Store, mustRecord bool) error {
	_, err := s.UserByAccount(ctx, "latchkey-probe", "none")
	if err = failure.Ignoring(err, storage.ErrNotFound); err != nil || !mustRecord {
		return err
	}
	_, err = ListAudit(ctx, s, storage.AuditQuery{Limit: 1})
	if errors.Is(err, storage.ErrSchema) || errors.Is(err, errors.ErrUnsupported) {
		return failure.Wrap(fault.ErrAudit, failure.Of(fault.AuditStore, fmt.Errorf("Audit.Required, and the audit log cannot be kept (run latchkey migrate): %w", err)))
	}
	return nil
}

// PruneAudit removes audit records from before an instant, the oldest first. If there are
// none, it erases what is personal of records from before personalBefore. A zero instant
// leaves all records alone. It changes at most most records and returns how many: the
// caller calls it again until that is 0. The adapter keeps an audit log.
func PruneAudit(ctx context.Context, s *Store, before, personalBefore time.Time, most int) (int, error) {
	return guarded.CallFor(ctx, s.bounds, "Audit.Prune", isCount, func(ctx context.Context) (int, error) {
		return s.audit.Audit().Prune(ctx, before, personalBefore, most)
	})
}

// EraseAudit erases what is personal of the audit records about a user, also of failures that
// wait to be stored. It returns how many stored records it has changed. The records stay. The
// adapter keeps an audit log, and Audit is not nil.
func (o *Outbox) EraseAudit(ctx context.Context, s *Store, userID string) (int, error) {
	o.Audit.Failures.Erase(userID)
	return guarded.CallFor(ctx, s.bounds, "Audit.Erase", isCount, func(ctx context.Context) (int, error) {
		return s.audit.Audit().Erase(ctx, userID)
	})
}
