package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/storage"
	"github.com/latchkeyhq/latchkey/users"
)

// filters are the fields of a list in a URL. A name and an address are not among them.
var filters = fields{
	"suspended": flag, "verified": flag, "provider": text, "kind": text, "from": instant, "before": instant,
	"order": text, "limit": number, "after": text, "s": text, "done": text,
}

// searched are the fields of a search.
var searched = fields{
	"search": text, "suspended": flag, "verified": flag, "provider": text, "kind": text, "from": instant, "before": instant,
	"order": text, "limit": number, "after": text,
}

// queryOf returns the query that the fields of in describe.
func queryOf(in input) users.Query {
	limit, _ := strconv.Atoi(in["limit"])
	return users.Query{
		Search: strings.TrimSpace(in["search"]), Suspended: in.flag("suspended"), Verified: in.flag("verified"),
		Provider: in["provider"], Kind: storage.ProviderType(in["kind"]), From: in.at("from"), Before: in.at("before"),
		Order: users.Order(in["order"]), Limit: limit, After: in["after"],
	}
}

// readQuery reads the query of a URL. A parameter that is unknown, comes twice or has
// another kind is an InputError. It does not limit the length of the sealed parameters s
// and after.
func readQuery(r *latchkey.Request) (input, error) {
	in := input{}
	params, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return in, wrong("", "the query is malformed")
	}
	for name, values := range params {
		k, known := filters[name]
		if !known || len(values) > 1 {
			return in, wrong(name, "there is no such field, or it came twice")
		}
		if name == "s" || name == "after" { // sealed, and longer
			in[name] = values[0]
		} else if err := in.set(name, k, values[0]); err != nil {
			return in, err
		}
	}
	return in, nil
}

// list answers GET /users. A search comes as a sealed query in the parameter s, which
// only the session that made it can open. Without JSON, a sealed query that does not open
// leads to the list without a search.
func (c *call) list(ctx context.Context) (*latchkey.Response, error) {
	in, err := readQuery(c.r)
	if err != nil {
		return c.fail(ctx, err)
	}
	q := queryOf(in)
	if saved := in["s"]; saved != "" {
		if q, err = c.users.OpenQuery(ctx, saved, holder(c.session)); err != nil {
			if refused, is := errors.AsType[*users.InputError](err); is {
				err = wrong("s", refused.Problem) // the parameter's name
			}
			if c.json {
				return c.fail(ctx, err)
			}
			return c.done(c.Path+"/users", "stale"), nil
		}
		q.After = in["after"]
	}
	return c.listed(ctx, q, in)
}

// holder returns the name of a session for [users.Users.SaveQuery], so that only this
// session opens the query.
func holder(s *latchkey.Session) string { return s.ID + " " + s.UserID }

// search answers POST /users/search: with the list as JSON, or by a redirect to a URL
// with the sealed query. A name or an e-mail address never stands in a URL. An empty
// search leads to the whole list.
func (c *call) search(ctx context.Context) (*latchkey.Response, error) {
	in, err := c.read(searched)
	if err != nil {
		return c.fail(ctx, err)
	}
	q := queryOf(in)
	if c.json {
		return c.listed(ctx, q, in)
	}
	if q.Search == "" {
		return &latchkey.Response{Status: http.StatusSeeOther, Redirect: c.Path + "/users"}, nil
	}
	saved, err := c.users.SaveQuery(ctx, q, holder(c.session))
	if err != nil {
		return c.fail(ctx, err)
	}
	return &latchkey.Response{Status: http.StatusSeeOther, Redirect: c.Path + "/users?s=" + url.QueryEscape(saved)}, nil
}

// listed answers with the page of the list that q asks for. The first page of a search
// reports event.UserSearched; if it has no user, listed takes the text for an id. For a
// store that cannot list users it shows a page that says so, or fails as JSON. in are the
// fields of the URL, from which the links of the page are made.
func (c *call) listed(ctx context.Context, q users.Query, in input) (*latchkey.Response, error) {
	found, err := c.users.List(ctx, q)
	if q.Search != "" && err == nil && q.After == "" {
		kind := "name"
		if strings.Contains(q.Search, "@") {
			kind = "email"
		}
		c.tell(ctx, event.Event{Type: event.UserSearched, Detail: event.Detail(fmt.Sprintf("%s %d", kind, len(found.Users)))})
	}
	if err == nil && q.Search != "" && q.After == "" && len(found.Users) == 0 { // it may be an id
		if u, unknown := c.users.Get(ctx, q.Search); unknown == nil {
			found.Users = append(found.Users, u)
		}
	}
	unlisted := errors.Is(err, errors.ErrUnsupported)
	switch {
	case c.json && err == nil:
		list := make([]any, 0, len(found.Users))
		for i := range found.Users {
			list = append(list, userJSON(&found.Users[i]))
		}
		return writeJSON(http.StatusOK, map[string]any{"users": list, "next": orNull(found.Next), "order": orNull(string(found.Order))}), nil
	case err != nil && (c.json || !unlisted):
		return c.fail(ctx, err)
	}
	shown := listView{query: q, page: found, in: in}
	if unlisted {
		shown.missing = err.Error()
	}
	return c.listPage(ctx, &shown)
}
