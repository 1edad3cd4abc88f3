package page

import (
	"strconv"
	"time"
)

// Passkeys are those of the user, and what can be done with them. The zero value
// is a site without passkeys.
type Passkeys struct {
	Keys         []Passkey
	RenameAction string // where a rename form is posted; it sends passkey and name
	RemoveAction string // where a remove form is posted; it sends passkey

	// Add are the providers that make more; their Action is where the answer is
	// posted. Reauth: a recent sign-in is needed before, and Action asks for it.
	Add    []Provider
	Reauth bool

	// News is what a script tells the browser of these passkeys, as JSON; empty:
	// nothing.
	News string
}

// Passkey is one of them.
type Passkey struct {
	ID        string    // what forms send
	Name      string    // empty: the word for a passkey
	Created   time.Time // zero: not shown
	Used      time.Time // zero: not shown
	Removable bool      // another way in remains, as in [Linked]
}

// passkeysView is that made ready for its template.
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

// isShown: the site has passkeys, or the user had one before.
func (p *Passkeys) isShown() bool { return len(p.Keys)+len(p.Add) > 0 }

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

// tellsTimes: one of them has a time to tell.
func (p *Passkeys) tellsTimes() bool {
	for _, k := range p.Keys {
		if !k.Created.IsZero() || !k.Used.IsZero() {
			return true
		}
	}
	return false
}
