package latchkey

import (
	"context"
	"errors"

	"github.com/latchkeyhq/latchkey/internal/page"
)

// The account page: what is linked to whoever is signed in, and their devices.

// requireUser is who is signed in, for pages that only they may see. A response
// leads everybody else to the sign-in page and back.
func requireUser(ctx context.Context, x *exchange) (*currentUser, *Response, error) {
	here, err := x.setup.sessions.current(ctx, x)
	if here == nil && err == nil {
		return nil, &Response{Redirect: x.signInURL(x.url("account"))}, nil
	}
	return here, nil, err
}

// showAccount answers GET /account.
func showAccount(ctx context.Context, x *exchange) (*Response, error) {
	here, elsewhere, err := requireUser(ctx, x)
	if here == nil {
		return elsewhere, err
	}
	if x.query.Get("do") == "delete" {
		return pageResponse(pagesFor(ctx, x).DeleteAccount(page.DeleteAccount{
			CSRFToken: x.csrfToken, Action: x.url("account?do=delete"), CancelURL: x.url("account"), Name: firstOf(here.user.Email, here.user.Name),
			Host: x.origin.Host(),
		}))
	}
	view, err := accountView(ctx, x, here)
	if err != nil {
		return nil, err
	}
	return pageResponse(pagesFor(ctx, x).Account(view))
}

func accountView(ctx context.Context, x *exchange, here *currentUser) (page.Account, error) {
	s := x.setup
	view := page.Account{
		CSRFToken: x.csrfToken, CallbackURL: x.url("account"), Host: x.origin.Host(), Origin: x.origin.Text, Name: here.user.Name, Email: here.user.Email,
		Notice: x.query.Get("done"), Error: x.query.Get("error"),
		UnlinkAction: x.url("account?do=unlink"), SignOutURL: x.url("signout"), FormOrigins: s.formOrigins(),
	}
	if s.store.has(abilityDeletion) {
		view.DeleteURL = x.url("account?do=delete")
	}
	accounts, keys, err := s.directory.waysIn(ctx, s.store, here.user.ID)
	if err != nil {
		return view, err
	}
	for i, a := range accounts {
		view.Linked = append(view.Linked, page.Linked{
			Provider: s.shownProvider(a.Provider), ProviderAccountID: a.ProviderAccountID,
			Removable: s.directory.canLose(&here.user, accounts, keys, i),
		})
	}
	view.Providers = unlinked(x, accounts)
	sessions, err := s.store.listSessions(ctx, here.user.ID)
	if err != nil {
		return view, err
	}
	if len(sessions) > 0 && s.config.Session.Strategy == DatabaseSessions {
		view.EndAction, view.OthersAction = x.url("account?do=end"), x.url("account?do=others")
		view.Devices = devices(sessions, here.sessionID, s.now())
	}
	return view, nil
}

// shownProvider is a provider by its id; one that is configured no longer has
// nothing else.
func (s *setup) shownProvider(id string) page.Provider {
	p, ok := s.providers[id]
	if !ok {
		return page.Provider{ID: id, Name: id}
	}
	info := p.info()
	return page.Provider{ID: id, Name: info.name, Type: string(info.kind), Icon: info.style.Icon, Brand: info.style.Color}
}

// unlinked are the providers that could be linked.
func unlinked(x *exchange, accounts []Account) []page.Provider {
	linked := map[string]bool{}
	for _, a := range accounts {
		linked[a.Provider] = true
	}
	var free []page.Provider
	for _, p := range x.setup.order {
		if info := p.info(); info.linkable && !linked[info.id] {
			free = append(free, info.button(x.url(info.start+info.id)))
		}
	}
	return free
}

// changeAccount answers POST /account.
func changeAccount(ctx context.Context, x *exchange) (*Response, error) {
	here, elsewhere, err := requireUser(ctx, x)
	if here == nil {
		return elsewhere, err
	}
	x.events.by(Actor{ActorUser, here.user.ID})
	d, id := x.setup.directory, here.user.ID
	back := func(name, value string) *Response { return &Response{Redirect: x.url("account?" + name + "=" + value)} }
	switch x.query.Get("do") {
	case "unlink":
		err := d.unlink(ctx, &x.events, id, x.field("provider"), x.field("providerAccountId"))
		if errors.Is(err, ErrLastAccount) {
			return back("error", "last"), nil
		}
		return back("done", "unlinked"), ignoring(err, ErrNotFound)
	case "end":
		return back("done", "ended"), ignoring(d.endSession(ctx, id, x.field("session")), ErrNotFound)
	case "others":
		_, err := d.endSessions(ctx, d.store, id, here.sessionID)
		return back("done", "others"), err
	case "delete":
		if x.field("confirm") != "delete" {
			return back("error", "confirm"), nil
		}
		err := d.deleteUser(ctx, &x.events, id)
		if errors.Is(err, ErrSessionsNotEnded) {
			x.setup.log.warn(ctx, err.Error(), "user", id)
		} else if err != nil {
			return nil, err
		}
		x.cookies.clearSession()
		return &Response{Redirect: x.origin.Text}, nil
	}
	return nil, ErrUnknownAction.wrap(errors.New("the account page knows no such change"))
}
