package latchkey

import (
	"context"
	"time"
)

// handlerTime is how long the application may take to be told one event.
const handlerTime = 5 * time.Second

// queue holds the events of one piece of work until it is done.
type queue struct {
	to      *Events
	base    Event // what the request says about every event
	waiting []queuedEvent
}

type queuedEvent struct {
	event   Event                       // an empty Type: a handler without an event
	name    string                      // of the handler, for the log
	handler func(context.Context) error // nil: only the observer hears of it
}

// add queues e, and with it the handler of the same name. nil: there is none.
func (q *queue) add(e Event, name string, handler func(context.Context) error) {
	if q.to.Observe == nil {
		e = Event{}
	}
	if handler == nil && e.Type == "" {
		return
	}
	if e.Type != "" {
		e = q.complete(e)
	}
	q.waiting = append(q.waiting, queuedEvent{e, name, handler})
}

// complete fills in what the request says.
func (q *queue) complete(e Event) Event {
	b := q.base
	e.Time, e.Client, e.UserAgent, e.Request, e.Tenant = b.Time, b.Client, b.UserAgent, b.Request, b.Tenant
	setDefault(&e.Outcome, EventSucceeded)
	setDefault(&e.By, b.By)
	return e
}

// mark is how many events wait now; rewind forgets those that came after.
func (q *queue) mark() int     { return len(q.waiting) }
func (q *queue) rewind(to int) { q.waiting = q.waiting[:to] }

// flush tells what is waiting. A handler that fails is logged and breaks nothing.
func (q *queue) flush(ctx context.Context, log *journal, about subject) {
	waiting := q.waiting
	q.waiting = nil
	for _, e := range waiting {
		if e.handler != nil {
			q.report(ctx, log, about, e.name, within(ctx, handlerTime, e.handler))
		}
		if e.event.Type != "" {
			observe := func(ctx context.Context) error { return q.to.Observe(ctx, e.event) }
			q.report(ctx, log, about, string(e.event.Type), within(ctx, handlerTime, observe))
		}
	}
}

func (q *queue) report(ctx context.Context, log *journal, about subject, name string, err error) {
	if err != nil {
		log.error(ctx, about, ErrEvent.wrap(err), "event", name)
	}
}

// addUser queues what happened to a user.
func (q *queue) addUser(t EventType, name string, handler func(context.Context, User) error, u User) {
	var call func(context.Context) error
	if handler != nil {
		call = func(ctx context.Context) error { return handler(ctx, u) }
	}
	q.add(Event{Type: t, UserID: u.ID}, name, call)
}

// addAccount queues what happened to an account.
func (q *queue) addAccount(t EventType, name string, handler func(context.Context, LinkAccountEvent) error, e LinkAccountEvent) {
	var call func(context.Context) error
	if handler != nil {
		call = func(ctx context.Context) error { return handler(ctx, e) }
	}
	q.add(Event{Type: t, UserID: e.User.ID, Provider: e.Account.Provider, ProviderType: e.Account.Type}, name, call)
}
