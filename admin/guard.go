package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
)

// call is one request to the pages.
type call struct {
	*Handler
	r    *latchkey.Request
	json bool // the answer is JSON

	session *latchkey.Session
	staff   latchkey.User // the staff member who asks
	words   *words
	cookies []*http.Cookie // that the words came with
	path    []string       // below Path, unescaped
}

// patience is how long Staff and Allow may take.
const patience = 5 * time.Second

var errNotAllowed = errors.New("admin: set Options.Allow to let staff act as users, or replace the address of one")

var errSlow = errors.New("admin: Options.Staff or Allow did not answer in time")

// bounded calls f, a function of the application, on a goroutine of its own. It returns
// an error if f panics, ends its goroutine, or has not returned when patience is over or
// ctx ends. In the last two cases f may go on.
func bounded[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("admin: Options.Staff or Allow ended its goroutine")}
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("admin: Options.Staff or Allow panicked: %v", p)
			}
			done <- a
		}()
		a.value, a.err = f(ctx)
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, errSlow
	}
}

// isStaff calls Options.Staff about a user. Its errors are those of bounded and of Staff.
func (c *call) isStaff(ctx context.Context, u latchkey.User) (bool, error) {
	return bounded(ctx, func(ctx context.Context) (bool, error) { return c.Staff(ctx, u) })
}

// may returns nil if the application allows an action on a user, and otherwise the error
// of Allow or of bounded. Without Allow it refuses ActAs and Recover alone.
func (c *call) may(ctx context.Context, action Action, on latchkey.User) error {
	switch {
	case c.Allow == nil && (action == ActAs || action == Recover):
		return errNotAllowed
	case c.Allow == nil:
		return nil
	}
	_, err := bounded(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.Allow(ctx, Attempt{Session: c.session, Action: action, User: on})
	})
	return err
}

// answer finds out who sends the request, and routes that of a staff member. It answers
// every other request itself; a user outside the staff gets 404 on every path. The error
// is a fault that no page could be made for.
func (c *call) answer(ctx context.Context) (*latchkey.Response, error) {
	below, in := strings.CutPrefix(c.r.URL.EscapedPath(), c.Path)
	if !in || below != "" && below[0] != '/' {
		res, err := c.notFound(ctx)
		if err != nil {
			return nil, err
		}
		return withCookies(res, c.cookies), nil
	}
	for part := range strings.SplitSeq(strings.Trim(below, "/"), "/") {
		name, err := url.PathUnescape(part)
		if err != nil {
			name = ""
		}
		c.path = append(c.path, name)
	}
	s, cookies, err := c.core.ReadSession(ctx, c.r)
	if err != nil {
		return withCookies(c.failed(ctx, err), cookies), nil
	}
	c.session = s
	res, err := c.admit(ctx)
	if res == nil && err == nil {
		ctx = event.WithActor(ctx, event.Actor{Kind: event.ActorAdmin, ID: c.staff.ID})
		res, err = c.route(ctx)
	}
	if err != nil {
		return nil, err
	}
	return withCookies(withCookies(res, c.cookies), cookies), nil
}

// withCookies adds cookies to res itself and returns res. It leaves out a cookie if res
// has one of that name already.
func withCookies(res *latchkey.Response, cookies []*http.Cookie) *latchkey.Response {
	for _, cookie := range cookies {
		if !slices.ContainsFunc(res.Cookies, func(c *http.Cookie) bool { return c.Name == cookie.Name }) {
			res.Cookies = append(res.Cookies, cookie)
		}
	}
	return res
}

// admit returns nil, nil if the session may use the pages, and sets c.staff to its user.
// Otherwise it returns the response that refuses the request, or that asks the user to
// prove their identity again. It reports event.AccessRefused for a user who is no staff.
func (c *call) admit(ctx context.Context) (*latchkey.Response, error) {
	if c.session.UserID == "" || c.session.Actor != nil { // an administrator who acts as staff is not that person
		return c.notFound(ctx)
	}
	u, err := c.users.Get(ctx, c.session.UserID)
	if errors.Is(err, latchkey.ErrNotFound) {
		return c.notFound(ctx)
	}
	if err != nil {
		return c.failed(ctx, err), nil
	}
	if u.Suspension.Holds(c.clock()) {
		return c.failed(ctx, latchkey.ErrNoSession), nil
	}
	c.staff = u
	staff, err := c.isStaff(ctx, u)
	if err != nil || !staff {
		c.tell(ctx, event.Event{Type: event.AccessRefused, UserID: u.ID, Outcome: event.Failed, Err: err})
		if err != nil {
			return c.refused(ctx)
		}
		return c.notFound(ctx)
	}
	if c.r.Method == http.MethodPost && !c.is("users", "search") {
		return proveForChange(ctx, c)
	}
	return c.prove(ctx, latchkey.NeedRecent(c.Shift))
}

// longestForActing is how old a proof may be by which an administrator acts as a user,
// unless Options.Recent is shorter.
const longestForActing = 10 * time.Minute

// proveForChange returns a response that asks the staff member for the proof that changes
// take: a recent one, and a second factor if the staff member has one. It returns nil,
// nil if the session has it.
func proveForChange(ctx context.Context, c *call) (*latchkey.Response, error) {
	need := latchkey.NeedRecent(c.Recent)
	if len(c.path) > 2 && c.path[2] == string(ActAs) {
		need = latchkey.NeedRecent(min(c.Recent, longestForActing))
	}
	can, err := c.users.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	if can.Factors {
		held, err := c.users.Factors(ctx, c.staff.ID)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
		if len(held) > 0 {
			need = errors.Join(latchkey.NeedFactor(), need)
		}
	}
	return c.prove(ctx, need)
}

// is reports whether the path of the request has exactly these parts below Options.Path.
func (c *call) is(parts ...string) bool {
	if len(parts) != len(c.path) {
		return false
	}
	for i, p := range parts {
		if p != c.path[i] {
			return false
		}
	}
	return true
}

// prove returns nil, nil if the session has the proofs that need asks for, and otherwise
// a response that asks the staff member for them. A browser is led to the page that takes
// the proof, then to the user or list of the request. A request for JSON or with a bearer
// token gets 401 and a challenge. If no session can have the proof, failed answers the error.
func (c *call) prove(ctx context.Context, need error) (*latchkey.Response, error) {
	unmet := c.core.Unmet(ctx, c.session, need)
	switch {
	case unmet == nil:
		return nil, nil
	case latchkey.StepUpChallenge(unmet) == "": // no session of this site has such a proof
		return c.failed(ctx, unmet), nil
	}
	if c.json || c.session.Via == latchkey.ViaBearer {
		res := failJSON(http.StatusUnauthorized, "insufficient_user_authentication", "", "prove again who you are")
		res.Header.Set("WWW-Authenticate", "Bearer "+latchkey.StepUpChallenge(unmet))
		return res, nil
	}
	back := *c.r
	if c.r.Method == http.MethodPost {
		to := &url.URL{Path: c.Path + "/users"}
		if len(c.path) > 1 && c.path[1] != "search" {
			to = &url.URL{Path: c.Path + "/users/" + c.path[1], RawPath: c.personURL(c.path[1])}
		}
		back.Method, back.URL, back.Body = http.MethodGet, to, nil
	}
	found := c.core.Authorize(ctx, &back, func(*latchkey.Request, *latchkey.Session) error { return unmet })
	if found.Response == nil { // a concurrent request has brought the proof
		return &latchkey.Response{Status: http.StatusSeeOther, Redirect: back.URL.RequestURI()}, nil
	}
	if c.r.Method == http.MethodPost {
		found.Response.Status = http.StatusSeeOther
	}
	return withCookies(found.Response, found.Cookies), nil
}

// tell reports an event with this staff member as its actor.
func (c *call) tell(ctx context.Context, e event.Event) {
	e.By = event.Actor{Kind: event.ActorAdmin, ID: c.staff.ID}
	c.core.Tell(ctx, c.r, e)
}

// notFound answers 404: for an unknown path, and for every path if the user is no staff.
func (c *call) notFound(ctx context.Context) (*latchkey.Response, error) {
	return c.problem(ctx, http.StatusNotFound, "NotFound", "error.missing.heading", "error.missing.text")
}

// refused answers 403 for what a staff member may not do, or if Options.Staff fails.
func (c *call) refused(ctx context.Context) (*latchkey.Response, error) {
	return c.problem(ctx, http.StatusForbidden, "AccessDenied", "error.forbidden.heading", "error.forbidden.text")
}

// problem answers with JSON that holds code, or with a page. heading and text are keys of
// the library's own texts.
func (c *call) problem(ctx context.Context, status int, code, heading, text string) (*latchkey.Response, error) {
	if c.json {
		return failJSON(status, code, "", ""), nil
	}
	w, err := c.inWords(ctx)
	if err != nil {
		return nil, err
	}
	return c.core.Page(ctx, c.r, latchkey.Frame{Status: status, Heading: w.root(heading), Lead: w.root(text)})
}
