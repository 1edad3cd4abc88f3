package page

import (
	"slices"
	"strings"
)

// One form for all providers that ask for the same address, so that the user does
// not have to wonder which of several fields is theirs.

// addressField is the field that the routes of magic links and passkeys read. A
// password form has its part in a shared form only if its field is called so, too.
const addressField = "email"

// sharing returns the indexes of the providers that share a form: a password, a magic
// link and a passkey, at most one of each, in this order. The first has the main button.
// It returns nil if fewer than two could share.
func sharing(all []Provider) []int {
	var found []int
	for _, kind := range []string{Credentials, Email, WebAuthn} {
		if i := slices.IndexFunc(all, func(p Provider) bool { return p.Type == kind && p.canShare() }); i >= 0 {
			found = append(found, i)
		}
	}
	if len(found) < 2 {
		return nil
	}
	return found
}

// canShare reports whether the form of p can be shared. It must ask for an address under
// the name that all routes know, and for nothing else. A password form may ask for more,
// but not under the names of the fields that passkeys are sent in.
func (p Provider) canShare() bool {
	fields := p.fields()
	address := slices.ContainsFunc(fields, func(f Field) bool { return f.Name == addressField && strings.EqualFold(f.Type, "email") })
	taken := slices.ContainsFunc(fields, func(f Field) bool { return f.Name == "action" || f.Name == "data" })
	return address && !taken && (len(fields) == 1 || p.Type == Credentials)
}

// newSharedForm returns the form of the providers with the indexes in together. It has
// the fields of the first of them. If passkeys are among them, it is posted to their
// route: their script leaves every button alone that names a route of its own.
func newSharedForm(at int, together []int, v *SignIn) providerForm {
	first := v.Providers[together[0]]
	form := newForm(at, first, v)
	form.Shared = true
	for _, i := range together[1:] {
		p := v.Providers[i]
		form.Others = append(form.Others, p)
		form.SignsUp = form.SignsUp || p.SignsUp
		if p.Type == WebAuthn {
			form.Passkey, form.Target = p, p.Action
		}
	}
	for i := range form.Inputs {
		if in := &form.Inputs[i]; in.Name == addressField {
			form.share(in, first.Type, v)
		}
	}
	return form
}

// share adapts the address field to the other providers of the form. It fills in the
// address of an attempt that failed with one of them. For passkeys it sets their
// autocomplete value, unless the operator chose another for a password form.
func (f *providerForm) share(in *input, firstType string, v *SignIn) {
	isTried := slices.ContainsFunc(f.Others, func(p Provider) bool { return p.ID == v.Tried.Provider })
	if typed, ok := v.Tried.Typed[addressField]; ok && isTried {
		in.Value = typed
	}
	for _, p := range f.Others {
		theirs := p.fields()[0]
		if p.Type != WebAuthn || !strings.HasPrefix(in.Autocomplete, "username") && firstType == Credentials {
			continue // the operator's own word stays
		}
		in.Autocomplete = theirs.Autocomplete
		if in.Autocomplete == "" {
			in.Autocomplete = autocomplete(theirs, WebAuthn)
		}
	}
}
