package latchkey

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/jsonscan"
	"github.com/latchkeyhq/latchkey/internal/secret"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// Form actions: posts of the application's own forms, at paths of its own. They
// come to the same as the routes below the base path, and a form that was sent
// in vain is shown again, with what was wrong beside it.

// SignInAction returns a handler that answers the posts of the application's own sign-in
// forms, as [Auth.SignIn] would. Mount it where the forms post to: "POST /signin". It
// answers other methods with status 405. The form has these fields, and JSON bodies
// members of the same names:
//
//   - providerId: the id of the provider; empty: the answer leads to the sign-in page
//   - redirectTo: where the browser goes after the sign-in, a path or a URL of the site;
//     empty: the page that posted the form
//   - what the provider wants to know, such as email; also in the member options of a
//     JSON body, or as fields named options.email
//   - authorizationParams-prompt and its like: parameters of the request to the provider;
//     in JSON the member authorizationParams, an object or a query
//   - csrfToken: needed only by a form on a sibling host, such as another subdomain; see
//     [SignInOptions]
//
// page is the handler that shows the form. If the sign-in fails, it is called to show the
// form once more: it finds the reason with [FormFailureFrom], and can read the body of
// the request again. With a nil page the browser is led to the sign-in page with the
// error, as by the routes.
//
// A form of another site gets status 403 if it names a provider or has a malformed field, and
// page is not called. So does such a form of a sibling host without a valid csrfToken.
// SignInAction knows where a form is from by Sec-Fetch-Site and Origin alone. Without both, it
// refuses only a wrong csrfToken. With [Security].SkipCSRFCheck it checks none of this.
//
// Clients that ask for JSON get the URL to go to, {"url":…}, or the [FormFailure] as
// JSON. The forms of SvelteKit, use:enhance, get an ActionResult. For both, page is not
// called. htmx gets the URL to go to in the header HX-Redirect.
func (a *Auth) SignInAction(page http.Handler) http.Handler {
	return action(a, page, (*Core).SignInAction)
}

// SignOutAction returns a handler that answers the posts of the application's own
// sign-out forms, as [Auth.SignOut] would. The fields are redirectTo, csrfToken and
// atProvider, which is 1 or 0 and stands for [SignOutOptions].AtProvider. Everything
// else, page included, is as for [Auth.SignInAction]. Both accept a post with neither
// Origin, Sec-Fetch-Site nor csrfToken as one of a client that is no browser, because
// browsers name the origin of every post (Fetch, section 3.1). A handler that has to
// refuse such posts calls [Auth.CheckCSRF] first.
func (a *Auth) SignOutAction(page http.Handler) http.Handler {
	return action(a, page, (*Core).SignOutAction)
}

// action returns a handler that answers posts with run. page, unless nil, shows a failed form.
func action(a *Auth, page http.Handler, run func(*Core, context.Context, *Request) (*Response, *FormFailure)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "A form is posted here.", http.StatusMethodNotAllowed)
			return
		}
		s := a.serve(w, r)
		defer s.end()
		w, r = s.w, s.r
		req := requestHead(r)
		if r.PostForm != nil { // read already, by middleware
			req.Header = req.Header.Clone()
			req.Header.Set("Content-Type", formType)
			req.Body = []byte(r.PostForm.Encode())
		} else {
			s, _ := a.setupOrBlank(r.Context(), req)
			if !readBodyOf(w, r, req, s) {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(req.Body)) // the page may want to look into it
		}
		res, failure := run(a.Core(), r.Context(), req)
		if failure != nil && page != nil {
			addCookies(w, res.Cookies)
			page.ServeHTTP(w, r.WithContext(ContextWithFormFailure(r.Context(), failure)))
			return
		}
		res.Send(w)
	})
}

// SignInAction does what [Auth.SignInAction] does, for a [Request] with its body. The
// response is never nil. If the failure is nil, send the response: the sign-in goes on,
// or the response itself tells what failed, as for clients that ask for JSON. If the
// failure is not nil, a page may show the form once more with it, and sends only the
// cookies of the response; without such a page, send the response, which leads to the
// sign-in page.
func (c *Core) SignInAction(ctx context.Context, r *Request) (*Response, *FormFailure) {
	x, res := c.posted(ctx, r, "signin")
	if res != nil {
		return res, nil
	}
	in, wrong := readSignIn(x)
	if in.provider != "" && x.setup.providers[in.provider] == nil {
		wrong.ProviderID = append(wrong.ProviderID, unknownProvider(x.setup, in.provider))
	}
	if wrong.any() {
		return badInput(ctx, x, wrong, in)
	}
	o := SignInOptions{Form: in.typed(), RedirectTo: in.redirectTo}
	failed, res, err := startSignIn(ctx, c, x, in.provider, o)
	if err != nil {
		return refusedForm(ctx, failed, r, err, in)
	}
	return actionDone(r, res), nil
}

// SignOutAction does what [Auth.SignOutAction] does, for a [Request] with its body. It
// returns a response and a failure as [Core.SignInAction] does.
func (c *Core) SignOutAction(ctx context.Context, r *Request) (*Response, *FormFailure) {
	x, res := c.posted(ctx, r, "signout")
	if res != nil {
		return res, nil
	}
	in := formInput{fields: url.Values{}}
	if token, there := x.form["csrfToken"]; there {
		text, _ := token.(string)
		in.fields.Set("csrfToken", text)
	}
	var wrong FieldErrors
	in.redirectTo, wrong.RedirectTo = redirectIn(x.form)
	if wrong.any() {
		return badInput(ctx, x, wrong, in)
	}
	o := SignOutOptions{RedirectTo: in.redirectTo}
	if field := x.field("atProvider"); field == "1" || field == "0" {
		goOn := field == "1"
		o.AtProvider = &goOn
	}
	failed, res, err := startSignOut(ctx, c, x, o, in.fields)
	if err != nil {
		return refusedForm(ctx, failed, r, err, in)
	}
	return actionDone(r, res), nil
}

// CheckCSRF returns nil if the browser says, by Sec-Fetch-Site and Origin, that a page of
// this origin has sent r. It also returns nil for a POST whose form has the token of
// [Auth.CSRFToken] as csrfToken, unless the browser says that another site has sent r.
// With [Security].RefuseSameSite a sibling host is another site. Every other request is an
// [ErrMissingCSRF], which is logged; that is nearly every GET. Call CheckCSRF for each
// request to a handler of the application's own that changes something. PUT, PATCH and
// DELETE pass by the two headers alone.
//
// CheckCSRF also returns nil with [Security].SkipCSRFCheck, and with
// [SessionConfig].Bearer for a request with an Authorization header of the scheme Bearer,
// which no other site can send. It calls r.ParseForm if the Content-Type is that of a
// URL-encoded form: the handler finds its fields in r.PostForm, of any number and length.
// A form that r.ParseForm refuses, such as one over 10 MB, has no token. CheckCSRF leaves
// the body of any other request unread: a token in it does not count. Other errors are
// ErrUntrustedHost and faults of the configuration.
func (a *Auth) CheckCSRF(r *http.Request) error {
	req := requestHead(r)
	if mediaType(r.Header.Get("Content-Type")) == formType && r.ParseForm() == nil {
		req.Body = []byte(url.Values{"csrfToken": r.PostForm["csrfToken"]}.Encode())
	}
	return a.Core().CheckCSRF(r.Context(), req)
}

// CheckCSRF does what [Auth.CheckCSRF] does, for a [Request] with its body. A token in a
// JSON body counts, too.
func (c *Core) CheckCSRF(ctx context.Context, r *Request) error {
	x, err := c.reading(ctx, r)
	switch {
	case err != nil:
		return err
	case x.credential.Bearer != nil, x.setup.config.Security.SkipCSRFCheck, isSameOrigin(r.Header, x.origin.Text):
		return nil
	}
	given := postedCSRFToken(r)
	token, hash := x.cookies.CSRF()
	if err = refuseForeign(x, url.Values{"csrfToken": {given}}, false); err == nil && !(secret.Equal(given, token) && x.setup.validCSRF(token, hash)) {
		err = noCSRF(r.Header, x.origin.Text)
	}
	if err != nil {
		return fail(ctx, x, err)
	}
	return nil
}

// Tell hands [Events].Observe and the audit log an event that a handler has caused, such
// as a look at a user. Types that begin with "app." are the application's own. Tell drops
// an event without a Type. It sets Time, Tenant, Client, UserAgent and RequestID from r.
// A zero Outcome becomes success. A zero By becomes a visitor, even if a user is signed
// in: set By for a user. Tell logs the Err of the event. If the audit log cannot store the
// event, Tell logs that, also with [Audit].Required. If there is no configuration for r,
// or its host is not trusted, Tell logs that and does nothing else.
func (c *Core) Tell(ctx context.Context, r *Request, e Event) {
	x, err := c.reading(ctx, asGet(r))
	if err != nil {
		return // it has been logged
	}
	if e.Err != nil {
		x.setup.log.Error(ctx, x, e.Err)
	}
	x.events.Add(e, nil)
	tell(ctx, x)
}

// posted returns an exchange that has read the form of an action. If the configuration
// fails, the host is not trusted or the body cannot be read, it logs why, and returns a
// nil exchange and the response to send.
func (c *Core) posted(ctx context.Context, r *Request, action string) (*exchange, *Response) {
	s, fault := c.auth.setupOrBlank(ctx, r)
	if s == nil || fault != nil {
		logUnread(ctx, s, fault)
		return nil, c.fault(ctx, r, fault)
	}
	x := bareExchange(s, r, action)
	if err := x.resolveOrigin(); err != nil {
		logFailure(ctx, x, err)
		return nil, c.fault(ctx, r, err)
	}
	if err := x.readForm(); err != nil {
		logFailure(ctx, x, err)
		return nil, badRequest(r)
	}
	if len(r.Body) > 0 && x.form == nil {
		logFailure(ctx, x, badRequestFor("the body of a form action is "+formType+" or "+jsonType))
		return nil, jsonText(http.StatusUnsupportedMediaType, "Send this form as "+formType+" or "+jsonType+".")
	}
	return x, nil
}

// actionDone returns the response to an action that succeeded, in the form that the
// client wants: for htmx, for SvelteKit, as JSON, or res itself.
func actionDone(r *Request, res *Response) *Response {
	switch {
	case res.Redirect == "": // the application answers itself
	case isHTMX(r.Header):
		to := res.Redirect
		res = &Response{Status: http.StatusOK, Header: res.Header, Cookies: res.Cookies}
		if res.Header == nil {
			res.Header = http.Header{}
		}
		res.Header["Hx-Redirect"] = []string{to}
	case isEnhanced(r):
		res = varied(forSvelteKit(res, ""))
	case asksForJSON(r):
		res = varied(asJSON(res))
	}
	return res
}

// isEnhanced reports whether use:enhance of a SvelteKit app sent the form, as
// it does with the forms of Auth.js' components.
func isEnhanced(r *Request) bool { return r.Header.Get("X-Sveltekit-Action") == "true" }

// forSvelteKit returns an answer as use:enhance reads it, an ActionResult:
// use:enhance follows a redirect, and otherwise shows its error page with
// wrong.
func forSvelteKit(res *Response, wrong string) *Response {
	told := jsonBytes(http.StatusOK, nil)
	if res.Redirect != "" {
		told.Body = append(jsonscan.AppendText([]byte(`{"type":"redirect","status":303,"location":`), res.Redirect), '}')
	} else {
		told.Status = res.Status
		told.Body = append(jsonscan.AppendText([]byte(`{"type":"error","error":{"message":`), wrong), "}}"...)
	}
	told.Cookies = res.Cookies
	return noStore(told)
}

// badInput answers a form that cannot be understood, and logs it for the author of the
// form. It refuses a post of another site as refusedForm does, since no page may show
// what an attacker has written.
func badInput(ctx context.Context, x *exchange, wrong FieldErrors, in formInput) (*Response, *FormFailure) {
	if err := refuseForeign(x, in.fields, x.credential.Bearer != nil); err != nil {
		return refusedForm(ctx, x, x.request, err, in)
	}
	f := &FormFailure{Status: http.StatusBadRequest, FieldErrors: wrong, Values: in.shown(nil)}
	f.Err = failure.Wrap(ErrInvalidProvider, &failure.Mistake{Err: errors.New(strings.Join(wrong.all(), "; "))})
	if len(wrong.ProviderID) == 0 {
		f.Err = failure.Wrap(ErrInvalidCallbackURL, &failure.Mistake{Err: errors.New(strings.Join(wrong.all(), "; "))})
	}
	logFailure(ctx, x, f.Err)
	to := x.home()
	if len(wrong.RedirectTo) == 0 {
		if checked, err := x.resolveRedirect(ctx, returnTo(&x.links, x.request.Header, in.redirectTo)); err == nil {
			to = checked
		}
	}
	return failedAction(x.request, varied(&Response{Redirect: weburl.WithQuery(x.links.signIn(to), "error", "Signin")}), f)
}

// refusedForm answers a form that was understood, and refused for err. For a post of
// another site it returns status 403 and no failure, so that no page shows the form.
func refusedForm(ctx context.Context, x *exchange, r *Request, err error, in formInput) (*Response, *FormFailure) {
	res := varied(render(ctx, x.setup, x, x.request, err))
	if errors.Is(err, errForeign) { // nothing of it is shown on a page of the site's own
		f := &FormFailure{Status: http.StatusForbidden, FormErrors: []string{x.setup.pagesFor(ctx, &x.visit).Text("error.refused.text")}, Err: handOut(x, err)}
		if res = varied(crossSite(ctx, x)); asksForJSON(r) {
			res, _ = failedAction(r, res, f)
		}
		return res, nil
	}
	return failedAction(r, res, newFormFailure(ctx, x, err, in))
}

// failedAction returns res and f unless a script asked for JSON. For a script it returns f as
// JSON, or for SvelteKit an ActionResult, with the cookies of res, and no failure.
func failedAction(r *Request, res *Response, f *FormFailure) (*Response, *FormFailure) {
	if !asksForJSON(r) {
		return res, f
	}
	told := forSvelteKit(res, strings.Join(f.Messages(), " "))
	if !isEnhanced(r) {
		body, err := json.Marshal(f.wire())
		if err != nil {
			return configJSON(), nil
		}
		told = noStore(jsonBytes(f.Status, body))
	}
	told.Cookies = res.Cookies
	if f.wait > 0 {
		told.Header.Set("Retry-After", strconv.Itoa(f.wait))
	}
	return varied(told), nil
}
