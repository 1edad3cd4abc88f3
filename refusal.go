package latchkey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/fault"
	"github.com/latchkeyhq/latchkey/internal/browser"
	"github.com/latchkeyhq/latchkey/internal/failure"
	"github.com/latchkeyhq/latchkey/internal/guarded"
	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/texts"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// What a guard answers instead of the handler: people get a page, scripts a
// status they can read.

// undecided is why a guard has no decision. No request passes.
type undecided struct{ cause error }

func (u *undecided) Error() string { return "the guard could not decide: " + u.cause.Error() }
func (u *undecided) Unwrap() error { return u.cause }

// consult calls decide, unless fault says that the session is unknown. It returns
// nil, nil if the request may pass, and otherwise the application's own answer or
// the reason for a refusal. A panic of decide is a reason.
func consult(fault error, decide func() error) (*Response, error) {
	if fault != nil && !errors.Is(fault, ErrNoSession) {
		return nil, &undecided{fault}
	}
	why := guarded.Contain(decide)
	if fault != nil && (errors.Is(why, ErrNoSession) || wantedIn(why) != nil) {
		why = fault // which says why there is none
	}
	own, ok := errors.AsType[*ownResponse](why)
	switch {
	case !ok:
		return nil, why
	case own.res == nil:
		return nil, errNilResponse
	}
	return ownAnswer(own.res), nil
}

// errNoError is the fault of a caller that asks for an answer to no error.
var errNoError = errors.New("WriteError was given no error")

// IsRefusal reports whether err wraps [ErrNoSession] or [ErrAccessDenied], or was made by
// [RedirectTo], [RespondWith], [NeedRecent] or [NeedFactor]. It is for error handlers of
// web frameworks: they answer such an error with [Auth.WriteError] or
// [Core.ErrorResponse], and leave all other errors to the application.
func IsRefusal(err error) bool {
	return errors.Is(err, ErrNoSession) || errors.Is(err, ErrAccessDenied) || isSteering(err) || wantedIn(err) != nil
}

// refuse answers a request that a guard did not let pass, and returns nil if it may pass
// after all: the session has every proof that why asks for; or the request is for the
// page of [Pages] that the answer would lead to; or guards is true, and the request is
// for another of [Pages] that no guard keeps from the visitor. s is nil for a request
// without a session.
func refuse(ctx context.Context, x *exchange, s *Session, why error, guards bool) *Response {
	if errors.Is(why, errNilResponse) {
		return guardFault(ctx, x, why)
	}
	if wanted := wantedIn(why); wanted != nil && s == nil {
		why = ErrNoSession
	} else if wanted != nil {
		if w := unmetBy(s, wanted, x.now()); w != nil {
			return refuseUnproven(ctx, x, w, guards)
		}
		return nil
	}
	here := x.asked(x.request)
	to := overAt(x.links.signIn(cameFrom(x)), why)
	elsewhere, steered := errors.AsType[*redirect](why)
	if steered {
		asked, err := x.outward(elsewhere.to), error(nil)
		if to, err = x.resolveRedirect(ctx, asked); err == nil && to == x.home() {
			err = strays(&x.links, asked)
		}
		if err != nil {
			return guardFault(ctx, x, err)
		}
	} else if p, ok := errors.AsType[*guarded.Panic](why); ok {
		return guardFault(ctx, x, p)
	}
	switch {
	case steered && leadsHere(x, to), !steered && (isFor(x, x.setup.config.Pages.SignIn) || guards && passes(x, refusedAs(s, why))):
		return nil // no page is guarded from the visitors that it is for
	case weburl.SamePage(to, here) && (!isOwnPage(x, to) || steered && isOwnPage(x, here)), !steered && circles(x, x.setup.config.Pages.SignIn): // it would only lead back here
		return forbidden(ctx, x, s)
	}
	if s != nil && !steered && errors.Is(why, ErrAccessDenied) {
		return forbidden(ctx, x, s) // signing in once more would lead back here
	}
	if !steered && !IsRefusal(why) {
		if s != nil {
			return guardFault(ctx, x, why) // nor would that help where the guard itself failed
		}
		x.setup.log.Error(ctx, x, why)
	}
	if isScript(x.request.Header) || x.credential.Bearer != nil {
		return unauthorized(x, to)
	}
	return ledTo(x.request, to)
}

// ledTo returns the redirect of a guard. Browsers follow it with GET, whatever the method
// of r (RFC 9110, section 15.4.4).
func ledTo(r *Request, to string) *Response {
	res := &Response{Redirect: to, Header: http.Header{"Cache-Control": {"no-store"}}}
	if !isSafe(r.Method) {
		res.Status = http.StatusSeeOther
	}
	return res
}

// isSafe reports whether the method is GET or HEAD, so that a browser can open the page
// again.
func isSafe(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// refusedAs returns which visitor a refusal is about. s is nil for a request without a
// session.
func refusedAs(s *Session, why error) passing {
	if s == nil || errors.Is(why, ErrNoSession) {
		return passSignedOut
	}
	return passDenied
}

// passes reports whether the request is for a page of the application's own that no guard
// keeps from the visitor.
func passes(x *exchange, who passing) bool {
	return slices.ContainsFunc(ownPages(&x.setup.config.Pages), func(own ownPage) bool { return own.pass&who != 0 && isFor(x, own.url) })
}

// leadsHere reports whether the URL to, at which the application leads the browser, and the
// request are for the same page of the application's own.
func leadsHere(x *exchange, to string) bool {
	return slices.ContainsFunc(ownPages(&x.setup.config.Pages), func(own ownPage) bool {
		return own.url != "" && weburl.IsPage(to, x.absolute(own.url)) && isFor(x, own.url)
	})
}

// isFor reports whether the request is for page, one of [Pages], exactly as a browser
// sends it that was redirected there. A guard lets only such a request pass, so a
// doubtful request is not for the page. The request has to name the origin of the site,
// as the page does. A page with a host of its own has to be at an origin of the
// configuration, because a client can name any host. The path has to be that of the page
// also before handlers took a part off, and slashes and escapes count. The query has to
// contain that of the page. An empty page is none.
func isFor(x *exchange, page string) bool {
	to, err := url.Parse(x.absolute(page))
	if page == "" || err != nil || !isPageMethod(x.request.Method) || !x.setup.trust.cameTo(x.request, x.origin) {
		return false
	}
	if page[0] != '/' && (weburl.NewOrigin(to.Scheme, to.Host).Text != x.origin.Text || !x.setup.trust.isConfigured(x.origin)) {
		return false
	}
	path := sentPath(to)
	return path == x.prefix+sentPath(x.request.URL) && weburl.IsResolved(path) && isWhole(&x.links, x.request) && weburl.HasQuery(x.request.URL.RawQuery, to.RawQuery)
}

// isPageMethod reports whether browsers open pages, and post forms, by the method.
func isPageMethod(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodPost
}

// isWhole reports whether the path of r is the one that the client asked for, but for
// Site.Prefix, so that neither http.StripPrefix nor another handler has changed it. It
// returns true if r does not say what the client asked for.
func isWhole(l *links, r *Request) bool {
	if r.Target == "" {
		return true
	}
	asked, err := url.ParseRequestURI(r.Target)
	if err != nil || asked.Opaque != "" {
		return false
	}
	own := sentPath(r.URL)
	return sentPath(asked) == own || sentPath(asked) == l.prefix+own
}

// sentPath returns the path of a URL as clients send it.
func sentPath(u *url.URL) string { return cmp.Or(u.EscapedPath(), "/") }

// circles reports whether a browser that is led to own, one of [Pages], comes back to the
// guard, because its request is not one for that page as isFor sees it. The first time it
// logs a warning.
func circles(x *exchange, own string) bool {
	u := x.request.URL
	if own == "" || !u.Query().Has("callbackUrl") || !weburl.IsPage(x.asked(x.request), x.absolute(own)) {
		return false
	}
	x.setup.trust.pageWarned.Do(func() {
		x.setup.log.WarnAtStart(circling, "page", own, "path", texts.Cut(u.EscapedPath(), 64), "host", texts.Cut(x.request.Host, 64), "site", x.origin.Text)
	})
	return true
}

// circling is what an operator reads whose guard would lead browsers in a circle.
const circling = "a guard refuses a request that looks like one for a page of Config.Pages and is not exactly that: serve the page outside of guards, or name it as browsers end at it, slash included, and have a proxy keep Host, or set X-Forwarded-Host with Site.TrustHost"

// overAt returns page, the URL of the sign-in page, with the reason if why says that the
// session has expired or was ended.
func overAt(page string, why error) string {
	switch {
	case errors.Is(why, ErrSessionExpired):
		return weburl.WithQuery(page, "notice", overExpired)
	case errors.Is(why, ErrSessionEnded):
		return weburl.WithQuery(page, "notice", overEnded)
	}
	return page
}

// refuseUnproven answers a request whose session lacks the proof w. It returns nil, so
// that the request passes, if it is for Pages.Reauth, and if guards is true also for each
// page that no guard keeps from the user. A configuration without such proofs is a fault.
func refuseUnproven(ctx context.Context, x *exchange, w *wantedProof, guards bool) *Response {
	s := x.setup
	if err := unprovable(s, w.IsFactor); err != nil {
		return guardFault(ctx, x, err)
	}
	switch {
	case isFor(x, s.config.Pages.Reauth), guards && passes(x, passUnproven):
		return nil
	case circles(x, s.config.Pages.Reauth):
		return jsonText(http.StatusForbidden, "Access denied.")
	}
	back := cameFrom(x)
	to := x.links.signIn(back)
	if s.config.stepsUp() {
		to = reauthURL(&x.links, w.IsFactor, back)
	}
	if isScript(x.request.Header) || x.credential.Bearer != nil {
		return unproven(x.request, x.origin.Host(), x.credential.Bearer != nil, w, to)
	}
	return ledTo(x.request, to)
}

// Unmet checks whether s has the proofs that demand asks for: an error of [NeedRecent] or
// [NeedFactor], or several that errors.Join combines. It returns nil if s has all of them,
// and otherwise the error for the first that is missing, or ErrInvalidConfig if the
// configuration never gives that proof. If s is nil, or if demand is nil or any other
// error, it returns demand. Unmet is for guards of integrations; ctx comes from
// [Core.Attach].
func (c *Core) Unmet(ctx context.Context, s *Session, demand error) error {
	wanted, now := wantedIn(demand), time.Now
	if wanted == nil || s == nil {
		return demand
	}
	var in *setup
	if state := stateIn(ctx); state != nil && state.concerns(c.auth) {
		if in, _ = state.setup(); in != nil {
			now = in.now
		}
	}
	w := unmetBy(s, wanted, now())
	if w == nil {
		return nil
	}
	if err := unprovable(in, w.IsFactor); err != nil {
		return err
	}
	return w
}

// strays returns an ErrInvalidCallbackURL if to, the target of a guard's redirect, is
// neither a path nor a URL of this site, and else nil. The text of the error has no path
// and no query.
func strays(l *links, to string) error {
	u, err := url.Parse(to)
	if err != nil || strings.HasPrefix(to, "/") || weburl.NewOrigin(u.Scheme, u.Host).Text == l.origin.Text {
		return nil
	}
	return failure.Wrap(ErrInvalidCallbackURL, failure.Of(fault.RedirectForeign, fmt.Errorf("RedirectTo of a guard leads to another site, %q (accept it in Callbacks.Redirect)", u.Scheme+"://"+u.Host)))
}

// guardFault logs why a guard failed, and returns the answer, which does not say why.
func guardFault(ctx context.Context, x *exchange, err error) *Response {
	x.setup.log.Error(ctx, x, err)
	return faultAnswer(ctx, x, err)
}

// cameFrom returns the page to come back to: the one that was asked for, or from which
// htmx asked for a part of it. Nothing comes back to a form that was posted: it is the page
// of the Referer then, if that is of this origin, and else the home page.
func cameFrom(x *exchange) string {
	h, own := x.request.Header, x.origin.Text+"/"
	if page := h.Get("HX-Current-URL"); isHTMX(h) && h.Get("HX-Boosted") == "" && strings.HasPrefix(page, own) {
		return page
	}
	if isSafe(x.request.Method) {
		return x.asked(x.request)
	}
	if from := h.Get("Referer"); strings.HasPrefix(from, own) && weburl.Valid(from) && !isOwnPage(x, from) {
		return from
	}
	return x.home()
}

// unauthorized tells a script to have its user sign in (RFC 9110, section
// 15.5.2), and htmx where. Status 401 needs a challenge (section 11.6.1): where
// sessions are in cookies alone, it says so.
func unauthorized(x *exchange, to string) *Response {
	res := challenged(x)
	if res.Header.Get(challengeHeader) == "" {
		res.Header[challengeHeader] = []string{`Cookie realm="` + x.origin.Host() + `"`}
	}
	if isHTMX(x.request.Header) {
		res.Header["Hx-Redirect"] = []string{to}
	}
	return res
}

// forbidden answers a request if signing in again would change nothing for the user: with
// status 403, or a redirect to Pages.Error. s may be nil.
func forbidden(ctx context.Context, x *exchange, s *Session) *Response {
	if x.credential.Bearer != nil {
		res := jsonText(http.StatusForbidden, "Access denied.")
		res.Header[challengeHeader] = []string{(*browser.Bearer)(nil).Challenge(x.origin.Host()) + `, error="insufficient_scope"`}
		return res
	}
	if isScript(x.request.Header) || !opensPage(x.request.Header) {
		return jsonText(http.StatusForbidden, "Access denied.")
	}
	if own := errorPageFor(&x.links, x.setup.config.Pages.Error, x.request, string(ErrAccessDenied)); own != nil {
		return own
	}
	view := page.Problem{Kind: page.Forbidden, Host: x.origin.Host(), Origin: x.home(), SignInURL: x.links.signIn(cameFrom(x))}
	if s != nil {
		view.As = cmp.Or(s.User.Email, s.User.Name)
	}
	return problemPage(ctx, x, view)
}

// isOwnPage reports whether the application shows the page with this URL in place of a
// built-in one. If the configuration names its page with a query, a URL without that query
// is another page.
func isOwnPage(x *exchange, page string) bool {
	return slices.ContainsFunc(ownPages(&x.setup.config.Pages), func(own ownPage) bool { return own.url != "" && weburl.IsPage(page, x.absolute(own.url)) })
}
