package latchkey

import (
	"context"
	"errors"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/people"
	"github.com/latchkeyhq/latchkey/storage"
)

// devices returns the live sessions of a user as the account page shows them. here is the
// id of the session of the request.
func devices(sessions []storage.StoredSession, here string, now time.Time) []page.Device {
	var list []page.Device
	for _, s := range sessions {
		if now.Before(s.Expires) {
			name, system := people.BrowserOf(s.UserAgent)
			list = append(list, page.Device{ID: s.ID, Name: name, System: system, Seen: s.Created, This: s.ID != "" && s.ID == here, Acting: s.Actor != ""})
		}
	}
	return list
}

var errNotAGuest = failure.Wrap(ErrAccessDenied, failure.Of(fault.AccountOther, &failure.Mistake{Err: errors.New("the browser is signed in: open the link in a private window")}))

// askToAct answers GET /act-as with a button, so that a program that looks at the link
// does not use it up.
func askToAct(ctx context.Context, x *exchange) (*Response, error) {
	if res, err := guestsOnly(ctx, x); res != nil || err != nil {
		return res, err
	}
	token := x.query.Get("token")
	_, u, err := x.setup.acting.Link(ctx, token)
	if err != nil {
		return nil, err
	}
	x.hide(token)
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).Confirm(page.Confirm{
		CSRFToken: x.csrfToken, Action: x.path("act-as"), Email: nameOf(&u), Host: x.origin.Host(),
		FormOrigins: x.setup.formOrigins(&x.links, x.callbackURL), Hidden: []page.Hidden{{Name: "token", Value: token}},
	}))
}

// guestsOnly returns nil, nil for a browser without a live session. For any other browser
// it returns errNotAGuest or, if the browser opens a page, a page that says so. It leaves
// the session as it is: one browser never has sessions of an administrator and of a user.
func guestsOnly(ctx context.Context, x *exchange) (*Response, error) {
	u, err := x.setup.visitor(ctx, &x.visit)
	if u == nil || err != nil {
		return nil, err
	}
	if x.isPost() || !opensPage(x.request.Header) {
		return nil, errNotAGuest
	}
	return signedInPage(ctx, x, u)
}

// beginToAct answers POST /act-as: it uses up the link, opens the session in which the
// administrator acts, and redirects to the home page. With ActAs.Notify it mails the
// user.
func beginToAct(ctx context.Context, x *exchange) (*Response, error) {
	if res, err := guestsOnly(ctx, x); res != nil || err != nil {
		return res, err
	}
	s, token := x.setup, x.field("token")
	x.hide(token)
	plan := s.sessions.plan(&x.visit)
	if plan != nil {
		plan.Former = ""
	}
	who, err := s.acting.Open(ctx, &x.events, token, plan, func(process string) bool { return process == string(s.mark) })
	if err != nil {
		return nil, err
	}
	if err = s.sessions.open(ctx, &x.visit, who); err == nil {
		err = s.sessions.revokeFormer(ctx, &x.visit)
	}
	if err != nil {
		return nil, err
	}
	s.log.Info(ctx, x, "an administrator acts as a user", "user", who.User.ID, "by", who.Actor.UserID)
	if s.config.Session.ActAs.Notify {
		noticeUser(ctx, x, who.User.ID, Message{Kind: MessageActedAs, Expires: who.Until})
	}
	return &Response{Redirect: x.home()}, nil
}
