package admin

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/frame"
	"github.com/latchkeyhq/latchkey/users"
)

// deed is an action on a user that a form or a JSON body asks for.
type deed struct {
	action  Action
	onStaff bool // it may be done to staff, the acting staff member included
	fields  fields
	// answer answers by itself. nil: do does it, and returns a notice: the page shows
	// the text with the key "done." and notice. The notice counts also beside
	// ErrSessionsNotEnded.
	answer func(ctx context.Context, c *call, u *latchkey.User, in input) (*latchkey.Response, error)
	do     func(ctx context.Context, c *call, u *latchkey.User, in input) (notice string, err error)
}

// deeds returns what staff can do to a user, by the last part of the path.
func deeds() map[Action]*deed {
	all := map[Action]*deed{}
	for _, d := range []*deed{
		{action: Suspend, fields: fields{"until": instant, "reason": text}, do: suspend},
		{action: Restore, onStaff: true, do: restore},
		{action: Update, fields: fields{"name": text, "image": text, "unverify": flag}, do: update},
		{action: Email, fields: fields{"email": text}, do: changeEmail},
		{action: Recover, fields: fields{"email": text}, do: recoverEmail},
		{action: SignInLink, onStaff: true, do: sendLink},
		{action: PasswordReset, do: sendReset},
		{action: EndSessions, fields: fields{"session": text, "all": flag}, do: endSessions},
		{action: Unlink, fields: fields{"provider": text, "account": text}, do: unlink},
		{action: RemovePasskey, fields: fields{"passkey": text}, do: removePasskey},
		{action: ResetFactors, do: resetFactors},
		{action: Export, onStaff: true, answer: export},
		{action: ActAs, fields: fields{"reason": text}, answer: actAs},
		{action: Delete, fields: fields{"confirm": text}, do: erase},
	} {
		all[d.action] = d
	}
	return all
}

// act reads the fields of d, runs d on u and answers: with a redirect to the page of the
// user, or to the list after Delete, or with JSON. If only the sessions of u could not be
// ended, d counts as done, and the notice ends in "-partly". If something is gone, but not u,
// a browser gets the notice "stale". failOn answers every other error.
func (c *call) act(ctx context.Context, d *deed, u latchkey.User) (*latchkey.Response, error) {
	in, err := c.read(d.fields)
	if err == nil && d.answer != nil {
		return d.answer(ctx, c, &u, in)
	}
	notice := ""
	if err == nil {
		notice, err = d.do(ctx, c, &u, in)
	}
	switch {
	case errors.Is(err, latchkey.ErrNotFound): // the page is older than another change
		if _, gone := c.users.Get(ctx, u.ID); gone != nil || c.json {
			return c.fail(ctx, err)
		}
		return c.done(c.personURL(u.ID), "stale"), nil
	case err == latchkey.ErrSessionsNotEnded: // alone: with another error beside it, something is left to do
		notice += "-partly"
	case err != nil:
		return c.failOn(ctx, err, &failedForm{d.action, in, nil}, u)
	}
	if d.action == Delete {
		return c.done(c.Path+"/users", notice), nil
	}
	return c.done(c.personURL(u.ID), notice), nil
}

// suspend calls [users.Users.Suspend] for u and returns its error. It returns the notice
// that the page shows next, also beside ErrSessionsNotEnded.
func suspend(ctx context.Context, c *call, u *latchkey.User, in input) (string, error) {
	return "suspended", c.users.Suspend(ctx, u.ID, users.SuspendOptions{Until: in.at("until"), Reason: in["reason"]})
}

// restore calls [users.Users.Restore] for u and returns its error. It also returns the
// notice that the page shows next.
func restore(ctx context.Context, c *call, u *latchkey.User, _ input) (string, error) {
	return "restored", c.users.Restore(ctx, u.ID)
}

// update calls [users.Users.Update] for u: the fields may have a new name and picture,
// and say that the e-mail address is no longer verified. A field that was left out changes
// nothing. update returns the notice that the page shows next.
func update(ctx context.Context, c *call, u *latchkey.User, in input) (string, error) {
	change := users.Change{Name: in.text("name"), Image: in.text("image"), Unverify: in["unverify"] == "true"}
	_, err := c.users.Update(ctx, u.ID, change)
	return "updated", err
}

// changeEmail begins a change of the e-mail address, or makes it at once for a user that
// was provisioned and has not signed in yet. An address of another user is an InputError.
// It returns the notice that the page shows next: "asked", or "updated" if made at once.
func changeEmail(ctx context.Context, c *call, u *latchkey.User, in input) (string, error) {
	err := c.users.ChangeEmail(ctx, u.ID, users.EmailChange{Email: in["email"]})
	if errors.Is(err, latchkey.ErrConflict) {
		err = wrong("email", "another user has it")
	}
	if !u.Provisioned.IsZero() {
		return "updated", err
	}
	return "asked", err
}

// recoverEmail begins to replace the e-mail address of a user who has lost the mailbox.
// An address of another user is an InputError, and every InputError is about the field
// "email". It returns the notice that the page shows next.
func recoverEmail(ctx context.Context, c *call, u *latchkey.User, in input) (string, error) {
	err := c.users.ChangeEmail(ctx, u.ID, users.EmailChange{Email: in["email"], Recover: true})
	if refused, is := errors.AsType[*users.InputError](err); is {
		err = wrong("email", refused.Problem)
	}
	if errors.Is(err, latchkey.ErrConflict) {
		err = wrong("email", "another user has it")
	}
	return "recovering", err
}

// sendLink mails u a link to sign in, which leads to the front page. It returns the notice
// that the page shows next, and the error of [users.Users.SendSignInLink].
func sendLink(ctx context.Context, c *call, u *latchkey.User, _ input) (string, error) {
	return "mailed", c.users.SendSignInLink(ctx, u.ID, "")
}

// sendReset mails u a link to set a new password. It returns the notice that the page
// shows next, and the error of [users.Users.SendPasswordReset].
func sendReset(ctx context.Context, c *call, u *latchkey.User, _ input) (string, error) {
	return "mailed", c.users.SendPasswordReset(ctx, u.ID)
}

// endSessions ends the session with the id in the field "session", or all sessions of u
// if the field "all" is true. Neither field, or both of them, is an InputError. It
// returns the notice that the page shows next.
func endSessions(ctx context.Context, c *call, u *latchkey.User, in input) (string, error) {
	id, all := in["session"], in["all"] == "true"
	switch {
	case id == "" && !all:
		return "", wrong("session", `it is empty; send its id, or "all" as true`)
	case id != "" && all:
		return "", wrong("all", "there is a session, too; send one of the two")
	case all:
		return "ended", c.users.EndSessions(ctx, u.ID)
	}
	return "ended", c.users.EndSession(ctx, u.ID, id)
}

// unlink unlinks the account of u that the fields "provider" and "account" name. An empty
// provider is an InputError. It returns the notice that the page shows next.
func unlink(ctx context.Context, c *call, u *latchkey.User, in input) (string, error) {
	if in["provider"] == "" {
		return "", wrong("provider", "it is empty")
	}
	return "unlinked", c.users.Unlink(ctx, latchkey.AccountRef{UserID: u.ID, Provider: in["provider"], ProviderAccountID: in["account"]})
}

// removePasskey removes the passkey of u that the field "passkey" names in base64url; other
// text is an InputError. It returns the notice that the page shows next.
func removePasskey(ctx context.Context, c *call, u *latchkey.User, in input) (string, error) {
	id, err := base64.RawURLEncoding.DecodeString(in["passkey"])
	if err != nil || len(id) == 0 {
		return "", wrong("passkey", "it is no id of a passkey")
	}
	return "unlinked", c.users.RemovePasskey(ctx, u.ID, id)
}

// resetFactors calls [users.Users.ResetFactors] for u, which also ends the sessions. It
// returns the notice that the page shows next, and the error of that call.
func resetFactors(ctx context.Context, c *call, u *latchkey.User, _ input) (string, error) {
	return "reset", c.users.ResetFactors(ctx, u.ID)
}

// erase calls [users.Users.Erase] for u. Without "delete" in the field "confirm" it
// returns an InputError and deletes nothing. It returns the notice that the page shows
// next, also beside ErrSessionsNotEnded: u is deleted then.
func erase(ctx context.Context, c *call, u *latchkey.User, in input) (string, error) {
	if in["confirm"] != "delete" {
		return "", wrong("confirm", `it is "delete"`)
	}
	return "deleted", c.users.Erase(ctx, u.ID)
}

// export answers with everything that is kept of u, as a JSON file to download.
func export(ctx context.Context, c *call, u *latchkey.User, _ input) (*latchkey.Response, error) {
	var out bytes.Buffer
	if err := c.users.Export(ctx, u.ID, &out); err != nil {
		return c.fail(ctx, err)
	}
	return &latchkey.Response{Body: out.Bytes(), Header: http.Header{
		"Content-Type": {"application/json"}, "Content-Disposition": {`attachment; filename="user.json"`}, "X-Content-Type-Options": {"nosniff"},
	}}, nil
}

// actAs answers with the link by which the staff member acts as a user. It is for the
// staff member alone, so it is not mailed.
func actAs(ctx context.Context, c *call, u *latchkey.User, in input) (*latchkey.Response, error) {
	link, err := c.core.ActAsLink(ctx, c.r, u.ID, in["reason"])
	switch {
	case err != nil:
		return c.failOn(ctx, err, &failedForm{ActAs, in, nil}, *u)
	case c.json:
		return writeJSON(http.StatusOK, map[string]string{"link": link}), nil
	}
	w, err := c.inWords(ctx)
	if err != nil {
		return nil, err
	}
	return c.core.Page(ctx, c.r, latchkey.Frame{
		Heading: w.text("act.heading", "name", nameOf(w, u)), Lead: u.Email, Back: frame.Link{Text: nameOf(w, u), URL: c.personURL(u.ID)},
		Parts: []frame.Part{{Text: w.text("act.text"), Rows: []frame.Row{{Name: link}}}},
	})
}

// create stores a user, and invites the user if that was asked for. If the invitation
// fails, create reports this as an event and the notice says so; the user remains.
func (c *call) create(ctx context.Context) (*latchkey.Response, error) {
	in, err := c.read(fields{"name": text, "email": text, "image": text, "invite": flag})
	var u latchkey.User
	if err == nil {
		u, err = c.users.Create(ctx, users.NewUser{Name: in["name"], Email: in["email"], Image: in["image"]})
	}
	if errors.Is(err, latchkey.ErrConflict) {
		err = wrong("email", "another user has it")
	}
	if err != nil {
		return c.failOn(ctx, err, &failedForm{Create, in, nil}, u)
	}
	notice := "created"
	if in["invite"] == "true" {
		notice = "invited"
		if _, err := c.users.Invite(ctx, users.Invitation{Email: u.Email}); err != nil { // the user is there all the same
			c.tell(ctx, event.Event{Type: event.InvitationMade, UserID: u.ID, Outcome: event.Failed, Err: err})
			notice = "uninvited"
		}
	}
	if c.json {
		return writeJSON(http.StatusCreated, map[string]any{"user": userJSON(&u), "done": notice}), nil
	}
	return c.done(c.personURL(u.ID), notice), nil
}

// failedForm is a form that was sent and refused.
type failedForm struct {
	action Action
	typed  input
	wrong  *users.InputError
}

// failOn answers a form that failed. If err is a *users.InputError and a browser asks, it
// shows the form of the user u, or of a new user, with what was typed and what is wrong.
// Otherwise it answers as fail does.
func (c *call) failOn(ctx context.Context, err error, form *failedForm, u latchkey.User) (*latchkey.Response, error) {
	input, is := errors.AsType[*users.InputError](err)
	if !is || c.json {
		return c.fail(ctx, err)
	}
	form.wrong = input
	switch form.action {
	case Create:
		return c.newPage(ctx, form)
	case Delete:
		return c.deleteForm(ctx, &u, true)
	}
	return c.personPage(ctx, &u, form)
}

// fail answers err with a page or JSON: 422 for an InputError; 404, 409, 429 or 501 for
// an unknown user, a conflict, too many mails, and what the site or its store cannot do.
// It leaves all other errors to failed.
func (c *call) fail(ctx context.Context, err error) (*latchkey.Response, error) {
	known, _ := errors.AsType[*latchkey.Error](err)
	status, code := 0, ""
	field, message := "", ""
	if input, is := errors.AsType[*users.InputError](err); is {
		field, message, err = lowered(input.Field), input.Problem, nil
		status, code = http.StatusUnprocessableEntity, "InvalidInput"
	}
	switch {
	case err == nil:
	case errors.Is(err, latchkey.ErrNotFound):
		return c.notFound(ctx)
	case errors.Is(err, latchkey.ErrConflict), errors.Is(err, latchkey.ErrLastAccount):
		status, code, message = http.StatusConflict, "Conflict", err.Error()
	case known != nil && known.Code == "limit":
		status, code, message = http.StatusTooManyRequests, "TooManyMails", "too many mails to this address"
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, latchkey.ErrMissingAdapterMethods),
		errors.Is(err, latchkey.ErrInvalidConfig), errors.Is(err, latchkey.ErrUnsupportedStrategy):
		status, code, message = http.StatusNotImplemented, "Unsupported", err.Error()
	default:
		return c.failed(ctx, err), nil
	}
	if c.json {
		return failJSON(status, code, field, message), nil
	}
	return c.failPage(ctx, status, code, message)
}
