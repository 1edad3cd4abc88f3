package admin

import (
	"context"
	"net/http"
	"net/url"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
)

// route answers a request of a staff member. A POST has to pass
// [latchkey.Core.CheckCSRF]: otherwise route reports event.AccessRefused and answers 403.
// It answers 405 for methods other than GET, HEAD and POST.
func (c *call) route(ctx context.Context) (*latchkey.Response, error) {
	switch c.r.Method {
	case http.MethodGet, http.MethodHead:
		return c.get(ctx)
	case http.MethodPost:
		if err := c.core.CheckCSRF(ctx, c.r); err != nil {
			c.tell(ctx, event.Event{Type: event.AccessRefused, Outcome: event.Failed, UserID: c.staff.ID, Err: err})
			return c.problem(ctx, http.StatusForbidden, "MissingCSRF", "error.refused.heading", "error.refused.text")
		}
		return c.post(ctx)
	}
	res, err := c.problem(ctx, http.StatusMethodNotAllowed, "MethodNotAllowed", "error.missing.heading", "error.missing.text")
	if err == nil {
		res.Header.Set("Allow", "GET, HEAD, POST")
	}
	return res, err
}

// get answers a GET or HEAD by its path.
func (c *call) get(ctx context.Context) (*latchkey.Response, error) {
	switch {
	case c.is(""):
		return &latchkey.Response{Status: http.StatusSeeOther, Redirect: c.Path + "/users"}, nil
	case c.is("users"):
		return c.allowed(ctx, List, latchkey.User{}, c.list)
	case c.is("users", "new"):
		return c.allowed(ctx, Create, latchkey.User{}, func(ctx context.Context) (*latchkey.Response, error) { return c.newPage(ctx, nil) })
	case len(c.path) == 2 && c.path[0] == "users":
		return c.about(ctx, View, c.person)
	case len(c.path) == 3 && c.path[0] == "users" && c.path[2] == string(Delete):
		return c.about(ctx, Delete, c.deletePage)
	}
	return c.notFound(ctx)
}

// post answers a POST by its path. The CSRF token has been checked.
func (c *call) post(ctx context.Context) (*latchkey.Response, error) {
	switch {
	case c.is("users"):
		return c.allowed(ctx, Create, latchkey.User{}, c.create)
	case c.is("users", "search"):
		return c.allowed(ctx, List, latchkey.User{}, c.search)
	case len(c.path) == 3 && c.path[0] == "users":
		if d, known := c.deeds[Action(c.path[2])]; known {
			return c.about(ctx, d.action, func(ctx context.Context, u latchkey.User) (*latchkey.Response, error) { return c.act(ctx, d, u) })
		}
	}
	return c.notFound(ctx)
}

// allowed calls next if may allows the action. Otherwise it reports event.AccessRefused
// and answers 403.
func (c *call) allowed(ctx context.Context, action Action, on latchkey.User, next func(context.Context) (*latchkey.Response, error)) (*latchkey.Response, error) {
	if err := c.may(ctx, action, on); err != nil {
		c.tell(ctx, event.Event{Type: event.AccessRefused, UserID: on.ID, Outcome: event.Failed, Detail: event.Detail(action), Err: err})
		return c.refused(ctx)
	}
	return next(ctx)
}

// about calls next with the user that the path names, if may allows the action. It
// answers 404 for an unknown user. It answers 403 and reports event.AccessRefused for a
// deed on staff, on the acting staff member, or on a user that Options.Staff fails for,
// unless the deed may be done to staff.
func (c *call) about(ctx context.Context, action Action, next func(context.Context, latchkey.User) (*latchkey.Response, error)) (*latchkey.Response, error) {
	if c.path[1] == "" {
		return c.notFound(ctx)
	}
	u, err := c.users.Get(ctx, c.path[1])
	if err != nil {
		return c.fail(ctx, err)
	}
	if d, changes := c.deeds[action]; changes && !d.onStaff {
		same, err := c.isStaff(ctx, u)
		if same || err != nil || u.ID == c.staff.ID {
			c.tell(ctx, event.Event{Type: event.AccessRefused, UserID: u.ID, Outcome: event.Failed, Detail: event.Detail(action), Err: err})
			return c.refused(ctx)
		}
	}
	return c.allowed(ctx, action, u, func(ctx context.Context) (*latchkey.Response, error) { return next(ctx, u) })
}

// personURL returns the path of the page of a user.
func (c *call) personURL(id string) string { return c.Path + "/users/" + url.PathEscape(id) }

// done answers an action that has been done. A browser is redirected to the path to,
// where the page shows the text with the key "done." and notice. JSON gets notice itself.
func (c *call) done(to, notice string) *latchkey.Response {
	if c.json {
		return writeJSON(http.StatusOK, map[string]string{"done": notice})
	}
	return &latchkey.Response{Status: http.StatusSeeOther, Redirect: to + "?done=" + notice}
}
