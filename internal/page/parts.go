package page

import "html/template"

// Forms and texts for sign-in pages of the application's own.

// Form is a provider's form in the words of one language.
type Form struct {
	Provider
	Submit   string        // what its button says
	Register string        // what the button says that makes a new passkey; empty: there is none
	Mark     template.HTML // its picture
	Inputs   []FormInput
	Wrong    string // what is wrong with what was typed; empty: nothing
}

// FormInput is one input of a form.
type FormInput struct {
	Field
	Verbatim bool // no capitals and no spelling help: the value is a name, not prose
	Invalid  bool // Wrong of its form is about it
	Focus    bool // where the reader begins
}

// Forms returns the sign-in form of each of v.Providers, in order. The sign-in page joins
// forms that ask for the same address; Forms does not. An error message that belongs to a
// form is the Wrong of that form. wrong is the message that belongs to no form; empty:
// none.
func (r *Renderer) Forms(v SignIn) (forms []Form, wrong string) {
	view := signInView{SignIn: v, Message: v.message()}
	blamed := v.blamed()
	for i, p := range v.Providers {
		item := newForm(i, p, &v)
		if i == blamed && len(item.Inputs) > 0 {
			item.blame(view.Message, p.fields())
			view.Message = message{}
		}
		forms = append(forms, r.form(item))
	}
	return forms, r.message(view.Message)
}

// form returns the sign-in form of a provider with its texts.
func (r *Renderer) form(item providerForm) Form {
	form := Form{Provider: item.Provider, Mark: mark(item.Provider)}
	form.Name = r.texts.label(item.Provider)
	form.Submit = r.texts.submit(item.Provider)
	form.Wrong = r.message(item.Wrong)
	if item.SignsUp {
		form.Register = r.texts.text("signin.passkey.new")
	}
	for _, in := range item.Inputs {
		field := in.Field
		if field.Label == "" {
			field.Label = r.texts.text(in.LabelKey)
		}
		if field.Placeholder == "" && in.Example != "" {
			field.Placeholder = r.texts.text(in.Example)
		}
		if in.Wrong.Key != "" {
			form.Wrong = r.message(in.Wrong)
		}
		form.Inputs = append(form.Inputs, FormInput{Field: field, Verbatim: in.Verbatim, Invalid: in.WrongID != "", Focus: in.Focus})
	}
	return form
}

// Message returns the text of the sign-in page for a failed attempt. If tried does not
// say what was wrong, that is the text for the error code. It is empty if there is
// nothing to say.
func (r *Renderer) Message(code string, tried Tried) string {
	return r.message((&SignIn{Error: code, Tried: tried}).message())
}

// message returns the text of m with its value filled in, or "" for the zero message.
func (r *Renderer) message(m message) string {
	switch {
	case m.Key == "":
		return ""
	case m.Value != "":
		return r.texts.text(m.Key, m.Value)
	}
	return r.texts.text(m.Key)
}

// Text returns the text of key, or "" for an unknown key. If values are given, they fill
// the places of the text, such as {name}, in the order of the English text.
func (r *Renderer) Text(key string, values ...string) string { return r.texts.text(key, values...) }

// Language returns the language of the pages, as in <html lang>.
func (r *Renderer) Language() string { return r.texts.tag }
