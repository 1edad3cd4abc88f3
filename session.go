package latchkey

import (
	"context"
	"errors"
	"net/http"
)

// showSession answers GET /session.
func (x *exchange) showSession(ctx context.Context) (*Response, error) {
	return noStore(x.sessionJSON(ctx, nil)), nil
}

// updateSession answers POST /session.
func (x *exchange) updateSession(ctx context.Context) (*Response, error) {
	return x.sessionJSON(ctx, &change{x.form["data"]}), nil
}

// sessionJSON answers null when nobody is signed in, and also when it cannot
// be known: a fault has been logged and the cookie left alone.
func (x *exchange) sessionJSON(ctx context.Context, c *change) *Response {
	r, err := x.setup.sessions.read(ctx, x, c)
	if err != nil {
		x.setup.log.error(ctx, x, err)
	}
	if err != nil || r == nil {
		return jsonBytes(http.StatusOK, null)
	}
	return jsonBytes(http.StatusOK, r.json)
}

// readSession says to the application's own code who is signed in: ErrNoSession
// for nobody.
func (x *exchange) readSession(ctx context.Context, c *change) (r *reading, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, panicked(p)
		}
	}()
	r, err = x.ask(ctx, c)
	x.tellRest(ctx)
	if err != nil {
		x.setup.log.error(ctx, x, err)
		return nil, x.handOut(err)
	}
	if r == nil {
		return nil, ErrNoSession
	}
	return r, nil
}

// ask finds out who asks: by what is plugged in, else by the session cookie.
func (x *exchange) ask(ctx context.Context, c *change) (*reading, error) {
	for _, known := range x.setup.principals {
		if r, err := known(ctx, x); r != nil || err != nil {
			return r, err
		}
	}
	return x.setup.sessions.read(ctx, x, c)
}

// expose runs the session callback and prepares the answer.
func (x *exchange) expose(ctx context.Context, in SessionRead) (*reading, error) {
	s := in.Session
	if shape := x.setup.config.Callbacks.Session; shape != nil {
		kept := *in.Session
		var err error
		if s, err = containResult(func() (*Session, error) { return shape(ctx, in) }); err != nil {
			return nil, err
		}
		if s == nil {
			return nil, errors.New("Callbacks.Session returned no session")
		}
		s = s.withServerFields(&kept, s != in.Session)
	}
	json, err := appendSession(make([]byte, 0, 256), s)
	if err != nil {
		return nil, err
	}
	if handler := x.setup.config.Events.Session; handler != nil {
		e := SessionEvent{Session: *s, Claims: in.Claims, Stored: in.Stored}
		x.events.add(Event{}, "session", func(ctx context.Context) error { return handler(ctx, e) })
	}
	return &reading{json, s, in.User}, nil
}

// withServerFields gives s what no callback may change. A session that is not
// ours is copied first.
func (s *Session) withServerFields(from *Session, foreign bool) *Session {
	if foreign {
		copied := *s
		s = &copied
	}
	s.UserID, s.ID, s.Tenant, s.Provider, s.Via, s.Assurance = from.UserID, from.ID, from.Tenant, from.Provider, from.Via, from.Assurance
	return s
}

// queueSignOut tells the end of a session.
func (x *exchange) queueSignOut(ended endedSession, e SignOutEvent) {
	var call func(context.Context) error
	if handler := x.setup.config.Events.SignOut; handler != nil {
		call = func(ctx context.Context) error { return handler(ctx, e) }
	}
	x.events.add(Event{
		Type: EventSessionEnded, UserID: ended.userID, SessionID: ended.id, Provider: ended.provider,
		By: Actor{ActorUser, ended.userID},
	}, "signOut", call)
}
