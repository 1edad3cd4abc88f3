package latchkey

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/latchkeyhq/latchkey/internal/page"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// render decides what a browser gets for an error of a route. See errors on the
// wire in docs/protocol.md. Guards answer for themselves, in core.go.
func render(ctx context.Context, s *setup, x *exchange, r *Request, err error) *Response {
	if errors.Is(err, errTooMuch) && x != nil {
		x.setup.log.refused(ctx, x, err)
	}
	if errors.Is(err, errBadRequest) || errors.Is(err, errBadHost) {
		return renderStray(ctx, s, r, err)
	}
	if x == nil {
		logUnprepared(ctx, err)
		return configJSON()
	}
	x.setup.log.error(ctx, x, err)
	if _, ok := errors.AsType[*configFault](err); ok {
		return renderFault(ctx, x)
	}
	if x.isPost() && x.action == "session" {
		return jsonBytes(http.StatusBadRequest, null)
	}
	return renderError(x, err)
}

// renderStray answers what is no request of ours: people who got lost see a
// page, scripts what Auth.js says.
func renderStray(ctx context.Context, s *setup, r *Request, err error) *Response {
	if s == nil || r.Method != http.MethodGet || !opensPage(r.Header) {
		return badRequest(r)
	}
	x := strayExchange(s, r)
	res := problemPage(ctx, x, page.Problem{Kind: page.Missing, Host: x.origin.Host(), Origin: x.origin.Text})
	if errors.Is(err, errBadHost) || errors.Is(err, errTooMuch) {
		res.Status = http.StatusBadRequest
	}
	return res
}

// renderFault: pages, and people wherever they are, get the error page, and
// scripts JSON.
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

// leadsToErrorPage: the application's own error page asked for a sign-in, and
// would be shown again for ever.
func leadsToErrorPage(ctx context.Context, x *exchange) bool {
	to := x.query.Get("callbackUrl")
	if to == "" || !strings.HasPrefix(pathOf(to), pathOf(x.setup.config.Pages.Error)) {
		return false
	}
	x.setup.log.error(ctx, x, ErrErrorPageLoop.wrap(errors.New("the error page Pages.Error itself asks for a sign-in")))
	return true
}

func pathOf(to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return to
	}
	return u.Path
}

// renderError leads to the page that fits the error.
func renderError(x *exchange, err error) *Response {
	t := typeOf(err)
	params := []string{"error", string(t.shown())}
	if t == ErrCredentialsSignin {
		code := "credentials"
		if e, ok := errors.AsType[*Error](err); ok && e.Code != "" {
			code = e.Code
		}
		params = append(params, "code", code)
	}
	own, route := x.setup.config.Pages.Error, "error"
	if t.onSignInPage() {
		own, route = x.setup.config.Pages.SignIn, "signin"
	}
	if own == "" {
		own = x.setup.path(route)
	}
	return refuseTry(x, err, &Response{Redirect: x.absolute(weburl.WithQuery(own, params...))})
}

// refuseTry tells a script when to come back, where err is about too many
// tries.
func refuseTry(x *exchange, err error, res *Response) *Response {
	many, ok := errors.AsType[*tooManyTries](err)
	if !ok || !x.wantsJSON() {
		return res
	}
	res = asJSON(res)
	res.Status = http.StatusTooManyRequests
	res.Header.Set("Retry-After", strconv.Itoa(int((many.wait+time.Second-1)/time.Second)))
	return res
}

// crossSite answers a post that another site sent.
func crossSite(ctx context.Context, x *exchange) *Response {
	if !opensPage(x.request.Header) {
		return jsonText(http.StatusForbidden, "Cross-site request refused.")
	}
	return problemPage(ctx, x, page.Problem{Kind: page.Refused, Host: x.origin.Host(), Origin: x.origin.Text})
}
