package latchkey

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/latchkeyhq/latchkey/internal/browser"
	challenges "github.com/latchkeyhq/latchkey/internal/challenge"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/mailbox"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/passwords"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// The built-in pages, or the way to the application's own.

// pagesFor returns what renders pages in the language of a request. If an administrator
// acts as the user, the pages say so.
func (s *setup) pagesFor(ctx context.Context, v *visit) *page.Renderer {
	pages := s.pages.In(s.languageOf(ctx, v))
	if s.acting != nil && v.cookies.HasSession() && s.sessions.acts(ctx, v) {
		l := s.links
		return pages.Acting(l.path("signout"))
	}
	return pages
}

// pageResponse returns a finished page with all its headers.
func pageResponse(p page.Page, err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	res := &Response{Status: p.Status, Header: make(http.Header, 8), Body: p.Body}
	p.SetHeaders(res.Header)
	return res, nil
}

// ownPage returns a redirect to a page of the application's own. params are parameters of
// its query, name and value in turn.
func (l *links) ownPage(to string, params ...string) *Response {
	return &Response{Redirect: l.absolute(weburl.WithQuery(to, params...))}
}

// Why a session is over, in the query of the sign-in page.
const (
	overExpired = "expired"
	overEnded   = "ended"
)

// signInPage answers GET /signin with the built-in page, or a redirect to Pages.SignIn.
// The built-in page shows the flash message of a form that failed, and removes it.
func signInPage(ctx context.Context, x *exchange) (*Response, error) {
	failed := x.query.Get("error")
	if own := x.setup.config.Pages.SignIn; own != "" {
		params := []string{"callbackUrl", x.callbackURL}
		if failed != "" {
			params = withShownReference(shownReference(x.setup, &x.visit, x.query), append(params, "error", failed)...)
		}
		if over := x.query.Get("notice"); over == overExpired || over == overEnded {
			params = append(params, "notice", over)
		}
		return x.ownPage(own, params...), nil
	}
	view := page.SignIn{
		CSRFToken: x.csrfToken, CallbackURL: x.callbackURL, Error: failed, Email: shownEmail(x.query.Get("email")),
		Host: x.origin.Host(), As: x.setup.visitorName(ctx, &x.visit), Providers: x.setup.buttons(&x.links), FormOrigins: x.setup.formOrigins(&x.links, x.callbackURL),
		Script: x.setup.passkeyScript(&x.links),
	}
	view.SignUpURL, view.ForgotURL = passwordURLs(x.setup.passwords, &x.links)
	view.Done, view.Over = x.query.Get("done"), x.query.Get("notice")
	if failed != "" {
		view.Reference = shownReference(x.setup, &x.visit, x.query)
	}
	n := x.flash()
	if failed != "" {
		view.Tried = tried(&n, x.now())
		x.cookies.Forget(&x.cookies.Specs.Flash)
		if n.Typed[goneKey] != "" { // which the script of the page asks for
			x.leave(browser.Flash{About: noticeGone, Provider: n.Provider, Typed: n.Typed})
		}
	} else if isSent(&n) && view.Email == "" {
		view.Email = n.Typed["email"] // to be corrected
	}
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).SignIn(view))
}

// visitor returns the signed-in user, or nil. It logs and returns an error if
// that cannot be known.
func (s *setup) visitor(ctx context.Context, v *visit) (*User, error) {
	if !v.cookies.HasSession() {
		return nil, nil
	}
	u, err := s.sessions.visitor(ctx, v)
	if err != nil {
		s.log.Error(ctx, v.about, err)
		return nil, err
	}
	return u, nil
}

// visitorName returns what a page calls the signed-in user, or "". A page does not
// fail because that cannot be known.
func (s *setup) visitorName(ctx context.Context, v *visit) string {
	u, _ := s.visitor(ctx, v)
	if u == nil {
		return ""
	}
	return nameOf(u)
}

// signedInPage returns the page that tells a signed-in user, who, that a step of a
// sign-in was completed before.
func signedInPage(ctx context.Context, x *exchange, who *User) (*Response, error) {
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).SignedIn(page.SignedIn{
		As: nameOf(who), Host: x.origin.Host(), ContinueURL: x.callbackURL, SignOutURL: x.url("signout"),
	}))
}

// passwordURLs returns the URLs of the pages on which an account is created and a
// forgotten password is replaced, or "" for a page that is not there. f may be nil.
func passwordURLs(f *passwords.Flows, l *links) (signUp, forgot string) {
	if f == nil {
		return "", ""
	}
	if f.SignUpOpen {
		signUp = l.url("password?do=signup")
	}
	return signUp, l.url("password?do=forgot")
}

// buttons returns the providers as the sign-in page shows them.
func (s *setup) buttons(l *links) []page.Provider {
	all := make([]page.Provider, 0, len(s.order))
	for _, p := range s.order {
		all = append(all, p.info().button(l.url(p.info().start+p.info().id)))
	}
	return all
}

// button returns the provider as a page shows it. action is the URL of its
// form.
func (p *providerInfo) button(action string) page.Provider {
	b := page.Provider{
		ID: p.id, Name: p.given, Type: string(p.kind), Action: action, SignsUp: p.signsUpByName, Icon: p.style.Icon, Mark: p.style.Mark, Brand: p.style.Color,
	}
	for _, f := range p.fields {
		b.Fields = append(b.Fields, page.Field{
			Name: f.Name, Label: f.Label, Type: f.Type, Placeholder: f.Placeholder, Autocomplete: f.Autocomplete,
			Value: f.Value, Required: f.Required || f.Name == p.account || f.Type == "password",
		})
	}
	return b
}

// formOrigins returns the URLs that the content security policy of a page allows its
// forms to lead to, besides the site itself and every https URL. to is where the browser
// goes in the end: browsers apply the policy to all redirects after the post. A site on
// http, such as one in development, may lead to any http URL, too. Some of the URLs may
// be empty.
func (s *setup) formOrigins(l *links, to string) []string {
	own := &s.config.Pages
	var origins []string
	if !l.origin.Secure {
		origins = []string{page.AnyHTTP}
	}
	origins = append(origins, to, own.SignIn, own.SignOut, own.Error, own.VerifyRequest, own.NewUser)
	for _, p := range s.order {
		if list := p.info().formOrigins; list != nil {
			origins = append(origins, list()...)
		}
	}
	return origins
}

// signOutPage answers GET /signout with a redirect to Pages.SignOut, or the built-in
// page: the form that signs out, or, for a browser without a session, the page that says
// so.
func signOutPage(ctx context.Context, x *exchange) (*Response, error) {
	if own := x.setup.config.Pages.SignOut; own != "" {
		return x.ownPage(own), nil
	}
	if u, err := x.setup.visitor(ctx, &x.visit); u == nil && err == nil && opensPage(x.request.Header) {
		return pageResponse(x.setup.pagesFor(ctx, &x.visit).SignedOut(page.SignedOut{
			Host: x.origin.Host(), Origin: x.home(), SignInURL: x.url("signin"),
		}))
	}
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).SignOut(page.SignOut{
		CSRFToken: x.csrfToken, CallbackURL: x.callbackURL, Action: x.url("signout"), CancelURL: x.callbackURL, Host: x.origin.Host(),
		FormOrigins: x.setup.formOrigins(&x.links, x.callbackURL),
	}))
}

// verifyRequestPage answers GET /verify-request, which follows a mail, with the built-in
// page or a redirect to Pages.VerifyRequest. The built-in page takes the code of the
// mail.
func verifyRequestPage(ctx context.Context, x *exchange) (*Response, error) {
	if own := x.setup.config.Pages.VerifyRequest; own != "" {
		var params []string
		for _, name := range slices.Sorted(maps.Keys(x.query)) {
			if name != "callbackUrl" { // where it leads is not checked yet
				params = append(params, name, x.query.Get(name))
			}
		}
		return x.ownPage(own, params...), nil
	}
	view := page.VerifyRequest{Host: x.origin.Host(), Origin: x.home()}
	if p, kept := awaitsCode(x.setup, &x.visit); kept {
		view.CodeAction, view.CodeDigits, view.CodeWrong = x.url(p.codeRoute), p.codeDigits, x.query.Get("error") == string(ErrVerification)
		view.CSRFToken, view.FormOrigins = x.csrfToken, x.setup.formOrigins(&x.links, x.callbackURL)
	}
	n := x.flash()
	p, ok := x.setup.providers[n.Provider]
	if isSent(&n) && x.setup.moves != nil && n.Provider == x.setup.moves.Provider {
		view.Email, view.About = n.Typed["email"], "signup"
		if about := x.query.Get("type"); about == "reset" || about == "move" {
			view.About = about
		}
	} else if ok && isSent(&n) {
		view.Email, view.Again = n.Typed["email"], n.About == noticeAgain
		view.CSRFToken, view.CallbackURL, view.FormOrigins = x.csrfToken, x.callbackURL, x.setup.formOrigins(&x.links, x.callbackURL)
		view.Action, view.SignInURL = x.url(p.info().start+p.info().id), x.url("signin")
	} else if x.setup.moves != nil && x.query.Get("type") == "move" {
		view.About = "move"
	}
	return pageResponse(x.setup.pagesFor(ctx, &x.visit).VerifyRequest(view))
}

// awaitsCode returns the provider that has mailed a code for this browser, with the route
// that takes the code. It returns false if there is none.
func awaitsCode(s *setup, v *visit) (*providerInfo, bool) {
	purpose := v.cookies.MailCode(v.now(), challenges.CodeLife).For
	if s.passwords != nil && purpose == s.passwords.MoveCodes() {
		info := *s.providers[s.passwords.Provider].info()
		info.codeRoute = "account?do=email"
		return &info, true
	}
	p, known := s.providers[purpose]
	if !known || p.info().codeRoute == "" {
		return nil, false
	}
	return p.info(), true
}

// showError answers GET /error with the built-in page, or a redirect to Pages.Error.
func showError(ctx context.Context, x *exchange) *Response {
	code, own := x.query.Get("error"), x.setup.config.Pages.Error
	params := withShownReference(shownReference(x.setup, &x.visit, x.query), "error", code)
	switch {
	case own == "":
		return errorPage(ctx, x, code)
	case code == "":
		return x.ownPage(own)
	}
	return x.ownPage(own, params...)
}

// shownReference returns the reference code that a page shows: of the failure of this
// request, or else the one in query. It returns nil if the site shows none, if the code is
// not a valid one of this site, or if the visitor has mistyped something or tried too often.
func shownReference(s *setup, v *visit, query url.Values) *page.Reference {
	if !s.config.Operations.ShowReference {
		return nil
	}
	code := cmp.Or(v.reference, query.Get("ref"))
	r, err := s.codes.Open(code, v.now())
	if err != nil || explain.IsMistyped(r.Detail) {
		return nil
	}
	return &page.Reference{Code: explain.Spelled(code), Time: r.Time}
}

// withShownReference returns params, parameters of a page of the application's own, with
// the reference code r added as ref. It returns params as they are if r is nil.
func withShownReference(r *page.Reference, params ...string) []string {
	if r != nil {
		return append(params, "ref", r.Code)
	}
	return params
}

// errorPage returns the built-in error page for a code.
func errorPage(ctx context.Context, x *exchange, code string) *Response {
	view := page.Error{Code: code, Suspended: x.query.Get("code") == directory.SuspendedCode, Host: x.origin.Host(), Origin: x.home()}
	if view.Suspended && x.cookies.Specs != nil {
		if left := x.flash(); left.About == noticeSuspended {
			view.Until = left.Until
		}
	}
	if x.origin.Text == "" { // the request is not believed: name nothing of it
		view.Origin = "/"
	}
	view.SignInURL, view.Reference = x.url("signin"), shownReference(x.setup, &x.visit, x.query)
	res, err := pageResponse(x.setup.pagesFor(ctx, &x.visit).Error(view))
	return orConfigJSON(ctx, x, res, err)
}

// faultAnswer answers a request that failed because of err, where no route of Auth.js
// fixes the answer: with a page for a person, and JSON for a script. The status is 503 for an
// outage, else 500. If set, Pages.Error replaces a page of status 500. It does not log err.
func faultAnswer(ctx context.Context, x *exchange, err error) *Response {
	switch {
	case isScript(x.request.Header), !opensPage(x.request.Header):
		return faultJSON(err)
	case !isOutage(err):
		if own := errorPageFor(&x.links, x.setup.config.Pages.Error, x.request, "Configuration"); own != nil {
			return own
		}
		return errorPage(ctx, x, "Configuration")
	}
	view := page.Problem{Kind: page.Away, Host: x.origin.Host(), Origin: x.home()}
	if x.action == "callback" { // which was used up
		view.AgainURL = x.url("signin")
	} else if x.origin.Text != "" && (x.request.Method == http.MethodGet || x.request.Method == http.MethodHead) {
		view.AgainURL = x.asked(x.request)
	}
	return laterOn(problemPage(ctx, x, view))
}

// problemPage returns the built-in page of a problem.
func problemPage(ctx context.Context, x *exchange, view page.Problem) *Response {
	view.Reference = shownReference(x.setup, &x.visit, x.query)
	res, err := pageResponse(x.setup.pagesFor(ctx, &x.visit).Problem(view))
	return orConfigJSON(ctx, x, res, err)
}

// orConfigJSON returns res. If err says that the page could not be made, it logs err and
// returns JSON with status 500 instead.
func orConfigJSON(ctx context.Context, x *exchange, res *Response, err error) *Response {
	if err != nil {
		x.setup.log.Error(ctx, x, err)
		return configJSON()
	}
	return res
}

// shownEmail returns email, which comes from a link or a form, or "" if it is no valid
// e-mail address.
func shownEmail(email string) string {
	if mailbox.Check(email) != nil {
		return ""
	}
	return email
}
