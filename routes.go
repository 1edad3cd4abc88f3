package latchkey

import (
	"context"
	"errors"
	"net/http"

	"github.com/latchkeyhq/latchkey/internal/jsontext"
)

// route is everything Latchkey answers. The order inside is that of
// docs/protocol.md.
func (v *visit) route(ctx context.Context) (*Response, error) {
	if v.action == "providers" && !v.isPost() {
		return v.listProviders(), nil
	}
	v.takeCSRF()
	if err := v.takeCallbackURL(ctx); err != nil {
		return nil, err
	}
	if v.isPost() {
		return v.post(ctx)
	}
	switch v.action {
	case "csrf":
		return v.csrfRoute(), nil
	case "session":
		return v.showSession(ctx)
	case "signin":
		if v.providerID != "" {
			return nil, ErrUnknownAction.because(errors.New("a sign-in starts with POST"))
		}
		return v.signInPage()
	case "signout":
		return v.signOutPage()
	case "verify-request":
		return v.verifyRequestPage()
	case "error":
		return v.errorRoute(), nil
	case "callback":
		return v.callback(ctx)
	case "account":
		return v.accountPage(ctx)
	}
	return nil, ErrUnknownAction.because(errors.New("no such route for GET"))
}

func (v *visit) post(ctx context.Context) (*Response, error) {
	switch v.action {
	case "signin", "signout", "session", "account":
		if !v.csrfVerified {
			return nil, ErrMissingCSRF.because(errors.New("the form has no valid csrfToken, or its cookie is missing"))
		}
	}
	switch v.action {
	case "session":
		return v.updateSession(ctx)
	case "signin":
		return v.signIn(ctx)
	case "signout":
		return v.signOut(ctx)
	case "callback":
		return v.callback(ctx)
	case "account":
		return v.changeAccount(ctx)
	}
	return nil, ErrUnknownAction.because(errors.New("no such route for POST"))
}

// checkAddresses refuses a callback address that makes no sense before
// anything is done. Where a good one may lead is decided later.
func (v *visit) checkAddresses() error {
	if to := v.query.Get("callbackUrl"); to != "" && !validAddress(to) {
		return ErrInvalidCallbackURL.because(errors.New("in the query parameter callbackUrl: " + errNoAddress.Error()))
	}
	if to, ok := v.cookieValue(&v.kinds.callbackURL); ok && to != "" && !validAddress(to) {
		return ErrInvalidCallbackURL.because(errors.New("in the callback cookie: " + errNoAddress.Error()))
	}
	return nil
}

// takeCallbackURL decides where the visitor goes in the end, from the form, the
// query or the cookie, and has the browser remember it.
func (v *visit) takeCallbackURL(ctx context.Context) (err error) {
	remembered, _ := v.cookieValue(&v.kinds.callbackURL)
	to := v.query.Get("callbackUrl")
	if given, ok := v.form["callbackUrl"]; ok {
		text, isText := given.(string)
		if !isText {
			return ErrInvalidCallbackURL.because(errNoAddress)
		}
		to = firstOf(text, to)
	}
	v.callbackURL = v.origin.text
	if to = firstOf(to, remembered); to != "" {
		if v.callbackURL, err = v.landing(ctx, to); err != nil {
			return ErrInvalidCallbackURL.because(err)
		}
	}
	if v.callbackURL != remembered {
		k := &v.kinds.callbackURL
		v.setCookie(k.make(escapeCookie(v.callbackURL), noTime))
	}
	return nil
}

// listProviders answers GET /providers.
func (v *visit) listProviders() *Response {
	b := []byte{'{'}
	for i, p := range v.order {
		info := p.info()
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontext.AppendText(b, info.id), `:{"id":`...)
		b = append(jsontext.AppendText(b, info.id), `,"name":`...)
		b = append(jsontext.AppendText(b, info.name), `,"type":`...)
		b = append(jsontext.AppendText(b, string(info.kind)), `,"signinUrl":`...)
		b = append(jsontext.AppendText(b, v.url("signin/"+info.id)), `,"callbackUrl":`...)
		b = append(jsontext.AppendText(b, v.url("callback/"+info.id)), '}')
	}
	return jsonBytes(http.StatusOK, append(b, '}'))
}

// jsonBytes is an answer of ready-made JSON.
func jsonBytes(status int, body []byte) *Response {
	return &Response{Status: status, Header: http.Header{"Content-Type": jsonHeader, "X-Content-Type-Options": nosniff}, Body: body}
}

var (
	jsonHeader    = []string{jsonType}
	nosniff       = []string{"nosniff"}
	neverCache    = []string{"private, no-cache, no-store"}
	alreadyOld    = []string{"0"}
	noCachePragma = []string{"no-cache"}
)

// jsonText is an answer of one JSON string.
func jsonText(status int, text string) *Response {
	return jsonBytes(status, jsontext.AppendText(nil, text))
}

// noStore forbids caching in the original's words.
func noStore(r *Response) *Response {
	r.Header["Cache-Control"], r.Header["Expires"], r.Header["Pragma"] = neverCache, alreadyOld, noCachePragma
	return r
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
