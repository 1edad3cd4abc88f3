package latchkey

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/directory"
	"github.com/latchkeyhq/latchkey/internal/explain"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/limit"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/weburl"
	"github.com/latchkeyhq/latchkey/internal/wirejson"
)

// render logs the error of a route and returns what the browser gets for it.
// docs/protocol.md lists the errors on the wire. Guards answer for themselves: see
// refuse. x may be nil.
func render(ctx context.Context, s *setup, x *exchange, r *Request, err error) *Response {
	logFailure(ctx, x, err)
	if stray, ok := errors.AsType[*unknownTenant](err); ok {
		return renderNoTenant(ctx, s, r, stray)
	}
	if errors.Is(err, errBadRequest) || errors.Is(err, errBadHost) {
		return renderStray(ctx, s, r, err)
	}
	if x == nil {
		return configJSON()
	}
	if _, ok := errors.AsType[*configFault](err); ok {
		return renderFault(ctx, x)
	}
	if x.isPost() && x.action == "session" {
		return jsonBytes(http.StatusBadRequest, wirejson.Null)
	}
	if (x.action == "account" || errors.Is(err, limit.ErrNoRoom)) && x.setup.config.Pages.Error == "" && isOutage(err) {
		return faultAnswer(ctx, x, err)
	}
	if res := renderForVisitor(ctx, x, err); res != nil {
		return res
	}
	return renderError(x, err)
}

// refer adds the reference code of a failure to res, as a header and as a parameter of an
// error page that res leads to, if the site shows codes. A mistyped form gets none.
func refer(s *setup, v *visit, res *Response, err error) *Response {
	if !s.config.Operations.ShowReference || v.reference == "" || explain.IsMistyped(explain.DetailOf(err)) {
		return res
	}
	res = ownHeader(res)
	if res.Header == nil {
		res.Header = http.Header{}
	}
	res.Header[referenceHeader] = []string{v.reference}
	if res.Redirect != "" && queryOf(res.Redirect).Has("error") {
		res.Redirect = weburl.WithQuery(res.Redirect, "ref", v.reference)
	}
	return res
}

// referInJSON adds a code that is not empty to the header and the body of a JSON object.
func referInJSON(res *Response, code string) *Response {
	if code == "" || !bytes.HasSuffix(res.Body, []byte("}")) || res.Header.Get("Content-Type") != jsonType {
		return res
	}
	res = ownHeader(res)
	res.Header[referenceHeader] = []string{code}
	res.Body = append(bytes.Clone(res.Body[:len(res.Body)-1]), `,"reference":"`+code+`"}`...)
	return res
}

const referenceHeader = "Latchkey-Reference"

func queryOf(to string) url.Values {
	_, query, _ := strings.Cut(to, "?")
	values, _ := url.ParseQuery(query)
	return values
}

// renderStray answers a request that no route knows: a browser that opens a page gets a page
// with status 404 or 400, any other client JSON with status 400. s may be nil.
func renderStray(ctx context.Context, s *setup, r *Request, err error) *Response {
	if s == nil || r.Method != http.MethodGet || !opensPage(r.Header) {
		return badRequest(r)
	}
	x := strayExchange(s, r)
	res := problemPage(ctx, x, page.Problem{Kind: page.Missing, Host: x.origin.Host(), Origin: x.home()})
	if errors.Is(err, errBadHost) || errors.Is(err, errTooMuch) {
		res.Status = http.StatusBadRequest
	}
	return res
}

// renderNoTenant answers a request for no tenant as the application says, or with status
// 404. s is the blank setup, without a site, or nil.
func renderNoTenant(ctx context.Context, s *setup, r *Request, u *unknownTenant) *Response {
	if own, ok := errors.AsType[*ownResponse](u.cause); ok && own.res != nil {
		return ownAnswer(own.res)
	}
	if elsewhere, ok := errors.AsType[*redirect](u.cause); ok && (weburl.IsPath(elsewhere.to) || weburl.IsHTTP(elsewhere.to)) {
		return &Response{Redirect: elsewhere.to, Header: http.Header{"Cache-Control": {"no-store"}}}
	}
	if s == nil || isScript(r.Header) || !opensPage(r.Header) {
		return jsonText(http.StatusNotFound, "Not found.")
	}
	x := strayExchange(s, r)
	view := page.Problem{Kind: page.Missing, Host: x.origin.Host(), Origin: "/"}
	return problemPage(ctx, x, view)
}

// renderFault answers a configFault. A browser that opens a page gets the error page: a
// redirect to Pages.Error, or the built-in page if there is none, or if Pages.Error
// itself asks for a sign-in. So does any client that gets a route which is a page. Every
// other client gets JSON.
func renderFault(ctx context.Context, x *exchange) *Response {
	person := opensPage(x.request.Header)
	switch x.action {
	case "signin", "signout", "error", "verify-request", "account":
	default:
		if !person {
			return configJSON()
		}
	}
	own := x.setup.config.Pages.Error
	switch {
	case x.isPost() && !person:
		return configJSON()
	case own == "" || leadsToErrorPage(ctx, x):
		return errorPage(ctx, x, "Configuration")
	}
	return &Response{Redirect: x.absolute(weburl.WithQuery(own, "error", "Configuration"))}
}

// leadsToErrorPage reports whether the application's own error page asks for a sign-in,
// and would be shown again for ever. It logs that.
func leadsToErrorPage(ctx context.Context, x *exchange) bool {
	to := x.query.Get("callbackUrl")
	if to == "" || !strings.HasPrefix(pathOf(to), pathOf(x.absolute(x.setup.config.Pages.Error))) {
		return false
	}
	x.setup.log.Error(ctx, x, failure.Wrap(ErrErrorPageLoop, errors.New("the error page Pages.Error itself asks for a sign-in")))
	return true
}

func pathOf(to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return to
	}
	return u.Path
}

// renderForVisitor answers a failed callback of a signed-in user. If linking takes a recent
// proof, it redirects to the page that asks for one. It redirects to the account page, if the
// site has it, for an account of another user, and if the browser was to go there. For another
// ErrInvalidCheck or ErrVerification it returns a page that says that the user is signed in.
// It returns nil for any other failure, for a script, and without a session that can be read.
func renderForVisitor(ctx context.Context, x *exchange, err error) *Response {
	t := failure.TypeOf(err)
	isStale := t == ErrInvalidCheck || t == ErrVerification
	isTaken := t == ErrOAuthAccountNotLinked || t == ErrAccountNotLinked
	if x.action != "callback" || x.wantsJSON() || !isStale && !isTaken && t != ErrOAuthCallback && t != ErrWebAuthnVerification {
		return nil
	}
	who, _ := x.setup.visitor(ctx, &x.visit)
	if who == nil {
		return nil
	}
	account := x.url("account")
	toAccount := x.setup.config.AccountPage.Enabled && (isTaken || x.callbackURL == account)
	switch {
	case errors.Is(err, directory.ErrNotFresh):
		return proofForLink(ctx, x.setup, &x.visit, &x.links, x.callbackURL)
	case toAccount && isStale:
		return &Response{Redirect: account} // which says what is linked
	case toAccount && isTaken:
		return backToAccount(&x.links, &x.visit, noticeTaken, who.ID)
	case toAccount:
		return backToAccount(&x.links, &x.visit, noticeNotLinked, who.ID)
	case isStale && opensPage(x.request.Header):
		res, err := signedInPage(ctx, x, who)
		return orConfigJSON(ctx, x, res, err)
	}
	return nil
}

// renderError redirects to the page for err. A script gets a limit or a suspension as JSON.
func renderError(x *exchange, err error) *Response {
	t, person := failure.TypeOf(err), opensPage(x.request.Header)
	switch {
	case t == ErrEmailSignIn && person && x.action == "signin":
		return withNotice(x, err, onSignInPage(x, "error", "EmailSignin"))
	case t == ErrWebAuthnVerification && person: // another passkey may be the right one
		return withNotice(x, err, onSignInPage(x, "error", string(t)))
	}
	params := []string{"error", string(shownOf(err))}
	if code := codeOf(err); code != "" && (t == ErrCredentialsSignin || code == directory.SuspendedCode || x.wantsJSON()) {
		params = append(params, "code", code)
	}
	if !isForSignInPage(t) {
		res := refuseTry(x, err, onErrorPage(&x.links, x.setup.config.Pages.Error, params...))
		switch codeOf(err) {
		case codeUnknownCredential:
			return withNotice(x, err, res) // for the script, which asks for signals
		case directory.SuspendedCode:
			return refuseSuspended(x, err, res)
		}
		return res
	}
	res := refuseTry(x, err, onSignInPage(x, params...))
	if t == ErrCredentialsSignin && person {
		return withNotice(x, err, res)
	}
	return res
}

// onErrorPage returns a redirect to the error page: the application's own, or the
// built-in one. params are parameters, name and value in turn.
func onErrorPage(l *links, own string, params ...string) *Response {
	if own != "" {
		return l.ownPage(own, params...)
	}
	return &Response{Redirect: l.url("error") + weburl.WithQuery("", params...)}
}

// codeOf returns the Code of the *Error in err. Without one it returns "credentials" for an
// ErrCredentialsSignin, and "" for any other error.
func codeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok && e.Code != "" {
		return e.Code
	}
	if failure.TypeOf(err) == ErrCredentialsSignin {
		return "credentials"
	}
	return ""
}

// shownOf returns the error type that a browser is told. Auth.js has none for a
// passkey that is not registered.
func shownOf(err error) ErrorType {
	if e, ok := errors.AsType[*Error](err); ok && e.Type == ErrWebAuthnVerification && e.Code == codeUnknownCredential {
		return "Configuration"
	}
	return shownType(failure.TypeOf(err))
}

// onSignInPage returns a redirect to the sign-in page. One of the application's own gets
// callbackUrl, too, since it cannot know where the browser was to go in the end.
func onSignInPage(x *exchange, params ...string) *Response {
	own := x.setup.config.Pages.SignIn
	if own == "" {
		return &Response{Redirect: x.url("signin") + weburl.WithQuery("", params...)}
	}
	if x.callbackURL != "" && x.callbackURL != x.home() {
		params = append(params, "callbackUrl", x.callbackURL)
	}
	return &Response{Redirect: x.absolute(weburl.WithQuery(own, params...))}
}

// withNotice adds a flash message for the sign-in page to res, and returns res. It says what
// was typed, and what was wrong or when to try again. Without x.provider it adds none.
func withNotice(x *exchange, err error, res *Response) *Response {
	if x.provider == nil {
		return res
	}
	n := browser.Flash{About: noticeFailed, Provider: x.provider.info().id, Typed: typedFields(x.provider.info(), x.form)}
	if _, ok := errors.AsType[*unusable](err); ok {
		n.About = noticeUnusable
	}
	if unknown, ok := errors.AsType[*unknownPasskey](err); ok {
		n.About = noticeUnknown
		if unknown.gone != nil {
			n = withGone(n, n.Provider, unknown.gone)
		}
	}
	if many, ok := errors.AsType[*tooManyTries](err); ok {
		n.Until = x.now().Add(many.wait)
	}
	if c := n.Cookie(x.cookies.Specs, x.now()); c != nil {
		res.Cookies = append(res.Cookies, c)
	}
	return res
}

// refuseTry returns res. For a script, if err is about too many tries, it returns JSON
// with status 429 that says when to come back.
func refuseTry(x *exchange, err error, res *Response) *Response {
	many, ok := errors.AsType[*tooManyTries](err)
	if !ok || !x.wantsJSON() {
		return res
	}
	res = asJSON(res)
	res.Status = http.StatusTooManyRequests
	res.Header.Set("Retry-After", strconv.Itoa(secondsOf(many.wait)))
	return res
}

// refuseSuspended returns res with a flash message that says until when the user is suspended,
// or JSON with status 403 for a script. A zero Until has no end. No URL says the time.
func refuseSuspended(x *exchange, err error, res *Response) *Response {
	kept, _ := errors.AsType[*directory.Suspended](err)
	if kept == nil {
		return res
	}
	if x.wantsJSON() {
		told := map[string]string{"url": res.Redirect, "error": string(ErrAccessDenied), "code": directory.SuspendedCode}
		if !kept.Until.IsZero() {
			told["until"] = kept.Until.UTC().Format(time.RFC3339)
		}
		if ask := x.setup.config.Theme.Contact; ask != "" {
			told["contact"] = ask
		}
		body, _ := json.Marshal(told) // texts
		return jsonBytes(http.StatusForbidden, body)
	}
	n := browser.Flash{About: noticeSuspended, Until: kept.Until}
	if c := n.Cookie(x.cookies.Specs, x.now()); c != nil {
		res.Cookies = append(res.Cookies, c)
	}
	return res
}

// crossSite answers a request that serve refuses as one of another site, with status 403.
func crossSite(ctx context.Context, x *exchange) *Response {
	if !opensPage(x.request.Header) {
		return jsonText(http.StatusForbidden, "Cross-site request refused.")
	}
	return problemPage(ctx, x, page.Problem{Kind: page.Refused, Host: x.origin.Host(), Origin: x.home()})
}

// tooSoon answers a client that has to wait before it may send another code: a script
// with status 429, and a browser with the redirect of page.
func tooSoon(r *Request, wait time.Duration, page *Response) *Response {
	res := &Response{Redirect: page.Redirect, Header: http.Header{}}
	if asksForJSON(r) {
		res = noStore(jsonBytes(http.StatusTooManyRequests, []byte(`{"error":"SecondFactor","left":0}`)))
	}
	res.Header.Set("Retry-After", strconv.Itoa(secondsOf(wait)))
	return res
}
