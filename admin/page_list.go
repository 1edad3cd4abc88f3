package admin

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/frame"
	"github.com/latchkeyhq/latchkey/users"
)

// listView is a page of a list.
type listView struct {
	query   users.Query
	page    users.Page
	in      input  // the query of the URL
	missing string // why there are no lists; empty: there are
}

// listPage shows a list.
func (c *call) listPage(ctx context.Context, v *listView) (*latchkey.Response, error) {
	w, err := c.inWords(ctx)
	if err != nil {
		return nil, err
	}
	p := latchkey.Frame{Wide: true, Heading: w.text("people"), Done: doneText(w, v.in["done"])}
	if c.may(ctx, Create, latchkey.User{}) == nil {
		p.Action = frame.Link{Text: w.text("people.add"), URL: c.Path + "/users/new"}
	}
	top := frame.Part{Search: &frame.Form{
		Action: c.Path + "/users/search", Submit: w.text("search.submit"),
		Fields: []frame.Field{{Name: "search", Label: w.text("search.label"), Type: "search", Value: v.query.Search, Autocomplete: "off", MaxLength: 200}},
	}}
	if v.missing != "" {
		p.Parts = []frame.Part{top, {Alert: w.text("people.unlisted")}}
		return c.core.Page(ctx, c.r, p)
	}
	top.Links = c.filterLinks(w, &v.query)
	list := frame.Part{}
	for i := range v.page.Users {
		list.Rows = append(list.Rows, c.row(w, &v.page.Users[i]))
	}
	foot := frame.Part{}
	if len(list.Rows) == 0 && v.page.Next == "" {
		foot.Text = w.text("people.none")
	} else if v.query.After == "" && v.query.Search == "" {
		foot.Text = c.countText(ctx, w, v.query)
	}
	if v.query.After != "" {
		foot.Links = append(foot.Links, frame.Link{Text: w.text("people.first"), URL: c.pageURL(v.in, "")})
	}
	if v.page.Next != "" {
		foot.Links = append(foot.Links, frame.Link{Text: w.text("people.next"), URL: c.pageURL(v.in, v.page.Next)})
	}
	p.Parts = []frame.Part{top, list, foot}
	return c.core.Page(ctx, c.r, p)
}

// countText returns a text that says how many users a list has. It returns "" for a
// single user, and if the store cannot count.
func (c *call) countText(ctx context.Context, w *words, q users.Query) string {
	n, more, err := c.users.Count(ctx, q)
	key := "people.count"
	switch {
	case err != nil || n == 1:
		return ""
	case more:
		key = "people.more"
	}
	return w.text(key, "count", strconv.Itoa(n))
}

// pageURL returns the URL of a page of the list. in are the fields of the list's URL.
// after is the Next of the page before; empty: the first page.
func (c *call) pageURL(in input, after string) string {
	params := url.Values{}
	for name := range maps.Keys(in) {
		if name != "after" && name != "done" {
			params.Set(name, in[name])
		}
	}
	if after != "" {
		params.Set("after", after)
	}
	if len(params) == 0 {
		return c.Path + "/users"
	}
	return c.Path + "/users?" + params.Encode()
}

// filterLinks returns links to the list with each filter, and marks the one that q has.
func (c *call) filterLinks(w *words, q *users.Query) []frame.Link {
	at := c.Path + "/users"
	suspended := q.Suspended != nil && *q.Suspended
	unproven := q.Verified != nil && !*q.Verified
	return []frame.Link{
		{Text: w.text("filter.all"), URL: at, Current: !suspended && !unproven && q.Search == ""},
		{Text: w.text("filter.suspended"), URL: at + "?suspended=true", Current: suspended},
		{Text: w.text("filter.unproven"), URL: at + "?verified=false", Current: unproven},
	}
}

// row returns a user in a list.
func (c *call) row(w *words, u *latchkey.User) frame.Row {
	row := frame.Row{Name: nameOf(w, u), URL: c.personURL(u.ID), Avatar: avatarOf(u), Tag: c.tagOf(w, u)}
	if u.Email != "" {
		row.Details = append(row.Details, frame.Detail{Text: u.Email})
	}
	if !u.Created.IsZero() {
		row.Details = append(row.Details, frame.Detail{Text: w.text("created"), Time: u.Created})
	}
	return row
}

// nameOf returns the name of a user, or a text that says that the user has none.
func nameOf(w *words, u *latchkey.User) string {
	if strings.TrimSpace(u.Name) == "" {
		return w.text("name.none")
	}
	return u.Name
}

// avatarOf returns the text whose initials stand for a user: the name, or else the e-mail
// address.
func avatarOf(u *latchkey.User) string {
	if u.Name != "" {
		return u.Name
	}
	return u.Email
}

// tagOf returns the tag that says whether a user is suspended, has not signed in yet, or
// is active.
func (c *call) tagOf(w *words, u *latchkey.User) frame.Tag {
	switch {
	case u.Suspension.Holds(c.clock()):
		return frame.Tag{Text: w.text("tag.suspended"), Kind: frame.Bad}
	case !u.Provisioned.IsZero():
		return frame.Tag{Text: w.text("tag.new")}
	}
	return frame.Tag{Text: w.text("tag.active"), Kind: frame.Good}
}

// doneText returns the text of a notice, or "" for an unknown notice. A notice comes from
// the URL, so a link can show no other text.
func doneText(w *words, notice string) string {
	if key := "done." + notice; has(key) {
		return w.text(key)
	}
	return ""
}

// newPage shows the form for a new user. failed is the form that was refused; nil: none.
func (c *call) newPage(ctx context.Context, failed *failedForm) (*latchkey.Response, error) {
	w, err := c.inWords(ctx)
	if err != nil {
		return nil, err
	}
	form := frame.Form{
		Action: c.Path + "/users", Submit: w.text("people.add"), Text: w.text("new.text"), Cancel: frame.Link{Text: w.root("factor.cancel"), URL: c.Path + "/users"},
		Fields: []frame.Field{
			{Name: "email", Label: w.text("field.email"), Type: "email", Required: true, Autocomplete: "off"},
			{Name: "name", Label: w.text("field.name"), Autocomplete: "off", MaxLength: 256},
		},
	}
	if can, err := c.users.Capabilities(ctx); err == nil && can.Invite {
		form.Text = w.text("new.text.invite")
		form.Fields = append(form.Fields, frame.Field{Name: "invite", Label: w.text("field.invite"), Type: "checkbox", Value: "true"})
	}
	p := latchkey.Frame{
		Heading: w.text("people.add"), Back: frame.Link{Text: w.text("people.back"), URL: c.Path + "/users"},
	}
	blame(w, &p, &form, failed, Create)
	p.Parts = []frame.Part{{Forms: []frame.Form{form}}}
	return c.core.Page(ctx, c.r, p)
}

// blame fills form with what was typed, except checkboxes, and sets the status of p to 422.
// It puts what is wrong into the title of p and beside the field, or on top of p if form
// lacks the field. It does nothing if failed is nil or of another action.
func blame(w *words, p *latchkey.Frame, form *frame.Form, failed *failedForm, action Action) {
	if failed == nil || failed.action != action {
		return
	}
	p.Status = http.StatusUnprocessableEntity
	field := lowered(failed.wrong.Field)
	said := w.text("wrong.other")
	for _, key := range []string{"wrong." + field, "wrong." + string(action) + "." + field} {
		if has(key) {
			said = w.text(key)
		}
	}
	p.Title = said + " " + p.Heading
	i := slices.IndexFunc(form.Fields, func(f frame.Field) bool { return f.Name == field })
	if i < 0 {
		p.Problem = said
	} else {
		form.Fields[i].Error = said
	}
	for i := range form.Fields {
		if typed, there := failed.typed[form.Fields[i].Name]; there && form.Fields[i].Type != "checkbox" {
			form.Fields[i].Value = typed
		}
		if form.Fields[i].Type == "datetime-local" { // which takes no zone: the fields are in UTC
			form.Fields[i].Value = strings.TrimSuffix(form.Fields[i].Value, "Z")
		}
	}
}

// failPage shows the text of code. It shows message, which names what the site lacks,
// only for the code "Unsupported".
func (c *call) failPage(ctx context.Context, status int, code, message string) (*latchkey.Response, error) {
	w, err := c.inWords(ctx)
	if err != nil {
		return nil, err
	}
	said := map[string]string{"InvalidInput": "wrong.other", "Conflict": "fail.last", "TooManyMails": "fail.limit", "Unsupported": "fail.unsupported"}[code]
	p := latchkey.Frame{Status: status, Heading: w.text("fail"), Problem: w.text(said), Back: frame.Link{Text: w.text("people.back"), URL: c.Path + "/users"}}
	if code == "Unsupported" {
		p.Lead = message
	}
	return c.core.Page(ctx, c.r, p)
}
