package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// SignIn is the sign-in page.
type SignIn struct {
	CSRFToken   string
	CallbackURL string // where the browser ends up; empty: not sent
	Error       string // code from the query; empty: no message; unknown: the general one
	Email       string // fills in e-mail fields
	Host        string // named under the heading; empty: not shown

	Providers []Provider // in the order in which they are shown

	// FormOrigins are the origins, or whole authorization URLs, to which a form
	// may lead besides the site itself; see [Source]. What a policy cannot name
	// is left out.
	FormOrigins []string

	// Script is the URL of the passkey script; empty: none runs. It is let in
	// by a fresh nonce and may fetch from the site itself.
	Script string
}

// The types of provider a sign-in page distinguishes. Any other is shown as a
// plain button.
const (
	OAuth       = "oauth"
	OIDC        = "oidc"
	Email       = "email"
	Credentials = "credentials"
	WebAuthn    = "webauthn"
)

// Provider is one way to sign in.
type Provider struct {
	ID     string
	Name   string // shown as it is; empty: ID
	Type   string
	Action string // where its form is posted: a path or an http(s) URL

	// Fields are the inputs of a form; nil: an e-mail address for the types
	// email and webauthn, nothing for the others.
	Fields []Field

	Icon  string // name of an embedded icon; empty: the one of ID, or the initial of Name
	Brand string // CSS colour behind the initial; empty or invalid: chosen by ID
}

// Label is what people call the provider: its name, or else its id.
func (p Provider) Label() string {
	if p.Name == "" {
		return p.ID
	}
	return p.Name
}

// Field is one input of a provider's form.
type Field struct {
	Name         string
	Label        string // empty: Name
	Type         string // an HTML input type; empty or unsuitable: text
	Placeholder  string
	Autocomplete string // empty: guessed from Type and Name
	Value        string // never shown for a password
	Required     bool
}

// SignIn renders the sign-in page, always with status 200.
func (r *Renderer) SignIn(v SignIn) (Page, error) {
	p := policy{formOrigins: v.FormOrigins}
	if v.Script != "" {
		p.nonce = nonce()
	}
	view := signInView{SignIn: v, Message: signInMessage(v.Error), Groups: group(v), Nonce: p.nonce}
	return r.render("signin", http.StatusOK, view, p)
}

type signInView struct {
	SignIn
	Message string // key of the text; empty: none
	Groups  []providerGroup
	Nonce   string
}

// signInMessage finds the text for an error code. A switch, because a code is
// chosen by whoever wrote the link and must reach nothing but these rows.
func signInMessage(code string) string {
	switch code {
	case "":
		return ""
	case "OAuthSignin", "OAuthCallbackError", "OAuthCreateAccount", "EmailCreateAccount", "Callback", "Signin":
		return "signin.error.again"
	case "OAuthAccountNotLinked":
		return "signin.error.notlinked"
	case "EmailSignin":
		return "signin.error.email"
	case "CredentialsSignin":
		return "signin.error.credentials"
	case "SessionRequired":
		return "signin.error.session"
	}
	return "signin.error.other"
}

// providerGroup is a run of plain buttons, or one form with fields. Groups are
// parted by "or" and keep the order in which the operator listed the providers.
type providerGroup struct {
	Many  bool // so many buttons that they share rows
	Items []providerForm
}

// providerForm is a provider made ready for its template.
type providerForm struct {
	Provider
	CSRFToken   string
	CallbackURL string
	Inputs      []input
}

// crowd is how many buttons stand below each other before they share rows.
const crowd = 6

func group(v SignIn) []providerGroup {
	var groups []providerGroup
	buttons := false
	for i, p := range v.Providers {
		form := newForm(i, p, v)
		if plain := len(form.Inputs) == 0; !plain || !buttons {
			groups = append(groups, providerGroup{})
			buttons = plain
		}
		last := &groups[len(groups)-1]
		last.Items = append(last.Items, form)
		last.Many = len(last.Items) > crowd
	}
	return groups
}

func newForm(at int, p Provider, v SignIn) providerForm {
	p.Name = p.Label()
	fields := p.Fields
	if fields == nil && (p.Type == Email || p.Type == WebAuthn) {
		fields = []Field{{Name: "email", Type: "email", Required: p.Type == Email}}
	}
	form := providerForm{Provider: p, CSRFToken: v.CSRFToken, CallbackURL: v.CallbackURL}
	if p.Type == OAuth || p.Type == OIDC {
		return form
	}
	for i, f := range fields {
		form.Inputs = append(form.Inputs, newInput(at, i, f, p.Type, v.Email))
	}
	return form
}

// inputTypes are those a text field can have without further markup.
var inputTypes = []string{"text", "password", "email", "tel", "url", "number", "search", "date", "checkbox", "hidden"}

// input is a field made ready for its template.
type input struct {
	Field
	ElementID string
	Example   string // key of the placeholder when Field brings none
	LabelKey  string // key of the label when Field brings none
	Verbatim  bool   // no capitals and no spelling help: the value is a name, not prose
}

func newInput(form, at int, f Field, providerType, email string) input {
	in := input{ElementID: elementID(form, at)}
	if f.Type = strings.ToLower(f.Type); !slices.Contains(inputTypes, f.Type) {
		f.Type = "text"
	}
	if f.Type == "email" {
		in.LabelKey, in.Example = "signin.email", "signin.example"
		if f.Value == "" {
			f.Value = email
		}
	}
	if f.Label == "" && in.LabelKey == "" {
		f.Label = f.Name
	}
	if f.Type == "password" {
		f.Value = ""
	}
	if f.Autocomplete == "" {
		f.Autocomplete = autocomplete(f, providerType)
	}
	in.Verbatim = f.Type == "email" || strings.HasPrefix(f.Autocomplete, "username")
	in.Field = f
	return in
}

// elementID joins a label to its input. It is made of positions, because names
// and ids may hold anything.
func elementID(form, at int) string {
	return "f" + strconv.Itoa(form) + "-" + strconv.Itoa(at)
}

// autocomplete says to password managers what a field is.
func autocomplete(f Field, providerType string) string {
	switch {
	case providerType == WebAuthn && f.Type == "email":
		return "username webauthn"
	case f.Type == "email", f.Type == "tel", f.Type == "url":
		return f.Type
	case f.Type == "password":
		return "current-password"
	}
	switch strings.ToLower(f.Name) {
	case "username", "user", "login":
		return "username"
	case "otp", "totp", "code":
		return "one-time-code"
	}
	return ""
}
