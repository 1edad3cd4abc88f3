package latchkey

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/storage"
)

// The passkeys on the account page.

// passkeysView returns what the account page shows of the user's passkeys, which are those of
// keys that belong to one of accounts. If may is false, the user needs a recent proof first,
// and the buttons that add a passkey lead to the page that asks for it.
func passkeysView(s *setup, l *links, here *currentUser, accounts []Account, keys []storage.Authenticator, may bool) page.Passkeys {
	view := page.Passkeys{RenameAction: l.url("account?do=rename"), RemoveAction: l.url("account?do=remove"), Reauth: !may}
	d := s.directory
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
	for _, p := range s.order {
		info := p.info()
		if info.kind != TypeWebAuthn {
			continue
		}
		action := l.url(info.start + info.id)
		if view.Reauth {
			action = l.url("account?do=link")
		}
		view.Add = append(view.Add, info.button(action))
	}
	return view
}

// changePasskey answers the forms that change the passkey with the id in the field
// passkey. If do is rename it gives the passkey the name in the field name; for any other
// do it asks for a recent proof and removes the passkey. A passkey that the user does not
// have is no error.
func changePasskey(ctx context.Context, x *exchange, here *currentUser, do string) (*Response, error) {
	id, err := base64.RawURLEncoding.DecodeString(x.field("passkey"))
	if err != nil || !x.setup.store.Has(directory.AbilityAuthenticators) {
		return backToAccount(&x.links, &x.visit, "", here.user.ID), nil
	}
	d := x.setup.directory
	if do == "rename" {
		err = d.RenamePasskey(ctx, &x.events, here.user.ID, id, x.field("name"))
		return backToAccount(&x.links, &x.visit, noticeRenamed, here.user.ID), failure.Ignoring(err, ErrNotFound)
	}
	if res, err := askIfStale(ctx, x, here, x.change()); res != nil || err != nil {
		return res, err
	}
	return removePasskey(ctx, x, here, id)
}

// removePasskey removes the passkey with the credential ID id, and returns a redirect to the
// account page. If toldBy finds a provider, that page tells the browser to forget the passkey.
// An unknown id is no error. The user's last sign-in method stays, and the page says so.
func removePasskey(ctx context.Context, x *exchange, here *currentUser, id []byte) (*Response, error) {
	d := x.setup.directory
	accounts, keys, err := d.WaysIn(ctx, x.setup.store, here.user.ID)
	if err != nil {
		return nil, err
	}
	left := forAccount(&x.visit, noticeRemoved, here.user.ID)
	switch err := d.RemovePasskey(ctx, &x.events, here.user.ID, id, here.sessionID); {
	case errors.Is(err, ErrLastAccount):
		return backToAccount(&x.links, &x.visit, noticeLast, here.user.ID), nil
	case errors.Is(err, ErrNotFound): // the page was an old one
	case err != nil:
		return nil, err
	default:
		if w := toldBy(x.setup, x.request, &x.links, accounts, keys, id); w != nil {
			left = withGone(left, w.ID, id)
		}
	}
	x.leave(left)
	return &Response{Redirect: x.url("account")}, nil
}

// toldBy returns the provider that can tell browsers that the passkey id is gone. It
// returns nil if accounts and keys do not have that passkey, if its provider is not
// configured, or if another site made its user handle, as in a copied store.
func toldBy(s *setup, r *Request, l *links, accounts []Account, keys []storage.Authenticator, id []byte) *webauthnProvider {
	for _, k := range keys {
		i := slices.IndexFunc(accounts, func(a Account) bool { return bytes.Equal(k.CredentialID, id) && directory.IsKeyOf(&k, &a) })
		if i < 0 {
			continue
		}
		w, ok := s.providers[accounts[i].Provider].(*webauthnProvider)
		if !ok {
			return nil
		}
		if party := w.partyOf(r, l.origin); !hasHandle(k) || w.isOwnHandle(k.UserHandle, l, &party) {
			return w
		}
	}
	return nil
}
