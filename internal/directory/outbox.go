package directory

import (
	"slices"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/audit"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/storage"
)

// Outbox holds the events of one piece of work, and the accounts that it has removed, until
// the work is done. The zero value collects no events. It is not safe for concurrent use.
type Outbox struct {
	Base  *event.Event // the fields that all events share; nil: no observer listens
	Hears Listener     // tells which callbacks there are; nil: none
	Audit *audit.Table // stores the events; nil: there is no such audit log
	list  []Entry

	foretold []*event.Event // stored in the audit log, and not added yet
}

// Listener reports for which events the application has a callback.
type Listener interface{ Hears(t event.Type) bool }

// Entry is one event, or an account that was removed.
type Entry struct {
	Event   *event.Event // nil: no observer listens
	Type    event.Type
	Payload any  // nil: no callback listens
	Kept    bool // it is in the table of the audit log, or on the way there

	// Gone is an account that was removed, as it was stored. Its tokens are to be
	// revoked. nil: the entry is an event.
	Gone *storage.Account
}

// Wants reports whether a callback listens for events of the type. If not, the
// caller of Add need not make a payload.
func (o *Outbox) Wants(t event.Type) bool { return o.Hears != nil && o.Hears.Hears(t) }

// Add appends e if an observer listens, as Base says, or if payload is not nil. payload is for
// the callback of e.Type; nil: no callback listens.
func (o *Outbox) Add(e event.Event, payload any) {
	entry := Entry{Type: e.Type, Payload: payload}
	if o.Base != nil && e.Type != "" {
		entry.Event = o.complete(e)
		o.match(&entry)
	}
	if entry.Event != nil || payload != nil {
		o.list = append(o.list, entry)
	}
}

// complete returns a copy of e with the fields that all events share. An Outcome or By
// that e has stays.
func (o *Outbox) complete(e event.Event) *event.Event {
	b := o.Base
	e.Time, e.Client, e.UserAgent, e.RequestID, e.Tenant = b.Time, b.Client, b.UserAgent, b.RequestID, b.Tenant
	fill.Default(&e.Outcome, event.Succeeded)
	fill.Default(&e.By, b.By)
	return &e
}

// SetActor sets the actor of the events that are added from now on.
func (o *Outbox) SetActor(a event.Actor) {
	if o.Base != nil {
		o.Base.By = a
	}
}

// Take returns all entries and empties the outbox.
func (o *Outbox) Take() []Entry {
	list := o.list
	o.list = nil
	return list
}

// TakeGone returns the accounts that were removed from their users, and takes them out of
// the outbox.
func (o *Outbox) TakeGone() (gone []storage.Account) {
	if !slices.ContainsFunc(o.list, func(e Entry) bool { return e.Gone != nil }) {
		return nil
	}
	var events []Entry
	for _, e := range o.list {
		if e.Gone != nil {
			gone = append(gone, *e.Gone)
		} else {
			events = append(events, e)
		}
	}
	o.list = events
	return gone
}

// mark returns a position for rewind.
func (o *Outbox) mark() int { return len(o.list) }

// rewind drops the events that were added since mark returned to.
func (o *Outbox) rewind(to int) { o.list = o.list[:to] }

// addUser adds an event about a user, with the user as its payload if a callback listens.
func (o *Outbox) addUser(t event.Type, u storage.User) {
	var payload any
	if o.Wants(t) {
		payload = u
	}
	o.Add(event.Event{Type: t, UserID: u.ID}, payload)
}

// addAccount adds an event about an account, with p as its payload if a callback listens.
func (o *Outbox) addAccount(t event.Type, p *event.AccountPayload) {
	var payload any
	if o.Wants(t) {
		payload = *p
	}
	o.Add(event.Event{Type: t, UserID: p.User.ID, Provider: p.Account.Provider, ProviderType: p.Account.Type}, payload)
}
