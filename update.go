package latchkey

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
)

// A session that the application changes.

// UpdateSession hands data to the token callback (or, with stored sessions, the session
// callback) as a browser's update would, and returns the new session. It sets the cookie
// of that session on w, so call it before writing the body. A nil data is an update
// without data. Data that JSON cannot hold is ErrInvalidConfig. Without a session the
// error is ErrNoSession. A request other than GET or HEAD that the browser marks as
// another site's, or a sibling host's, is ErrMissingCSRF, unless it has a bearer token or
// [Security].SkipCSRFCheck says that the application checks. Other errors are
// ErrUntrustedHost, an error of the callback and a store that fails. With JWTSessions a
// request with a bearer token gets the new token in the header Session-Token of the
// response.
func (a *Auth) UpdateSession(w http.ResponseWriter, r *http.Request, data any) (*Session, error) {
	if state := stateIn(r.Context()); state == nil || state.auth == a {
		_, r = a.stateOf(w, r)
	}
	s, cookies, err := a.Core().UpdateSession(r.Context(), requestHead(r), data)
	addCookies(w, cookies)
	return s, err
}

// errNoResponse: the new token would be lost.
var errNoResponse = failure.Wrap(ErrInvalidConfig, failure.Of(fault.ConfigContext, errors.New("an update gives a session that came as a bearer token a new token: use a context of LoadSession, or the session route")))

// UpdateSession does what [Auth.UpdateSession] does, and returns the cookies for the
// response, also with an error. It returns them in every context: unlike those of
// [Core.ReadSession] they are never in [Core.Renewal]. Where the session came as a bearer
// token, ctx must be one of [Core.LoadSession], [Core.Attach], [Auth.LoadSession] or a
// guard: its response gets the Session-Token. Any other ctx is then ErrInvalidConfig.
func (c *Core) UpdateSession(ctx context.Context, r *Request, data any) (*Session, []*http.Cookie, error) {
	x, err := c.reading(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	b, state := x.credential.Bearer, stateIn(ctx)
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead // such as a page that a provider's redirect leads to
	if err := refuseForeign(x, nil, safe || b != nil); err != nil {
		return nil, nil, fail(ctx, x, err)
	}
	plain, err := plainJSON(data)
	if err != nil {
		return nil, nil, fail(ctx, x, failure.Wrap(ErrInvalidConfig, err))
	}
	if b != nil {
		if state == nil || state.auth == nil {
			return nil, nil, fail(ctx, x, errNoResponse)
		}
		b.Renews = true
	}
	found, err := x.readSession(ctx, &change{plain})
	c.auth.settle(ctx, x.setup, r, found, err)
	if b != nil {
		state.inResponse(b.HandOver)
	}
	if err != nil {
		return nil, x.cookies.Out, err
	}
	return found.session, x.cookies.Out, nil
}

// plainJSON returns data as a browser's JSON would have brought it.
func plainJSON(data any) (plain any, err error) {
	raw, err := json.Marshal(data)
	if err == nil {
		err = json.Unmarshal(raw, &plain)
	}
	return plain, err
}
