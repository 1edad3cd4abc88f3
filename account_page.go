package latchkey

import (
	"cmp"
	"context"
	"errors"
	"net/url"

	"github.com/latchkeyhq/latchkey/event"
	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/storage"
)

// The account page: what is linked to the signed-in user, and the user's devices.

// requireUser returns the signed-in user, for pages that need one. Without a user it
// returns a redirect to the sign-in page, which leads back to the account page. If an
// administrator acts as the user it returns directory.ErrActing, unless x.looks says that the
// request only shows a page. Exactly one of the three results is not nil.
func requireUser(ctx context.Context, x *exchange) (*currentUser, *Response, error) {
	here, err := x.setup.sessions.current(ctx, &x.visit)
	if here == nil && err == nil {
		return nil, &Response{Redirect: x.links.signIn(x.url("account"))}, nil
	}
	return here, nil, err
}

// showAccount answers GET /account, with any do in the query.
func showAccount(ctx context.Context, x *exchange) (*Response, error) {
	left := x.flash()
	x.looks = !x.query.Has("do")
	here, elsewhere, err := requireUser(ctx, x)
	if here == nil {
		if err == nil && left.About == noticeDeleted {
			x.cookies.Forget(&x.cookies.Specs.Flash)
			return pageResponse(x.setup.pagesFor(ctx, &x.visit).Farewell(page.Farewell{Host: x.origin.Host(), Origin: x.home()}))
		}
		return elsewhere, err
	}
	if res, err := accountProfile(ctx, x, here); res != nil || err != nil {
		return res, err
	}
	switch do := x.query.Get("do"); {
	case do == "delete":
		return askToDelete(ctx, x, here)
	case do == "totp" && assures(x.setup):
		return showEnrolment(ctx, x, here)
	case do == "change":
		if res, err := askIfStale(ctx, x, here, x.change()); res != nil || err != nil {
			return res, err
		}
	}
	view, err := accountView(ctx, x, here)
	if err != nil {
		return nil, err
	}
	sayOnAccount(&x.visit, &view, here.user.ID)
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).Account(view))
}

// askToDelete answers GET /account?do=delete: with the page that asks for a proof if the
// user has not given one recently, and otherwise with deletionPage.
func askToDelete(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	if res, err := askIfStale(ctx, x, here, x.deletion()); res != nil || err != nil {
		return res, err
	}
	return deletionPage(ctx, x, here, false)
}

// deletionPage returns the page that asks whether to delete the account. unconfirmed says
// that the form was sent without its box ticked.
func deletionPage(ctx context.Context, x *exchange, here *currentUser, unconfirmed bool) (*Response, error) {
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).DeleteAccount(page.DeleteAccount{
		CSRFToken: x.csrfToken, Action: x.deletion(), CancelURL: x.url("account"), Name: cmp.Or(here.user.Email, here.user.Name),
		Host: x.origin.Host(), Error: unconfirmed, FormOrigins: x.setup.formOrigins(&x.links, ""),
	}))
}

// deleteAccount answers the form of deletionPage: it deletes the user, clears the session
// cookie and leaves a flash message. Before that it asks for a recent proof, and shows
// the page again if the box is not ticked. JWT sessions that it cannot end are only
// logged.
func deleteAccount(ctx context.Context, x *exchange, here *currentUser) (*Response, error) {
	if res, err := askIfStale(ctx, x, here, x.deletion()); res != nil || err != nil {
		return res, err
	}
	if x.field("confirm") != "delete" {
		return deletionPage(ctx, x, here, true)
	}
	err := x.setup.directory.DeleteUser(ctx, &x.events, here.user.ID)
	if errors.Is(err, ErrSessionsNotEnded) {
		x.setup.log.Warn(ctx, err.Error(), "user", here.user.ID)
	} else if err != nil {
		return nil, err
	}
	x.credential.Clear()
	x.leave(browser.Flash{About: noticeDeleted})
	return &Response{Redirect: x.url("account")}, nil
}

// accountView returns what the account page shows of a user, without flash messages.
func accountView(ctx context.Context, x *exchange, here *currentUser) (page.Account, error) {
	s := x.setup
	view := page.Account{
		CSRFToken: x.csrfToken, CallbackURL: x.url("account"), Host: x.origin.Host(), Origin: x.home(), Name: here.user.Name, Email: here.user.Email, Image: here.user.Image,
		UnlinkAction: x.url("account?do=unlink"), SignOutURL: x.url("signout?callbackUrl=" + url.QueryEscape(x.home())), FormOrigins: s.formOrigins(&x.links, ""),
	}
	if s.store.Has(directory.AbilityDeletion) {
		view.DeleteURL = x.deletion()
	}
	accounts, keys, err := s.directory.WaysIn(ctx, s.store, here.user.ID)
	if err == nil {
		byPasskey := directory.SignsInByPasskey(s.directory, accounts, keys)
		err = errors.Join(showOwn(ctx, s, &x.links, &view, here.user.ID), showPasswords(ctx, s, &x.links, &view, &here.user, byPasskey))
	}
	if err != nil {
		return view, err
	}
	sessions, err := s.store.ListSessions(ctx, here.user.ID)
	if err != nil {
		return view, err
	}
	may, _, err := mayChange(ctx, s, &x.visit, here)
	if err != nil {
		return view, err
	}
	others := otherWaysIn(s, here, sessions)
	for i, a := range accounts {
		if a.Type == TypeWebAuthn && s.store.Has(directory.AbilityAuthenticators) {
			continue
		}
		removable := s.directory.CanLose(&here.user, accounts, keys, i)
		view.Linked = append(view.Linked, page.Linked{
			Provider: s.shownProvider(a.Provider), ProviderAccountID: a.ProviderAccountID, Detail: a.Email,
			Removable: removable, Fixed: !removable && len(others) > 0,
		})
	}
	view.Linked = append(view.Linked, others...)
	view.Passkeys, view.Script = passkeysView(s, &x.links, here, accounts, keys, may), x.setup.passkeyScript(&x.links)
	if len(view.Linked)+len(view.Passkeys.Keys) == 0 {
		view.Linked = typedWays(s, nil) // nothing else can have let them in
	}
	view.Providers = unlinked(s, &x.links, may, accounts)
	view.SecondStep, err = factorsView(s, ctx, &x.links, here)
	if len(sessions) > 0 && s.config.Session.Strategy == DatabaseSessions {
		view.EndAction, view.OthersAction = x.url("account?do=end"), x.url("account?do=others")
		view.Devices = devices(sessions, here.sessionID, s.now())
	}
	return view, err
}

// otherWaysIn returns the sign-in methods that no stored account stands for: each Email
// provider if the user's e-mail address is proven, and each Credentials provider by which
// this session or one of sessions was opened.
func otherWaysIn(s *setup, here *currentUser, sessions []storage.StoredSession) []page.Linked {
	used := map[string]bool{here.provider: true}
	for _, row := range sessions {
		used[row.Provider] = true
	}
	var ways []page.Linked
	for _, p := range s.order {
		if info := p.info(); info.kind == TypeEmail && here.user.Email != "" && !here.user.EmailVerified.IsZero() {
			ways = append(ways, page.Linked{Provider: s.shownProvider(info.id), Detail: here.user.Email, Fixed: true})
		}
	}
	return append(ways, typedWays(s, used)...)
}

// typedWays returns the Credentials providers with an id in used. A nil used stands for
// all of them.
func typedWays(s *setup, used map[string]bool) []page.Linked {
	var ways []page.Linked
	for _, p := range s.order {
		if info := p.info(); info.kind == TypeCredentials && (used == nil || used[info.id]) {
			ways = append(ways, page.Linked{Provider: s.shownProvider(info.id), Fixed: true})
		}
	}
	return ways
}

// unlinked returns buttons for the linkable providers of which the user has no account.
// If may is false, the user needs a recent proof first, and the buttons lead to the page
// that asks for it.
func unlinked(s *setup, l *links, may bool, accounts []Account) []page.Provider {
	linked := map[string]bool{}
	for _, a := range accounts {
		linked[a.Provider] = true
	}
	var free []page.Provider
	for _, p := range s.order {
		if info := p.info(); info.linkable && !linked[info.id] {
			start := l.url(info.start + info.id)
			if !may {
				start = l.url("account?do=link")
			}
			free = append(free, info.button(start))
		}
	}
	return free
}

// changeAccount answers POST /account. An unknown do is ErrUnknownAction.
func changeAccount(ctx context.Context, x *exchange) (*Response, error) {
	here, elsewhere, err := requireUser(ctx, x)
	if here == nil {
		return elsewhere, err
	}
	x.events.SetActor(event.Actor{Kind: event.ActorUser, ID: here.user.ID})
	d, id := x.setup.directory, here.user.ID
	if res, err := accountProfile(ctx, x, here); res != nil || err != nil {
		return res, err
	}
	back := func(about string) *Response { return backToAccount(&x.links, &x.visit, about, id) }
	if res, err := changeFactors(ctx, x, here, x.query.Get("do")); res != nil || err != nil {
		return res, err
	}
	switch x.query.Get("do") {
	case "link":
		return &Response{Redirect: x.change()}, nil
	case "unlink":
		if res, err := askIfStale(ctx, x, here, x.change()); res != nil || err != nil {
			return res, err
		}
		err := d.Unlink(ctx, &x.events, id, x.field("provider"), x.field("providerAccountId"), here.sessionID)
		if errors.Is(err, ErrLastAccount) {
			return back(noticeLast), nil
		}
		return back(noticeUnlinked), failure.Ignoring(err, ErrNotFound)
	case "rename", "remove":
		return changePasskey(ctx, x, here, x.query.Get("do"))
	case "end":
		err := d.EndSession(ctx, &x.events, id, x.field("session"))
		return back(noticeEnded), failure.Ignoring(err, ErrNotFound)
	case "others":
		return back(noticeOthers), d.EndSessions(ctx, &x.events, id, here.sessionID)
	case "delete":
		return deleteAccount(ctx, x, here)
	}
	return nil, failure.Wrap(ErrUnknownAction, failure.Of(fault.RequestUnknown, errors.New("the account page knows no such change")))
}
