package latchkey

import (
	"context"
	"time"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/journal"
	"github.com/latchkeyhq/latchkey/telemetry"
)

// listeners are Events as the directory asks for them.
type listeners Events

// Hears reports whether the function for events of type t is set.
func (l *listeners) Hears(t event.Type) bool {
	switch t {
	case event.SignIn:
		return l.SignIn != nil
	case event.SessionEnded:
		return l.SignOut != nil
	case event.UserCreated:
		return l.CreateUser != nil
	case event.UserUpdated:
		return l.UpdateUser != nil
	case event.UserDeleted:
		return l.DeleteUser != nil
	case event.UserEvicted:
		return l.Evict != nil
	case event.AccountLinked:
		return l.LinkAccount != nil
	case event.AccountUnlinked:
		return l.UnlinkAccount != nil
	}
	return false
}

// handlerOf returns the function for an event, and its name. call is nil without a payload:
// only an event for which a function is set has one.
func (e *Events) handlerOf(entry *directory.Entry) (name string, call func(context.Context) error) {
	switch p := entry.Payload.(type) {
	case SignInEvent:
		return "signIn", func(ctx context.Context) error { return e.SignIn(ctx, p) }
	case SignOutEvent:
		return "signOut", func(ctx context.Context) error { return e.SignOut(ctx, p) }
	case EvictEvent:
		return "evict", func(ctx context.Context) error { return e.Evict(ctx, p) }
	case SessionEvent:
		return "session", func(ctx context.Context) error { return e.Session(ctx, p) }
	case User:
		name, f := e.userHandlerOf(entry.Type)
		return name, func(ctx context.Context) error { return f(ctx, p) }
	case LinkAccountEvent:
		if entry.Type == event.AccountUnlinked {
			return "unlinkAccount", func(ctx context.Context) error { return e.UnlinkAccount(ctx, p) }
		}
		return "linkAccount", func(ctx context.Context) error { return e.LinkAccount(ctx, p) }
	}
	return "", nil
}

// userHandlerOf returns the function for an event whose payload is a user, and its name.
func (e *Events) userHandlerOf(t event.Type) (name string, f func(context.Context, User) error) {
	switch t {
	case event.UserCreated:
		return "createUser", e.CreateUser
	case event.UserDeleted:
		return "deleteUser", e.DeleteUser
	}
	return "updateUser", e.UpdateUser
}

// tellAll calls the functions of e for the events in o, each for no longer than
// limit, and calls keep for each event before. An error is logged and changes nothing.
func (e *Events) tellAll(ctx context.Context, o *directory.Outbox, limit time.Duration, log *journal.Logger, about journal.Subject, keep func(*Event)) {
	call := func(name string, f func(context.Context) error) error {
		ctx, step := log.Begin(ctx, telemetry.OpCallback, name, "")
		err := guarded.Within(ctx, limit, name, f)
		step.End(err)
		return err
	}
	report := func(name string, err error) {
		if err != nil {
			log.Error(ctx, about, failure.Wrap(ErrEvent, failure.Of(fault.EventFailed, err)), "event", name)
		}
	}
	for _, entry := range o.Take() {
		if entry.Event != nil {
			keep(entry.Event)
		}
		if name, f := e.handlerOf(&entry); f != nil {
			report(name, call("Events."+name, f))
		}
		if entry.Event != nil && e.Observe != nil {
			observe := func(ctx context.Context) error { return e.Observe(ctx, *entry.Event) }
			report(string(entry.Type), call("Events.Observe", observe))
		}
	}
}
