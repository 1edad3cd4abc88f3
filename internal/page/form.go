package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// providerForm is a provider as its template needs it.
type providerForm struct {
	Provider
	CSRFToken   string
	CallbackURL string
	Inputs      []input

	Primary bool    // it has the one main button of the page
	Wrong   message // what is wrong with it as a whole; zero: nothing
	WrongID string

	Shared  bool       // other providers have buttons in it
	Others  []Provider // their buttons, after that of Provider
	Passkey Provider   // whose passkeys its script asks for; zero: none
	Target  string     // the action of the form; buttons of other providers name theirs
}

// newForm returns the form of p, which is v.Providers[at]. If the attempt that failed was
// with p, it fills in what was typed, except in hidden fields, checkboxes and passwords.
func newForm(at int, p Provider, v *SignIn) providerForm {
	form := providerForm{Provider: p, CSRFToken: v.CSRFToken, CallbackURL: v.CallbackURL, Target: p.Action}
	if p.Type == WebAuthn {
		form.Passkey = p
	}
	fields := p.fields()
	for i, f := range fields {
		if f.Autocomplete == "" && isLogin(f, fields) {
			f.Autocomplete = "username"
		}
		if typed, ok := v.Tried.Typed[f.Name]; ok && p.ID == v.Tried.Provider && f.Type != "hidden" && f.Type != "checkbox" {
			f.Value = typed
		}
		form.Inputs = append(form.Inputs, newInput(at, i, f, p.Type, v.Email))
	}
	return form
}

// isLogin reports whether f identifies the account of the user: it is a text field with
// the name "name", and the others of the form are passwords, checkboxes or hidden.
// Beside other fields it may be anything.
func isLogin(f Field, all []Field) bool {
	others := slices.DeleteFunc(slices.Clone(all), func(o Field) bool {
		return o.Name == f.Name || slices.Contains([]string{"password", "hidden", "checkbox"}, strings.ToLower(o.Type))
	})
	return strings.EqualFold(f.Name, "name") && (f.Type == "" || strings.EqualFold(f.Type, "text")) && len(others) == 0
}

// blame shows m, a message about the fields named in about. The form must have fields.
// If one such field is visible, the message stands beside it. If there are several, it
// stands above all fields and describes these. The first of them that is empty gets the
// focus, or else the first. If none is visible, the message stands above all fields. A
// checkbox does not count as visible.
func (f *providerForm) blame(m message, about []Field) {
	var shown []*input
	for i := range f.Inputs {
		in := &f.Inputs[i]
		isNamed := slices.ContainsFunc(about, func(field Field) bool { return field.Name == in.Name })
		if in.Type != "hidden" && in.Type != "checkbox" && isNamed {
			shown = append(shown, in)
		}
	}
	if len(shown) == 0 {
		f.Wrong, f.WrongID = m, f.Inputs[0].ElementID+"-wrong"
		return
	}
	focus := shown[0]
	if i := slices.IndexFunc(shown, func(in *input) bool { return in.Value == "" }); i >= 0 {
		focus = shown[i]
	}
	focus.Focus = true
	wrongID := shown[0].ElementID + "-wrong"
	for _, in := range shown {
		in.WrongID = wrongID
	}
	if len(shown) > 1 {
		f.Wrong, f.WrongID = m, wrongID
	} else {
		shown[0].Wrong = m
	}
}

// inputTypes are those a text field can have without further markup.
var inputTypes = []string{"text", "password", "email", "tel", "url", "number", "search", "date", "checkbox", "hidden"}

// input is a field as its template needs it.
type input struct {
	Field
	ElementID string
	Example   string // key of the placeholder when Field brings none
	LabelKey  string // key of the label when Field brings none
	Verbatim  bool   // no capitals and no spelling help: the value is a name, not prose

	Wrong   message // what is wrong with its value; zero: nothing, or the form says it
	WrongID string  // of the element that says it; empty: nothing is wrong
	Focus   bool    // where the reader begins

	Hint   message // what to type; zero: nothing is said
	HintID string  // of the element that says it
}

// newInput returns the input of f, which is the field at index at of the form with the
// index form. Both indexes are part of its element id. An unsuitable type becomes text.
// email fills in an e-mail field without a value. A password never has a value.
func newInput(form, at int, f Field, providerType, email string) input {
	in := input{ElementID: elementID(form, at)}
	if f.Type = strings.ToLower(f.Type); !slices.Contains(inputTypes, f.Type) {
		f.Type = "text"
	}
	if f.Type == "email" {
		in.Example = "signin.example"
		f.Value = cmp.Or(f.Value, email)
	}
	if f.Type == "password" {
		f.Value = ""
	}
	if f.Autocomplete == "" {
		f.Autocomplete = autocomplete(f, providerType)
	}
	if in.LabelKey = labelKey(f); f.Label == "" && in.LabelKey == "" {
		f.Label = f.Name
	}
	in.Verbatim = f.Type == "email" || strings.HasPrefix(f.Autocomplete, "username")
	in.Field = f
	return in
}

// elementID returns the id that joins a label to its input. It is made of
// positions, because names and ids may hold any characters.
func elementID(form, at int) string {
	return "f" + strconv.Itoa(form) + "-" + strconv.Itoa(at)
}

// labelKey returns the key of the label of a field that brings none, or "" if there is no
// such key: the caller then shows the name. f.Type must be in lower case.
func labelKey(f Field) string {
	switch {
	case f.Type == "email":
		return "signin.email"
	case f.Type == "password":
		return "signin.password"
	case strings.HasPrefix(f.Autocomplete, "username"):
		return "signin.username"
	}
	return ""
}

// autocomplete returns the attribute that tells password managers what a field is, or ""
// if type and name do not tell. f.Type is in lower case. Password managers keep a
// password under the value of the field "username", whether it is a name or an address
// (HTML, section 4.10.18.7.1).
func autocomplete(f Field, providerType string) string {
	switch {
	case providerType == WebAuthn && f.Type == "email":
		return "username webauthn"
	case providerType == Credentials && f.Type == "email":
		return "username"
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
