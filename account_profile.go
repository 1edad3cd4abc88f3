package latchkey

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// The account page: what users see and change of themselves.

// mostShown is how many activities the account page itself shows.
const mostShown = 3

// accountProfile answers requests to /account with do=profile, activity or export, as far
// as the configuration offers these. It passes every other request to accountPassword,
// and returns what that returns: nil, nil for a request that is for neither.
func accountProfile(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	c := &x.setup.config.AccountPage
	switch do := x.query.Get("do"); {
	case do == "profile" && c.Edit != 0:
		return editProfile(ctx, x, here)
	case do == "activity" && c.Activity && !x.isPost():
		list, err := happenings(ctx, x.setup, here.user.ID)
		if err != nil {
			return nil, err
		}
		return pageResponse(x.setup.pagesFor(ctx, &x.visit).Activity(page.Activity{BackURL: x.url("account"), Host: x.origin.Host(), List: list}))
	case do == "export" && c.Export:
		return exportOwn(ctx, x, here)
	}
	return accountPassword(ctx, x, here)
}

// editProfile shows the form for name and picture, and stores by POST what the user has
// changed in it. A field that the user has left alone is not written: what another
// request has stored in it since the form was shown stays.
func editProfile(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	s, u, change := x.setup, &here.user, storage.UserChange{}
	view := page.Profile{
		CSRFToken: x.csrfToken, Action: x.url("account?do=profile"), BackURL: x.url("account"), Host: x.origin.Host(), FormOrigins: s.formOrigins(&x.links, ""),
	}
	isWrong := false
	for _, f := range []struct {
		edit   AccountEdit
		name   string
		stored string
		check  func(string) error
		shown  **page.ProfileField
		change **string
	}{
		{EditName, "name", u.Name, people.CheckName, &view.Name, &change.Name},
		{EditImage, "image", u.Image, people.CheckImage, &view.Image, &change.Image},
	} {
		if s.config.AccountPage.Edit&f.edit == 0 {
			continue
		}
		field := &page.ProfileField{Value: f.stored, Was: f.stored}
		*f.shown = field
		typed, sent := x.form[f.name].(string)
		if !x.isPost() || !sent {
			continue
		}
		field.Value, field.Was = typed, x.field("was-"+f.name)
		if typed = strings.TrimSpace(typed); typed != field.Was {
			field.Wrong = f.check(typed) != nil
			*f.change = &typed
		}
		isWrong = isWrong || field.Wrong
	}
	if !x.isPost() || isWrong {
		return pageResponse(s.pagesFor(ctx, &x.visit).Profile(view))
	}
	if change != (storage.UserChange{}) {
		changed, err := directory.Change(ctx, s.directory, &x.events, u.ID, change)
		if err == nil {
			err = showInToken(ctx, s, &x.visit, &changed)
		}
		if err != nil {
			return nil, err
		}
	}
	return backToAccount(&x.links, &x.visit, noticeProfile, u.ID), nil
}

// showInToken puts a session token with the new name and picture of the user into the
// response. It does nothing for stored sessions, which are read together with the user,
// and for a request without a session token.
func showInToken(ctx context.Context, s *setup, v *visit, u *User) error {
	in, is := s.sessions.(*tokenStrategy)
	if !is {
		return nil
	}
	claims, err := in.claims(ctx, v)
	if claims == nil || err != nil {
		return err
	}
	in.track(claims)
	putClaim(claims, "name", u.Name, saidNull.Name)
	putClaim(claims, "picture", u.Image, saidNull.Image)
	return in.seal(ctx, v, claims, life{})
}

// exportOwn shows the button that downloads everything that is kept of the user, and answers a
// POST with the file. It needs a recent proof. After five downloads in a day it answers with a
// page that says so and with Retry-After. A download that fails does not count.
func exportOwn(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	s, self := x.setup, ownExport(&x.links)
	if res, err := askIfStale(ctx, x, here, self); res != nil || err != nil {
		return res, err
	}
	view := page.Export{CSRFToken: x.csrfToken, Action: self, BackURL: x.url("account"), Host: x.origin.Host(), FormOrigins: s.formOrigins(&x.links, "")}
	if !x.isPost() {
		return pageResponse(s.pagesFor(ctx, &x.visit).Export(view))
	}
	try, err := s.limits.Take(ctx, s.limits.Export(here.user.ID))
	if err != nil {
		return nil, err
	}
	if view.Wait = try.Wait > 0; view.Wait {
		res, err := pageResponse(s.pagesFor(ctx, &x.visit).Export(view))
		if err == nil {
			res.Header.Set("Retry-After", strconv.Itoa(secondsOf(try.Wait)))
		}
		return res, err
	}
	var file bytes.Buffer
	if err := directory.Export(ctx, s.directory, &x.events, here.user.ID, &file); err != nil {
		if undo := s.limits.Return(ctx, try); undo != nil {
			s.log.Error(ctx, x, undo)
		}
		return nil, err
	}
	res := noStore(jsonBytes(http.StatusOK, file.Bytes()))
	res.Header["Content-Disposition"] = []string{`attachment; filename="account.json"`}
	return res, nil
}

// happenings returns the activities of a user in the last 90 days, the newest first, as
// pages show them.
func happenings(ctx context.Context, s *setup, userID string) ([]page.Happening, error) {
	rows, err := directory.Activities(ctx, s.directory, userID)
	list := make([]page.Happening, 0, len(rows))
	for _, r := range rows {
		kind, outcome := people.TypeOf(r.Type)
		h := page.Happening{
			Type: string(kind), Failed: outcome == event.Failed, Time: r.Time,
			Support: event.ActorKind(r.ActorKind) == event.ActorAdmin,
		}
		if h.Browser, h.System = people.BrowserOf(r.UserAgent); r.Provider != "" {
			h.Provider = s.shownProvider(r.Provider)
		}
		list = append(list, h)
	}
	return list, err
}

// shownProvider returns a provider as the page shows it. A provider that is no
// longer configured has its id only.
func (s *setup) shownProvider(id string) page.Provider {
	p, ok := s.providers[id]
	if !ok {
		return page.Provider{ID: id, Name: id}
	}
	info := p.info()
	return page.Provider{ID: id, Name: info.given, Type: string(info.kind), Icon: info.style.Icon, Mark: info.style.Mark, Brand: info.style.Color}
}

// showOwn sets the field Own of the account page: what users see and change of
// themselves.
func showOwn(ctx context.Context, s *setup, l *links, view *page.Account, userID string) (err error) {
	c, own := &s.config.AccountPage, &view.Own
	if own.Name, own.Image = c.Edit&EditName != 0, c.Edit&EditImage != 0; c.Edit != 0 {
		own.ProfileURL = l.url("account?do=profile")
	}
	if c.Export {
		own.ExportURL = ownExport(l)
	}
	if c.Activity {
		own.ActivityURL = l.url("account?do=activity")
		own.Activity, err = happenings(ctx, s, userID)
		own.Activity = own.Activity[:min(len(own.Activity), mostShown)]
	}
	return err
}
