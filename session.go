package latchkey

import (
	"context"
	"fmt"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/wirejson"
)

// errOtherTenant reports that a session is another tenant's. It is no session here,
// and its cookie and its row stay.
var errOtherTenant = fmt.Errorf("the session of another tenant: %w", directory.ErrNoToken)

// sessionJSON answers GET /session and, with a change, POST /session. It
// returns null without a session, and also if the session cannot be read: the
// fault is logged and the cookie left alone.
func (x *exchange) sessionJSON(ctx context.Context, c *change) []byte {
	r, err := x.setup.sessions.read(ctx, &x.visit, c)
	if err != nil {
		x.setup.log.Error(ctx, x, err)
	}
	if err != nil || r == nil {
		return wirejson.Null
	}
	return r.json
}

// readSession returns the session for the application's own code, and
// ErrNoSession if there is none.
func (x *exchange) readSession(ctx context.Context, c *change) (r *reading, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, guarded.Panicked(p)
		}
	}()
	r, err = x.ask(ctx, c)
	x.tell(ctx)
	if err != nil {
		x.setup.log.Error(ctx, x, err)
		return nil, x.handOut(err)
	}
	if r == nil {
		return nil, ErrNoSession
	}
	return r, nil
}

// ask finds the session of a request: by what is plugged in, else by the
// session cookie.
func (x *exchange) ask(ctx context.Context, c *change) (*reading, error) {
	for _, known := range x.setup.principals {
		if r, err := known(ctx, x); r != nil || err != nil {
			return r, err
		}
	}
	return x.setup.sessions.read(ctx, &x.visit, c)
}
