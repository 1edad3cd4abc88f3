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

// InTx runs f in one transaction, as [Store.InTx] does, and stores the events that f
// adds in the audit log, in the same transaction. Events of a run that was rolled back
// are dropped. If the log takes no events, InTx runs f once more without them, or
// returns ErrAudit if the log is required.
func (o *Outbox) InTx(ctx context.Context, s *Store, f func(context.Context, *Store) error) error {
	return o.inTx(ctx, s, f, o.Audit != nil && o.Audit.Required)
}

// InTxAnyway runs f as InTx does, and once more without its events also if the log is
// required: for ends of sessions, which no log may hold up. KeepRecords then counts the
// events as lost.
func (o *Outbox) InTxAnyway(ctx context.Context, s *Store, f func(context.Context, *Store) error) error {
	return o.inTx(ctx, s, f, false)
}

// inTx does the work of InTx. isRequired has it fail if the log takes no events.
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

// runTx does one run of InTx. With records it stores the events in the audit log; if the
// log does not take them, the error is a notRecorded.
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

// together does what InTx does where an audit log is kept. Elsewhere it just calls f,
// which is one call of the store and needs no transaction.
func (o *Outbox) together(ctx context.Context, s *Store, f func(context.Context, *Store) error) error {
	if !o.recordsIn(s) {
		return f(ctx, s)
	}
	return o.InTx(ctx, s, f)
}

// recordsIn reports whether events are stored in transactions of s.
func (o *Outbox) recordsIn(s *Store) bool { return o.Audit != nil && s.Tx != nil }

// EndSession deletes the session with a token. tell gets it and adds its events, which
// are stored with the deletion in one transaction if sessions take part in those of s. A
// session ends although the audit log takes no events, even a required one.
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

// notRecorded reports events that the audit log has not taken. It is the cause for a
// store that tries a transaction again.
type notRecorded struct{ err error }

func (e *notRecorded) Error() string { return e.err.Error() }
func (e *notRecorded) Unwrap() error { return e.err }

// Foretell stores an event in the audit log, in the transaction that it is called in. The
// caller passes the same event to Add later. If it adds another outcome instead, both are
// in the log.
func (o *Outbox) Foretell(e event.Event) {
	if o.Audit != nil && o.Base != nil {
		o.foretold = append(o.foretold, o.complete(e))
	}
}

// Event returns the event that tells the sign-in.
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
		e.Outcome, e.Reason, e.SessionID = event.Failed, fault.ErrAccessDenied, ""
	}
	return e
}

// storeTogether stores the session of a sign-in, and the event of it, in the transaction
// of s if sessions take part in it.
func storeTogether(ctx context.Context, d *Directory, q *Outbox, s *Store, in *SignIn, plan *SessionPlan) error {
	if plan == nil || !d.Store.SessionsInTx() {
		return nil
	}
	if err := d.storeSession(ctx, s, in, plan); err != nil {
		return err
	}
	q.Foretell(in.Event())
	return nil
}

// RecordSignIn stores the event of a sign-in whose session no store keeps. Call it when
// the session is made, so that a sign-in that fails is in the log once. It returns ErrAudit
// if the log is required and does not take it.
func (o *Outbox) RecordSignIn(ctx context.Context, s *Store, in *SignIn) error {
	if !o.recordsIn(s) {
		return nil
	}
	return o.InTx(ctx, s, func(context.Context, *Store) error { o.Foretell(in.Event()); return nil })
}

// record stores what was added and foretold since two marks and is not in the audit log
// yet, in the transaction of s, and returns how many events that were.
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

// KeepRecords stores the events that are not in the audit log yet: what succeeded at
// once, and what failed later. What the log does not take is counted there.
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

// eraseRecords erases what is personal of the records about a user, those of the
// erasure included. With isErased it adds the event of the erasure.
func (o *Outbox) eraseRecords(ctx context.Context, s *Store, userID string, isErased bool) error {
	return o.InTx(ctx, s, func(ctx context.Context, s *Store) error {
		if begun := o.mark(); isErased {
			o.Add(event.Event{Type: event.UserErased, UserID: userID}, nil)
			if err := o.storeNow(ctx, s, begun); err != nil {
				return err
			}
		}
		o.Audit.Failures.Erase(userID)
		_, err := EraseAudit(ctx, s, userID)
		return err
	})
}

// unnameGone takes the user's id from the accounts that were removed: their tokens are
// revoked later, and the event of it must not name a user that was erased.
func (o *Outbox) unnameGone() {
	for i := range o.list {
		if gone := o.list[i].Gone; gone != nil {
			gone.UserID = ""
		}
	}
}

// storeNow stores what was added since a mark and is not in the audit log yet. A log that
// takes no events is no error here: what was added is stored later.
func (o *Outbox) storeNow(ctx context.Context, s *Store, begun int) error {
	if s.Tx != nil {
		_, err := o.record(ctx, s, begun, len(o.foretold))
		return err
	}
	return o.KeepRecords(ctx)
}

// AppendAudit stores records of the audit log.
func AppendAudit(ctx context.Context, s *Store, records []storage.AuditRecord) error {
	return guarded.Do(ctx, s.bounds, "Audit.Append", func(ctx context.Context) error { return s.audit.Audit().Append(ctx, records) })
}

// ListAudit lists records of the audit log.
func ListAudit(ctx context.Context, s *Store, q storage.AuditQuery) ([]storage.AuditRecord, error) {
	fits := func(r *storage.AuditRecord) bool {
		return (q.Tenant == "" || r.Tenant == q.Tenant) && (q.UserID == "" || r.UserID == q.UserID)
	}
	return guarded.CallFor(ctx, s.bounds, "Audit.List", allFit(fits), func(ctx context.Context) ([]storage.AuditRecord, error) {
		return s.audit.Audit().List(ctx, q)
	})
}

// PruneAudit removes old records of the audit log, or what is personal of them, and
// returns how many, which is most or fewer.
func PruneAudit(ctx context.Context, s *Store, before, personalBefore time.Time, most int) (int, error) {
	return guarded.CallFor(ctx, s.bounds, "Audit.Prune", isCount, func(ctx context.Context) (int, error) {
		return s.audit.Audit().Prune(ctx, before, personalBefore, most)
	})
}

// EraseAudit erases what is personal of the records about a user, and returns of how
// many.
func EraseAudit(ctx context.Context, s *Store, userID string) (int, error) {
	return guarded.CallFor(ctx, s.bounds, "Audit.Erase", isCount, func(ctx context.Context) (int, error) {
		return s.audit.Audit().Erase(ctx, userID)
	})
}
