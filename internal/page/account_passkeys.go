package page

import (
	"strconv"
	"time"
)

// Passkeys are the passkeys of the user and the actions on them. The zero
// value is a site without passkeys.
type Passkeys struct {
	Keys         []Passkey
	RenameAction string // where a rename form is posted; it sends passkey and name
	RemoveAction string // where a remove form is posted; it sends passkey

	// Add are the providers that make more. The browser's answer is posted to their
	// Action. With Reauth, a recent sign-in is needed first, and Action asks for it.
	Add    []Provider
	Reauth bool
}

// Passkey is one passkey of the user.
type Passkey struct {
	ID        string    // what forms send
	Name      string    // empty: the word for a passkey
	Created   time.Time // zero: not shown
	Used      time.Time // zero: not shown
	Removable bool      // another sign-in method remains, as in [Linked]
}

// passkeysView is the passkeys as their template needs them.
type passkeysView struct {
	Passkeys
	CSRFToken string
	Rows      []passkeyRow
	More      []providerForm
}

type passkeyRow struct {
	Passkey
	Given        string // its own name; empty: it has none
	ElementID    string
	RenameAction string
	RemoveAction string
	CSRFToken    string
}

// isShown reports whether the site has passkeys or the user has one from before.
func (p *Passkeys) isShown() bool { return len(p.Keys)+len(p.Add) > 0 }

// newPasskeysView returns the part of the account page with passkeys, or nil if there is
// none.
func (r *Renderer) newPasskeysView(v *Account) *passkeysView {
	if !v.Passkeys.isShown() {
		return nil
	}
	view := &passkeysView{Passkeys: v.Passkeys, CSRFToken: v.CSRFToken}
	for i, k := range v.Passkeys.Keys {
		given := k.Name
		if k.Name == "" {
			k.Name = r.texts.text("provider.passkey")
		}
		view.Rows = append(view.Rows, passkeyRow{k, given, "p" + strconv.Itoa(i), v.Passkeys.RenameAction, v.Passkeys.RemoveAction, v.CSRFToken})
	}
	for _, p := range v.Passkeys.Add {
		p.Name = p.Label()
		view.More = append(view.More, providerForm{Provider: p, CSRFToken: v.CSRFToken, CallbackURL: v.CallbackURL})
	}
	return view
}

// tellsTimes reports whether one of the passkeys has a time to show.
func (p *Passkeys) tellsTimes() bool {
	for _, k := range p.Keys {
		if !k.Created.IsZero() || !k.Used.IsZero() {
			return true
		}
	}
	return false
}
