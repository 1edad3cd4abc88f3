package ui

import (
	_ "embed"
	"html/template"
	"strings"
)

//go:embed components.html
var source string

// components are parsed once and executed concurrently.
var components = template.Must(template.New("components").Funcs(template.FuncMap{
	"url": func(picture string) template.URL { return template.URL(picture) },
	"svg": func(icon string) template.HTML { return template.HTML(icon) }, // the library's own
}).Parse(source))

// fill returns the HTML of the component called name, executed with view.
func fill(name string, view any) (template.HTML, error) {
	var b strings.Builder
	if err := components.ExecuteTemplate(&b, name, view); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// SignIn returns a form that signs in with the provider of this id. If provider is
// empty, the form leads to the sign-in page. properties are names and values in turn:
// signInPage, redirectTo, submitButton and class, as in [SignInProps]. The name
// options-NAME sets an entry of Options, and authorizationParams-NAME one of
// AuthorizationParams. SignIn returns an error for an unknown provider or property, and
// for a name without a value.
func (p *Page) SignIn(provider string, properties ...string) (template.HTML, error) {
	f, err := p.SignInSlot(provider, properties...)
	if err != nil {
		return "", err
	}
	return fill("form", f)
}

// SignInSlot returns the form of [Page.SignIn] for a page with a button of its own. It
// returns an error for an unknown provider or property, and for a name without a value.
//
//	{{with .UI.SignInSlot "github"}}{{.Open}}<button>Go</button>{{.Close}}{{end}}
func (p *Page) SignInSlot(provider string, properties ...string) (*Form, error) {
	props := SignInProps{Provider: provider}
	err := pairs(properties, map[string]*string{
		"signInPage": &props.SignInPage, "redirectTo": &props.RedirectTo, "submitButton": &props.SubmitButton, "class": &props.Class,
	}, map[string]*map[string]string{"options-": &props.Options, "authorizationParams-": &props.AuthorizationParams})
	if err != nil {
		return nil, err
	}
	return p.SignInForm(props)
}

// SignOut returns a form that signs out. Its properties are signOutPage, redirectTo,
// submitButton and class, as in [SignOutProps]. An unknown property, or one without a
// value, is an error.
func (p *Page) SignOut(properties ...string) (template.HTML, error) {
	f, err := p.SignOutSlot(properties...)
	if err != nil {
		return "", err
	}
	return fill("form", f)
}

// SignOutSlot returns the form of [Page.SignOut] for a page with a button of its own: the
// template writes Open, its button and Close, as in the example of [Page.SignInSlot].
// Its properties and errors are those of SignOut.
func (p *Page) SignOutSlot(properties ...string) (*Form, error) {
	var props SignOutProps
	err := pairs(properties, map[string]*string{
		"signOutPage": &props.SignOutPage, "redirectTo": &props.RedirectTo, "submitButton": &props.SubmitButton, "class": &props.Class,
	}, nil)
	if err != nil {
		return nil, err
	}
	return p.SignOutForm(props), nil
}

// SignInBox returns a form for each provider. Its properties are signInPage, redirectTo
// and class, as in [BoxProps]. An unknown property, or one without a value, is an
// error.
func (p *Page) SignInBox(properties ...string) (template.HTML, error) {
	var props BoxProps
	err := pairs(properties, map[string]*string{"signInPage": &props.SignInPage, "redirectTo": &props.RedirectTo, "class": &props.Class}, nil)
	if err != nil {
		return "", err
	}
	return fill("box", p.Box(props))
}

// UserButton returns a link to sign in, or the signed-in user with links to settings
// and sign-out. Its properties are signOutPage, redirectTo, accountURL and class, as in
// [UserProps]. An unknown property, or one without a value, is an error.
func (p *Page) UserButton(properties ...string) (template.HTML, error) {
	var props UserProps
	err := pairs(properties, map[string]*string{
		"signOutPage": &props.SignOutPage, "redirectTo": &props.RedirectTo, "accountURL": &props.AccountURL, "class": &props.Class,
	}, nil)
	if err != nil {
		return "", err
	}
	return fill("user", p.User(props))
}

// Script returns the script element that the forms of passkeys need, for the
// head of the page: a file of the library's own, which a policy lets in by
// script-src and connect-src 'self'. It is empty without passkeys.
func (p *Page) Script() (template.HTML, error) { return fill("script", p.ScriptURL()) }

// Open returns the form up to its button.
func (f *Form) Open() (template.HTML, error) { return fill("open", f) }

// Close returns the form after its button.
func (f *Form) Close() (template.HTML, error) { return fill("close", f) }
