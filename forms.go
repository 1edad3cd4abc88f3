package latchkey

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkeyhq/latchkey/frame"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/words"
)

// Forms is what a page of the application's own needs to let people in and out:
// the forms of the built-in sign-in page as data, in the visitor's language.
// Package ui makes HTML of it. It belongs to one request. What the forms post to the
// routes of the library and to form actions differs: see [SignInForm].
type Forms struct {
	hidden

	CSRFToken string // for the field csrfToken of every form that is posted; see [Auth.CSRFToken]
	// RedirectTo is where the browser goes after the sign-in: the query's callbackUrl, else
	// this page, or the home page if this is one of [Pages]. It belongs into the field callbackUrl
	// of a form that posts to a route of the library, and into redirectTo of one for a form action.
	RedirectTo string
	SignIn     []SignInForm // the ways to sign in, as configured
	CodeField  *SignInForm  // the form for the code of a mail, on a page of Pages.VerifyRequest; nil: this browser has asked for none
	Error      string       // what went wrong, where no form of SignIn says it; empty: nothing
	Status     int          // of the response: that of the [FormFailure] that the page shows, else 200
	Session    *Session     // nil: no user is signed in

	SignInURL  string // the sign-in page, with a way back to RedirectTo
	SignOutURL string // where a form posts a sign-out; a link to it shows the page that asks first
	AccountURL string // the account page; empty: it is switched off
	SignUpURL  string // where an account with a password is created; empty: nowhere
	ForgotURL  string // where a forgotten password is replaced; empty: nowhere

	Script string // URL of the module that fills in the forms of passkeys; empty: there are none

	Language  string // as in <html lang>
	Direction string // as in <html dir>: ltr or rtl
	// Text returns a text of the pages by its key in docs/translations.md, and "" for an
	// unknown key. If values are given, they fill the places of the text, such as {name},
	// in the order of the English text.
	Text func(key string, values ...string) string
}

// SignInForm is one way to sign in. Its form is posted to Action, a route of the library,
// with csrfToken, callbackUrl and Fields. Posted to an [Auth.SignInAction], it has
// providerId, which is Provider, and redirectTo in place of callbackUrl. A form of passkeys
// always goes to Action, and its attribute data-latchkey-passkey is Provider: docs/client.md.
type SignInForm struct {
	Provider string // id
	Type     ProviderType
	Name     string // "GitHub"
	Submit   string // what its button says: "Sign in with GitHub"
	Register string // what a second button of the value "register" says, which makes a new passkey; empty: there is none
	Action   string // absolute URL of the route
	Icon     string // an <svg> element of the library's own, safe as it is
	Fields   []FormField
	Error    string // what is wrong with what was typed; empty: nothing
}

// FormField is one input of a [SignInForm]. Label, Type and Autocomplete are filled in
// with what suits the field, and Value is what was typed in a try that failed.
type FormField struct {
	Field
	Verbatim bool // the value is a name: render it with autocapitalize="none" and spellcheck="false"
	Invalid  bool // Error of its form is about it
	Focus    bool // the input that the page focuses
}

// Forms returns what a page of the application needs for its own forms. It sets the CSRF
// cookie on w and renews the session, so call it before you write the body. An error in
// the query, and a [FormFailure] in the context of r, is placed beside the form that it
// is about. If the query has an error, Forms uses up the flash message of the failed
// sign-in: a second call does not find it. If the session cannot be read, Session is nil,
// and the fault is logged. The error is ErrUntrustedHost or a fault of the configuration.
func (a *Auth) Forms(w http.ResponseWriter, r *http.Request) (*Forms, error) {
	token, err := a.CSRFToken(w, r)
	if err != nil {
		return nil, err
	}
	x, err := a.Core().reading(r.Context(), asGet(requestHead(r)))
	if err != nil {
		return nil, err
	}
	x.csrfToken = token
	f := formsFor(r.Context(), x)
	addCookies(w, x.cookies.Out)
	if s, err := a.ReadSession(w, r); err == nil {
		f.Session = s
	}
	return f, nil
}

// Forms does what [Auth.Forms] does, and returns the cookies that the response
// needs.
func (c *Core) Forms(ctx context.Context, r *Request) (*Forms, []*http.Cookie, error) {
	token, cookies, err := c.CSRFToken(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	x, err := c.reading(ctx, asGet(r))
	if err != nil {
		return nil, nil, err
	}
	x.csrfToken = token
	f := formsFor(ctx, x)
	s, renewed, err := c.ReadSession(ctx, r)
	if err == nil {
		f.Session = s
	}
	return f, slices.Concat(cookies, x.cookies.Out, renewed), nil
}

// Frame is a page in the style of the built-in ones: headings, texts, rows, links and
// forms. Its fields are documented in package frame.
type Frame = frame.Page

// WritePage writes a page of the application's own in the built-in style: with the theme,
// the language and the headers of a built-in page, and a CSRF token in every form. Texts
// of p are escaped. Call it before anything is written. Have the handlers of its forms
// call [Auth.CheckCSRF]. The error is ErrUntrustedHost, a fault of the configuration, or
// that p could not be rendered; no page is written then.
func (a *Auth) WritePage(w http.ResponseWriter, r *http.Request, p Frame) error {
	token, err := a.CSRFToken(w, r)
	if err != nil {
		return err
	}
	res, err := a.Core().frame(r.Context(), requestHead(r), &p, token)
	if err == nil {
		res.Send(w)
	}
	return err
}

// Page returns the response that [Auth.WritePage] writes, or its error.
func (c *Core) Page(ctx context.Context, r *Request, p Frame) (*Response, error) {
	token, cookies, err := c.CSRFToken(ctx, r)
	if err != nil {
		return nil, err
	}
	res, err := c.frame(ctx, r, &p, token)
	if err == nil {
		res.Cookies = append(res.Cookies, cookies...)
	}
	return res, err
}

// frame returns p as a response, with token in every form. It logs its error.
func (c *Core) frame(ctx context.Context, r *Request, p *Frame, token string) (*Response, error) {
	x, err := c.reading(ctx, asGet(r))
	if err != nil {
		return nil, err
	}
	res, err := pageResponse(x.setup.pagesFor(ctx, &x.visit).Frame(page.Frame{
		Page: *p, CSRFToken: token, Host: x.origin.Host(), FormOrigins: x.setup.formOrigins(&x.links, ""),
	}))
	if err != nil {
		return nil, fail(ctx, x, err)
	}
	return varied(res), nil
}

// formsFor returns the forms for the page that x asks for, without Session. It parses the
// query of the request into x.query. If the query has an error, it uses up the flash
// message of the failed sign-in.
func formsFor(ctx context.Context, x *exchange) *Forms {
	in, failure := x.setup.pagesFor(ctx, &x.visit), FormFailureFrom(ctx)
	x.query = lastOfEach(x.request.URL.RawQuery)
	f := &Forms{
		CSRFToken: x.csrfToken, RedirectTo: shownCallback(ctx, x, failure), Status: http.StatusOK,
		SignOutURL: x.url("signout"), Language: in.Language(), Direction: words.Direction(in.Language()), Text: in.Text,
	}
	f.SignUpURL, f.ForgotURL = passwordURLs(x.setup.passwords, &x.links)
	f.SignInURL, f.Script = x.links.signIn(f.RedirectTo), x.setup.passkeyScript(&x.links)
	if x.setup.config.AccountPage.Enabled {
		f.AccountURL = x.url("account")
	}
	view := page.SignIn{Error: x.query.Get("error"), Email: shownEmail(x.query.Get("email")), Providers: x.setup.buttons(&x.links)}
	switch {
	case failure != nil:
		f.Status = cmp.Or(failure.Status, f.Status)
		view.Error, view.Tried = cmp.Or(failure.name(), "Signin"), failure.view
	case view.Error != "":
		n := x.flash()
		view.Tried = tried(&n, x.now())
		x.cookies.Forget(&x.cookies.Specs.Flash)
	}
	ready, wrong := in.Forms(view)
	f.Error = said(wrong, failure)
	if p, kept := awaitsCode(x.setup, &x.visit); kept {
		f.CodeField = newCodeForm(p, in, x.url(p.codeRoute), x.query.Get("error") == string(ErrVerification))
	}
	for i := range ready {
		ready[i].Wrong = said(ready[i].Wrong, failure)
		f.SignIn = append(f.SignIn, newSignInForm(&ready[i]))
	}
	return f
}

// said returns wrong, the text of an error for a page, or the texts of failure in its
// place. It returns "" for an empty wrong. failure may be nil.
func said(wrong string, failure *FormFailure) string {
	if wrong == "" || failure == nil {
		return wrong
	}
	return strings.Join(failure.Messages(), " ")
}

// newSignInForm returns what a page shows of a provider.
func newSignInForm(from *page.Form) SignInForm {
	form := SignInForm{
		Provider: from.ID, Type: ProviderType(from.Type), Name: from.Name, Submit: from.Submit, Register: from.Register,
		Action: from.Action, Icon: iconOf(from.Mark), Error: from.Wrong,
	}
	for _, in := range from.Inputs {
		form.Fields = append(form.Fields, FormField{
			Field: Field{
				Name: in.Name, Label: in.Label, Type: in.Type, Placeholder: in.Placeholder,
				Autocomplete: in.Autocomplete, Value: in.Value, Required: in.Required,
			},
			Verbatim: in.Verbatim, Invalid: in.Invalid, Focus: in.Focus,
		})
	}
	return form
}

// newCodeForm returns the form for the code of a mail. wrong marks the field as wrong.
func newCodeForm(p *providerInfo, in *page.Renderer, action string, wrong bool) *SignInForm {
	form := &SignInForm{
		Provider: p.id, Type: p.kind, Name: p.name, Submit: in.Text("verify.code.submit"), Action: action,
		Fields: []FormField{{
			Field:    Field{Name: "code", Label: in.Text("verify.code"), Type: "text", Autocomplete: "one-time-code", Required: true},
			Verbatim: true, Invalid: wrong, Focus: wrong,
		}},
	}
	if wrong {
		form.Error = in.Text("verify.code.error")
	}
	return form
}

// iconOf returns the icon of a provider, with a size for pages that have no style for it.
func iconOf(mark template.HTML) string {
	return strings.Replace(string(mark), `class="mark"`, `class="latchkey-icon" width="20" height="20"`, 1)
}

// shownCallback returns where the forms of a page lead in the end: to redirectTo of the
// failed form, else to callbackUrl of the query, else back to the page that shows them,
// or home from one of Pages. If Callbacks.Redirect refuses that, it returns the home
// page. Like any callback URL it is checked again when it is posted.
func shownCallback(ctx context.Context, x *exchange, failure *FormFailure) string {
	to := x.query.Get("callbackUrl")
	if failure != nil {
		to = cmp.Or(failure.Values.Get("redirectTo"), to)
	}
	switch {
	case to != "" || isOwnPage(x, x.asked(x.request)):
	case failure != nil:
		to = returnTo(&x.links, x.request.Header, "") // this is where the form was posted to
	default:
		to = x.asked(x.request)
	}
	checked, err := x.resolveRedirect(ctx, cmp.Or(to, "/"))
	if err != nil {
		return x.home()
	}
	return checked
}
