package latchkey

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/storage"
)

// The passkeys on the account page.

// passkeysView returns what the page shows of the passkeys.
func passkeysView(x *exchange, here *currentUser, accounts []Account, keys []storage.Authenticator) page.Passkeys {
	view := page.Passkeys{RenameAction: x.url("account?do=rename"), RemoveAction: x.url("account?do=remove"), Reauth: !x.isFresh(here)}
	d := x.setup.directory
	for i, a := range accounts {
		for _, k := range keys {
			if directory.IsKeyOf(&k, &a) {
				view.Keys = append(view.Keys, page.Passkey{
					ID: base64.RawURLEncoding.EncodeToString(k.CredentialID), Name: k.Name, Created: k.Created, Used: k.Used,
					Removable: d.CanLose(&here.user, accounts, keys, i),
				})
			}
		}
	}
	for _, p := range x.setup.order {
		info := p.info()
		if info.kind != TypeWebAuthn {
			continue
		}
		action := x.url(info.start + info.id)
		if view.Reauth {
			action = x.url("account?do=link")
		}
		view.Add = append(view.Add, info.button(action))
	}
	if len(view.Add) > 0 {
		left, gone := x.flash(), ""
		if left.User == here.user.ID && left.About == noticeRemoved {
			gone = left.Typed["passkey"]
		}
		info := x.setup.providers[view.Add[0].ID].info()
		view.News = info.news(info.party(x.request, x.origin), &here.user, keys, gone)
	}
	return view
}

// changePasskey answers the forms for one of them.
func changePasskey(ctx context.Context, x *exchange, here *currentUser, do string) (*Response, error) {
	id, err := base64.RawURLEncoding.DecodeString(x.field("passkey"))
	if err != nil || !x.setup.store.Has(directory.AbilityAuthenticators) {
		return backToAccount(&x.links, &x.visit, "", here.user.ID), nil
	}
	d := x.setup.directory
	if do == "rename" {
		err = d.RenamePasskey(ctx, here.user.ID, id, x.field("name"))
		return backToAccount(&x.links, &x.visit, noticeRenamed, here.user.ID), failure.Ignoring(err, ErrNotFound)
	}
	if !x.isFresh(here) {
		return &Response{Redirect: x.change()}, nil
	}
	err = d.RemovePasskey(ctx, &x.events, here.user.ID, id, here.sessionID)
	if errors.Is(err, ErrLastAccount) {
		return backToAccount(&x.links, &x.visit, noticeLast, here.user.ID), nil
	}
	left := forAccount(&x.visit, noticeRemoved, here.user.ID)
	left.Typed = map[string]string{"passkey": x.field("passkey")}
	x.leave(left)
	return &Response{Redirect: x.url("account")}, failure.Ignoring(err, ErrNotFound)
}
