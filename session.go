package latchkey

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// sessionKeeper keeps sessions: in the cookie itself, or in a row behind it.
// Which one is chosen once, in setup.
type sessionKeeper interface {
	// record makes what has to be stored together with the sign-in itself; it
	// runs inside the sign-in's transaction. s is nil without a database.
	record(ctx context.Context, v *visit, s *store, who *admission) error
	// open gives the visitor their session cookie.
	open(ctx context.Context, v *visit, who *admission) error
	// read says who is signed in, keeps the session alive and tells the
	// application. A nil reading is nobody. An error is a fault: it neither
	// signs in nor out.
	read(ctx context.Context, v *visit, change *change) (*reading, error)
	// current is the user who is signed in, nil for nobody; it changes nothing.
	current(ctx context.Context, v *visit) (*holder, error)
	// close ends the session.
	close(ctx context.Context, v *visit) error
}

// change is what a browser, or the application, wants to be different.
type change struct{ data any }

// reading is a session that was read: ready as JSON, and as a value for those who ask.
type reading struct {
	json    []byte
	session *Session // nil: only json was needed so far
}

// value is the session as Go sees it.
func (r *reading) value() (*Session, error) {
	if r.session != nil {
		return r.session, nil
	}
	s := &Session{}
	return s, s.UnmarshalJSON(r.json)
}

// holder is who is signed in, and by which session.
type holder struct {
	user      User
	sessionID string // of the row; empty: not a stored session
	token     string // of the row
}

var noTime time.Time

// showSession answers GET /session.
func (v *visit) showSession(ctx context.Context) (*Response, error) {
	return noStore(v.sessionJSON(ctx, nil)), nil
}

// updateSession answers POST /session.
func (v *visit) updateSession(ctx context.Context) (*Response, error) {
	return v.sessionJSON(ctx, &change{v.form["data"]}), nil
}

// sessionJSON answers null when nobody is signed in, and also when it cannot
// be known: a fault has been logged and the cookie left alone.
func (v *visit) sessionJSON(ctx context.Context, c *change) *Response {
	r, err := v.sessions.read(ctx, v, c)
	switch {
	case err != nil:
		v.log.error(v, err)
		return jsonBytes(http.StatusOK, null)
	case r == nil:
		return jsonBytes(http.StatusOK, null)
	}
	return jsonBytes(http.StatusOK, r.json)
}

// readSession is sessionJSON for the application's own code.
func (v *visit) readSession(ctx context.Context, c *change) (s *Session, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, panicked(p)
		}
	}()
	r, err := v.sessions.read(ctx, v, c)
	v.tellAll(ctx)
	switch {
	case err != nil:
		v.log.error(v, err)
		return nil, v.handOut(err)
	case r == nil:
		return nil, ErrNoSession
	}
	return r.value()
}

// expose runs the session callback and prepares the answer.
func (v *visit) expose(ctx context.Context, in SessionRead) (*reading, error) {
	s := in.Session
	if shape := v.Callbacks.Session; shape != nil {
		var err error
		if s, err = containResult(func() (*Session, error) { return shape(ctx, in) }); err != nil {
			return nil, err
		}
		if s == nil {
			return nil, errors.New("Callbacks.Session returned no session")
		}
	}
	json, err := appendSession(make([]byte, 0, 256), s)
	if err != nil {
		return nil, err
	}
	if told := v.Events.Session; told != nil {
		e := SessionEvent{Session: *s, Claims: in.Claims}
		v.tell("session", func(ctx context.Context) error { return told(ctx, e) })
	}
	return &reading{json, s}, nil
}
