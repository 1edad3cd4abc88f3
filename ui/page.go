package ui

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey"
)

// Page makes the components of one page, in one goroutine. Get one from [New] or [From].
type Page struct {
	forms *latchkey.Forms
	ids   int // how many ids the method id has returned
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

// pairs stores the properties of a component, which are names and values in turn. texts has
// the variable of each property by its name. prefixed has the map of each group of
// properties by the beginning of their names: with "options-", the property options-email
// becomes the entry "email" of the map. pairs makes a map that is nil. It returns an error
// for any other name, and for a name without a value.
func pairs(properties []string, texts map[string]*string, prefixed map[string]*map[string]string) error {
	if len(properties)%2 != 0 {
		return fmt.Errorf("ui: %q has no value: give names and values in turn", properties[len(properties)-1])
	}
	for i := 0; i < len(properties); i += 2 {
		name, value := properties[i], properties[i+1]
		if text := texts[name]; text != nil {
			*text = value
		} else if !setPrefixed(prefixed, name, value) {
			return fmt.Errorf("ui: no property of this component is called %q", name)
		}
	}
	return nil
}

// setPrefixed stores value in the map whose prefix name begins with, under the rest of
// name. It returns false if there is no such map, or the rest is empty.
func setPrefixed(prefixed map[string]*map[string]string, name, value string) bool {
	for prefix, entries := range prefixed {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || rest == "" {
			continue
		}
		if *entries == nil {
			*entries = map[string]string{}
		}
		(*entries)[rest] = value
		return true
	}
	return false
}
