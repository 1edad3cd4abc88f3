package latchkey

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkeyhq/latchkey/internal/jsontext"
	"github.com/latchkeyhq/latchkey/internal/weburl"
)

// render decides, here and nowhere else, what a browser gets for an error. See
// errors on the wire in docs/protocol.md.
func render(ctx context.Context, x *exchange, r *Request, err error) *Response {
	if errors.Is(err, errBadRequest) || errors.Is(err, errBadHost) {
		return badRequest(r)
	}
	if x == nil {
		logUnprepared(ctx, err)
		return configJSON()
	}
	x.setup.log.error(ctx, x, err)
	if fault, ok := errors.AsType[*configFault](err); ok {
		return x.renderFault(ctx, fault)
	}
	if x.isPost() && x.action == "session" {
		return jsonBytes(http.StatusBadRequest, null)
	}
	return x.renderError(err)
}

// renderFault: pages show the error page, everything else is JSON.
func (x *exchange) renderFault(ctx context.Context, err error) *Response {
	switch x.action {
	case "signin", "signout", "error", "verify-request", "account":
	default:
		return configJSON()
	}
	own := x.setup.config.Pages.Error
	switch {
	case x.isPost():
		return configJSON()
	case own == "" || x.leadsToErrorPage(ctx):
		return x.errorPage(ctx, "Configuration")
	}
	return &Response{Redirect: x.absolute(weburl.WithQuery(own, "error", "Configuration"))}
}

// leadsToErrorPage: the application's own error page asked for a sign-in, and
// would be shown again for ever.
func (x *exchange) leadsToErrorPage(ctx context.Context) bool {
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
func (x *exchange) renderError(err error) *Response {
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
	return &Response{Redirect: x.absolute(weburl.WithQuery(own, params...))}
}

// badRequest answers what is no request of ours. HEAD gets no body, so that it
// is cheap and uses nothing up.
func badRequest(r *Request) *Response {
	res := jsonText(http.StatusBadRequest, "Bad request.")
	if r != nil && r.Method == http.MethodHead {
		res.Body = nil
	}
	return res
}

// configJSON tells a script that the operator has something to mend, and
// nothing about what.
func configJSON() *Response {
	return jsonBytes(http.StatusInternalServerError,
		[]byte(`{"message":"There was a problem with the server configuration. Check the server logs for more information."}`))
}

// asJSON puts a redirect's target into a body for scripts.
func asJSON(r *Response) *Response {
	res := jsonBytes(http.StatusOK, append(jsontext.AppendText([]byte(`{"url":`), r.Redirect), '}'))
	res.Cookies = r.Cookies
	return res
}
