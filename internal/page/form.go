package page

import (
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
}

func newForm(at int, p Provider, v *SignIn) providerForm {
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
		if typed, ok := v.Tried.Typed[f.Name]; ok && p.ID == v.Tried.Provider && f.Type != "hidden" && f.Type != "checkbox" {
			f.Value = typed
		}
		form.Inputs = append(form.Inputs, newInput(at, i, f, p.Type, v.Email))
	}
	return form
}

// blame shows a message in the form, beside the field if there is only one,
// otherwise above the fields, all of which it describes. The first empty field
// gets the focus.
func (f *providerForm) blame(m message) {
	shown := f.Inputs[:0:0]
	for i := range f.Inputs {
		if in := &f.Inputs[i]; in.Type != "hidden" && in.Type != "checkbox" {
			shown = append(shown, *in)
		}
	}
	if len(shown) == 0 {
		return
	}
	focus := shown[0].ElementID
	if i := slices.IndexFunc(shown, func(in input) bool { return in.Value == "" }); i >= 0 {
		focus = shown[i].ElementID
	}
	wrongID := shown[0].ElementID + "-wrong"
	if len(shown) > 1 {
		f.Wrong, f.WrongID = m, wrongID
	}
	for i := range f.Inputs {
		in := &f.Inputs[i]
		if in.Type == "hidden" || in.Type == "checkbox" {
			continue
		}
		in.WrongID, in.Focus = wrongID, in.ElementID == focus
		if len(shown) == 1 {
			in.Wrong = m
		}
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

// elementID returns the id that joins a label to its input. It is made of
// positions, because names and ids may hold any characters.
func elementID(form, at int) string {
	return "f" + strconv.Itoa(form) + "-" + strconv.Itoa(at)
}

// autocomplete returns the attribute that tells password managers what a field
// is.
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
