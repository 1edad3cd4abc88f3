package admin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/frame"
	"github.com/latchkeyhq/latchkey/users"
)

// personPage shows a user, with a form for each action that is offered. failed is a form
// that was refused, which is shown with what is wrong; nil: none.
func (c *call) personPage(ctx context.Context, u *latchkey.User, failed *failedForm) (*latchkey.Response, error) {
	w, err := c.inWords(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := c.look(ctx, u)
	if err != nil {
		return c.fail(ctx, err)
	}
	params, _ := url.ParseQuery(c.r.URL.RawQuery)
	p := latchkey.Frame{
		Wide: true, Heading: nameOf(w, u), Lead: leadOf(w, u), Avatar: avatarOf(u), Tag: c.tagOf(w, u),
		Back: frame.Link{Text: w.text("people.back"), URL: c.Path + "/users"}, Done: doneText(w, params.Get("done")),
	}
	p.Parts = append(p.Parts, c.suspensionPart(ctx, w, u)...)
	doing := frame.Part{Heading: w.text("actions")}
	if shown.staff {
		doing.Text = w.text("actions.staff")
	}
	for _, action := range shown.actions {
		if form, single := c.formOf(w, u, action); single {
			blame(w, &p, &form, failed, action)
			doing.Forms = append(doing.Forms, form)
		}
	}
	if doing.Text != "" || len(doing.Forms) > 0 {
		p.Parts = append(p.Parts, doing)
	}
	if failed != nil && p.Status == 0 { // the form is not on the page any more
		p.Status, p.Problem = http.StatusUnprocessableEntity, w.text("wrong.other")
	}
	p.Parts = append(p.Parts, c.waysPart(w, shown), c.devicesPart(w, shown))
	if activity := activityPart(w, shown); len(activity.Rows) > 0 {
		p.Parts = append(p.Parts, activity)
	}
	return c.core.Page(ctx, c.r, p)
}

// leadOf returns the e-mail address of a user, and says if it is not verified.
func leadOf(w *words, u *latchkey.User) string {
	if u.Email != "" && u.EmailVerified.IsZero() {
		return u.Email + " · " + w.text("email.unproven")
	}
	return u.Email
}

// suspensionPart returns a part that shows the suspension of u, or nil if none holds.
func (c *call) suspensionPart(ctx context.Context, w *words, u *latchkey.User) []frame.Part {
	if !u.Suspension.Holds(c.clock()) {
		return nil
	}
	by := w.text("suspended.system")
	if id := u.Suspension.By; id != "" {
		by = id
		if admin, err := c.users.Get(ctx, id); err == nil && admin.Email != "" {
			by = admin.Email
		}
	}
	row := frame.Row{Name: w.text("suspended.by", "name", by), Details: []frame.Detail{{Text: w.text("suspended.since"), Time: u.Suspension.Since}}}
	if !u.Suspension.Until.IsZero() {
		row.Details = append(row.Details, frame.Detail{Text: w.text("suspended.until"), Time: u.Suspension.Until})
	}
	return []frame.Part{{Alert: u.Suspension.Reason, Rows: []frame.Row{row}}}
}

// formOf returns the form of an action on u. single is false if each account or passkey
// has such a form: the form that is returned is then not to be shown by itself.
func (c *call) formOf(w *words, u *latchkey.User, action Action) (form frame.Form, single bool) {
	name := w.text("action." + string(action))
	form = frame.Form{Action: c.personURL(u.ID) + "/" + string(action), Submit: name}
	switch action {
	case Unlink, RemovePasskey:
		return form, false
	case Suspend:
		form.Open, form.Danger = name, true
		form.Fields = []frame.Field{
			{Name: "until", Label: w.text("field.until"), Type: "datetime-local", Hint: w.text("field.until.hint")},
			{Name: "reason", Label: w.text("field.reason"), Hint: w.text("field.reason.hint"), Autocomplete: "off", MaxLength: 500},
		}
	case Update:
		form.Open, form.Submit = name, w.text("save")
		form.Fields = []frame.Field{
			{Name: "name", Label: w.text("field.name"), Value: u.Name, Autocomplete: "off", MaxLength: 256},
			{Name: "image", Label: w.text("field.image"), Type: "url", Value: u.Image, Autocomplete: "off", MaxLength: 2048},
		}
		if !u.EmailVerified.IsZero() {
			form.Fields = append(form.Fields, frame.Field{Name: "unverify", Label: w.text("field.unverify"), Type: "checkbox", Value: "true"})
		}
	case Email:
		form.Open, form.Submit = name, w.text("save")
		field := frame.Field{Name: "email", Label: w.text("field.email"), Type: "email", Required: true, Autocomplete: "off"}
		if u.Provisioned.IsZero() {
			field.Hint = w.text("field.email.hint")
		}
		form.Fields = []frame.Field{field}
	case Recover:
		form.Open, form.Danger, form.Text = name, true, w.text("recover.text")
		form.Fields = []frame.Field{{Name: "email", Label: w.text("field.email"), Type: "email", Required: true, Autocomplete: "off"}}
	case ActAs:
		form.Open, form.Text = name, w.text("act.warning")
		form.Fields = []frame.Field{{Name: "reason", Label: w.text("field.reason"), Hint: w.text("act.reason.hint"), Required: true, Autocomplete: "off", MaxLength: 500}}
	case ResetFactors:
		form.Danger = true
	case EndSessions:
		form.Danger, form.Hidden = true, []frame.Value{{Name: "all", Value: "true"}}
	case Delete: // a page asks first
		form.Open, form.Danger, form.Text = name+"…", true, w.text("delete.text")
		form.Fields = []frame.Field{{Name: "confirm", Label: w.root("delete.agree"), Type: "checkbox", Value: "delete", Required: true}}
	}
	form.Label = w.text("action.label", "action", said(form.Submit, name), "name", nameOf(w, u))
	return form, true
}

// said returns what a button that shows submit does, with those words in it. name
// is what the action is called.
func said(submit, name string) string {
	if submit == name {
		return name
	}
	return submit + " · " + name
}

// waysPart lists how a user signs in, with a button to remove each account and passkey if
// that action is offered.
func (c *call) waysPart(w *words, p *person) frame.Part {
	part := frame.Part{Heading: w.root("account.linked")}
	may := func(action Action) bool { return slices.Contains(p.actions, action) }
	remove := func(action Action, label, name string, hidden ...frame.Value) []frame.Form {
		if !may(action) {
			return nil
		}
		return []frame.Form{{
			Action: c.personURL(p.user.ID) + "/" + string(action), Submit: label, Danger: true, Hidden: hidden,
			Label: w.text("action.label", "action", label, "name", name),
		}}
	}
	for _, a := range p.accounts {
		if a.Type == latchkey.TypeWebAuthn && len(p.passkeys) > 0 {
			continue
		}
		row := frame.Row{Name: a.Provider, Forms: remove(Unlink, w.root("account.unlink"), a.Provider,
			frame.Value{Name: "provider", Value: a.Provider}, frame.Value{Name: "account", Value: a.ProviderAccountID})}
		if a.Email != "" {
			row.Details = []frame.Detail{{Text: a.Email}}
		}
		part.Rows = append(part.Rows, row)
	}
	for i := range p.passkeys {
		k := &p.passkeys[i]
		row := frame.Row{Name: w.root("provider.passkey")}
		if k.Name != "" {
			row.Name += " · " + k.Name
		}
		row.Forms = remove(RemovePasskey, w.root("account.passkey.remove"), row.Name, frame.Value{Name: "passkey", Value: passkeyID(k)})
		if !k.Created.IsZero() {
			row.Details = []frame.Detail{{Text: w.root("account.passkey.created"), Time: k.Created}}
		}
		part.Rows = append(part.Rows, row)
	}
	for _, f := range p.factors {
		row := frame.Row{Name: w.root("account.factor." + string(f.Kind))}
		if f.Name != "" {
			row.Name += " · " + f.Name
		}
		if !f.Created.IsZero() {
			row.Details = []frame.Detail{{Text: w.root("account.passkey.created"), Time: f.Created}}
		}
		part.Rows = append(part.Rows, row)
	}
	if len(part.Rows) == 0 {
		part.Text = w.text("list.none")
	}
	return part
}

// devicesPart lists the live sessions of a user, with a button to end each if that action
// is offered.
func (c *call) devicesPart(w *words, p *person) frame.Part {
	part := frame.Part{Heading: w.root("account.devices")}
	for _, s := range p.sessions {
		if !c.clock().Before(s.Expires) {
			continue
		}
		name, system := users.BrowserOf(s.UserAgent)
		row := frame.Row{Name: deviceName(w, name, system), Details: []frame.Detail{{Text: w.root("account.device.seen"), Time: s.Created}}}
		if s.Created.IsZero() {
			row.Details = nil
		}
		if slices.Contains(p.actions, EndSessions) && s.ID != "" {
			row.Forms = []frame.Form{{
				Action: c.personURL(p.user.ID) + "/" + string(EndSessions), Submit: w.root("account.device.end"), Danger: true,
				Label: w.root("account.device.end.name", row.Name), Hidden: []frame.Value{{Name: "session", Value: s.ID}},
			}}
		}
		part.Rows = append(part.Rows, row)
	}
	if len(part.Rows) == 0 {
		part.Text = w.text("list.none")
	}
	return part
}

// deviceName returns a text for a browser and its system, one or both of which may be
// empty.
func deviceName(w *words, name, system string) string {
	switch {
	case name == "" && system == "":
		return w.root("account.device")
	case name == "" || system == "":
		return name + system
	}
	return w.root("account.device.on", name, system)
}

// activityPart lists what happened to a user.
func activityPart(w *words, p *person) frame.Part {
	part := frame.Part{Heading: w.text("activity")}
	for _, a := range p.activity {
		row := frame.Row{Name: activityName(w, &a), Details: []frame.Detail{{Text: "{time}", Time: a.Time}}}
		var more []string
		if a.Provider != "" {
			more = append(more, a.Provider)
		}
		if a.Browser != "" || a.System != "" {
			more = append(more, deviceName(w, a.Browser, a.System))
		}
		if a.Actor == event.ActorAdmin {
			more = append(more, w.text("activity.by.admin"))
		}
		if len(more) > 0 {
			row.Details = append(row.Details, frame.Detail{Text: strings.Join(more, " · ")})
		}
		part.Rows = append(part.Rows, row)
	}
	return part
}

// sameActivity are types of activity that share a text with another one.
var sameActivity = map[event.Type]event.Type{
	event.PasswordSet: event.PasswordChanged, event.PasswordReset: event.PasswordChanged, event.EmailReverted: event.EmailChanged,
	event.FactorReset: event.FactorRemoved, event.RecoveryDone: event.FactorRemoved, event.PasswordRemoved: event.PasswordChanged,
}

// activityName returns what an activity is called.
func activityName(w *words, a *users.Activity) string {
	kind := a.Type
	if same, shared := sameActivity[kind]; shared {
		kind = same
	}
	key := "activity." + string(kind)
	if a.Outcome == event.Failed && has(key+".failed") {
		key += ".failed"
	}
	if !has(key) {
		key = "activity.other"
	}
	return w.text(key)
}

// deletePage shows the form that confirms a deletion. There is no such form in JSON: the
// answer is 404.
func (c *call) deletePage(ctx context.Context, u latchkey.User) (*latchkey.Response, error) {
	if c.json {
		return c.notFound(ctx)
	}
	return c.deleteForm(ctx, &u, false)
}

// deleteForm shows the form that confirms a deletion. With unconfirmed it says that the
// box was not ticked.
func (c *call) deleteForm(ctx context.Context, u *latchkey.User, unconfirmed bool) (*latchkey.Response, error) {
	w, err := c.inWords(ctx)
	if err != nil {
		return nil, err
	}
	form, _ := c.formOf(w, u, Delete)
	form.Open, form.Cancel = "", frame.Link{Text: w.root("factor.cancel"), URL: c.personURL(u.ID)}
	p := latchkey.Frame{Heading: w.text("delete.heading", "name", nameOf(w, u)), Lead: u.Email}
	if unconfirmed {
		blame(w, &p, &form, &failedForm{Delete, input{}, &users.InputError{Field: "confirm"}}, Delete)
	}
	p.Parts = []frame.Part{{Forms: []frame.Form{form}}}
	return c.core.Page(ctx, c.r, p)
}
