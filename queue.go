package latchkey

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/fill"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
)

// queue holds the events of one piece of work until it is done.
type queue struct {
	to      *Events
	limit   time.Duration // for being told one event
	base    *Event        // what the request says about every event; nil: nobody observes
	waiting []queuedEvent
}

type queuedEvent struct {
	event   *Event                      // nil: a handler without an event, or nobody observes
	name    string                      // of the handler, for the log
	handler func(context.Context) error // nil: only the observer hears of it
}

// add queues e, and with it the handler of the same name. nil: there is none.
func (q *queue) add(e Event, name string, handler func(context.Context) error) {
	queued := queuedEvent{name: name, handler: handler}
	if q.base != nil && e.Type != "" {
		queued.event = q.complete(e)
	}
	if queued.event != nil || handler != nil {
		q.waiting = append(q.waiting, queued)
	}
}

// complete fills in what the request says.
func (q *queue) complete(e Event) *Event {
	b := q.base
	e.Time, e.Client, e.UserAgent, e.Request, e.Tenant = b.Time, b.Client, b.UserAgent, b.Request, b.Tenant
	fill.Default(&e.Outcome, event.Succeeded)
	fill.Default(&e.By, b.By)
	return &e
}

// by says who does what is queued from now on.
func (q *queue) by(who event.Actor) {
	if q.base != nil {
		q.base.By = who
	}
}

// mark is how many events wait now; rewind forgets those that came after.
func (q *queue) mark() int     { return len(q.waiting) }
func (q *queue) rewind(to int) { q.waiting = q.waiting[:to] }

// flush tells what is waiting. A handler that fails is logged and breaks
// nothing.
func (q *queue) flush(ctx context.Context, log *journal.Logger, about journal.Subject) {
	waiting := q.waiting
	q.waiting = nil
	for _, e := range waiting {
		if e.handler != nil {
			q.report(ctx, log, about, e.name, guarded.Within(ctx, q.limit, "Events."+e.name, e.handler))
		}
		if e.event != nil {
			observe := func(ctx context.Context) error { return q.to.Observe(ctx, *e.event) }
			q.report(ctx, log, about, string(e.event.Type), guarded.Within(ctx, q.limit, "Events.Observe", observe))
		}
	}
}

func (q *queue) report(ctx context.Context, log *journal.Logger, about journal.Subject, name string, err error) {
	if err != nil {
		log.Error(ctx, about, failure.Wrap(ErrEvent, err), "event", name)
	}
}

// addUser queues what happened to a user.
func (q *queue) addUser(t event.Type, name string, handler func(context.Context, User) error, u User) {
	var call func(context.Context) error
	if handler != nil {
		call = func(ctx context.Context) error { return handler(ctx, u) }
	}
	q.add(Event{Type: t, UserID: u.ID}, name, call)
}

// addAccount queues what happened to an account.
func (q *queue) addAccount(t event.Type, name string, handler func(context.Context, LinkAccountEvent) error, e LinkAccountEvent) {
	var call func(context.Context) error
	if handler != nil {
		call = func(ctx context.Context) error { return handler(ctx, e) }
	}
	q.add(Event{Type: t, UserID: e.User.ID, Provider: e.Account.Provider, ProviderType: e.Account.Type}, name, call)
}
