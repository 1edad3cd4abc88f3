package ui

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey"
	"github.com/latchkeyhq/latchkey/internal/veil"
)

// Form holds the parts of a form. html/template renders it with Open and Close, and
// templ reads its fields.
type Form struct {
	secret

	Class    string
	Method   string // get or post
	Action   string
	Passkey  string // id of the provider, for the browser client; empty: no form of passkeys
	Hidden   []Hidden
	Inputs   []Input
	Error    string // what is wrong with what was typed; empty: nothing
	ErrorID  string // of the element that says so
	Icon     string // an <svg> element, safe as it is; empty: none
	Submit   string // what the button says
	Register string // what the button says that makes a new passkey; empty: there is none
	NoScript string // what people without JavaScript are told; empty: nothing
	Passkeys PasskeyTexts
}

// PasskeyTexts are the messages that the browser client shows in a passkey's form if no
// passkey was used.
type PasskeyTexts struct {
	Cancelled, Failed, Known, Refused, Wait string
}

// secret keeps CSRF tokens out of logs.
type secret = veil.Hidden

// Hidden is a hidden input of a form.
type Hidden struct {
	secret

	Name, Value string
}

// Input is a visible input of a form, with the id of its element.
type Input struct {
	latchkey.FormField
	ID string
}

// SignInForm returns the form that signs in with props.Provider, or one that leads to the
// sign-in page if that is empty. It returns an error if the site has no such provider.
func (p *Page) SignInForm(props SignInProps) (*Form, error) {
	if props.Provider == "" {
		return p.chooseForm(props), nil
	}
	i := slices.IndexFunc(p.forms.SignIn, func(f latchkey.SignInForm) bool { return f.Provider == props.Provider })
	if i < 0 {
		return nil, fmt.Errorf("ui: no provider has the id %q", props.Provider)
	}
	return p.providerForm(&p.forms.SignIn[i], props), nil
}

// chooseForm returns a form that lets the library's sign-in page ask for the provider. It
// is a GET without a CSRF token, since it changes nothing. If props.SignInPage names a
// form action of the site, the form posts to that instead, with the token.
func (p *Page) chooseForm(props SignInProps) *Form {
	f := &Form{Class: class("latchkey-form", props.Class), Method: "get", Submit: or(props.SubmitButton, p.forms.Text("signedout.signin"))}
	if props.SignInPage != "" {
		f.Method, f.Action = "post", props.SignInPage
		f.hide("csrfToken", p.forms.CSRFToken)
		f.hide("redirectTo", or(props.RedirectTo, p.forms.RedirectTo))
		return f
	}
	page, query, _ := strings.Cut(p.forms.SignInURL, "?")
	values, _ := url.ParseQuery(query)
	if props.RedirectTo != "" {
		values.Set("callbackUrl", props.RedirectTo)
	}
	f.Action = page
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f.hide(name, values.Get(name))
	}
	return f
}

// providerForm returns the form of a provider. It posts to props.SignInPage. If that is
// empty, it posts to the library's own route. The form of a passkey provider always does:
// the browser client asks the library for a challenge and sends the passkey back there.
func (p *Page) providerForm(from *latchkey.SignInForm, props SignInProps) *Form {
	f := &Form{
		Class: class("latchkey-form", props.Class), Method: "post", Icon: from.Icon,
		Submit: or(props.SubmitButton, from.Submit), Error: from.Error,
	}
	f.hide("csrfToken", p.forms.CSRFToken)
	redirectTo := or(props.RedirectTo, p.forms.RedirectTo)
	isPasskey := from.Type == latchkey.TypeWebAuthn
	if props.SignInPage == "" || isPasskey {
		f.Action = withParams(from.Action, props.AuthorizationParams)
		f.hide("callbackUrl", redirectTo)
	} else {
		f.Action = props.SignInPage
		f.hide("providerId", from.Provider)
		f.hide("redirectTo", redirectTo)
		for _, name := range slices.Sorted(maps.Keys(props.AuthorizationParams)) {
			f.hide("authorizationParams-"+name, props.AuthorizationParams[name])
		}
	}
	if isPasskey {
		text := p.forms.Text
		f.Passkey, f.Register, f.NoScript = from.Provider, from.Register, text("signin.noscript")
		f.Passkeys = PasskeyTexts{
			Cancelled: text("passkey.cancelled"), Failed: text("passkey.failed"), Known: text("passkey.known"),
			Refused: text("passkey.refused"), Wait: text("signin.error.wait.one"),
		}
		f.hide("action", "") // the browser client fills in these two
		f.hide("data", "")
	}
	p.fill(f, from, props.Options)
	return f
}

// fill adds the fields of a provider to f. A field without a value gets the one that
// options have under its name, unless it is a password. An option that names no field
// becomes a hidden input.
func (p *Page) fill(f *Form, from *latchkey.SignInForm, options map[string]string) {
	rest := maps.Clone(options)
	for _, field := range from.Fields {
		if value, ok := options[field.Name]; ok && field.Type != "password" {
			field.Value = or(field.Value, value)
		}
		delete(rest, field.Name)
		if field.Type == "hidden" {
			f.hide(field.Name, field.Value)
			continue
		}
		f.Inputs = append(f.Inputs, Input{FormField: field, ID: p.id()})
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		f.hide(name, rest[name])
	}
	if f.Error != "" {
		f.ErrorID = p.id()
	}
}

// hide adds a hidden input.
func (f *Form) hide(name, value string) {
	f.Hidden = append(f.Hidden, Hidden{Name: name, Value: value})
}

// SignOutForm returns a form that signs out. It posts to props.SignOutPage, or to the
// library's own route if that is empty.
func (p *Page) SignOutForm(props SignOutProps) *Form {
	f := &Form{
		Class: class("latchkey-form", props.Class), Method: "post", Action: p.forms.SignOutURL,
		Submit: or(props.SubmitButton, p.forms.Text("signout.submit")),
	}
	f.hide("csrfToken", p.forms.CSRFToken)
	redirectTo := or(props.RedirectTo, p.forms.RedirectTo)
	if props.SignOutPage != "" {
		f.Action = props.SignOutPage
		f.hide("redirectTo", redirectTo)
		return f
	}
	f.hide("callbackUrl", redirectTo)
	return f
}

// withParams returns target, a URL, with params at the end of its query. target must have
// no fragment.
func withParams(target string, params map[string]string) string {
	if len(params) == 0 {
		return target
	}
	query := url.Values{}
	for name, value := range params {
		query.Set(name, value)
	}
	separator := "?"
	if strings.Contains(target, "?") {
		separator = "&"
	}
	return target + separator + query.Encode()
}

// class returns the classes of an element: ours, and those that the application gives.
func class(ours, theirs string) string { return strings.TrimSpace(ours + " " + theirs) }

// or returns text, or otherwise if text is empty.
func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
