package ui

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Page makes the components of one page. Get one from [New] or [From].
type Page struct {
	forms *latchkey.Forms
	ids   int // how many elements have one
}

// New makes the components of the page that r asks for. It may set a cookie, so
// call it before writing the body. The error is that of [latchkey.Auth.Forms].
func New(auth *latchkey.Auth, w http.ResponseWriter, r *http.Request) (*Page, error) {
	forms, err := auth.Forms(w, r)
	if err != nil {
		return nil, err
	}
	return From(forms), nil
}

// From makes the components of a page out of what [latchkey.Core.Forms] returned,
// for web frameworks without net/http.
func From(forms *latchkey.Forms) *Page { return &Page{forms: forms} }

// Session returns the session, or nil without one.
func (p *Page) Session() *latchkey.Session { return p.forms.Session }

// Status returns the status that suits the response: that of the
// [latchkey.FormFailure] that the page shows, else 200.
func (p *Page) Status() int { return p.forms.Status }

// Language returns the language of the components, for <html lang>.
func (p *Page) Language() string { return p.forms.Language }

// Direction returns the direction of [Page.Language], for <html dir>: ltr or rtl.
func (p *Page) Direction() string { return p.forms.Direction }

// ScriptURL returns the URL of the module that the forms of passkeys need, or
// "" without passkeys.
func (p *Page) ScriptURL() string { return p.forms.Script }

// id returns a new id for an element. A page with several forms must not have
// one twice.
func (p *Page) id() string {
	p.ids++
	return "latchkey-" + strconv.Itoa(p.ids)
}

// SignInProps say what a sign-in form is like. The zero value is a button that
// leads to the sign-in page.
type SignInProps struct {
	Provider string // id; empty: the sign-in page asks
	// SignInPage is the path of a form action, see [latchkey.Auth.SignInAction].
	// Empty: the form posts to the library's own route.
	SignInPage string
	RedirectTo string // where to end up, a path or a URL of the site; empty: back here, or where the sign-in page was asked to lead
	// Options are for the provider: those that it has a field for are filled in,
	// all others are sent unseen.
	Options map[string]string
	// AuthorizationParams are added to the request to an OAuth provider, such as
	// prompt or login_hint.
	AuthorizationParams map[string]string
	SubmitButton        string // what the button says; empty: that one signs in with the provider
	Class               string // classes for the form, beside ours
}

// SignOutProps say what a sign-out form is like. The zero value is a button that
// signs out and comes back.
type SignOutProps struct {
	// SignOutPage is the path of a form action, see [latchkey.Auth.SignOutAction].
	// Empty: the form posts to the library's own route.
	SignOutPage  string
	RedirectTo   string // where to end up; empty: back here
	SubmitButton string // what the button says; empty: that one signs out
	Class        string // classes for the form, beside ours
}

// BoxProps say what a sign-in box is like. The zero value is one that posts to the
// library's own routes.
type BoxProps struct {
	SignInPage string // as in [SignInProps]
	RedirectTo string // as in [SignInProps]
	Class      string // classes for the box, beside ours
}

// UserProps are the properties of a user button. With the zero value it has the user's
// picture, a link to the account page if that is switched on, and a button that signs
// out.
type UserProps struct {
	SignOutPage string // as in [SignOutProps]
	RedirectTo  string // where to end up after signing out; empty: back here
	AccountURL  string // the page with the user's settings; empty: the account page of the library
	Class       string // classes for the whole, beside ours
}

// pairs stores the properties that a template gives, names and values in turn. A name in
// places sets the text there. A name that begins with a key of many adds the rest of the
// name to the map there. It returns an error for any other name, and for an odd number of
// texts.
func pairs(said []string, places map[string]*string, many map[string]*map[string]string) error {
	if len(said)%2 != 0 {
		return fmt.Errorf("ui: %q has no value: give names and values in turn", said[len(said)-1])
	}
next:
	for i := 0; i < len(said); i += 2 {
		name, value := said[i], said[i+1]
		if place := places[name]; place != nil {
			*place = value
			continue
		}
		for prefix, all := range many {
			if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" {
				if *all == nil {
					*all = map[string]string{}
				}
				(*all)[rest] = value
				continue next
			}
		}
		return fmt.Errorf("ui: no property of this component is called %q", name)
	}
	return nil
}
