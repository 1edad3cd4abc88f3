package page

import (
	"html/template"
	"net/http"
	"time"
)

// Account is the settings page of the signed-in user. An empty URL leaves out the link or
// form that leads there, and an empty list leaves out its part.
type Account struct {
	CSRFToken   string
	CallbackURL string // where linking leads back to, usually this page; empty: not sent

	Host   string // named on the way home; empty: it is not offered
	Origin string // where that leads

	Image  string // the URL of the user's picture; shown if it is of the site itself or a data: URL, otherwise initials are
	Name   string // of the user; empty: not shown
	Email  string // of the user; empty: not shown
	Notice string // what has just been done: linked, unlinked, ended, others, added, renamed, removed, password, email, forgotten, nopassword, factor, unfactor, unmailed, profile, kept; unknown: no message
	Error  string // what failed: last, taken, link, confirm, lastfactor, unverified; unknown: the general message

	Own Own

	Linked       []Linked
	UnlinkAction string     // where an unlink form is posted; it sends provider and providerAccountId
	Providers    []Provider // what can be linked besides; their Action starts a sign-in

	Passkeys   Passkeys
	SecondStep SecondStep

	PasswordURL    string // where the password is changed; empty: not offered
	HasPassword    bool   // there is one
	RemovePassword string // where the form that removes it is posted; empty: not offered
	AddressURL     string // where the address is changed; empty: not offered
	Replacement    string // the new address that staff has asked for, which counts after a delay; empty: none
	KeepAction     string // where the form that stops the replacement is posted

	Browsers     []Device // the known browsers
	ForgetAction string   // where the form that forgets a known browser is posted; it sends browser

	Devices      []Device
	EndAction    string // where a sign-out form of one device is posted; it sends session
	OthersAction string // where "sign out everywhere else" is posted

	SignOutURL string // the sign-out page
	DeleteURL  string // the page that asks before the account is deleted

	FormOrigins []string // as in [SignIn]
	Script      string   // as in [SignIn]
}

// Linked is one sign-in method of the user.
type Linked struct {
	Provider          Provider // Name, ID, Icon and Brand are shown
	ProviderAccountID string   // sent when it is unlinked, never shown
	Detail            string   // such as the e-mail at the provider; empty: not shown

	// Removable says that another sign-in method remains. False, the zero value,
	// is the safe one: the page shows no button. The server must check again when
	// the form is sent.
	Removable bool
	// Fixed says that the user cannot unlink it, as with a password or a proven
	// e-mail address. It is never Removable, and need not be the only method.
	Fixed bool
}

// Device is one session of the user.
type Device struct {
	ID     string    // what the form sends; never the session token itself
	Name   string    // of the browser, such as Firefox; empty: an unknown device, or only System
	System string    // it runs on, such as Linux; empty: not shown
	Detail string    // such as a place; empty: not shown
	Seen   time.Time // when this session began; zero: not shown
	This   bool      // the session that asks
	Acting bool      // an administrator acts as the user in it
}

// Account renders the account page.
func (r *Renderer) Account(v Account) (Page, error) {
	view := accountView{Account: v, Failed: message{Key: accountMessage(v.Error)}}
	p := policy{formOrigins: v.FormOrigins, clock: v.Passkeys.tellsTimes() || v.SecondStep.tellsTimes()}
	if v.Script != "" {
		p.nonce = nonce()
	}
	if v.Replacement != "" {
		view.Moving = message{"account.replaced", v.Replacement}
	}
	view.Factors = r.newSecondStepView(&v)
	view.Facts, view.Recent = r.facts(&v), r.recent(v.Own.Activity)
	p.clock = p.clock || len(view.Recent) > 0
	view.Keys, view.Nonce = r.newPasskeysView(&v), p.nonce
	for _, p := range v.Providers {
		p.Name = p.Label()
		view.More = append(view.More, providerForm{Provider: p, CSRFToken: v.CSRFToken, CallbackURL: v.CallbackURL})
	}
	for _, d := range v.Devices {
		d.Name = r.texts.device(d)
		view.Rows = append(view.Rows, deviceRow{d, v.EndAction, v.CSRFToken})
		view.Others = view.Others || !d.This
		p.clock = p.clock || !d.Seen.IsZero()
	}
	view.Done = notice(v.Notice, view.Others && v.OthersAction != "")
	for _, d := range v.Browsers {
		d.Name = r.texts.device(d)
		view.Known = append(view.Known, deviceRow{d, v.ForgetAction, v.CSRFToken})
		p.clock = p.clock || !d.Seen.IsZero()
	}
	view.Clock, view.Host = p.clock, r.site(v.Host)
	view.Picture, view.Initials = ownPicture(v.Image, v.Origin), initials(v.Name, v.Email)
	return r.render("account", http.StatusOK, view, p, v.Host)
}

type accountView struct {
	Account
	Picture  template.URL // empty: Initials stand for it
	Initials string

	Done   string // key of a text; empty: none
	Failed message
	Moving message // says that the address is to be replaced; zero: it is not
	Facts  []fact
	Recent []frameRow
	More   []providerForm
	Rows   []deviceRow
	Known  []deviceRow
	Others bool // there is a device besides this one
	Clock  bool // there are times to tell
	Keys   *passkeysView

	Factors *secondStepView // nil: the site has none
	Nonce   string
}

// deviceRow is a device as its template needs it.
type deviceRow struct {
	Device
	Action    string
	CSRFToken string
}

// notice returns the key of the text for what has just been done, or "" for an unknown
// code. others says that other devices can be signed out on this page. The text after an
// account was unlinked then says that they stay signed in.
func notice(code string, others bool) string {
	switch code {
	case "unlinked":
		if others {
			return "account.notice.others.stay"
		}
		return "account.notice.unlinked"
	case "kept":
		return "password.keep.done"
	case "linked", "ended", "others", "added", "renamed", "removed", "password", "email", "forgotten", "nopassword", "factor", "unfactor", "unmailed", "profile":
		return "account.notice." + code
	}
	return ""
}

// accountMessage returns the key of the text for the code in [Account].Error, or "" for
// an empty code. An unknown code has the general text.
func accountMessage(code string) string {
	switch code {
	case "":
		return ""
	case "last", "taken", "link", "confirm", "lastfactor", "unverified":
		return "account.error." + code
	}
	return "account.error.other"
}

// DeleteAccount asks before an account is deleted.
type DeleteAccount struct {
	CSRFToken string
	Action    string // where the form is posted; it sends confirm=delete
	CancelURL string // back to the settings
	Name      string // of the user: an e-mail address or a name; empty: not named
	Host      string // of the site
	Error     bool   // the form came without its confirmation

	FormOrigins []string // as in [SignIn]
}

// DeleteAccount renders the page that asks before an account is deleted.
func (r *Renderer) DeleteAccount(v DeleteAccount) (Page, error) {
	return r.render("delete", http.StatusOK, v, policy{formOrigins: v.FormOrigins}, v.Host)
}

// Reauth asks the user to sign in once more before the account is deleted, its data is
// downloaded, or its sign-in methods change.
type Reauth struct {
	SignInURL string // the sign-in page, which leads back
	CancelURL string // back to the settings
	Host      string // of the site
	Deletes   bool   // the account is to be deleted
	Exports   bool   // the user's data is to be downloaded; neither: sign-in methods are to change
}

// Reauth renders the page that asks for a recent sign-in.
func (r *Renderer) Reauth(v Reauth) (Page, error) {
	return r.render("reauth", http.StatusOK, v, policy{}, v.Host)
}

// Farewell says that an account has been deleted.
type Farewell struct {
	Host   string // named on the way home
	Origin string // where that leads
}

// Farewell renders the page after an account was deleted.
func (r *Renderer) Farewell(v Farewell) (Page, error) {
	v.Host = r.site(v.Host)
	return r.render("farewell", http.StatusOK, v, policy{}, v.Host)
}
